#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests programs that cannot start a server: a host daemon lends them one, which works like a server of their own."""
import errno
import os
import signal
from pathlib import Path

from checks import contains
from fixture import (NOBODY, check, equal, find_proftapds, need_namespaces, need_no_tsan, need_readable_tree, need_root, read_status,
                     run, test, wait_until)
from hosts import Host, runtime
from lent import (LONG_MS, REMEDY, await_gone, check_by_daemon, check_by_port, check_served, enter_root, find_lent, find_starter, refused, sandboxed,
                  served)
from manager import Manager
from processes import Target, find_children, free_port
from trace_file import Trace

NO_EXEC = ("execve", "execveat")
NO_CAPABILITY = "0000000000000000"
# A program has 1024 rings.
N_THREADS = 1500
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


@test
def a_program_that_may_not_execute_is_served(t):
    host = Host(t)
    target = sandboxed(t, "errno", *NO_EXEC).serve()
    server = check_served(t, host, target)
    target.kill()
    host.await_pids()
    await_gone(server)


@test
def a_program_that_exec_would_kill_is_served(t):
    host = Host(t)
    check_served(t, host, sandboxed(t, "process", *NO_EXEC).serve())


@test
def a_program_of_which_exec_would_kill_a_thread_is_served(t):
    need_no_tsan("has a thread of its own in forked children: they do not end with the thread that is killed")
    host = Host(t)
    check_served(t, host, sandboxed(t, "thread", *NO_EXEC).serve())


@test
def first_process_of_a_pid_namespace_is_served(t):
    need_namespaces(*NAMESPACE[1:])
    host = Host(t)
    target = t.keep(Target(runtime(t), prefix=NAMESPACE)).serve()
    pid = find_children(target.pid)[0]
    equal(read_status(pid)["NSpid"].split(), [str(pid), "1"], "its pids")
    server = check_served(t, host, target, pid)
    equal(target.ask("stop"), "0", "ptap_server_stop")
    host.await_pids()
    await_gone(server)
    # The server has no pid in the program's namespace, so the program cannot check by pid whether it lives.
    target.serve()
    os.kill(check_served(t, host, target, pid), signal.SIGKILL)
    wait_until(lambda: target.ask("port") == "0", "the program to notice")
    check_served(t, host, target.serve(), pid)


@test
def ended_threads_in_a_pid_namespace_free_their_rings(t):
    """There are more threads than rings, so the server must know by the ids in the namespace which have ended."""
    need_namespaces(*NAMESPACE[1:])
    host = Host(t)
    target = t.keep(Target(runtime(t), prefix=NAMESPACE)).serve()
    host.await_pids(find_children(target.pid)[0])
    # The first thread does nothing meanwhile and then continues; in the trace it is still one thread.
    capture = t.emit(target, 1, "burst 3", *["threads one=1"] * N_THREADS, "burst 3")
    contains(capture.stderr, f" on {N_THREADS + 1:,} threads ", "the summary")
    equal([line.named("burst") != [] for line in capture.trace.threads].count(True), 1, "threads with the bursts")
    equal(capture.trace.count("burst"), 6, "spans of the first thread")
    contains(capture.stderr, "dropped 0\n", "the summary")


@test
def a_program_with_the_daemons_files_traces_itself(t):
    """A lent server without a port writes traces, too, but not for a program with other rights (a seccomp filter)."""
    need_root()
    need_readable_tree()
    manager = Manager(t)
    manager.start(user=NOBODY)
    logs = t.public_dir("logs")
    target = sandboxed(t, "subreaper", user=NOBODY)
    equal(target.ask(f"trace_start {logs}"), "0", "ptap_trace_start")
    find_lent(target.pid)
    equal(target.ask("burst 6", "trace_stop"), "0", "ptap_trace_stop")
    path, = logs.rglob("*.xplane.pb")
    equal(Trace(path).count("burst"), 6, "spans of the trace")
    target = sandboxed(t, "errno", *NO_EXEC, user=NOBODY)
    equal(target.ask(f"trace_start {logs}"), str(-errno.EACCES), "ptap_trace_start behind a filter")
    contains(target.ask("error"), "and touches no files for it; record with proftap capture", "the error")


