#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap capture --ssh: one command makes, uses and closes the tunnel, or reports why there is none."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess

from fixture import check, contains, equal, free_port, run, test, wait_until
from hosts import Host, runtime, start_target
from processes import PROFTAP, TARGET, Target
from sshd import Sshd
from terminal import Terminal
from trace_file import Trace


def name_file(port):
    return f"{socket.gethostname()}_{port}.xplane.pb"


def named(t, name, *start, **env):
    """Starts a target of that name, because root's list has all targets of the machine, also those of other tests."""
    (t.dir / name).symlink_to(TARGET)
    return t.keep(Target({**runtime(t), **env}, t.dir / name)).serve(*start)


def record(t, sshd, target, *options, of=None):
    """Begins a capture of |target| through ssh, and returns it when the target records. |of| is the target if
    |target| is an address."""
    capture = t.start_capture(target, 60000, "--ssh", "gpu7", *options, prefix=sshd.prefix)
    (of or target).ask("await 1", "burst 7")
    return capture


@test
def one_command_records_another_machine(t):
    sshd, target = Sshd(t), t.target().serve()
    target.send("await 1", "burst 7")
    capture = t.start_capture(target, 200, "--ssh", "gpu7", prefix=sshd.prefix)
    target.obeyed(2)
    capture.finish()
    equal(capture.path.name, name_file(target.port), "the file")
    equal(capture.trace.count("burst"), 7, "spans")
    contains(capture.stderr, f" ms of target (pid {target.pid}) at gpu7:{target.port}\n", "the summary")
    equal(sshd.count_logins(), 1, "logins")
    sshd.check_nothing_left()


@test
def a_capture_goes_through_a_jump_host(t):
    sshd, target = Sshd(t), t.target().serve()
    capture = t.start_capture(target, 200, "--ssh", "inner", prefix=sshd.prefix)
    target.ask("await 1", "burst 7")
    capture.finish()
    equal(capture.trace.count("burst"), 7, "spans")
    contains(capture.stderr, f" at inner:{target.port}\n", "the summary")
    equal(sshd.count_logins(), 2, "logins: at the jump host, and at the host behind it")
    # The ssh of the jump is started by ssh itself, and ends after it.
    wait_until(lambda: not sshd.find_clients(), "the ssh that jumps to end")
    sshd.check_nothing_left()


@test
def sessions_and_monitor_go_through_a_tunnel(t):
    sshd, target = Sshd(t), t.target().serve()

    def call(command, *options):
        words = [*sshd.prefix, PROFTAP, command, "--ssh", "gpu7", str(target.port), *options]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        equal(done.returncode, 0, f"exit status of {command}: {done.stderr!r}")
        return done
    contains(call("start").stderr, f"end it: proftap stop --ssh gpu7 localhost:{target.port}\n", "advice")
    target.ask("burst 7")
    for command, n in (("snapshot", 7), ("stop", 3)):
        path, = call(command, "--log_dir", t.dir / "logs", "--host_name", command).stdout.splitlines()
        equal(Trace(path).count("burst"), n, f"spans of {command}")
        target.ask("burst 3")
    equal(len(call("monitor", "100", "--count", "1").stdout.splitlines()), 1, "lines of monitor")
    sshd.check_nothing_left()


@test
def a_program_of_a_host_daemon_can_be_at_the_other_end(t):
    """Stock clients use names like PID.localhost, too. Neither ssh nor the machine at the other end looks them up."""
    sshd, host = Sshd(t), Host(t)
    targets = [start_target(t) for _ in range(2)]
    host.await_pids(*(target.pid for target in targets))
    capture = record(t, sshd, f"{targets[1].pid}.localhost:{host.port}", of=targets[1])
    capture.signal(signal.SIGINT)
    capture.finish()
    equal(capture.trace.count("burst"), 7, "spans")
    contains(capture.stderr, f"(pid {targets[1].pid}) at ", "the summary")


@test
def several_targets_share_a_tunnel(t):
    sshd, targets = Sshd(t), [t.target().serve() for _ in range(2)]
    capture = t.capture(f"{targets[0].port},127.0.0.1:{targets[1].port}", 20, "--ssh", "gpu7", "--json",
                        prefix=sshd.prefix)
    result = json.loads(capture.stdout)
    equal([file.rsplit("/", 1)[1] for file in result["files"]], [name_file(x.port) for x in targets], "files")
    equal([x["target"] for x in result["targets"]],
          [f"gpu7:{targets[0].port}", f"127.0.0.1:{targets[1].port}"], "targets")
    equal(sshd.count_logins(), 1, "logins")
    sshd.check_nothing_left()


