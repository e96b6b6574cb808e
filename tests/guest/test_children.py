#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that make processes, wait for them and execute themselves, and one in a storm of signals."""
import socket
import subprocess
import time
from pathlib import Path

from host import SANITIZERS, Failure, Skip, equal, free_port, host, need_no_tsan, run, test, wait_until

for how in ("handler", "ignore", "nocldwait", "wall"):
    host("reap", how, spans={"child": 5}, title=f"reap {how}")
# A forked child is not recorded. A vfork child is, as its parent's thread; but ThreadSanitizer turns vfork into fork.
host("children", code=7,
     spans={"in a fork": 0, "in a bare fork": 0, "around vfork": 1, "left open": 0,
            "work": 1 if SANITIZERS == "thread" else 2})
host("again", code=3, spans={"generation": 4}, GUEST_PORT=str(free_port()))
host("storm")
host("brief", code=6, spans={"alone": 1},
     needs=[lambda: need_no_tsan("knows no thread that joins the first one: CHECK failed, tid < kMaxTid")])

REBIND_S = 0.2  # lib/control/launch.c


def is_asleep(pid):
    """Returns true if the main thread sleeps. In a start it only sleeps between two attempts to bind the port."""
    return "nanosleep" in Path(f"/proc/{pid}/wchan").read_text()


def need_wchan():
    with subprocess.Popen(["sleep", "10"]) as sleeper:
        try:
            wait_until(lambda: is_asleep(sleeper.pid), "sleep to sleep", 3)
        except (Failure, OSError) as e:
            raise Skip("the kernel does not show where a process waits") from e
        finally:
            sleeper.kill()


@test
def a_port_that_is_just_being_closed_is_awaited(t):
    """A program that executes itself may be faster than its old server, so the start tries to bind for 200 ms. This test
    frees the port as soon as the start waits for its next attempt. If the test itself was too slow, it tries again."""
    need_wchan()
    target = t.target()
    port = free_port()
    for _ in range(10):
        with socket.create_server(("127.0.0.1", port)):
            began = time.monotonic()
            target.send(f"start {port}")
            wait_until(lambda: is_asleep(target.pid) or time.monotonic() > began + REBIND_S, "the wait for the next try")
        held_s = time.monotonic() - began
        result = target.read_line().split()[0]
        if held_s < REBIND_S / 2:
            equal(result, "0", f"ptap_server_start, the port being free after {held_s:.3f} s")
            return
        if result == "0":
            equal(target.ask("stop"), "0", "ptap_server_stop")
    raise Failure("no start was seen to wait for the port")


run()
