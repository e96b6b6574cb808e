#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests hostile or unentitled requests to a host daemon for a server: neither the daemon nor any other program notices them."""
import errno
import os
import socket
import subprocess
from pathlib import Path

from checks import contains
from fixture import (NOBODY, check, equal, find_proftapds, is_alive, need_no_sanitizer, need_readable_tree, need_root, read_fds,
                     read_status, run, test, wait_until)
from hosts import Host, registry_path, runtime
from lent import check_served, enter_root, find_lent, find_starter, refused, sandboxed
from manager import Manager
from processes import SUPPORT, Process, find_children

SERVER_REQUEST = SUPPORT / "server_request.py"
NO_EXEC = ("execve", "execveat")
OTHER = 65533
FILES = "this program's server was started by the host daemon, has other rights or other files than the program"


def request_server(t, how, user=None):
    """Starts a process that asks for a server and prints the answers."""
    # Other users must be able to enter the runtime directory.
    script = t.dir / "server_request.py"
    script.write_text(SERVER_REQUEST.read_text())
    registry_path(t).parent.parent.chmod(0o755)
    return t.keep(Process(f"request {how}", ["/usr/bin/python3", script, registry_path(t), how], user=user,
                          stdin=subprocess.PIPE))


def check_quiet(host, starter, fds):
    """Checks that no request left anything behind."""
    wait_until(lambda: not find_children(starter), "all children of the starter to end")
    wait_until(lambda: read_fds(host.pid) == fds, f"the daemon's descriptors to be {fds}, not {read_fds(host.pid)}")


@test
def malformed_request_gets_no_server(t):
    host = Host(t)
    starter, fds = find_starter(host), read_fds(host.pid)
    intruder = request_server(t, "wrong")
    equal([intruder.read_line() for _ in range(10)], [str(-errno.EBADMSG)] * 8 + [str(-errno.EPROTO)] * 2, "the answers")
    equal(find_proftapds(intruder.pid), [], "servers")
    check_quiet(host, starter, fds)
    check_served(t, host, sandboxed(t, "errno", *NO_EXEC).serve())


@test
def client_without_a_handshake_keeps_no_server(t):
    host = Host(t)
    starter, fds = find_starter(host), read_fds(host.pid)
    for how in ("good", "noise"):
        intruder = request_server(t, how)
        equal(intruder.read_line(), "0", "the answer")
        wait_until(lambda: not find_proftapds(intruder.pid), "its server to end")
        check(is_alive(intruder.pid), "the intruder has ended")
    check_quiet(host, starter, fds)
    equal(host.list(), {}, "the list")


@test
def client_that_leaves_gets_no_server(t):
    host = Host(t)
    starter, fds = find_starter(host), read_fds(host.pid)
    intruder = request_server(t, "leave")
    equal(intruder.read_line(), "left", "its output")
    wait_until(lambda: any("gets none: no such process" in line for line in host.err) or not find_children(starter),
               "the refusal, or the end of the starter's children")
    check_quiet(host, starter, fds)
    equal(find_proftapds(intruder.pid), [], "servers")


@test
def a_request_for_another_users_program_is_refused(t):
    """The request counts for the parent of its sender, and that parent belongs to root."""
    need_root()
    Host(t)
    intruder = request_server(t, "alone", user=NOBODY)
    equal(intruder.read_line(), str(-errno.EPERM), "the answer")
    equal(find_proftapds(os.getpid()), [], "servers of root's program")


@test
def servers_of_one_user_are_bounded(t):
    need_root()
    need_no_sanitizer("are larger")
    host = Host(t)
    intruder = request_server(t, "many", user=NOBODY)
    answers = sorted(int(intruder.read_line()) for _ in range(65))
    equal(answers, [-errno.EUSERS] + [0] * 64, "the answers")
    # Programs of other users are served meanwhile.
    check_served(t, host, sandboxed(t, "errno", *NO_EXEC).serve())


