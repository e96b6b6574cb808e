#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests devices in a session: each record of a collector is in exactly one part, with its launch
call where possible, however often and whenever parts are cut.
"""
import subprocess
from pathlib import Path

from calls import PROFILER, Calls, profile_request, trace_of
from devices import Device, check_gone, count_events, device_planes, find_device
from fixture import check, equal, run, schema, test, wait_until
from processes import PROFTAP
from trace_file import Trace, read_stats

MIB = 1 << 20
NS_PER_MS = 10**6


def ask(calls, name, request=None, reply="ContinuousProfilingResponse"):
    request = request or getattr(schema("profiler_service"), f"{name}Request")()
    return calls.expect(PROFILER + name, request, reply)


def begin_session(calls, host_tracer_level=2, **options):
    request = profile_request(2000, {"device_tracer_level": 1, "host_tracer_level": host_tracer_level})
    for key, value in options.items():
        request.opts.advanced_configuration[key].int64_value = value
    ask(calls, "StartContinuousProfiling", request)


def cut_part(calls):
    trace = trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse"))
    equal(trace.host_stat("dropped_traces"), 0, "dropped records")
    equal([w for w in trace.space.warnings if w.startswith("gpu: ")], [], "warnings of devices")
    return trace


def end_session(calls):
    ask(calls, "StopContinuousProfiling", reply="StopContinuousProfilingResponse")


def call(*words):
    return subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True, timeout=60, check=True)


def fetch(t, command, target):
    """Returns the trace that proftap snapshot or stop wrote."""
    done = call(command, target.port, "--log_dir", t.dir / "logs")
    return Trace(Path(done.stdout.rstrip("\n")))


def read_kernels(trace, name):
    """Returns (number, start in Unix ns, duration in ns, the span around its call) of each kernel
    of that name.
    """
    origin = trace.environment["profile_start_time"].value
    found = []
    for plane in device_planes(trace):
        for line in plane.lines:
            for event in line.events:
                if plane.event_metadata[event.metadata_id].name != name:
                    continue
                stats = read_stats(plane, event.stats)
                start_ns = origin + line.timestamp_ns + event.offset_ps // 1000
                found.append((stats["correlation_id"].value, start_ns, event.duration_ps // 1000,
                              stats["tf_op"].value if "tf_op" in stats else None))
    return found


def read_calls(trace):
    """Returns {number: (start, end) in Unix ns} of the launch calls."""
    origin = trace.environment["profile_start_time"].value
    return {e.stats["correlation_id"].value: (origin + e.start_ps // 1000, origin + (e.start_ps + e.duration_ps) // 1000)
            for line in trace.threads for e in line.named("fakeLaunch")}


@test
def each_part_of_a_session_has_its_devices(t):
    """The collector declares names of devices and their clock only at its start; each part has a
    copy.
    """
    device = Device(t, info=1, clock_ns=10**9)
    target = device.target(t)
    traces = []
    with Calls(target) as calls:
        begin_session(calls)
        for _ in range(3):
            equal(target.ask("launch 20 k"), "20", "launches that were recorded")
            device.await_step("poll", device.count("poll") + 2)
            traces.append(cut_part(calls))
        end_session(calls)
    for number, trace in enumerate(traces):
        plane = find_device(trace)
        equal(read_stats(plane, plane.stats)["gpu_device_name"].value, "Fake GPU", f"the device of part {number}")
        equal(count_events(trace, "k"), 20, f"kernels of part {number}")
        equal(trace.count("fakeLaunch"), 20, f"calls of part {number}")
    check_gone(target)


@test
def complete_kernels_are_in_the_part_of_their_calls(t):
    """Polls would deliver the kernels only after hours, so the server requests them before it cuts
    a part.
    """
    device = Device(t, info=1, clock_ns=10**9, late=10**7)
    target = device.target(t)
    with Calls(target) as calls:
        begin_session(calls)
        for part in range(5):
            equal(target.ask("launch 20 k"), "20", "launches that were recorded")
            trace = cut_part(calls)
            kernels = read_kernels(trace, "k")
            equal(sorted(number for number, *_ in kernels), sorted(read_calls(trace)), f"kernels of part {part}")
            equal({span for *_, span in kernels}, {"work"}, "the spans around their calls")
        equal(device.count("flush"), 5, "how often it was asked")
        end_session(calls)


@test
def complete_kernels_are_in_their_part_without_spans_of_threads(t):
    device = Device(t, info=1, late=10**7)
    target = device.target(t)
    with Calls(target) as calls:
        begin_session(calls, host_tracer_level=0)
        for part in range(5):
            target.ask("launch 20 k")
            equal(count_events(cut_part(calls), "k"), 20, f"kernels of part {part}")
        end_session(calls)


@test
def the_rest_has_kernels_that_were_not_complete_before(t):
    """Kernels that were incomplete at a snapshot are in the part of the end."""
    device = Device(t, "busy", info=1, clock_ns=10**9, late=10**7)
    target = device.target(t)
    call("start", target.port)
    traces = []
    for command in ("snapshot", "snapshot", "stop"):
        equal(target.ask("launch 20 k"), "20", "launches that were recorded")
        traces.append(fetch(t, command, target))
    numbers = [[number for number, *_ in read_kernels(trace, "k")] for trace in traces]
    equal([len(of) for of in numbers], [0, 0, 60], "kernels")
    equal(sorted(numbers[-1]), sorted(number for trace in traces for number in read_calls(trace)), "their numbers")
    check_gone(target)


@test
def an_older_collector_is_polled_before_a_part_is_cut(t):
    """The collector has the older struct, which ends with |close| and so has no flush()."""
    device = Device(t, info=1, size=96)
    target = device.target(t)
    with Calls(target) as calls:
        begin_session(calls)
        equal(target.ask("launch 20 k"), "20", "launches that were recorded")
        equal(len(read_kernels(cut_part(calls), "k")), 20, "kernels")
        end_session(calls)
    equal(device.count("flush"), 0, "flushes")


@test
def a_flush_that_hangs_keeps_no_part_waiting_for_good(t):
    """A later part has the records that the collector had not handed over."""
    device = Device(t, "hang flush", info=1, late=10**7)
    target = device.target(t)
    kernels = []
    with Calls(target) as calls:
        begin_session(calls)
        for _ in range(3):
            equal(target.ask("launch 20 k"), "20", "launches that were recorded")
            trace = cut_part(calls)
            equal(trace.count("fakeLaunch"), 20, "calls")
            equal(read_kernels(trace, "k"), [], "kernels")
        equal(device.count("flush"), 1, "flushes")
        device.write(info=1)

        def take_part():
            kernels.extend(number for number, *_ in read_kernels(cut_part(calls), "k"))
            return len(kernels) >= 60

        wait_until(take_part, "all kernels to be in a part")
        end_session(calls)
    equal((len(kernels), len(set(kernels))), (60, 60), "kernels, and how many they are")
    check_gone(target)


@test
def an_end_hurries_a_part_that_waits(t):
    """Both GetSnapshot and StopContinuousProfiling get their answers."""
    device = Device(t, "hang flush", info=1, late=10**7)
    target = device.target(t)
    service = schema("profiler_service")
    with Calls(target) as calls:
        begin_session(calls)
        equal(target.ask("launch 20 k"), "20", "launches that were recorded")
        waiting = calls.start(PROFILER + "GetSnapshot", service.GetSnapshotRequest())
        device.await_step("flush")
        stopped = calls.start(PROFILER + "StopContinuousProfiling", service.StopContinuousProfilingRequest())
        trace = trace_of(calls.finish(waiting).message)
        equal(trace.count("fakeLaunch"), 20, "calls")
        device.write(info=1)
        calls.finish(stopped, "StopContinuousProfilingResponse")
    check_gone(target)


@test
def kernels_that_are_handed_on_late_are_in_the_part_that_is_cut_next(t):
    """The collector delivers kernels a second late, like a vendor's buffers. Each is in exactly one
    part, at its time, however often parts are cut.
    """
    device = Device(t, "busy", info=1, clock_ns=10**9, late=150)
    target = device.target(t)
    n_launched = 0
    kernels = []
    launches = {}
    with Calls(target) as calls:
        begin_session(calls)

        def take_part():
            trace = cut_part(calls)
            kernels.extend(read_kernels(trace, "k"))
            launches.update(read_calls(trace))
            return len(kernels)

        for _ in range(8):
            equal(target.ask("launch 25 k"), "25", "launches that were recorded")
            n_launched += 25
            device.await_step("poll", device.count("poll") + 1)
            take_part()
        wait_until(lambda: take_part() >= n_launched, "all kernels to be in a part")
        end_session(calls)
    equal(len(launches), n_launched, "calls")
    equal(sorted(number for number, *_ in kernels), sorted(launches), "the numbers of kernels in all parts")
    equal({duration for _, _, duration, _ in kernels}, {1000}, "how long they took, in ns")
    for number, start, *_ in kernels:
        begin, end = launches[number]
        check(begin - NS_PER_MS < start < end + NS_PER_MS, f"a kernel at {start}, its call from {begin} to {end}")


@test
def records_that_come_after_a_part_are_in_the_next_one(t):
    """A device's records arrive after its work, and parts may be cut at any time."""
    device = Device(t, "busy", info=1, clock_ns=10**9)
    target = device.target(t)
    n = 0
    with Calls(target) as calls:
        begin_session(calls)
        for _ in range(5):
            equal(target.ask("launch 20 k"), "20", "launches that were recorded")
            n += count_events(cut_part(calls), "k")
        check(n < 100, "all was handed on at once: the test is void")
        device.await_step("poll", device.count("poll") + 2)
        n += count_events(cut_part(calls), "k")
        end_session(calls)
    equal(n, 100, "kernels of all parts")


@test
def a_session_that_gives_up_its_oldest_still_has_its_devices(t):
    """30,000 spans per poll in two megabytes overwrite the oldest records."""
    device = Device(t, info=1, clock_ns=10**9, poll=100)
    target = device.target(t)
    with Calls(target) as calls:
        begin_session(calls, ptap_max_capture_bytes=2 * MIB)
        for n in range(1, 6):
            target.ask("burst 30000")
            device.await_step("poll", n + 1)
        trace = trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse"))
        end_session(calls)
    check(trace.host_stat("ptap_lost_oldest") > 0, "nothing was given up: the test is void")
    plane = find_device(trace)
    equal(read_stats(plane, plane.stats)["gpu_device_name"].value, "Fake GPU", "the device")
    check(count_events(trace, "fake_kernel") > 0, "no kernels")


run()
