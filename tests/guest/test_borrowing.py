#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that cannot start a server, and get one from a host daemon. It must disturb them no more than their own."""
from host import CAPTURE_MS, NO_LEAK_CHECK, Host, check_mode, equal, need_namespaces, need_no_tsan, run, test, timed
from hosts import Host as Daemon
from hosts import runtime

NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


# exec() does not end the role of a subreaper.
SUBREAPER = ("/usr/bin/python3", "-c", (
    "import ctypes, os, sys\n"
    "PR_SET_CHILD_SUBREAPER = 36\n"
    "ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n"))


def lent(name, *args, title=None, spans=None, modes=("armed", "recording"), needs=(), code=0, **how):
    """Like host(), for a program whose server a daemon lends."""
    for mode in modes:
        def one(t, mode=mode):
            for need in needs:
                need()
            Daemon(t)
            check_mode(t, mode, name, args, spans, None, code, {**runtime(t), **how})
        one.__name__ = f"{title or name} {mode}"
        timed(one)


def first(name, *args, **how):
    """Registers the same tests for a host that is PID 1 of a namespace."""
    lent(name, *args, command=NAMESPACE, title=f"{name} {args[-1]} as the first of a pid namespace",
         needs=[lambda: need_namespaces(*NAMESPACE[1:])], **how)


def need_one_thread():
    need_no_tsan("has a thread of its own in forked children: they do not end with the thread that is killed")


lent("confined", "before", "subreaper", title="a subreaper", spans={"view": 1})
for action in ("errno", "trap", "thread", "process"):
    lent("seccomp", "before", "execve", action, title=f"seccomp execve {action}", spans={"work": 1},
         needs=[need_one_thread] if action == "thread" else ())
first("confined", "before", "nothing", spans={"view": 1})
first("numbers", "100", modes=("armed",))
first("numbers", "3", modes=("recording",), spans={"numbers": 2})
first("full", "0", spans={"full": 1}, **NO_LEAK_CHECK)
first("full", "2", modes=("armed",), **NO_LEAK_CHECK)
for how in ("handler", "ignore", "nocldwait", "wall"):
    lent("reap", how, spans={"child": 5}, title=f"reap {how} as a subreaper", command=SUBREAPER)
lent("children", code=7, spans={"in a fork": 0, "around vfork": 1, "left open": 0}, command=SUBREAPER)
lent("storm", modes=("armed",), command=SUBREAPER)
lent("emulated", spans={"numbers": 1}, command=SUBREAPER)


@test
def program_asks_itself_if_clone_is_fork(t):
    """Under valgrind clone acts like fork, too: the child has another process as its parent."""
    daemon = Daemon(t)
    process = Host(t, "emulated", "recording", command=SUBREAPER, **runtime(t))
    start = process.await_start()
    daemon.await_pids(start.pid)
    t.capture(start, CAPTURE_MS)
    equal(process.behaviour()[0], 0, "its exit status")


run()