@test
def process_between_two_users_gets_no_server(t):
    need_root()
    host = Host(t)
    script = t.dir / "between.py"
    script.write_text(SERVER_REQUEST.read_text().replace("def main():\n", "def main():\n    os.setresuid(0, 0, 65534)\n"))
    intruder = t.keep(Process("between", ["/usr/bin/python3", script, registry_path(t), "good"], stdin=subprocess.PIPE))
    equal(intruder.read_line(), str(-errno.EXDEV), "the answer")
    equal(host.list(), {}, "the list")


@test
def programs_send_nothing_to_another_users_daemon(t):
    need_root()
    need_readable_tree()
    folder = Path(runtime(t)["XDG_RUNTIME_DIR"]) / "proftap"
    listener = t.keep(Process("listener", ["/usr/bin/python3", "-c", (
        "import os, socket, sys\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "s.bind(sys.argv[1])\n"
        "os.chmod(sys.argv[1], 0o666)\n"
        f"os.seteuid({NOBODY})\n"
        "s.listen(8)\n"
        "print('ready', flush=True)\n"
        "print(s.accept()[0].recv(100), flush=True)\n"), folder / "registry.sock"]))
    equal(listener.read_line(), "ready", "the listener")
    error = refused(sandboxed(t, "subreaper"))
    contains(error, "the host daemon that is seen here is another user's", "the error")
    equal(listener.read_line(), "b''", "its answer")


CAPABLE = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--bounding-set=-all,+setuid,+setgid",
           "--inh-caps=-all,+setuid,+setgid", "--ambient-caps=-all,+setuid,+setgid")
TWO = f"{(1 << 6) | (1 << 7):016x}"


@test
def only_the_starter_keeps_the_units_rights(t):
    """The daemon runs as its unit runs it: a user of its own, and two capabilities. Every user's programs are served with that
    user's rights.
    """
    need_root()
    need_readable_tree()
    manager = Manager(t)
    daemon = manager.start(prefix=CAPABLE)
    starter = find_starter(daemon)
    equal([read_status(pid)[key] for pid in (daemon.pid, starter) for key in ("CapPrm", "CapEff", "CapAmb")],
          [f"{0:016x}"] * 3 + [TWO] * 3, "capabilities of the daemon and the starter")
    for user in (0, NOBODY, OTHER):
        target = sandboxed(t, "errno", *NO_EXEC, user=user or None).serve()
        status = read_status(find_lent(target.pid))
        equal([status["Uid"], status["CapPrm"], status["CapInh"], status["CapAmb"]], ["\t".join([str(user)] * 4)] + [f"{0:016x}"] * 3,
              f"rights of the server of uid {user}")


@test
def a_daemon_without_rights_serves_its_own_user(t):
    need_root()
    need_readable_tree()
    manager = Manager(t)
    daemon = manager.start(user=NOBODY)
    contains(refused(sandboxed(t, "errno", *NO_EXEC)), "the host daemon refused to serve it: the daemon is another user's", "the error")
    target = sandboxed(t, "errno", *NO_EXEC, user=NOBODY).serve()
    equal(int(read_status(find_lent(target.pid))["PPid"]), find_starter(daemon), "parent of its server")


@test
def paths_of_a_program_in_another_root_are_not_touched(t):
    """The paths are those of the program's root, and for the server the same names are other files."""
    need_root()
    host = Host(t)
    path, logs = t.dir / "own.sock", t.dir / "logs"
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(path))
        target = enter_root(t)
        inside = Path(f"/proc/{target.pid}/root{t.dir}")
        inside.mkdir(parents=True)
        equal(target.start(0, 0, 0, f"unix:{path}", 0, 0, logs), 0, "ptap_server_start")
        host.await_pids(target.pid)
        check((inside / "own.sock").is_socket(), "the program has no socket in its root")
        contains(target.ask(f"trace_start {logs}"), str(-errno.EACCES), "ptap_trace_start")
        contains(target.ask("error"), FILES, "the error")
        server = find_lent(target.pid)
        target.kill()
        wait_until(lambda: not is_alive(server), "its server to end")
        check(path.is_socket(), "the socket of that name was removed")
        check(not logs.exists(), "a directory of that name was made")


if __name__ == "__main__":
    run()
