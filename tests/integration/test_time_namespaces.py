#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests programs in time namespaces (unshare --time), which have a CLOCK_MONOTONIC of their own: the times of their
events, and those of the machine's counters, are right."""
import os
import platform
import signal
import time

from devices import Device, check_warnings, count_events
from fixture import Skip, check, contains, equal, need_namespaces, need_no_sanitizer, run, test
from hosts import Host, runtime
from lent import LONG_MS, check_served
from processes import Target, find_children
from web_api import Api

AHEAD_S = 100000
NAMESPACE = ("unshare", "--time", "--monotonic", str(AHEAD_S), "--fork", "--kill-child")
# The tolerance of spans' times, because Unix time is compared with CLOCK_MONOTONIC only once, at the beginning.
NEAR_NS = 10**6
NO_EXEC = "sandbox errno execve execveat"


def need_counter_to_forbid():
    need_no_sanitizer("read the counter themselves, by way of the kernel's clock")
    if platform.machine() != "x86_64":
        raise Skip("the processor's counter cannot be forbidden here")


def start_there(t, *commands, **env):
    """Returns (a target in such a namespace, its pid). It obeys |commands| before its server starts."""
    need_namespaces(*NAMESPACE[1:])
    target = t.keep(Target({**runtime(t), **env}, prefix=NAMESPACE))
    for command in commands:
        equal(target.ask(command), "0", command)
    return target.serve(), find_children(target.pid)[0]


def find_window(trace):
    """Returns the begin and the end of the recording, as Unix time in ns."""
    return [trace.environment[f"profile_{end}_time"].value for end in ("start", "stop")]


def record(t, host, target, pid):
    """Checks a capture by the daemon: the times of its spans and of the machine's counters lie in the recording."""
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", pid)
    target.ask("await 1")
    before = time.time_ns()
    target.ask("burst 7")
    after = time.time_ns()
    capture.signal(signal.SIGINT)
    trace = capture.finish().trace
    begin, _ = find_window(trace)
    times = [begin + e.start_ps // 1000 for line in trace.threads for e in line.named("burst")]
    equal(len(times), 7, "spans")
    check(before - NEAR_NS < min(times) and max(times) < after + NEAR_NS, f"spans at {times}, made from {before} to {after}")
    check_machine(trace)


def check_machine(trace):
    """Checks the samples, which are a second apart: the ones right before and after the
    recording are moved to its ends."""
    check("/host:CPU machine" in trace.planes, f"planes: {sorted(trace.planes)}")
    begin, end = find_window(trace)
    at = [line.timestamp_ns + e.offset_ps // 1000 for line in trace.planes["/host:CPU machine"].lines for e in line.events]
    check(at and 0 <= min(at) and max(at) <= end - begin, f"counters from {min(at)} to {max(at)}, recorded for {end - begin} ns")


@test
def times_are_right_with_a_server_of_its_own(t):
    host = Host(t)
    target, pid = start_there(t)
    host.await_pids(pid)
    record(t, host, target, pid)


@test
def times_are_right_with_a_lent_server(t):
    host = Host(t)
    target, pid = start_there(t, NO_EXEC)
    check_served(t, host, target, pid)
    record(t, host, target, pid)


@test
def times_are_right_with_a_lent_server_and_no_counter(t):
    """The program then writes times of its own clock into its rings, and the server has another clock."""
    need_counter_to_forbid()
    host = Host(t)
    target, pid = start_there(t, NO_EXEC, "forbid_counter")
    check_served(t, host, target, pid)
    record(t, host, target, pid)


@test
def times_of_a_device_are_right_with_a_lent_server(t):
    """Collectors report times of the program's clock, too."""
    host = Host(t)
    device = Device(t, info=1)
    target, pid = start_there(t, NO_EXEC, **device.env)
    host.await_pids(pid)
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", pid)
    target.ask("await 1", "launch 40 k")
    device.await_step("poll")
    capture.signal(signal.SIGINT)
    capture.finish()
    check_warnings(capture)
    equal(count_events(capture.trace, "k"), 40, "kernels")


@test
def times_are_right_with_a_daemon_in_the_namespace(t):
    need_namespaces(*NAMESPACE[1:])
    host = Host(t, prefix=NAMESPACE)
    target = t.keep(Target(runtime(t))).serve()
    host.await_pids(target.pid)
    record(t, host, target, target.pid)


@test
def times_of_a_capture_by_http_are_of_one_clock(t):
    """The program's server reports the start by the clock outside the namespace, and the daemon has another clock."""
    need_namespaces(*NAMESPACE[1:])
    api = Api(t, prefix=NAMESPACE)
    capture = api.await_capture(api.capture(target=api.target().pid, duration_ms=50))
    times = [capture[f"{key}_unix_ms"] for key in ("created", "started", "ended")]
    equal(times, sorted(times), "times")


def fork_there(t, *commands):
    """Returns (a program that follows its children, a child with another clock)."""
    need_namespaces(*NAMESPACE[1:])
    target = t.target(PROFTAP_FOLLOW_FORK="1")
    for command in commands:
        equal(target.ask(command), "0", command)
    target.serve()
    equal(target.ask(f"clock_for_children {AHEAD_S}"), "0", "a time namespace for its children")
    child = int(target.ask("prefork steady").split()[0])
    t.at_end.append(lambda: os.kill(child, signal.SIGKILL))
    return target, child


@test
def times_of_a_followed_child_are_right(t):
    target, child = fork_there(t)
    capture = t.capture(target, 500)
    equal(capture.warnings, [], "warnings")
    begin, end = find_window(capture.trace)
    jobs = capture.trace.process(child).thread(child).named("job")
    check(jobs and all(0 <= e.start_ps < 1000 * (end - begin) for e in jobs), "jobs beyond the capture")


@test
def a_child_with_another_clock_is_reported(t):
    """Its records have another clock than its parent's, and a recording has one clock."""
    need_counter_to_forbid()
    target, child = fork_there(t, "forbid_counter")
    capture = t.capture(target, 500)
    contains("\n".join(capture.warnings), "forked children that could not be followed: 1 (they are in another time namespace, where CLOCK_MONOTONIC differs",
             "warnings")
    equal(capture.trace.children, [], "planes of followed children")
    # The child has its usage, like any descendant that is not recorded, and no events.
    seen = capture.trace.process(child)
    equal(seen.host_stats["ptap_descendant_of"].value, target.pid, "its ancestor")
    equal(set(seen.usage), {"process cpu %", "process rss MiB"}, "its usage")
    equal(seen.lines, [], "lines of the child")


if __name__ == "__main__":
    run()
