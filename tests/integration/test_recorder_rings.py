#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the flight recorder's rings: the newest records of every thread, counted exactly, beside other recordings."""
import contextlib
import os
import signal
import time

from fixture import check, contains, equal, find_proftapd, read_shared_kib, run, test, wait_until
from http2 import NOT_FOUND
from numbered import check_numbers, numbers_in
from profiler import RECORDING, Profiler
from spools import read_spools

RING_BYTES = 65536
LARGE_RING_BYTES = 2 << 20  # a server empties this in time even on a busy machine
SPOOLED_RING_BYTES = 4 << 20
SPAN_BYTES = 32  # size of a span "number" with its argument
ENV = {"PROFTAP_RECORDER": "1"}


def record(t, ring_bytes=RING_BYTES, **env):
    """Starts a recorder whose last moments go to a directory; without one its server would hold them for a client."""
    where = (0, "127.0.0.1", 0, 0, t.dir / "last")
    return t.target(**{**ENV, **env}).serve(0, ring_bytes, *where)


@contextlib.contextmanager
def capturing(calls, session_id="beside"):
    """Captures while the with block runs. Afterwards the yielded list has the trace."""
    traces = []
    stream = calls.capture(60000, session_id=session_id)
    calls.await_phase(stream, RECORDING)
    yield traces
    calls.terminate(session_id)
    traces.append(calls.deliver(stream).trace)


