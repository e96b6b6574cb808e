#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a collector emits, in the trace: nothing lost on the way from the program to the planes of devices. How it is
drawn there is other tests' matter."""
import time

from calls import PROFILER, Calls, profile_request, trace_of
from devices import Device, check_gone, check_warnings, count_events, device_planes
from fixture import check, contains, equal, run, schema, test, wait_until
from processes import halt
from trace_file import Trace, read_stats

MIB = 1 << 20
NS_PER_MS = 10**6


def emitted(device):
    """(records that were emitted, records that were refused) of the last capture."""
    words = [line.split() for line in device.log() if line.startswith("emitted ")][-1]
    return int(words[1]), int(words[3])


def find_device(trace, n=1):
    planes = device_planes(trace)
    equal(len(planes), n, f"planes of devices among {sorted(trace.planes)}")
    return planes[0]


@test
def kernels_arrive_with_the_calls_that_launched_them(t):
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.emit(target, 50, "launch 40 k")
    check_warnings(capture)
    plane = find_device(capture.trace)
    equal(read_stats(plane, plane.stats)["gpu_device_name"].value, "Fake GPU", "the device")
    equal(count_events(capture.trace, "k"), 40, "kernels")
    contains(capture.stderr, " · of devices 40 · ", "the summary")
    calls = {e.stats["correlation_id"].value for e in capture.trace.thread("target").named("fakeLaunch")}
    kernels = [read_stats(plane, event.stats) for line in plane.lines for event in line.events
               if plane.event_metadata[event.metadata_id].name == "k"]
    equal({stats["correlation_id"].value for stats in kernels}, calls, "what belongs together")
    equal({stats["tf_op"].value for stats in kernels}, {"work"}, "the spans around the calls")


@test
def nothing_of_a_flood_is_lost(t):
    """In the window of the recording, by polls that emit 20,000 each: more than the ring holds at a time."""
    n = 20000
    device = Device(t, info=1, poll=n)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 4)
    t.stop(target, capture)
    check_warnings(capture)
    n_polls = device.count("poll")
    equal(emitted(device), (n * n_polls + 3, 0), "records")
    # The last poll may have gone on behind the stop.
    found = count_events(capture.trace, "fake_kernel")
    check(n * (n_polls - 1) <= found <= n * n_polls, f"{found} of {n * n_polls} kernels")
    equal(capture.trace.host_stat("dropped_traces"), 0, "what was dropped")


@test
def what_a_capture_has_no_memory_for_is_counted(t):
    n = 60000
    device = Device(t, info=1, poll=n)
    target = device.target(t)
    capture = t.begin(target, "-o", f"ptap_max_capture_bytes={2 * MIB}")
    device.await_step("poll", 3)
    t.stop(target, capture)
    total = emitted(device)[0] - 3
    found = count_events(capture.trace, "fake_kernel")
    lost = capture.trace.host_stat("dropped_traces")
    check(found < total, f"{found} of {total} kernels")
    # The last ones may be behind the stop; the device and the anchors may be among what was lost.
    n_told = found + lost + capture.trace.host_stat("ptap_device_outside")
    check(total <= n_told <= total + 3, f"{total} kernels and 3 records besides, {n_told} are there, or counted")
    contains(capture.stderr, f"dropped {lost:,}\n", "the summary")
    contains(capture.stderr, f"{lost} records dropped: the capture's memory was full; raise max_capture_bytes", "the warning")


LOSSES = (
    # enum ptap_device_loss, enum ptap_device_kind; what is said, the stat of the plane, and whether it counts as dropped
    ("7 1", "7 records dropped: the vendor's library had no buffer for them; raise ptap_cuda_buffer_mb", "vendor", True),
    ("1 1 1", "1 kernel dropped: the vendor's library had no buffer for them; raise ptap_cuda_buffer_mb", "vendor", True),
    ("7 2 2", "7 copies left out: their ends were not known when the recording ended", "incomplete", True),
    ("7 3", "7 calls dropped: more than gpu_max_callback_api_events; raise it", "calls", True),
    ("7 4", "7 records dropped: more than gpu_max_activity_api_events, or no memory for them; raise it, or record for less time",
     "records", True),
    ("7 5", "7 records dropped: the vendor's library told what makes no sense", "invalid", True),
    ("7 6", "7 records without annotations: more than gpu_max_annotation_strings", "annotations", False),
    ("7 7 1", "7 kernels without their names: the program's table of names was full; restart it", "names", False),
    ("7 99", "1 record of a collector dropped: damaged", "damaged", True),
)


