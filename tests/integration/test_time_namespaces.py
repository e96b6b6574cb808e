#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in time namespaces (unshare --time), whose CLOCK_MONOTONIC is their own: what they did is recorded when it was, and so is what the
machine used meanwhile."""
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
# Unix time is compared with CLOCK_MONOTONIC once, at the beginning.
NEAR_NS = 10**6
NO_EXEC = "sandbox errno execve execveat"


def need_counter_to_forbid():
    need_no_sanitizer("read the counter themselves, by way of the kernel's clock")
    if platform.machine() != "x86_64":
        raise Skip("the processor's counter cannot be forbidden here")


def start_there(t, *commands, **env):
    """(a target there, its pid); before its server is started it obeys."""
    need_namespaces(*NAMESPACE[1:])
    target = t.keep(Target({**runtime(t), **env}, prefix=NAMESPACE))
    for command in commands:
        equal(target.ask(command), "0", command)
    return target.serve(), find_children(target.pid)[0]


def find_window(trace):
    """When it was recorded, Unix time in ns."""
    return [trace.environment[f"profile_{end}_time"].value for end in ("start", "stop")]


def record(t, host, target, pid):
    """A capture by the daemon, whose spans are of the time in which they were made, and the machine's counters of that of the recording."""
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
    """Its samples are a second apart, and the one before the recording, and the one behind it, stand at its ends."""
    check("/host:CPU machine" in trace.planes, f"planes: {sorted(trace.planes)}")
    begin, end = find_window(trace)
    at = [line.timestamp_ns + e.offset_ps // 1000 for line in trace.planes["/host:CPU machine"].lines for e in line.events]
    check(at and 0 <= min(at) and max(at) <= end - begin, f"counters from {min(at)} to {max(at)}, recorded for {end - begin} ns")


@test
def one_with_a_server_of_its_own(t):
    host = Host(t)
    target, pid = start_there(t)
    host.await_pids(pid)
    record(t, host, target, pid)


@test
def one_whose_server_is_lent(t):
    host = Host(t)
    target, pid = start_there(t, NO_EXEC)
    check_served(t, host, target, pid)
    record(t, host, target, pid)


@test
def one_whose_server_is_lent_and_that_has_no_counter(t):
    """The program writes times of its own clock into its rings then, and the server has another one."""
    need_counter_to_forbid()
    host = Host(t)
    target, pid = start_there(t, NO_EXEC, "forbid_counter")
    check_served(t, host, target, pid)
    record(t, host, target, pid)


@test
def a_device_of_one_whose_server_is_lent(t):
    """Collectors tell times in the program's clock, too."""
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
def a_daemon_that_is_in_one(t):
    need_namespaces(*NAMESPACE[1:])
    host = Host(t, prefix=NAMESPACE)
    target = t.keep(Target(runtime(t))).serve()
    host.await_pids(target.pid)
    record(t, host, target, target.pid)


@test
def times_of_a_capture_by_http_are_of_one_clock(t):
    """The program's server says when it began, in the time outside; the daemon has another."""
    need_namespaces(*NAMESPACE[1:])
    api = Api(t, prefix=NAMESPACE)
    capture = api.await_capture(api.capture(target=api.target().pid, duration_ms=50))
    times = [capture[f"{key}_unix_ms"] for key in ("created", "started", "ended")]
    equal(times, sorted(times), "times")


def fork_there(t, *commands):
    """(a program that follows its children, a child of which the clock is another)"""
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
def a_child_that_is_followed(t):
    target, child = fork_there(t)
    capture = t.capture(target, 500)
    equal(capture.warnings, [], "warnings")
    begin, end = find_window(capture.trace)
    jobs = capture.trace.process(child).thread(child).named("job")
    check(jobs and all(0 <= e.start_ps < 1000 * (end - begin) for e in jobs), "jobs beyond the capture")


@test
def a_child_that_cannot_be_followed(t):
    """Its records have another clock than its parent's, and one recording has one."""
    need_counter_to_forbid()
    target, child = fork_there(t, "forbid_counter")
    capture = t.capture(target, 500)
    contains("\n".join(capture.warnings), "forked children that could not be followed: 1 (in a time namespace of their own they have another clock",
             "warnings")
    equal(capture.trace.children, [], "planes of followed children")
    # It has its usage, like any descendant that is not recorded, and no events.
    seen = capture.trace.process(child)
    equal(seen.host_stats["ptap_descendant_of"].value, target.pid, "its ancestor")
    equal(set(seen.usage), {"process cpu %", "process rss MiB"}, "its usage")
    equal(seen.lines, [], "lines of what it did")


if __name__ == "__main__":
    run()