@test
def a_private_socket_can_be_at_the_other_end(t):
    sshd, target = Sshd(t), t.target().serve()
    rows = json.loads(subprocess.run([PROFTAP, "list", "--json"], check=True, capture_output=True).stdout)
    path, = [row["socket"] for row in rows["targets"] if row["pid"] == target.pid]
    capture = t.capture(f"unix:{path}", 20, "--ssh", "gpu7", prefix=sshd.prefix)
    equal(capture.path.name, f"{socket.gethostname()}_target_{target.pid}.xplane.pb", "the file")
    contains(capture.stderr, f"at gpu7:{path}\n", "the summary")


@test
def an_interrupt_ends_the_recording_and_then_ssh(t):
    sshd, target = Sshd(t), t.target().serve()
    capture = record(t, sshd, target)
    # The signal goes to the whole group, as from timeout and service managers. The tunnel must
    # outlive it to bring the data.
    os.killpg(os.getpgid(capture.pid), signal.SIGTERM)
    capture.finish()
    equal(capture.trace.count("burst"), 7, "spans")
    sshd.check_nothing_left()


@test
def keys_of_a_terminal_do_not_reach_ssh(t):
    sshd, target = Sshd(t), t.target().serve()
    terminal = Terminal(t, target.port, 60000, "--ssh", "gpu7", prefix=sshd.environment)
    target.ask("await 1", "burst 7")
    os.write(terminal.fd, b"\x03")
    contains(terminal.finish(), "  spans 7 on 1 thread", "the screen")
    equal(terminal.code, 0, "exit status")
    sshd.check_nothing_left()


@test
def a_person_at_a_terminal_is_asked(t):
    sshd, target = Sshd(t), t.target().serve()
    (sshd.dir / "known").write_text("")
    terminal = Terminal(t, target.port, 20, "--ssh", "gpu7", prefix=sshd.environment)
    terminal.read(r"Are you sure you want to continue connecting")
    os.write(terminal.fd, b"yes\n")
    contains(terminal.finish(), f"_{target.port}.xplane.pb", "the screen")
    equal(terminal.code, 0, "exit status")


@test
def question_of_ssh_can_be_interrupted(t):
    sshd = Sshd(t)
    (sshd.dir / "known").write_text("")
    terminal = Terminal(t, 9999, 20, "--ssh", "gpu7", prefix=sshd.environment)
    terminal.read(r"Are you sure you want to continue connecting")
    os.write(terminal.fd, b"\x03")
    contains(terminal.finish(), "--ssh gpu7: interrupted: nothing was written", "the screen")
    equal(terminal.code, 130, "exit status")
    sshd.check_nothing_left()


@test
def ssh_does_not_outlive_a_client_that_is_killed(t):
    sshd, target = Sshd(t), t.target().serve()
    capture = record(t, sshd, target)
    equal(len(sshd.find_clients()), 1, "clients")
    capture.kill()
    wait_until(lambda: not sshd.find_clients(), "ssh to end")


@test
def the_end_of_ssh_is_reported(t):
    sshd, target = Sshd(t), t.target().serve()
    capture = record(t, sshd, target)
    os.kill(sshd.find_clients()[0], signal.SIGKILL)
    capture.finish(1)
    contains(capture.stderr, f"gpu7:{target.port}: the connection broke after ", "standard error")
    contains(capture.stderr, " ms: the target, its server or ssh died; nothing was written", "standard error")
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")
    sshd.check_nothing_left()


@test
def a_master_connection_is_used_and_left_as_it_was(t):
    sshd, target = Sshd(t), t.target().serve()
    sshd.run("-f", "-N", "-o", "ControlMaster=yes", "-o", "BatchMode=yes", "gpu7")
    master, = sshd.find_clients()
    t.at_end.append(lambda: os.kill(master, signal.SIGTERM))
    capture = t.capture(target, 20, "--ssh", "gpu7", prefix=sshd.prefix)
    equal(capture.path.name, name_file(target.port), "the file")
    equal(sshd.count_logins(), 1, "logins")
    equal(sshd.find_clients(), [master], "clients")
    with open("/proc/net/unix", encoding="ascii") as sockets:
        left = [line for line in sockets if "proftap-ssh-" in line and str(sshd.tmp) in line]
    equal(left, [], "sockets that the master still listens on")
    equal(os.listdir(sshd.tmp), [], "remaining files in the temporary directory")


# Failures.

def fail(t, sshd, port, code, prefix=None):
    capture = t.capture(port, 20, "--ssh", "gpu7", code=code, prefix=prefix or sshd.prefix)
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")
    sshd.check_nothing_left()
    return capture.stderr


@test
def a_tunnel_to_nowhere_is_reported(t):
    port = free_port()
    said = fail(t, Sshd(t), port, 5)
    contains(said, f"gpu7:{port}: ssh connected, and the connection was closed at once: no profiler server "
             f"there (start one with proftap run -p {port} -- PROGRAM)", "standard error")