def check_newest(trace, n, n_others=0, ring_bytes=RING_BYTES):
    """Checks that the trace has as many of the numbers below |n| as fit into a ring, and that the rest is counted."""
    found = numbers_in(trace)
    n_entries = ring_bytes // SPAN_BYTES
    check_numbers(found, n - len(found), n)
    equal(trace.host_stat("ptap_overwritten") + len(found), n + n_others, "kept and overwritten")
    equal(trace.host_stat("dropped_traces"), 0, "dropped")
    check(len(found) >= n_entries * 14 // 16, f"{len(found)} numbers in a ring of {n_entries}")


@test
def the_newest_records_are_kept_and_others_counted(t):
    target = record(t)
    with Profiler(target) as calls:
        target.ask("count 100")
        equal(numbers_in(calls.look_back()), list(range(100)), "numbers of a ring that is not full")
        target.ask("count 20000")
        trace = calls.look_back()
        check_newest(trace, 20000, 100)
        contains(trace.host_stat("ptap_recorder_windows"), f"target ({target.pid}): the last ",
                 "the thread's window")
        equal(numbers_in(calls.look_back()), numbers_in(trace), "numbers of a second snapshot")


@test
def a_ring_that_is_written_has_no_gap_and_no_torn_record(t):
    n = 400000
    target = record(t)
    with Profiler(target) as calls:
        target.send(f"count {n} 1")
        traces = []
        for _ in range(8):
            traces.append(calls.look_back())
        target.read_line()
        traces.append(calls.look_back())
    check_newest(traces[-1], n)
    for trace in traces:
        found = numbers_in(trace)
        first = trace.host_stat("ptap_overwritten")
        check_numbers(found, first, first + len(found))
        equal(trace.host_stat("ptap_lost_invalid"), 0, "records that are damaged")


@test
def a_capture_and_the_recorder_keep_records_of_their_own(t):
    n = 120000
    target = record(t, LARGE_RING_BYTES)
    target.ask("cycle 50")
    with Profiler(target) as calls:
        with capturing(calls) as traces:
            target.ask(f"count {n} 2")
        target.ask("burst 10")
        after = calls.look_back()
    trace = traces[0]
    equal((trace.count("cycle"), trace.host_stat("dropped_traces")), (0, 0),
          "spans from before the capture, and dropped ones")
    check_numbers(numbers_in(trace), 0, n)
    equal(after.count("burst"), 10, "spans after the capture")
    check_newest(after, n, 2 * 50, LARGE_RING_BYTES)


@test
def a_span_that_is_open_across_a_capture_stays_whole(t):
    target = record(t)
    target.send("step 1 1500")
    with Profiler(target) as calls:
        wait_until(lambda: calls.look_back().count("slow"), "the span to begin")
        with capturing(calls) as traces:
            pass
        equal(traces[0].count("slow"), 0, "spans that began before the capture")
        with capturing(calls) as traces:
            target.read_line()
        equal((traces[0].count("slow"), traces[0].host_stat("dropped_traces")), (0, 0),
              "spans, and lost ones, of a capture in which the open span ended")
        spans = [e for line in calls.look_back().threads for e in line.named("slow")]
    equal([("unfinished" in e.stats, e.duration_ps >= 15 * 10**11) for e in spans], [(False, True)],
          "whether the span is cut, and whether it is long")


def check_requests(trace, n, longest_ns):
    """Checks that whole requests are no longer than the program's longest one, and that halves of the others are counted."""
    events = [e for line in trace.lines if line.name == "request" for e in line.events]
    halves = [trace.host_stat(f"ptap_async_{what}") for what in ("ends_without_begin", "begins_without_end")]
    equal((len(events) + sum(halves), {0} & set(halves)), (n, {0}), f"requests, {halves} of them halves")
    check(0 < len(events) < n, f"{len(events)} of {n} are whole: the test is void")
    equal({name for e in events for name in e.stats}, {"id", "_a"}, "stats of requests")
    longest = max(e.duration_ps // 1000 for e in events)
    check(longest <= longest_ns, f"one took {longest} ns; the program's longest {longest_ns} ns")
    start, stop = (trace.environment[f"profile_{end}_time"].value for end in ("start", "stop"))
    since = trace.host_stat("ptap_complete_since_ns")
    check(start < since < stop, f"complete since {since}, from {start} to {stop}")
    first_ns = since - start
    equal(sum(e.start_ps // 1000 + 1 < first_ns for e in events if not halves[1]), 0,
          "requests before the time from which threads are complete")
    contains("\n".join(trace.space.warnings), f"{max(halves)} {'ends' if halves[0] else 'begins'} of async spans",
             "the warnings")


@test
def halves_of_async_spans_are_counted_and_never_drawn(t):
    """One of two threads overwrites more records, so older records of the other thread lack their counterparts."""
    n = 1500
    for begin_noise, end_noise, n_ids in ((20, 0, n), (20, 0, 3), (0, 20, n), (0, 20, 3)):
        target = record(t)
        longest_ns = int(target.ask(f"requests {n} {begin_noise} {end_noise} {n_ids}"))
        with Profiler(target) as calls:
            check_requests(calls.look_back(), n, longest_ns)
        target.ask("stop")


@test
def snapshots_work_during_other_recordings(t):
    target = record(t)
    target.ask("burst 7")
    with Profiler(target) as calls:
        with capturing(calls):
            equal(calls.look_back().count("burst"), 7, "spans in a snapshot during a capture")
        name = calls.begin()
        equal(calls.look_back().count("burst"), 7, "spans in a snapshot during a session")
        calls.stop(name)
        equal(target.ask(f"trace_start {t.dir}"), "0", "ptap_trace_start")
        equal(calls.look_back().count("burst"), 7, "spans in a snapshot during the program's own trace")
        target.ask("trace_stop")


@test
def a_snapshot_can_be_limited_to_the_last_milliseconds(t):
    target = record(t)
    target.ask("cycle 5")
    time.sleep(0.3)  # so that the spans are older than 100 ms
    with Profiler(target) as calls:
        trace = calls.look_back(last_ms=100)
        equal(trace.count("cycle"), 0, "spans that are older")
        target.send("step 1 60000")
        wait_until(lambda: calls.look_back(last_ms=1).count("slow"), "a span that began before the last millisecond")
        equal(calls.look_back(last_ms=60000).count("cycle"), 5, "spans of the last minute")


@test
def a_request_for_a_longer_past_gets_a_warning(t):
    target = record(t)
    target.ask("count 20000")
    with Profiler(target) as calls:
        warnings = "\n".join(calls.look_back(last_ms=3600000).space.warnings)
        contains(warnings, "less than was asked for in 1 thread: target", "the warnings")
        equal([w for w in calls.look_back().space.warnings if "asked for" in w], [], "warnings")


def record_large(t, n, ring_bytes):
    """Data beyond five windows of 512 KiB goes to a file, so the test needs no millions of spans."""
    target = record(t, ring_bytes,
                    PROFTAP_RECORDER=f"ptap_max_capture_bytes={32 << 20}")
    target.ask(f"count {n}")
    target.send("step 1 60000")
    return target


def check_large(trace, n, ring_bytes):
    check_newest(trace, n, 0, ring_bytes)
    starts = [e.start_ps for line in trace.threads for e in line.events]
    equal(starts, sorted(starts), "order of the events")
    check(0 <= starts[0] < 10**6, f"the first one starts at {starts[0]} ps")


def wait_for_slow(calls):
    wait_until(lambda: [e for line in calls.look_back().threads for e in line.named("slow")
                        if "unfinished" in e.stats], "the span that is open")


@test
def a_large_snapshot_goes_through_a_file(t):
    n = 150000
    target = record_large(t, n, SPOOLED_RING_BYTES)
    server = find_proftapd(target.pid)
    with Profiler(target, window=1000) as slow, Profiler(target) as calls:
        slow.connection.polite = False
        stream = slow.snapshot("recorder")
        wait_until(lambda: read_spools(server), "the file")
        slow.open_window(stream)
        check_large(slow.deliver(stream).trace, n, SPOOLED_RING_BYTES)
        wait_until(lambda: not read_spools(server), "the file to go")
        wait_for_slow(calls)


@test
def a_smaller_snapshot_needs_no_file(t):
    n = 100000
    target = record_large(t, n, LARGE_RING_BYTES)
    with Profiler(target, window=1000) as slow, Profiler(target) as calls:
        slow.connection.polite = False
        stream = slow.snapshot("recorder")
        # The next snapshot begins when the bytes of this one are ready and wait.
        wait_for_slow(calls)
        equal(read_spools(find_proftapd(target.pid)), {}, "files")
        slow.open_window(stream)
        check_large(slow.deliver(stream).trace, n, LARGE_RING_BYTES)


@test
def threads_that_have_ended_are_there(t):
    target = record(t)
    with Profiler(target) as calls:
        for i in range(3):
            target.ask(f"threads a{i}=20 b{i}=20")
        names = lambda: sorted(line.name for line in calls.look_back().threads)
        expected = sorted(f"{name}{i}" for name in "ab" for i in range(3))
        equal(names(), expected, "threads at once")
        time.sleep(1.5)  # by now the server has freed their rings
        equal(names(), expected, "threads afterwards")
        equal(calls.look_back().count("outer"), 120, "their spans")


@test
def ended_threads_keep_a_share_of_their_records(t):
    target = record(t)
    with Profiler(target) as calls:
        target.ask("threads " + " ".join(f"t{i}=45" for i in range(8)))
        time.sleep(1.5)  # by now the server has freed their rings
        names = {line.name for line in calls.look_back().threads}
        equal(names & {f"t{i}" for i in range(8)}, {f"t{i}" for i in range(8)}, "threads that were there together")


@test
def rings_of_many_threads_that_have_ended_are_given_back(t):
    target = record(t, LARGE_RING_BYTES)
    before = read_shared_kib(target.pid)
    with Profiler(target) as calls:
        target.ask("threads " + " ".join(f"t{i}=5" for i in range(8)))
        wait_until(lambda: read_shared_kib(target.pid) - before < 5 * (LARGE_RING_BYTES >> 10),
                   "the memory of some rings to be freed")
        target.ask("threads " + " ".join(f"u{i}=5" for i in range(8)))
        names = {line.name for line in calls.look_back().threads}
        equal(len(names & {f"{a}{i}" for i in range(8) for a in "tu"}), 16, "threads that are there")


@test
def the_first_annotation_of_a_child_is_there(t):
    """The child joins by its first annotation, and waits until the server lets it record."""
    target = record(t, PROFTAP_FOLLOW_FORK="1")
    children = [int(target.ask("prefork idle")) for _ in range(6)]
    with Profiler(target) as calls:
        trace = calls.look_back()
        missing = [pid for pid in children if not trace.process(pid) or trace.process(pid).count("hello") != 1]
        equal(missing, [], "children without their first annotation")


@test
def a_snapshot_has_children_that_have_ended(t):
    target = record(t, PROFTAP_FOLLOW_FORK="1")
    child = int(target.ask("prefork steady"))
    with Profiler(target) as calls:
        plane = lambda: calls.look_back().process(child)
        wait_until(lambda: plane() and plane().count("job") > 3, "spans of the child")
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{child}/exe"), "the child's end")
        time.sleep(1.5)  # by now its memory is freed
        check(plane().count("job") > 3, "spans of a child that has ended")


@test
def requests_switch_the_recorder_on_and_off(t):
    target = t.target().serve(0, RING_BYTES)
    with Profiler(target) as calls:
        status, text = calls.end(calls.snapshot("recorder"))
        equal(status, NOT_FOUND, f"a snapshot without a recorder: {text}")
        calls.begin_recorder(device_tracer_level=1)
        target.ask("burst 3")
        equal(calls.look_back().count("burst"), 3, "spans")
        rest = calls.deliver(calls.end_session("recorder")).trace
        equal(rest.count("burst"), 3, "spans in what is left")
        equal(calls.end(calls.snapshot("recorder"))[0], NOT_FOUND, "a snapshot after the recorder's end")
        wait_until(lambda: target.ask("enabled 1") == "0", "nothing to be recorded")
        target.ask("burst 3")
        with capturing(calls) as traces:
            target.ask("cycle 2")
    equal((traces[0].count("burst"), traces[0].count("cycle")), (0, 2), "spans in a capture after the recorder's end")


@test
def a_recorder_may_begin_and_end_during_a_capture(t):
    n = 50000
    target = t.target().serve(0, LARGE_RING_BYTES)
    with Profiler(target) as calls:
        with capturing(calls) as traces:
            target.send(f"count {n} 1")
            for _ in range(3):
                calls.begin_recorder(device_tracer_level=1)
                calls.look_back()
                calls.deliver(calls.end_session("recorder"))
            target.read_line()
    check_numbers(numbers_in(traces[0]), 0, n)
    equal(traces[0].host_stat("dropped_traces"), 0, "dropped")


run()