@test
def losses_are_counted(t):
    """What a collector tells that it lost: in the warnings, the summary, and the stats of the plane."""
    device = Device(t)
    target = device.target(t)
    for lost, said, stat, is_a_drop in LOSSES:
        n = int(said.split()[0])
        device.write(info=1, lost=lost)
        capture = t.emit(target, 50, "launch 5 k")
        check_warnings(capture, said)
        equal(count_events(capture.trace, "k"), 5, f"kernels, beside {lost}")
        equal(capture.trace.host_stat(f"ptap_lost_device_{stat}"), n, f"the stat of {lost}")
        equal(capture.trace.host_stat("dropped_traces"), n if is_a_drop else 0, f"what was dropped, of {lost}")
        contains(capture.stderr, f"dropped {n if is_a_drop else 0}\n", f"the summary of {lost}")


@test
def a_crash_keeps_what_was_emitted(t):
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.begin(target)
    target.ask("launch 30 k")
    device.await_step("poll", device.count("poll") + 2)
    target.send("crash")
    target.wait()
    capture.finish()
    equal(count_events(capture.trace, "k"), 30, "kernels")


@test
def a_halt_keeps_what_was_emitted(t):
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.begin(target)
    target.ask("launch 30 k")
    device.await_step("poll", device.count("poll") + 2)
    halt(target.pid)
    t.stop(target, capture)
    contains(capture.stderr, "the program was stopped (SIGSTOP or a debugger) when the recording ended", "the summary")
    equal(count_events(capture.trace, "k"), 30, "kernels")


@test
def what_is_emitted_behind_the_stop_is_there(t):
    """What the program launched last nobody had polled."""
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 2)
    target.ask("launch 30 k")
    t.stop(target, capture)
    equal(count_events(capture.trace, "k"), 30, "kernels")


@test
def a_collector_of_its_own_clock_is_placed_by_its_anchors(t):
    """An hour ahead; and without a pair its records have no place."""
    device = Device(t, info=1, clock_ns=3600 * 10**9)
    target = device.target(t)
    capture = t.emit(target, 50, "launch 5 k")
    check_warnings(capture)
    equal(count_events(capture.trace, "k"), 5, "kernels")
    device.write("no_anchor", info=1)
    capture = t.emit(target, 50, "launch 5 k")
    check_warnings(capture, "5 records of devices dropped: nobody knows what their collector's clock counts from")
    equal(count_events(capture.trace, "k"), 0, "kernels")
    equal(capture.trace.count("fakeLaunch"), 5, "calls")
    equal(capture.trace.host_stat("ptap_lost_device_unplaced"), 5, "the stat")
    contains(capture.stderr, "dropped 5\n", "the summary")
    find_device(capture.trace)


@test
def kinds_of_all_sorts_arrive(t):
    kinds = {"copies": 2, "sets": 2, "syncs": 2, "counters": 3, "memory": 2}
    device = Device(t, info=1, wrong=1, **kinds)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 3)
    t.stop(target, capture)
    equal(emitted(device)[1], 2 * device.count("poll"), "records that make no sense, refused")
    for name, n in kinds.items():
        found = count_events(capture.trace, name)
        # The first poll, or the last one, may have been outside of the recording.
        check(n <= found <= n * device.count("poll"), f"{found} {name} of {device.count('poll')} polls with {n} each")


@test
def names_of_kernels_leave_room_for_the_programs_own(t):
    """Of the table of them, 1 MiB, three quarters may be a device's: a kernel without a name is a kernel all the same."""
    device = Device(t, info=1, names=2000)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 2)
    target.ask("burst 3")
    t.stop(target, capture)
    check_warnings(capture)
    equal(capture.trace.count("burst"), 3, "spans")
    names = [line for line in device.log() if line.startswith("names ")][-1].split()
    check(600 < int(names[1]) < 1000 and int(names[3]) > 1000, f"names of a thousand bytes: {names}")


# --- sessions ---------------------------------------------------------------------------------


def ask(calls, name, request=None, reply="ContinuousProfilingResponse"):
    request = request or getattr(schema("profiler_service"), f"{name}Request")()
    return calls.expect(PROFILER + name, request, reply)


