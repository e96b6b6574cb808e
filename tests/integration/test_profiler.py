#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap.v1.Profiler: traces as streams, their progress and their end, refused requests; Status and List."""
import os
import signal
import socket
import time

from calls import BUSY, PROFILER, profile_request
from fixture import LONG_MS, check, contains, equal, is_alive, run, test, wait_until
from http2 import ALREADY_EXISTS, INTERNAL, INVALID_ARGUMENT, OK, message
from processes import await_rounds
from profiler import (COLLECTING, RECORDING, V1, WAITING, Profiler, await_no_stream, capture_request)

PROFILE = PROFILER + "Profile"
FOLLOW = {"PROFTAP_FOLLOW_FORK": "1"}


def end(pid):
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)


def count_events(space):
    return sum(len(line.events) for plane in space.planes for line in plane.lines)


@test
def a_capture_is_progress_chunks_and_a_trailer(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        target.send("await 1", "burst 100")
        stream = calls.capture(300)
        target.obeyed(2)
        delivery = calls.deliver(stream)
        trace, trailer = delivery.trace, delivery.trailer
    equal(trace.count("burst"), 100, "spans")
    equal(trailer.n_events, count_events(delivery.space), "events in the trailer")
    equal((trailer.is_empty, trailer.n_dropped), (False, 0), "emptiness and losses in the trailer")
    equal(trailer.start_unix_ns, trace.environment["profile_start_time"].value, "start")
    equal(trailer.start_unix_ns + trailer.duration_ns,
          trace.environment["profile_stop_time"].value, "end")
    check(trailer.duration_ns >= 300 * 10**6, f"recorded for {trailer.duration_ns} ns")


@test
def progress_says_how_far_it_is(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        target.send("await 1", "burst 1000")
        stream = calls.capture(500, start_timestamp_ns=time.time_ns() + 400 * 10**6)
        calls.await_phase(stream, RECORDING)
        target.obeyed(2)
        delivery = calls.deliver(stream)
    phases = [p.phase for p in delivery.progress]
    equal(phases, sorted(phases), "phases")
    equal(set(phases), {WAITING, RECORDING, COLLECTING}, "phases")
    equal({p.elapsed_ns for p in delivery.progress if p.phase == WAITING}, {0}, "elapsed times before the start")
    elapsed = [p.elapsed_ns for p in delivery.progress if p.phase != WAITING]
    equal(elapsed, sorted(elapsed), "elapsed times")
    equal(elapsed[-1], delivery.trailer.duration_ns, "the last elapsed time")
    check(elapsed[-1] >= 500 * 10**6, f"recorded for {elapsed[-1]} ns")
    check(delivery.progress[-1].recorded_bytes >= 16 * 1000, f"recorded bytes: {delivery.progress[-1]}")
    equal([p.xspace_bytes for p in delivery.progress if p.xspace_bytes],
          [delivery.trailer.xspace_bytes], "the trace's size, as soon as it is known")


def count_progress(calls, ms, interval_ms):
    """Returns the number of progress messages, and the time of the capture."""
    began = time.monotonic()
    delivery = calls.deliver(calls.capture(ms, interval_ms=interval_ms))
    return len(delivery.progress), time.monotonic() - began


@test
def progress_comes_at_the_interval_that_was_asked_for(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        seldom = count_progress(calls, 700, 400)
        often = count_progress(calls, 700, 50)
        default = count_progress(calls, 200, 0)
    check(2 <= seldom[0] <= seldom[1] / 0.4 + 3, f"{seldom[0]} in {seldom[1]} s, every 400 ms")
    check(often[0] > seldom[0], f"{often[0]} in {often[1]} s, every 50 ms")
    check(default[0] <= default[1] / 0.5 + 3, f"{default[0]} in {default[1]} s, every 500 ms")


@test
def a_large_trace_comes_in_chunks_of_a_mebibyte(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        stream = calls.capture(LONG_MS)
        target.ask("await 1")
        n_spans, recorded = 0, 0
        while recorded < 3 << 20:
            target.ask("burst 10000")
            n_spans += 10000
            # Progress beyond |recorded| shows that the server has read the ring.
            recorded = calls.await_more(stream, recorded)
        calls.stop()
        delivery = calls.deliver(stream)
    sizes = list(map(len, delivery.chunks))
    check(len(sizes) > 2, f"{len(sizes)} chunks: the test is void")
    check(min(sizes[:-1]) > 1 << 19, f"sizes of chunks: {sizes}")
    n_events = count_events(delivery.space)
    check(n_events >= n_spans, f"{n_events} events with {n_spans} spans")
    equal((delivery.trailer.n_events, delivery.trailer.n_dropped), (n_events, 0), "events and losses")


@test
def a_trace_without_events_says_so(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        request = capture_request(1)
        for key in ("ptap_usage_interval_ms", "ptap_sample_hz"):
            request.options.advanced_configuration[key].int64_value = 0
        delivery = calls.deliver(calls.start(V1 + "Capture", request))
    check(delivery.trailer.is_empty, "the trailer says that there are events")
    equal(delivery.trailer.n_events, 0, "events")
    contains(delivery.trace.space.warnings[0], "nothing was recorded", "the warning")


@test
def a_busy_answer_names_the_session_that_runs(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        mine = calls.capture(LONG_MS, session_id="mine")
        target.ask("await 1")
        status, text = calls.end(calls.capture(100))
        equal(status, ALREADY_EXISTS, text)
        contains(text, "another profiling session is active (session mine: 60.0 s, begun ", "the text")
        # Stock clients know these words.
        answer = calls.call(PROFILE, profile_request(100))
        equal(answer.status, INTERNAL, "a stock client's status")
        contains(answer.text, BUSY + " session mine: 60.0 s", "a stock client's text")
        contains(calls.ask("Status").session, "session mine: 60.0 s", "owner of the session")
        equal(calls.stop("mine")[0], (OK, ""), "the answer to Stop")
        calls.deliver(mine)
        equal(calls.ask("Status").session, "", "owner of the session")
    await_no_stream(target)


BAD = [
    (lambda r: r.options.ClearField("version"), "options.version: 0 is not known; it must be 1"),
    (lambda r: r.ClearField("options"), "options.version: 0 is not known; it must be 1"),
    (lambda r: r.options.ClearField("duration_ms"), "options.duration_ms: 0 is out of range"),
    (lambda r: setattr(r, "progress_interval_ms", 49), "progress_interval_ms: 49 is out of range"),
    (lambda r: setattr(r.options, "host_tracer_level", 9), "host_tracer_level: 9 is out of range; 0 to 3"),
    (lambda r: setattr(r.options.advanced_configuration["ptap_usage_intervall_ms"], "int64_value", 1),
     'ptap_usage_intervall_ms: no such option (value "1"); the nearest known one is '
     'ptap_usage_interval_ms'),
    (lambda r: setattr(r.options.advanced_configuration["ptap_usage_interval_ms"], "int64_value", -5),
     'ptap_usage_interval_ms: bad value "-5": must be 0 to 60000 ms'),
]


@test
def invalid_options_are_named(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        for spoil, words in BAD:
            request = capture_request(100)
            spoil(request)
            status, text = calls.end(calls.start(V1 + "Capture", request))
            equal(status, INVALID_ARGUMENT, text)
            contains(text, words, "the text")
        for method in ("Capture", "Start", "Snapshot", "Stop"):
            reply = calls.connection.call(V1 + method, message(b"\xff"))
            equal(reply.status, INVALID_ARGUMENT, f"garbage for {method}: {reply.text}")
        equal(calls.ask("Status").session, "", "owner of the session")
    await_no_stream(target)


@test
def a_program_that_ends_is_delivered(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        stream = calls.capture(LONG_MS)
        target.ask("await 1", "burst 10")
        target.kill()
        delivery = calls.deliver(stream)
    equal(delivery.trace.count("burst"), 10, "spans")
    contains(delivery.trace.space.warnings[0], "ended", "the warning")


@test
def status_has_both_clocks(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        before = time.time_ns(), time.monotonic_ns()
        status = calls.ask("Status")
        after = time.time_ns(), time.monotonic_ns()
    for was, now, then, what in zip(before, (status.unix_ns, status.monotonic_ns), after,
                                    ("Unix time", "monotonic time")):
        check(was <= now <= then, f"{what}: {was} <= {now} <= {then}")
    equal(status.target.pid, target.pid, "pid")
    equal(status.target.name, "target", "name")
    equal(status.target.hostname, socket.gethostname(), "host")
    equal(status.target.address, f"127.0.0.1:{target.port}", "address")
    equal(status.target.uid, os.geteuid(), "uid")
    equal((status.target.state, status.session), ("idle", ""), "state")
    check(0 < before[0] - status.target.since_unix_ns < 60 * 10**9, f"since {status.target.since_unix_ns}")
    check(status.version[:1].isdigit(), f"version {status.version}")
    check(1 << 20 <= status.max_capture_bytes <= 1 << 30, f"at most {status.max_capture_bytes}")


@test
def list_names_the_program_and_its_followed_children(t):
    target = t.target(**FOLLOW).serve()
    children = sorted(int(target.ask("prefork steady")) for _ in range(3))
    for pid in children:
        t.at_end.append(lambda pid=pid: end(pid))
    with Profiler(target) as calls:
        wait_until(lambda: len(calls.ask("List").targets) == 4, "the children to be listed")
        targets = calls.ask("List").targets
        equal([x.pid for x in targets], [target.pid, *children], "pids")
        equal({x.uid for x in targets}, {os.geteuid()}, "uids")
        equal([bool(x.address) for x in targets], [True, False, False, False], "the listening process")
        equal({x.state for x in targets}, {"idle"}, "states")
        check(all(x.since_unix_ns >= targets[0].since_unix_ns for x in targets), "times of joining")
        stream = calls.capture(LONG_MS)
        calls.await_phase(stream, RECORDING)
        equal({x.state for x in calls.ask("List").targets}, {"recording"}, "states")
        await_rounds(children)
        calls.stop()
        equal(sum(name.endswith(f"[{pid}]") for pid in children
                  for name in calls.deliver(stream).trace.planes), 3, "planes of children")


run()
