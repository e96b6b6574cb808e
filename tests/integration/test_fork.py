#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a target that forks in mid-capture: the child records and holds nothing, and can have a server of its own."""
import os
import signal

from fixture import check, equal, is_alive, run, test, wait_until
from processes import free_port


def fork(t, target, n):
    """Forks, and returns the child's pid, its first answer, and the (result, port) of its own server."""
    target.send(f"fork {n}")
    pid, port, enabled = map(int, target.read_line().split())
    t.at_end.append(lambda: is_alive(pid) and os.kill(pid, signal.SIGKILL))
    again, result, own_port = map(int, target.read_line().split())
    equal(again, pid, "pid of the child")
    return pid, (port, enabled), (result, own_port)


def describe_fds(pid):
    path = f"/proc/{pid}/fd"
    return {fd: os.readlink(f"{path}/{fd}") for fd in sorted(os.listdir(path), key=int)}


@test
def the_child_records_nothing_and_the_parent_all(t):
    target = t.target().serve()
    capture = t.begin(target)
    target.ask("cycle 100")
    _, first, _ = fork(t, target, 1000)
    target.ask("cycle 100")
    equal(first, (0, 0), "the child's ptap_server_port() and ptap_enabled(1)")
    trace = t.stop(target, capture).trace
    equal({line.id: dict(line.count()) for line in trace.lines},
          {target.pid: {"cycle": 200, "turn": 200}}, "events by thread")
    equal(trace.host_stat("dropped_traces"), 0, "dropped")


@test
def the_child_holds_no_descriptor_of_ours(t):
    target = t.target().serve()
    capture = t.begin(target)
    before = describe_fds(target.pid)
    pid, _, _ = fork(t, target, 1)
    equal(describe_fds(pid), before, "descriptors of the child")
    equal(sorted(before), ["0", "1", "2"], f"descriptors of the parent, {before}")
    t.stop(target, capture)


@test
def the_child_can_serve_by_itself(t):
    target = t.target().serve()
    capture = t.begin(target)
    pid, _, (result, port) = fork(t, target, 10)
    equal(result, 0, "the child's ptap_server_start()")
    check(port not in (0, target.port), f"the child's port {port}, the parent's {target.port}")
    trace = t.capture(port, 200).trace
    equal(trace.host_stat("process_id"), pid, "process_id")
    equal(set(trace.thread(pid).count()), {"born"}, "events of the child")
    check(trace.count("born") >= 10, f"the child's spans: {trace.count('born')}")
    target.ask("burst 3")
    equal(t.stop(target, capture).trace.count("burst"), 3, "spans of the parent")


@test
def the_port_is_free_after_the_parent_though_the_child_lives(t):
    target = t.target().serve(free_port())
    capture = t.record(target, 10000)
    pid, _, _ = fork(t, target, 10)
    heir = t.target()
    target.signal(signal.SIGKILL)
    target.wait()
    equal(heir.start(target.port), 0, f"start on the same port: {heir.ask('error')}")
    check(is_alive(pid), "the child has ended")
    wait_until(lambda: capture.popen.poll() is not None, "the capture to end", 10)
    capture.finish()


run()