@test
def lent_server_reports_files_that_it_may_not_read(t):
    """The server of root's program has capabilities, and a lent server has none."""
    need_root()
    host = Host(t)
    target = sandboxed(t, "errno", *NO_EXEC).serve()
    host.await_pids(target.pid)
    words = f"usage is without the I/O of process {target.pid}: its server may not read it"
    contains("\n".join(t.emit(target, 1, "burst 3").trace.space.warnings), words, "the warnings")
    own = t.emit(t.target().serve(), 1, "burst 3").trace.space.warnings
    check(not any("without the I/O" in warning for warning in own), f"warnings of a server of its own: {own}")


@test
def program_in_its_own_network_namespace_is_served(t):
    """The port exists only in the program's network namespace, and the peer's user can be found only there."""
    need_namespaces(*NAMESPACE[1:], "--net")
    need_readable_tree()
    host = Host(t)
    up = ("sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    target = t.keep(Target(runtime(t), prefix=(*NAMESPACE, "--net", *up))).serve()
    pid = find_children(target.pid)[0]
    host.await_pids(pid)
    check_by_daemon(t, host, target, str(pid))
    inside = ("nsenter", f"--target={pid}", "--net")
    capture = t.start_capture(target, LONG_MS, prefix=inside)
    target.ask("await 1", "burst 5")
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), 5, "spans by its port")
    # The server must look for this peer in the namespace: outside, the same ports may be root's.
    nobody = (*inside, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    refused_one = t.start_capture(target, 100, prefix=nobody, program=t.public_proftap(), log_dir=t.public_dir("logs"))
    contains(refused_one.finish(5).stderr, "only the user that runs the target, or root, may connect", "another user's error")


@test
def subreaper_is_served(t):
    host = Host(t)
    check_served(t, host, sandboxed(t, "subreaper").serve())


@test
def a_program_in_a_root_without_proftapd_is_served(t):
    need_root()
    host = Host(t)
    check_served(t, host, enter_root(t).serve())


@test
def the_server_is_the_programs_user(t):
    """The program is not root's: the server has the program's user and groups, and no capability."""
    need_root()
    need_readable_tree()
    host = Host(t, prefix=("setpriv", "--groups=4,24"))
    target = sandboxed(t, "errno", *NO_EXEC, user=NOBODY).serve()
    status = read_status(check_served(t, host, target))
    equal([status[key] for key in ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "NoNewPrivs")],
          ["\t".join([str(NOBODY)] * 4), "\t".join([str(NOBODY)] * 4), " ", NO_CAPABILITY, NO_CAPABILITY, "1"], "its rights")


@test
def a_lent_server_has_its_own_descriptors_and_session(t):
    host, target = served(t)
    server = find_lent(target.pid)
    equal(os.getsid(server), server, "its session")
    equal([os.readlink(f"/proc/{server}/{what}") for what in ("cwd", "fd/0", "fd/1", "fd/2")],
          ["/", *["/dev/null"] * 3], "its directory, and standard descriptors")
    check("memfd:proftap" in os.readlink(f"/proc/{server}/fd/4"), "its arena")
    names = [entry.split(b"=")[0] for entry in Path(f"/proc/{server}/environ").read_bytes().split(b"\0")]
    check(b"LISTEN_FDS" not in names and b"NOTIFY_SOCKET" not in names, "the server has the daemon's LISTEN_FDS or NOTIFY_SOCKET")


@test
def a_lent_server_outlives_the_daemon(t):
    for number in (signal.SIGTERM, signal.SIGKILL):
        host, target = served(t)
        starter = find_starter(host)
        host.end(number)
        await_gone(starter)
        check_by_port(t, target)
        again = Host(t, port=host.port)
        again.await_pids(target.pid)
        check_by_daemon(t, again, target, str(target.pid))
        target.kill()
        again.end()


