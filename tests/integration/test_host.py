#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the host daemon: the servers of programs announce them, and they are listed as long as they live."""
import array
import os
import signal
import socket
from pathlib import Path

from checks import contains
from fixture import (NOBODY, check, equal, find_proftapd, need_namespaces, need_readable_tree, need_root, run, test)
from hosts import Host, registry_path, runtime, start_target
from processes import PROFTAPD, Process, Target

WORD = b"PROFTAP PROGRAM 1\n"


@test
def programs_are_listed_while_they_live(t):
    host = Host(t)
    first, second = start_target(t), start_target(t)
    host.await_pids(first.pid, second.pid)
    row = host.list()[first.pid]
    equal((row["name"], row["address"], row["port"], row["uid"], row["state"]),
          ("target", "127.0.0.1", first.port, os.geteuid(), "idle"), "the row")
    first.kill()
    host.await_pids(second.pid)


@test
def the_list_tells_whether_a_program_is_recorded(t):
    host = Host(t)
    target = start_target(t)
    host.await_pids(target.pid)
    capture = t.begin(target)
    equal(host.list()[target.pid]["state"], "recording", "while it is recorded")
    target.ask("burst 10")
    t.stop(target, capture)
    equal(host.list()[target.pid]["state"], "idle", "afterwards")


@test
def a_later_daemon_finds_running_programs(t):
    target = start_target(t)
    host = Host(t)
    host.await_pids(target.pid)
    equal(host.end(), 0, "the daemon's end by SIGTERM")
    check(not registry_path(t).exists(), "the daemon left its socket")
    Host(t).await_pids(target.pid)


@test
def a_new_daemon_finds_the_programs_of_a_killed_one(t):
    target = start_target(t)
    host = Host(t)
    host.await_pids(target.pid)
    host.end(signal.SIGKILL)
    check(registry_path(t).exists(), "the killed daemon's socket is gone")
    again = Host(t, port=host.port)
    again.await_pids(target.pid)
    equal(target.ask("port"), str(target.port), "the program goes on")


@test
def a_directory_that_comes_later_is_seen(t):
    """The directory is /run/proftap, which an ordinary user's server cannot make. The target has a /run of its own."""
    need_namespaces("-m")
    need_readable_tree()
    target = t.keep(Target({"XDG_RUNTIME_DIR": ""}, prefix=[
        "unshare", "-m", "sh", "-c", f"mount -t tmpfs -o mode=755 none /run && exec setpriv --reuid={NOBODY} "
        f"--regid={NOBODY} --clear-groups \"$@\"", "sh"])).serve()
    folder = Path(f"/proc/{target.pid}/root/run/proftap")
    check(not folder.exists(), "/run/proftap exists already")
    folder.mkdir(mode=0o755)
    host = Host(t, "--registry", folder / "registry.sock")
    host.await_pids(target.pid)


@test
def two_daemons_at_a_time_are_refused(t):
    host = Host(t)
    second = t.keep(Process("second", [PROFTAPD, "--host", "--config", "/dev/null", "--listen",
                                       f"127.0.0.1:{host.port}", "--registry", registry_path(t)]))
    equal(second.wait(), 1, "exit status of the second daemon")
    for thread in second.threads:
        thread.join()
    contains("".join(second.err), "in use: is there a host daemon already?", "message of the second daemon")
    target = start_target(t)
    host.await_pids(target.pid)


@test
def programs_are_hidden_from_other_users(t):
    need_root()
    host = Host(t, "--operators", "")
    target = start_target(t)
    host.await_pids(target.pid)
    equal(host.list(user=NOBODY), {}, "root's programs that another user sees")


def announce(t, text, pidfd=None):
    """Returns whether the daemon keeps the connection of a client that sends |text|."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(str(registry_path(t)))
        fds = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pidfd]))] if pidfd else []
        s.sendmsg([text], fds)
        s.settimeout(1)
        try:
            return s.recv(100) != b""
        except TimeoutError:
            return True


@test
def a_false_announcement_is_disconnected(t):
    host = Host(t)
    check(not announce(t, WORD + b"pid 1\nname init\n"), "a pid without a descriptor was believed")
    check(not announce(t, b"GET / HTTP/1.1\r\n\r\n"), "another protocol was believed")
    check(not announce(t, WORD + b"no pid\n", os.pidfd_open(os.getpid())), "a status without a pid was believed")
    with open("/dev/null", "rb") as file:
        check(not announce(t, WORD + b"pid 1\n", file.fileno()), "a descriptor that is no pidfd was believed")
    equal(host.list(), {}, "the list")


@test
def the_pid_of_a_program_comes_from_its_pidfd(t):
    host = Host(t)
    pidfd = os.pidfd_open(os.getpid())
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(str(registry_path(t)))
        s.sendmsg([WORD + b"pid 1\nname init\x1b[31m\n"],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pidfd]))])
        host.await_pids(os.getpid())
        row = host.list()[os.getpid()]
        equal(row["name"], "init?[31m", "the name")
    host.await_pids()


@test
def a_program_of_another_user_is_not_announced_by_others(t):
    need_root()
    Host(t)
    registry_path(t).parent.parent.chmod(0o755)
    code = ("import array, os, socket, sys\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "s.connect(sys.argv[1])\n"
            "s.sendmsg([b'PROFTAP PROGRAM 1\\npid 1\\n'],\n"
            "    [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [os.pidfd_open(int(sys.argv[2]))]))])\n"
            "s.settimeout(5)\n"
            "print('kept' if s.recv(10) else 'hung up')\n")
    liar = t.keep(Process("liar", ["/usr/bin/python3", "-c", code, registry_path(t), os.getpid()], user=NOBODY))
    equal(liar.read_line(), "hung up", "nobody's word about root's program")


# Listens at the path of its first argument as the user of the second, whom the kernel then reports to peers.
LISTENER = """
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
os.seteuid(int(sys.argv[2]))
s.listen(8)
print("ready", flush=True)
while True:
    c = s.accept()[0]
    c.settimeout(20)
    print(c.recv(100)[:15], flush=True)
"""


@test
def programs_announce_nothing_to_another_users_daemon(t):
    need_root()
    runtime(t)
    for user, heard in ((NOBODY, b""), (0, WORD[:15])):
        listener = t.keep(Process("listener", ["/usr/bin/python3", "-c", LISTENER, registry_path(t), user]))
        listener.read_line()
        target = start_target(t)
        equal(listener.read_line(), str(heard), f"answer to uid {user} about a program of root's")
        target.kill()
        listener.kill()
        listener.wait()
        registry_path(t).unlink()


@test
def a_silent_client_is_disconnected(t):
    Host(t)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(str(registry_path(t)))
        s.settimeout(20)
        equal(s.recv(10), b"", "end of the silent client's connection")


@test
def a_stopped_server_is_listed_all_the_same(t):
    host = Host(t)
    target = start_target(t)
    host.await_pids(target.pid)
    server = find_proftapd(target.pid)
    os.kill(server, signal.SIGSTOP)
    equal(sorted(host.list()), [target.pid], "while its server is stopped")
    os.kill(server, signal.SIGCONT)


if __name__ == "__main__":
    run()
