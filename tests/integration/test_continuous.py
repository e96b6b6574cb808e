#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests continuous sessions: snapshots without gaps, the newest data within the memory limit, and
the answers of the stock server.
"""
import os
import signal
import subprocess
import time

from calls import BUSY, PROFILER, Calls, profile_request, trace_of
from checks import SLOWNESS, wait_in_time
from fixture import check, contains, equal, find_proftapd, is_alive, run, schema, test, timed, wait_until
from http2 import ALREADY_EXISTS, INTERNAL, INVALID_ARGUMENT, NOT_FOUND, OK
from numbered import check_numbers, numbers_in
from processes import PROFTAP, halt
from spools import read_spools

PROFILE = PROFILER + "Profile"
N = 60000
GONE_S = 2 * SLOWNESS  # the manual promises that the server ends soon
NOBODY_THERE = (NOT_FOUND, "No continuous profiling session found.")


def start_request(**fields):
    return profile_request(2000, **fields)


def add_options(request, **numbers):
    for key, value in numbers.items():
        request.opts.advanced_configuration[key].int64_value = value
    return request


def begin(calls, name="StartContinuousProfiling", request=None):
    calls.expect(PROFILER + name, request or start_request(), "ContinuousProfilingResponse")


def snapshot(calls, name="GetSnapshot", **fields):
    request = getattr(schema("profiler_service"), f"{name}Request")(**fields)
    return calls.expect(PROFILER + name, request)


def stop(calls):
    request = schema("profiler_service").StopContinuousProfilingRequest()
    return calls.expect(PROFILER + "StopContinuousProfiling", request,
                        "StopContinuousProfilingResponse")


def starts(traces):
    return [trace.environment["profile_start_time"].value for trace in traces]


def stops(traces):
    return [trace.environment["profile_stop_time"].value for trace in traces]


def spans(trace, name):
    """Returns (start in Unix ns, duration in ns, is unfinished) of each span."""
    origin = trace.environment["profile_start_time"].value
    return [(origin + e.start_ps / 1000, e.duration_ps / 1000, "unfinished" in e.stats)
            for line in trace.threads for e in line.named(name)]


def check_snapshots(t, **options):
    target = t.target().serve(0, 4 << 20)
    with Calls(target) as calls:
        begin(calls, request=add_options(start_request(), **options))
        target.send(f"count {N} 20")
        replies = []
        for _ in range(3):
            time.sleep(0.15)  # so that each snapshot has data
            replies.append(snapshot(calls))
        target.read_line()
        replies.append(snapshot(calls))
        stop(calls)
    traces = [trace_of(reply) for reply in replies]
    found = [numbers_in(trace) for trace in traces]
    check(sum(map(bool, found)) >= 2, f"instants in each: {list(map(len, found))}")
    lost = sum(trace.host_stat("dropped_traces") for trace in traces)
    equal(lost, 0, "records that the rings had no room for: the test is void")
    check_numbers(sum(found, []), 0, N)
    equal(stops(traces), sorted(stops(traces)), "ends of the snapshots")


@test
def snapshots_hold_every_record_exactly_once(t):
    check_snapshots(t)


@test
def snapshots_are_equal_in_memory_and_in_files(t):
    check_snapshots(t, ptap_max_capture_bytes=31 << 20)  # the limit is too low for a file
    check_snapshots(t, ptap_spool_window_bytes=4096)  # data beyond 1 MiB goes to a file


@test
def span_older_than_all_records_begins_within_the_trace(t):
    """Spans are encoded before the start of the oldest one is known."""
    target = t.target().serve(0, 16 << 20)
    with Calls(target) as calls:
        begin(calls)
        target.ask("await 2", "async begin 1")
        first = asyncs(trace_of(snapshot(calls)))
        target.ask(f"flood {N}", "async end 1")
        trace = trace_of(snapshot(calls))
    equal([trace.count(name) for name in ("wave", "flood")], [N, N], "spans")
    (begun, *_), (start, length, cut) = first[1], asyncs(trace)[1]
    check(abs(begun - start) < 10**5, f"1 began at {begun} and {start}")
    equal(cut, set(), "how it is cut")
    early = [e for line in trace.lines for e in line.events if e.start_ps < 0]
    equal(early, [], "events before the trace")
    last_ps = max(e.start_ps for line in trace.threads for e in line.named("wave"))
    origin = starts([trace])[0]
    check(last_ps / 1000 + origin < start + length, f"the last span at {last_ps} ps, 1 took {length} ns")


@test
def a_span_that_is_open_is_unfinished_once_and_then_whole(t):
    target = t.target().serve()
    with Calls(target) as calls:
        begin(calls)
        time.sleep(0.5)  # long enough to notice a trace that begins with the session
        sent_ns = time.time_ns()
        target.send("step 1 1200")
        first = wait_until(lambda: spans(trace_of(snapshot(calls)), "slow"), "the open span")
        seen_ns = time.time_ns()
        target.read_line()
        second = spans(trace_of(snapshot(calls)), "slow")
        third = spans(trace_of(snapshot(calls)), "slow")
    equal([cut for *_, cut in first], [True], "unfinished spans of a snapshot before its end")
    equal([cut for *_, cut in second], [False], "unfinished spans of the one behind")
    check(abs(first[0][0] - second[0][0]) < 10**5, f"it began at {first[0][0]} and {second[0][0]}")
    check(sent_ns <= first[0][0] <= seen_ns, f"it began at {first[0][0]}, not from {sent_ns} to {seen_ns}")
    check(12e8 <= second[0][1] < 8e9, f"it took {second[0][1]} ns")
    equal(third, [], "spans of a snapshot after all")


def asyncs(trace):
    """Returns {id: (start in Unix ns, duration in ns, how it was cut)} of the async spans."""
    origin = trace.environment["profile_start_time"].value
    return {e.stats["id"].value: (origin + e.start_ps / 1000, e.duration_ps / 1000,
                                  {"unfinished", "started_before"} & set(e.stats))
            for line in trace.lines if line.name == "request" for e in line.events}


@test
def span_begun_before_the_cut_is_whole_in_a_file(t):
    target = t.target().serve(0, 16 << 20)
    server = find_proftapd(target.pid)
    with Calls(target) as calls:
        begin(calls, request=add_options(start_request(), ptap_max_capture_bytes=300 << 20))
        target.send("step 1 600")
        wait_until(lambda: spans(trace_of(snapshot(calls)), "slow"), "the open span")
        target.read_line()
        target.ask(f"flood {2 * N}")  # two slices
        wait_until(lambda: read_spools(server), "a file")
        trace = trace_of(snapshot(calls))
    equal(trace.count("flood"), 2 * N, "spans")
    equal([(cut, length >= 6e8) for _, length, cut in spans(trace, "slow")], [(False, True)], "the one before")
    early = [e for line in trace.lines for e in line.events if e.start_ps < 0]
    equal(early, [], "events before the trace")


@test
def an_async_span_that_is_open_is_unfinished_and_then_whole(t):
    target = t.target().serve()
    with Calls(target) as calls:
        begin(calls)
        target.ask("await 2", "async begin 1", "async begin 2", "async end 2", "async begin 3")
        first = asyncs(trace_of(snapshot(calls)))
        target.ask("async end 1")
        second = asyncs(trace_of(snapshot(calls)))
        rest = trace_of(snapshot(calls))
        target.ask("async end 3")
        last = asyncs(trace_of(snapshot(calls)))
        none = asyncs(trace_of(snapshot(calls)))
    third = asyncs(rest)
    equal([{n: cut for n, (*_, cut) in part.items()} for part in (first, second, third, last, none)],
          [{1: {"unfinished"}, 2: set(), 3: {"unfinished"}}, {1: set(), 3: {"unfinished"}},
           {3: {"unfinished"}}, {3: set()}, {}], "async spans and how they are cut")
    for part, number in ((second, 1), (second, 3), (third, 3), (last, 3)):
        check(abs(first[number][0] - part[number][0]) < 10**5,
              f"{number} began at {first[number][0]} and {part[number][0]}")
    check(third[3][1] < last[3][1], f"3 took {third[3][1]} ns until the cut and {last[3][1]} in all")
    early = [e for line in rest.lines for e in line.events if e.start_ps < 0]
    equal(early, [], "events before the trace")


@test
def overwritten_records_leave_no_false_async_span(t):
    target = t.target().serve(0, 16 << 20)
    with Calls(target) as calls:
        begin(calls, request=add_options(start_request(), ptap_max_capture_bytes=14 << 20))
        target.ask("await 2", "async begin 1", "async begin 2")
        equal(set(asyncs(trace_of(snapshot(calls)))), {1, 2}, "async spans that are open")
        target.ask("async begin 3", "count 400000 1", "async end 1", "async end 3", "async begin 4")
        trace = trace_of(snapshot(calls))
        rest = asyncs(trace_of(snapshot(calls)))
    check(trace.host_stat("ptap_lost_oldest") > 0, "nothing went: the test is void")
    equal({n: cut for n, (*_, cut) in asyncs(trace).items()}, {1: set(), 4: {"unfinished"}}, "async spans")
    equal([trace.host_stat(f"ptap_async_{what}") for what in ("ends_without_begin", "begins_without_end")], [1, 1],
          "the end of 3, whose begin went, and 2, whose end may have gone")
    equal({n: cut for n, (*_, cut) in rest.items()}, {4: {"unfinished"}}, "async spans of the next snapshot")
    since, stop = trace.host_stat("ptap_complete_since_ns"), stops([trace])[0]
    check(starts([trace])[0] < since < stop, f"complete since {since}")


@test
def oldest_records_beyond_the_memory_are_dropped_and_counted(t):
    target = t.target().serve(0, 16 << 20)  # large enough to lose no record
    with Calls(target) as calls:
        begin(calls, request=add_options(start_request(), ptap_max_capture_bytes=14 << 20))
        equal(target.ask("count 400000 1"), "400000", "instants")
        trace = trace_of(snapshot(calls))
        found = numbers_in(trace)
        check_numbers(found, 400000 - len(found), 400000)
        # The limit keeps 14 MiB / 7 = 2 MiB of records, at 32 bytes per numbered instant, and the
        # data of the last poll.
        check(40000 <= len(found) <= 350000, f"kept {len(found)} instants")
        lost = trace.host_stat("ptap_lost_oldest")
        equal(lost, 400000 - len(found), "records that are said to be dropped")
        check(any("the oldest of the session" in w for w in trace.space.warnings),
              f"warnings: {list(trace.space.warnings)}")
        again = trace_of(snapshot(calls))
        equal(again.host_stat("ptap_lost_oldest"), 0, "dropped records of the next one")


@test
def usage_goes_on_from_one_snapshot_to_the_next(t):
    target = t.target().serve()
    with Calls(target) as calls:
        begin(calls)
        traces = []
        for _ in range(2):
            target.ask(f"spin {350 * SLOWNESS}")
            traces.append(trace_of(snapshot(calls)))
    check(starts(traces)[1] >= stops(traces)[0] - 10**6, f"{starts(traces)} and {stops(traces)}")
    for trace in traces:
        samples = trace.usage["process cpu %"].events
        check(len(samples) >= 3, f"samples: {samples}")
        length_ps = 1000 * (stops([trace])[0] - starts([trace])[0])
        check(all(0 <= e.start_ps <= length_ps for e in samples), f"samples outside of {length_ps}")


@test
def the_old_names_work_too(t):
    target = t.target().serve()
    with Calls(target) as calls:
        begin(calls, "ContinuousProfiling")
        target.ask("await 2", "burst 7")
        equal(trace_of(snapshot(calls, "GetSnapShot")).count("burst"), 7, "spans")
        stop(calls)
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")


@test
def level_0_from_xprofs_client_does_not_disable_spans(t):
    target = t.target().serve()
    request = start_request(options={"host_tracer_level": 0})
    with Calls(target) as calls:
        begin(calls, request=request)
        target.ask("burst 7")
        equal(trace_of(snapshot(calls)).count("burst"), 0, "spans at level 0")
        stop(calls)
        request.opts.advanced_configuration["tpu_circular_buffer_tracing"].bool_value = True
        begin(calls, request=request)
        target.ask("await 2", "burst 7")
        for n in (7, 0):
            trace = trace_of(snapshot(calls))
            equal(trace.count("burst"), n, "spans")
            check(any("is replaced by the default, 2" in w for w in trace.space.warnings),
                  f"warnings: {list(trace.space.warnings)}")


@test
def terminate_ends_no_continuous_session(t):
    """Terminate would discard the data: only the client that stops a session gets it."""
    target = t.target().serve()
    with Calls(target) as calls:
        begin(calls, request=start_request(session_id="mine"))
        target.ask("burst 3")
        calls.terminate("mine")
        equal(trace_of(snapshot(calls)).count("burst"), 3, "spans")
        stop(calls)


@test
def session_errors_equal_those_of_stock_servers(t):
    target = t.target().serve()
    service = schema("profiler_service")
    with Calls(target) as calls:
        def ask(name, request):
            answer = calls.call(PROFILER + name, request, "TerminateResponse")
            return answer.status, answer.text
        for name, request in (("GetSnapshot", service.GetSnapshotRequest()),
                              ("StopContinuousProfiling", service.StopContinuousProfilingRequest())):
            equal(ask(name, request), NOBODY_THERE, f"{name} without a session")
        for name in ("a/b", "..", "x" * 129, "a b"):
            status, text = ask("GetSnapshot", service.GetSnapshotRequest(snapshot_session_id=name))
            equal(status, INVALID_ARGUMENT, f"status for {name!r}")
            equal(text, "Invalid snapshot_session_id. Only alphanumeric, underscores, and hyphens are "
                  "allowed.", f"text for {name!r}")
        begin(calls)
        equal(ask("StartContinuousProfiling", start_request()),
              (ALREADY_EXISTS, "A profiling session is already running."), "a second start")
        status, text = ask("Profile", profile_request(10))
        equal(status, INTERNAL, "status of a Profile beside it")
        contains(text, f"{BUSY} session without a name: until it is stopped, begun ", "its text")
        stop(calls)
        session = calls.start(PROFILE, profile_request(60000, session_id="mine"))
        target.ask("await 1")
        status, text = ask("StartContinuousProfiling", start_request())
        equal(status, INTERNAL, "status of a start beside a Profile")
        contains(text, f"Failed to create profiler session: {BUSY} session mine", "its text")
        calls.terminate("mine")
        calls.finish(session)


@test
def an_end_that_comes_before_the_beginning_is_answered(t):
    target = t.target().serve()
    service = schema("profiler_service")
    with Calls(target) as calls:
        # The program does not answer the server now, so the session cannot begin.
        halt(target.pid)
        started = calls.start(PROFILER + "StartContinuousProfiling", start_request())
        calls.settle()
        stopped = calls.start(PROFILER + "StopContinuousProfiling",
                              service.StopContinuousProfilingRequest())
        check(calls.finish(started, None).status != OK, "a session that was ended before it began")
        equal(calls.finish(stopped, None).status, OK, "status of its end")
        os.kill(target.pid, signal.SIGCONT)
        begin(calls)
        stop(calls)


@timed
def a_session_outlives_its_client_and_its_program(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    with Calls(target) as calls:
        begin(calls)
    target.ask("await 2", "burst 5")
    with Calls(target) as calls:
        equal(trace_of(snapshot(calls)).count("burst"), 5, "spans of a snapshot for another client")
    target.kill()
    subprocess.run([PROFTAP, "stop", str(target.pid), "--discard"], check=True, timeout=60, capture_output=True)
    wait_in_time(lambda: not is_alive(server), "the server of a dead program to end", GONE_S)


run()
