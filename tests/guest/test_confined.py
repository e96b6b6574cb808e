#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts in confinement: everything that is still possible works, and a sentence explains the rest."""
from host import NO_LEAK_CHECK, host, need_namespaces, need_no_tsan, need_root, run

FIRST = "Start the server before the sandbox"
NO_EXEC = ("cannot be executed: operation not permitted; is that forbidden here "
           f"(seccomp, AppArmor)? {FIRST}")
KILLED = ("ended before it was ready; is executing it forbidden here (seccomp, AppArmor)? "
          f"{FIRST}")
NO_CLONE = ("cannot start a process: operation not permitted; is that forbidden here (seccomp)? "
            f"{FIRST}")
ADOPTS = "would inherit the server as a child; start the program under an init"
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


def need_pid_namespace():
    need_namespaces(*NAMESPACE[1:])


host("confined", "before", "nothing", spans={"view": 1}, title="unconfined")
host("confined", "before", "nothing", title="the first of a pid namespace", command=NAMESPACE,
     fails=f"PID 1 of its namespace and {ADOPTS}", modes=("off", "armed"), needs=[need_pid_namespace])
host("confined", "before", "subreaper", title="a subreaper", modes=("off", "armed"),
     fails=f"a child subreaper and {ADOPTS}")
host("confined", "before", "unshare", title="a pid namespace for its children",
     modes=("off", "armed"), needs=[need_pid_namespace],
     fails="called unshare(CLONE_NEWPID), and its next child becomes PID 1 there; start the server before",
     **NO_LEAK_CHECK)
host("confined", "before", "no_new_privs", title="no_new_privs", spans={"view": 1})
host("confined", "before", "chroot", title="chroot before the start", needs=[need_root],
     fails="in a chroot, start the server before entering it", modes=("off", "armed"),
     **NO_LEAK_CHECK)
host("confined", "after", "chroot", title="chroot after the start", needs=[need_root],
     spans={"view": 1}, **NO_LEAK_CHECK)
host("confined", "after", "uid", title="uid dropped after the start", needs=[need_root],
     spans={"view": 1})


def need_one_thread():
    need_no_tsan("has a thread of its own in forked children: they do not end with the thread that is killed")


# Requirements of a filter that kills only the calling thread.
NEEDS = {("execve", "thread"): [need_one_thread]}

for action, sentence in (("errno", NO_EXEC), ("trap", KILLED), ("thread", KILLED),
                         ("process", KILLED)):
    host("seccomp", "before", "execve", action, title=f"seccomp execve {action}", fails=sentence,
         modes=("off", "armed"), needs=NEEDS.get(("execve", action), ()))
for action in ("errno", "trap"):
    host("seccomp", "before", "clone", action, title=f"seccomp clone {action}", fails=NO_CLONE,
         modes=("off", "armed"), **NO_LEAK_CHECK)
# A filter that the host sets while the server runs does not affect the server.
for what in ("execve", "clone"):
    for action in ("errno", "trap", "thread", "process"):
        host("seccomp", "after", what, action, title=f"seccomp {what} {action} after the start",
             spans={"work": 1}, modes=("recording",), needs=NEEDS.get((what, action), ()),
             **NO_LEAK_CHECK)

run()
