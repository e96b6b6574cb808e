# SPDX-License-Identifier: Apache-2.0
"""Faults for a host daemon, checks that it is as before, and sockets that announce programs which do not exist."""
import array
import contextlib
import glob
import os
import socket

from checks import check, equal, wait_until
from fixture import SANITIZERS, SESSION, read_fds, read_status
from hosts import Host, registry_path, start_target
from processes import TOP_BUILD, Process

WORD = b"PROFTAP PROGRAM 1\n"
LONG_MS = 60000
# Memory that the daemon's allocator may keep; a leaked connection would take more.
SLACK_KIB = 24 << 10
# Threads of gRPC's that come and go.
SLACK_THREADS = 3

BRIEF = TOP_BUILD / "tests" / "programs" / "brief"


def start_short_lives(t, n, per_second):
    """Starts |n| programs, each of which announces itself and ends."""
    return t.keep(Process("short lives", [BRIEF, registry_path(t), n, per_second]))


def announce(t, text=b"pid 1\nname mute\n"):
    """Announces this process as a program, and returns the connection."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(str(registry_path(t)))
    pidfd = os.pidfd_open(os.getpid())
    with contextlib.suppress(ConnectionError):
        s.sendmsg([WORD + text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [pidfd]))])
    os.close(pidfd)
    return s


def capture(t, host, target):
    """Makes an ordinary capture of seven spans, through the daemon."""
    begun = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "-o", f"session_id={SESSION}", "--target", target.pid,
                            "--attempts", "5")
    target.ask("await 1", "burst 7")
    equal(t.stop(target, begun).trace.count("burst"), 7, "spans of an ordinary capture")


def count_errands(pid):
    """Counts the calls that have a thread."""
    n = 0
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            n += file.read() == "ptap-errand\n"
    return n


def is_measured(host, pid):
    """Returns whether the daemon has the files of the program's usage open."""
    files = []
    for fd in read_fds(host.pid):
        with contextlib.suppress(OSError):
            files.append(os.readlink(f"/proc/{host.pid}/fd/{fd}"))
    return f"/proc/{pid}/stat" in files


def await_measured(host, target):
    """Waits until the daemon has opened the files of the program's usage, which it does at its next sample."""
    wait_until(lambda: is_measured(host, target.pid), "the program's usage to be measured")


def measure(host):
    status = read_status(host.pid)
    return len(read_fds(host.pid)), int(status["Threads"]), int(status["RssAnon"].split()[0])


def is_as(host, before):
    fds, threads, kib = measure(host)
    return fds <= before[0] and threads <= before[1] + SLACK_THREADS and \
        (SANITIZERS != "no" or kib <= before[2] + SLACK_KIB)


def await_as(host, before, patience_s=20):
    wait_until(lambda: is_as(host, before), f"descriptors, threads, KiB to be {before} again", patience_s)


@contextlib.contextmanager
def unharmed(t, *options, prefix=(), patience_s=20):
    """Yields (host, target) that have served before. Afterwards an ordinary capture works, and
    resources are as before."""
    host = Host(t, *options, prefix=prefix)
    target = start_target(t)
    host.await_pids(target.pid)
    capture(t, host, target)
    await_measured(host, target)
    before = measure(host)
    yield host, target
    check(host.popen.poll() is None, f"the daemon has ended: {host.popen.poll()}")
    capture(t, host, target)
    host.await_pids(target.pid)
    await_as(host, before, patience_s)