@test
def each_part_of_a_session_has_its_devices(t):
    """Names of devices and their clock are said at the start only: they are said again for each part."""
    device = Device(t, info=1, clock_ns=10**9)
    target = device.target(t)
    traces = []
    with Calls(target) as calls:
        ask(calls, "StartContinuousProfiling", profile_request(2000, {"device_tracer_level": 1}))
        for _ in range(3):
            equal(target.ask("launch 20 k"), "20", "launches that were recorded")
            device.await_step("poll", device.count("poll") + 2)
            traces.append(trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse")))
        ask(calls, "StopContinuousProfiling", reply="StopContinuousProfilingResponse")
    for number, trace in enumerate(traces):
        plane = find_device(trace)
        equal(read_stats(plane, plane.stats)["gpu_device_name"].value, "Fake GPU", f"the device of part {number}")
        equal(count_events(trace, "k"), 20, f"kernels of part {number}")
        equal(trace.count("fakeLaunch"), 20, f"calls of part {number}")
    check_gone(target)


def read_kernels(trace, name):
    """Of each kernel of that name: (number, start in Unix ns, duration in ns, the span around its call)."""
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
    """{number: (start, end) in Unix ns}."""
    origin = trace.environment["profile_start_time"].value
    return {e.stats["correlation_id"].value: (origin + e.start_ps // 1000, origin + (e.start_ps + e.duration_ps) // 1000)
            for line in trace.threads for e in line.named("fakeLaunch")}


def begin_session(calls):
    ask(calls, "StartContinuousProfiling", profile_request(2000, {"device_tracer_level": 1}))


def cut_part(calls):
    trace = trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse"))
    equal(trace.host_stat("dropped_traces"), 0, "what was dropped")
    equal([w for w in trace.space.warnings if w.startswith("gpu: ")], [], "warnings of devices")
    return trace


def end_session(calls):
    ask(calls, "StopContinuousProfiling", reply="StopContinuousProfilingResponse")


@test
def what_is_complete_is_in_the_part_of_its_calls(t):
    """Polls would hand it on in hours: it is asked for before a part is cut."""
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
def an_older_collector_is_polled_before_a_part_is_cut(t):
    """Its struct ends with |close|."""
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
    """And what it had not handed on is in a later part."""
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
    """Its own part, and the session's end, are answered both."""
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
    """A second's worth of them, as a vendor's buffers are: each is in one part, at its time, however often they are cut."""
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
def what_is_handed_on_behind_a_part_is_in_the_next_one(t):
    """A device's work comes later than it was done, and parts are taken at any time."""
    device = Device(t, "busy", info=1, clock_ns=10**9)
    target = device.target(t)
    n = 0
    with Calls(target) as calls:
        ask(calls, "StartContinuousProfiling", profile_request(2000, {"device_tracer_level": 1}))
        for _ in range(5):
            equal(target.ask("launch 20 k"), "20", "launches that were recorded")
            n += count_events(trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse")), "k")
        check(n < 100, "all was handed on at once: the test is void")
        device.await_step("poll", device.count("poll") + 2)
        n += count_events(trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse")), "k")
        ask(calls, "StopContinuousProfiling", reply="StopContinuousProfilingResponse")
    equal(n, 100, "kernels of all parts")


@test
def a_session_that_gives_up_its_oldest_still_has_its_devices(t):
    """Of 60,000 spans a poll, in two megabytes: what was said at the start is gone."""
    device = Device(t, info=1, clock_ns=10**9, poll=100)
    target = device.target(t)
    with Calls(target) as calls:
        request = profile_request(2000, {"device_tracer_level": 1})
        request.opts.advanced_configuration["ptap_max_capture_bytes"].int64_value = 2 * MIB
        ask(calls, "StartContinuousProfiling", request)
        for n in range(1, 6):
            target.ask("burst 30000")
            device.await_step("poll", n + 1)
        trace = trace_of(ask(calls, "GetSnapshot", reply="ProfileResponse"))
        ask(calls, "StopContinuousProfiling", reply="StopContinuousProfilingResponse")
    check(trace.host_stat("ptap_lost_oldest") > 0, "nothing was given up: the test is void")
    plane = find_device(trace)
    equal(read_stats(plane, plane.stats)["gpu_device_name"].value, "Fake GPU", "the device")
    check(count_events(trace, "fake_kernel") > 0, "no kernels")


# --- traces of the program's own --------------------------------------------------------------


@test
def a_trace_of_the_programs_own_has_devices(t):
    device = Device(t, info=1)
    target = t.target(**device.env)
    equal(target.ask(f"trace_start {t.dir / 'logs'}"), "0", "ptap_trace_start")
    target.ask("launch 6 k")
    equal(target.ask("trace_stop"), "0", "ptap_trace_stop")
    trace = Trace(next((t.dir / "logs").glob("plugins/profile/*/*.xplane.pb")))
    equal(count_events(trace, "k"), 6, "kernels")


run()