@test
def an_interrupt_at_the_terminal_spares_lent_servers(t):
    """Ctrl-C reaches the process group of the daemon and its starter, but not the lent server."""
    host = Host(t, prefix=("setsid", "--wait"))
    target = sandboxed(t, "errno", *NO_EXEC).serve()
    daemon = int(read_status(find_lent(target.pid))["PPid"])
    os.killpg(os.getpgid(daemon), signal.SIGINT)
    equal(host.wait(), 0, "the daemon's end")
    check_by_port(t, target)


@test
def a_lent_server_may_stop_and_start_again(t):
    host, port = Host(t), free_port()
    target = sandboxed(t, "errno", *NO_EXEC).serve(port)
    host.await_pids(target.pid)
    for _ in range(3):
        server = find_lent(target.pid)
        equal(target.ask("stop"), "0", "ptap_server_stop")
        host.await_pids()
        await_gone(server)
        target.serve(port)
        equal(target.port, port, "the port")
    check_served(t, host, target)


@test
def a_dead_lent_server_is_replaced(t):
    host, target = served(t)
    os.kill(find_lent(target.pid), signal.SIGKILL)
    wait_until(lambda: target.ask("port") == "0", "the program to notice")
    check_served(t, host, target.serve())


@test
def forked_children_are_followed_by_a_lent_server(t):
    host, target = served(t, PROFTAP_FOLLOW_FORK="1")
    child = int(target.ask("prefork steady"))
    t.at_end.append(lambda: os.kill(child, signal.SIGKILL))
    capture = t.capture(f"127.0.0.1:{host.port}", 300, "--target", str(target.pid))
    check(any(f"[{child}]" in plane for plane in capture.trace.planes), f"no plane of {child}: {capture.trace.planes}")


@test
def a_port_in_use_is_reported(t):
    host = Host(t)
    first = sandboxed(t, "subreaper").serve()
    contains(refused(sandboxed(t, "subreaper"), first.port), f"port {first.port}: in use on 127.0.0.1", "the error")
    host.await_pids(first.pid)


@test
def without_a_daemon_the_remedies_are_reported(t):
    runtime(t)
    for kind in (("errno", *NO_EXEC), ("process", *NO_EXEC), ("subreaper",)):
        target = sandboxed(t, *kind)
        for _ in range(2):
            error = refused(target)
            contains(error, REMEDY, f"the error of {kind}")
        target.kill()
    contains(error, "would inherit the server as a child; start the program under an init", "the error of a subreaper")
    target = t.keep(Target({**runtime(t), "PROFTAPD": str(t.dir / "nothing")}))
    contains(refused(target), "is not an executable file; correct or unset it", "the error of a wrong path")


@test
def a_daemon_that_may_not_be_asked_is_reported(t):
    host = Host(t)
    target = sandboxed(t, "errno", *NO_EXEC, "socket")
    # The library makes the listener before it first tries to execute a server.
    contains(refused(target), "cannot make a socket: operation not permitted", "the error without socket()")
    for action, words in (("errno", "the host daemon cannot be asked: operation not permitted"),
                          ("process", "the host daemon cannot be asked: that is forbidden here, too (seccomp?)")):
        target = sandboxed(t, action, *NO_EXEC, "connect")
        contains(refused(target), words, f"the error of connect {action}")
        equal(target.ask("enabled 1"), "0", "the program goes on")
    equal(host.list(), {}, "the list")


@test
def a_daemon_that_is_stopped_is_reported(t):
    host = Host(t)
    target = sandboxed(t, "subreaper")
    host.signal(signal.SIGSTOP)
    contains(refused(target), "the host daemon cannot be asked: connection timed out", "the error")
    host.signal(signal.SIGCONT)
    check_served(t, host, target.serve())
    equal(len(find_proftapds(target.pid)), 1, "its servers")


if __name__ == "__main__":
    run()