@test
def something_else_at_the_other_end_is_reported(t):
    sshd = Sshd(t)
    contains(fail(t, sshd, sshd.port, 5), f"gpu7:{sshd.port}: something else listens on that port: it said "
             '"SSH-2.0-', "standard error")


@test
def an_unknown_host_key_is_reported(t):
    sshd = Sshd(t)
    (sshd.dir / "known").write_text("")
    contains(fail(t, sshd, 9999, 1), "--ssh gpu7: ssh failed: Host key verification failed.; connect once by "
             "plain ssh", "standard error")


@test
def a_password_without_a_terminal_is_reported(t):
    sshd = Sshd(t)
    (sshd.dir / "authorized").write_text("")
    said = fail(t, sshd, 9999, 1)
    contains(said, "--ssh gpu7: ssh failed: ", "standard error")
    contains(said, "Permission denied (", "standard error")
    contains(said, "without a terminal, ssh cannot ask for a password", "standard error")


@test
def a_host_without_ssh_is_reported(t):
    sshd = Sshd(t)
    sshd.process.kill()
    contains(fail(t, sshd, 9999, 5), "Connection refused; there is no ssh server", "standard error")


@test
def a_machine_without_ssh_is_reported(t):
    sshd = Sshd(t)
    prefix = ["/usr/bin/env", "PATH=/nonexistent", f"TMPDIR={sshd.tmp}"]
    contains(fail(t, sshd, 9999, 1, prefix), "--ssh gpu7: there is no ssh: install the OpenSSH client",
             "standard error")


@test
def bad_destination_is_wrong_usage(t):
    for words, sentence in (
            ((9999, 20, "--ssh", "-oProxyCommand=x"), '--ssh: bad destination "-oProxyCommand=x"'),
            ((9999, 20, "--ssh", ""), '--ssh: bad destination ""')):
        contains(t.capture(*words, code=2).stderr, sentence, "standard error")


@test
def lists_pids_and_names_refer_to_the_other_machine(t):
    """The client's side has no servers, because its runtime directory is another one."""
    sshd, name = Sshd(t), f"lone-{os.getpid()}"
    (t.dir / name).symlink_to(TARGET)
    # The words of its command line must not be taken for columns of the list.
    target = t.keep(Target(runtime(t), "1:2", (t.dir / name, " ended "))).serve()
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(t.dir)}

    def proftap(*words, code=0):
        done = subprocess.run([*sshd.prefix, PROFTAP, *words], env=environment, capture_output=True, text=True,
                              timeout=60)
        equal(done.returncode, code, f"exit status of {words}: {done.stderr}")
        return done

    rows = {row["pid"]: row for row in json.loads(proftap("list", "--ssh", "gpu7", "--json").stdout)["targets"]}
    equal(rows[target.pid]["port"], target.port, "the port")
    contains(proftap("list", "--ssh", "gpu7").stdout, f"{target.pid}  {name} ", "the table")
    target.send("await 1", "burst 7")
    done = proftap("capture", "--ssh", "gpu7", name, "500", "--log_dir", t.dir / "logs")
    contains(done.stderr, f" ms of {name} (pid {target.pid}) at gpu7:{target.port}\n", "the summary")
    equal(Trace(done.stdout.split()[-1]).count("burst"), 7, "spans")
    contains(proftap("capture", "--ssh", "gpu7", "nobody", "50", code=5).stderr,
             "nobody: no target of that name or pid at gpu7; proftap list --ssh", "a name that nobody has")
    contains(proftap("list", "--ssh", "-v", code=2).stderr, "bad destination", "an option of ssh's")


@test
def a_session_without_a_runtime_directory_sees_programs_that_have_one(t):
    name = f"placed-{os.getpid()}"
    target = named(t, name)

    def find(sshd):
        done = subprocess.run([*sshd.prefix, PROFTAP, "list", "--ssh", "gpu7", "--json"], check=True, capture_output=True, text=True)
        return [row["socket"] for row in json.loads(done.stdout)["targets"] if row["pid"] == target.pid]

    sshd = Sshd(t, runtime="")
    equal(find(sshd), [f"{t.dir}/runtime/proftap/{target.pid}.sock"], "the program's sockets")
    target.send("await 1", "burst 7")
    done = subprocess.run([*sshd.prefix, PROFTAP, "capture", "--ssh", "gpu7", name, "500", "--log_dir", t.dir / "logs"],
                          check=True, capture_output=True, text=True)
    equal(Trace(done.stdout.split()[-1]).count("burst"), 7, "spans")
    # If the sessions of sshd have a runtime directory of their own, servers are searched there.
    shutil.rmtree(sshd.dir)
    equal(find(Sshd(t, runtime=str(t.dir))), [], "sockets from another runtime directory")


