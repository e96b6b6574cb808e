#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that make, wait for and become processes, and one in a storm of signals."""
import socket
import time

from host import SANITIZERS, Failure, free_port, host, need_no_tsan, run, test

for how in ("handler", "ignore", "nocldwait", "wall"):
    host("reap", how, spans={"child": 5}, title=f"reap {how}")
# What a fork records is its own; a vfork child is its parent's thread, but ThreadSanitizer makes a fork of it.
host("children", code=7,
     spans={"in a fork": 0, "in a bare fork": 0, "around vfork": 1, "left open": 0,
            "work": 1 if SANITIZERS == "thread" else 2})
host("again", code=3, spans={"generation": 4}, GUEST_PORT=str(free_port()))
host("storm")
host("brief", code=6, spans={"alone": 1},
     needs=[lambda: need_no_tsan("knows no thread that joins the first one: CHECK failed, tid < kMaxTid")])


@test
def a_port_that_is_just_being_closed_is_awaited(t):
    """A program that becomes itself may be faster than its old server: the start tries for 50 ms."""
    target = t.target()
    port = free_port()
    for _ in range(10):
        with socket.create_server(("127.0.0.1", port)):
            target.send(f"start {port}")
            time.sleep(0.03)
        if target.read_line().split()[0] == "0":
            return
    raise Failure("every start failed, though the port was free after 30 ms")


run()
