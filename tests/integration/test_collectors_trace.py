#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a collector's records reach the trace: nothing is lost between the program and the planes of devices. Other tests
check the planes' contents.
"""
from devices import COLLECTOR, Device, check_warnings, count_events, device_planes, find_device
from fixture import check, contains, equal, run, test
from processes import halt
from trace_file import Trace, read_stats

MIB = 1 << 20


def emitted(device):
    """Returns (emitted records, refused records) of the last capture."""
    words = [line.split() for line in device.log() if line.startswith("emitted ")][-1]
    return int(words[1]), int(words[3])


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
    equal({stats["correlation_id"].value for stats in kernels}, calls, "records that belong together")
    equal({stats["tf_op"].value for stats in kernels}, {"work"}, "the spans around the calls")


@test
def nothing_of_a_flood_is_lost(t):
    """Each poll of the recording emits 20,000 records, more than the ring holds."""
    n = 20000
    device = Device(t, info=1, poll=n)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 4)
    t.stop(target, capture)
    check_warnings(capture)
    n_polls = device.count("poll")
    equal(emitted(device), (n * n_polls + 3, 0), "records")
    # The last poll may have continued after the stop.
    found = count_events(capture.trace, "fake_kernel")
    check(n * (n_polls - 1) <= found <= n * n_polls, f"{found} of {n * n_polls} kernels")
    equal(capture.trace.host_stat("dropped_traces"), 0, "dropped records")


@test
def records_beyond_the_memory_of_a_capture_are_counted(t):
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
    # The last records may come after the stop. The device and the anchors may be among the lost
    # ones.
    n_told = found + lost + capture.trace.host_stat("ptap_device_outside")
    check(total <= n_told <= total + 3, f"{total} kernels and 3 records besides, {n_told} are there, or counted")
    contains(capture.stderr, f"dropped {lost:,}\n", "the summary")
    contains(capture.stderr, f"{lost} records dropped: the capture's memory was full; raise max_capture_bytes", "the warning")


@test
def each_collector_reports_its_own_losses(t):
    """The first collector emits a loss. The second one does not, so the library emits what its stats() report."""
    second = t.dir / "second.so"
    second.write_bytes(COLLECTOR.read_bytes())
    device = Device(t, collector=f"{COLLECTOR}::{second}", lost="7 1", lost_in=COLLECTOR.name, dropped=5)
    capture = t.emit(device.target(t), 50, "launch 1 k")
    equal(capture.trace.host_stat("ptap_lost_device_vendor"), 12, "the losses of both")


LOSSES = (
    # enum ptap_device_loss, enum ptap_device_kind, the text of the warning, the stat of the plane,
    # and whether it counts as dropped
    ("7 1", "7 records dropped: the vendor's library had no buffer for them; raise ptap_cuda_buffer_mb", "vendor", True),
    ("1 1 1", "1 kernel dropped: the vendor's library had no buffer for them; raise ptap_cuda_buffer_mb", "vendor", True),
    ("7 2 2", "7 copies left out: their ends were not known when the recording ended", "incomplete", True),
    ("7 3", "7 calls dropped: more than gpu_max_callback_api_events; raise it", "calls", True),
    ("7 4", "7 records dropped: more than gpu_max_activity_api_events, or no memory for them; raise it, or record for less time",
     "records", True),
    ("7 5", "7 records dropped: the vendor's library delivered invalid data", "invalid", True),
    ("7 6", "7 records without annotations: more than gpu_max_annotation_strings", "annotations", False),
    ("7 7 1", "7 kernels without their names: the program's table of names was full; restart the program", "names", False),
    ("7 99", "1 record of a collector dropped: damaged", "damaged", True),
)


@test
def losses_are_counted(t):
    """Losses that a collector reports are in the warnings, the summary, and the stats of the plane."""
    device = Device(t)
    target = device.target(t)
    for lost, said, stat, is_a_drop in LOSSES:
        n = int(said.split()[0])
        device.write(info=1, lost=lost)
        capture = t.emit(target, 50, "launch 5 k")
        check_warnings(capture, said)
        equal(count_events(capture.trace, "k"), 5, f"kernels, beside {lost}")
        equal(capture.trace.host_stat(f"ptap_lost_device_{stat}"), n, f"the stat of {lost}")
        equal(capture.trace.host_stat("dropped_traces"), n if is_a_drop else 0, f"dropped records, of {lost}")
        contains(capture.stderr, f"dropped {n if is_a_drop else 0}\n", f"the summary of {lost}")


@test
def a_crash_keeps_the_emitted_records(t):
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
def a_halt_keeps_the_emitted_records(t):
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
def records_emitted_after_the_stop_are_there(t):
    """The program's last launches came after the last poll."""
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 2)
    target.ask("launch 30 k")
    t.stop(target, capture)
    equal(count_events(capture.trace, "k"), 30, "kernels")


@test
def a_collector_of_its_own_clock_is_placed_by_its_anchors(t):
    """The collector's clock is an hour ahead. Without an anchor its records cannot be placed."""
    device = Device(t, info=1, clock_ns=3600 * 10**9)
    target = device.target(t)
    capture = t.emit(target, 50, "launch 5 k")
    check_warnings(capture)
    equal(count_events(capture.trace, "k"), 5, "kernels")
    device.write("no_anchor", info=1)
    capture = t.emit(target, 50, "launch 5 k")
    check_warnings(capture, "5 records of devices dropped: the zero time of their collector's clock is unknown")
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
        # The first or the last poll may have been outside of the recording.
        check(n <= found <= n * device.count("poll"), f"{found} {name} of {device.count('poll')} polls with {n} each")


@test
def names_of_kernels_leave_room_for_the_programs_own(t):
    """Devices may fill at most three quarters of the 1 MiB table of names. A kernel whose name no
    longer fits is still recorded.
    """
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