PORT_OF_NOBODY = 1  # tcpmux, which nothing serves
PID_OF_NOBODY = 1 << 22  # the kernel gives none above the one before


@test
def a_number_can_be_a_pid_of_the_other_machine(t):
    """A pid may be small enough for a port, or stand beside a real port, in every command with --ssh."""
    sshd, target, other = Sshd(t), named(t, "two words"), t.target().serve()
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(t.dir)}

    def proftap(*words, code=0):
        done = subprocess.run([*sshd.prefix, PROFTAP, *map(str, words)], env=environment, capture_output=True,
                              text=True, timeout=60)
        equal(done.returncode, code, f"exit status of {words}: {done.stderr}")
        sshd.check_nothing_left()
        return done

    target.send("await 1", "burst 7")
    done = proftap("capture", "--ssh", "gpu7", f"{target.pid},{other.port}", 500, "--log_dir", t.dir / "logs")
    contains(done.stderr, f"gpu7:{target.port}: 500 ms of two words (pid {target.pid}) ", "the summary of the pid")
    contains(done.stderr, f"gpu7:{other.port}: 500 ms of target (pid {other.pid}) ", "the summary of the port")
    equal(sorted(Trace(path).count("burst") for path in done.stdout.splitlines()), [0, 7], "spans")
    equal(len(proftap("monitor", "--ssh", "gpu7", target.pid, 100, "--count", 1).stdout.splitlines()), 1, "lines")
    # A number that is no target there is a port on which nobody listens, if it is small enough.
    for number, said in ((PORT_OF_NOBODY, f"gpu7:{PORT_OF_NOBODY}: ssh connected, and the connection was closed at once: no profiler server there"),
                         (PID_OF_NOBODY, f"{PID_OF_NOBODY}: no target of that name or pid at gpu7; proftap list --ssh shows its targets")):
        contains(proftap("capture", "--ssh", "gpu7", number, 50, code=5).stderr, said, "a pid of no target")


@test
def open_spans_are_read_through_a_tunnel(t):
    """The target is named by pid, name and port. Its recorder's last data goes to a
    directory, so no process remains."""
    sshd, name = Sshd(t), f"hung-{os.getpid()}"
    target = named(t, name, 0, 65536, 0, "127.0.0.1", 0, 0, t.dir / "held", PROFTAP_RECORDER="1")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(t.dir)}
    tid = int(target.ask("hang stuck"))
    for word in (target.pid, name, target.port):
        done = subprocess.run([*sshd.prefix, PROFTAP, "ps", "--ssh", "gpu7", str(word), "--json"], env=environment,
                              capture_output=True, text=True, timeout=60)
        equal(done.returncode, 0, f"exit status of ps {word}: {done.stderr}")
        answer, = json.loads(done.stdout)["targets"]
        equal(answer["processes"][0]["pid"], target.pid, f"the program of {word}")
        thread, = [x for x in answer["processes"][0]["threads"] if x["tid"] == tid]
        equal([span["name"] for span in thread["spans"]], ["serve", "lock"], f"the spans of {word}")
        sshd.check_nothing_left()


@test
def newest_and_all_select_among_equal_names_over_ssh(t):
    sshd, name = Sshd(t), f"twin-{os.getpid()}"
    older = named(t, name)
    newer = t.keep(Target(runtime(t), t.dir / name)).serve()
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(t.dir)}

    def capture(*words, code=0):
        done = subprocess.run([*sshd.prefix, PROFTAP, "capture", "--ssh", "gpu7", *words, name, "50", "--log_dir", t.dir / "logs"],
                              env=environment, capture_output=True, text=True, timeout=60)
        equal(done.returncode, code, f"exit status of {words}: {done.stderr}")
        return done

    contains(capture(code=2).stderr, f"{name}: more than one target has that name at gpu7", "without a choice")
    equal(len(capture("--all").stdout.splitlines()), 2, "files of --all")
    contains(capture("--all", "--host_name", "one", code=2).stderr, "--host_name: 1 names for 2 targets", "one name for both")
    # The list shows times in seconds: if both programs began in the same second, neither is the newest.
    rows = subprocess.run([*sshd.prefix, PROFTAP, "list", "--ssh", "gpu7"], env=environment, capture_output=True, text=True,
                          check=True).stdout
    since = [re.search(rf"^ *{target.pid} .* (\d\d:\d\d:\d\d) ", rows, re.M)[1] for target in (older, newer)]
    if since[0] != since[1]:
        contains(capture("--newest").stderr, f"(pid {newer.pid})", "the newest")
    else:
        contains(capture("--newest", code=2).stderr, "more than one target has that name at gpu7",
                 "two programs that began in the same second")


run()
