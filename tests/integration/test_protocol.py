#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests promises that stock servers do not make: starts in the future, Terminate, and the order of sessions."""
import time

from calls import BUSY, PROFILER, UINT64_MAX, Calls, profile_request, trace_of
from checks import not_void
from fixture import check, contains, equal, quick, run, staged, test, wait_until
from http2 import INTERNAL, OK
from pulses import Pulses

PROFILE = PROFILER + "Profile"
LONG_MS = 60000
# The tolerance of an agreed start.
ALIGNED_NS = 10**6
N_TRIES = 20
# On a busy machine up to this time passes until a program emits.
LATE_MS = 2000
RING_BYTES = 65536


def in_ms(ms):
    return time.time_ns() + ms * 10**6


def sleep_until(unix_ns):
    time.sleep(max(0, (unix_ns - time.time_ns()) / 1e9))


def start_time(trace):
    return trace.environment["profile_start_time"].value


@test
def terminate_for_an_unknown_session_does_not_end_a_later_one(t):
    target = t.target().serve()
    with Calls(target) as calls:
        calls.terminate("later")
        target.send("await 1", "burst 10")
        stream = calls.start(PROFILE, profile_request(300, session_id="later"))
        target.obeyed(2)
        answer = calls.finish(stream)
        trace = trace_of(answer.message)
        equal(trace.count("burst"), 10, "spans")
        length_ns = trace.environment["profile_stop_time"].value - start_time(trace)
        check(length_ns >= 300 * 10**6, f"recorded for {length_ns} ns only")


@test
def an_early_terminate_returns_the_data_recorded_before(t):
    target = t.target().serve()
    with Calls(target) as calls:
        for duration_ms in (LONG_MS, UINT64_MAX):
            stream = calls.start(PROFILE, profile_request(duration_ms, session_id="mine"))
            target.ask("await 1", "burst 10")
            calls.terminate("mine")
            equal(trace_of(calls.finish(stream).message).count("burst"), 10, "spans")


def start_in(calls, pulses, wait_ms):
    """Returns the delays, in ns, of the program's recording and of its first event."""
    at = in_ms(wait_ms)
    trace = trace_of(calls.expect(PROFILE, profile_request(100, {"start_timestamp_ns": at})))
    late, first = pulses.check_start(trace, at)
    missing = late - (start_time(trace) - at)
    is_told = any("machine was too busy to begin" in w for w in trace.space.warnings)
    equal(is_told, missing > ALIGNED_NS, f"{missing} ns are missing, {late} ns late: whether a warning says so")
    return late, first


@staged
def a_start_in_the_future_is_kept_to_a_millisecond(t):
    target = t.target().serve()
    pulses = Pulses(t, target)
    with Calls(target) as calls:
        for wait_ms in (150, 400):
            found = []
            # The server arms the recording early: it begins at the agreed time, unless the machine is too busy.
            while len(found) < N_TRIES and not any(late == 0 and first <= ALIGNED_NS for late, first in found):
                found.append(start_in(calls, pulses, wait_ms))
            not_void(len(found) < N_TRIES, f"{wait_ms} ms ahead: (late, first event) in ns: {found}")


@quick
def events_before_an_agreed_start_are_no_loss(t):
    target = t.target().serve(0, RING_BYTES)
    with Calls(target) as calls:
        at = in_ms(300)
        stream = calls.start(PROFILE, profile_request(LATE_MS, {"start_timestamp_ns": at}))
        # The program emits far more than a ring holds, after arming and before the start unless the machine is busy.
        target.ask("await_early", f"count {4 * RING_BYTES // 16}")
        not_void(time.time_ns() < at, "the program was not quick enough")
        sleep_until(at)
        target.ask("burst 5")
        not_void(time.time_ns() < at + LATE_MS * 10**6, "the program was not quick enough")
        trace = trace_of(calls.finish(stream).message)
    equal((trace.count("burst"), trace.count("number"), trace.host_stat("dropped_traces")), (5, 0, 0),
          "spans, early spans, dropped")
    equal(list(trace.space.warnings), [], "warnings")


@quick
def a_capture_that_ends_before_its_start_is_empty(t):
    target = t.target().serve()
    with Calls(target) as calls:
        at = in_ms(300)
        stream = calls.start(PROFILE, profile_request(LONG_MS, {"start_timestamp_ns": at}, session_id="s"))
        target.ask("await_early", "burst 3")
        calls.terminate("s")
        not_void(time.time_ns() < at, "Terminate came after the start")
        answer = calls.finish(stream)
        check(answer.message.empty_trace, "a capture that never began has data")
        contains(trace_of(answer.message).space.warnings[0], "ended before its start", "its warning")


@test
def nothing_from_before_the_agreed_start_is_in_the_trace(t):
    target = t.target().serve()
    counts = t.dir / "counts"
    counts.write_bytes(bytes(4096))
    target.ask(f"steady {counts}")  # its threads emit as soon as they may
    with Calls(target) as calls:
        reply = calls.expect(PROFILE, profile_request(100, {"start_timestamp_ns": in_ms(300)}))
    trace = trace_of(reply)
    check(trace.count("inner") > 0, "no span: the test is void")
    equal(trace.host_stat("ptap_lost_invalid"), 0, "records taken for damaged")
    starts = [e.start_ps for line in trace.threads for e in line.events]
    check(min(starts) >= 0, f"a span from {min(starts)} ps")
    equal([w for w in trace.space.warnings if "damaged" in w], [], "warnings")


@staged
def a_delayed_start_keeps_nobody_out_before_its_time(t):
    target = t.target().serve()
    with Calls(target) as calls:
        at = in_ms(1500)
        late = calls.start(PROFILE, profile_request(LATE_MS, {"start_timestamp_ns": at}))
        far = calls.start(PROFILE, profile_request(100, {"start_timestamp_ns": 2**63}, session_id="far"))
        target.send("await 1", "burst 10")
        soon = calls.start(PROFILE, profile_request(200))
        target.obeyed(2)
        equal(trace_of(calls.finish(soon).message).count("burst"), 10, "spans of the second capture")
        not_void(time.time_ns() < at, "the second capture took too long")
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
        target.ask("await 1")
        # Annotations of the program a little before the start are left out.
        sleep_until(at)
        target.ask("burst 5")
        not_void(time.time_ns() < at + LATE_MS * 10**6, "the program was not quick enough")
        equal(trace_of(calls.finish(late).message).count("burst"), 5, "spans of the first capture")
        calls.terminate("far")
        answer = calls.finish(far)
        check(answer.message.empty_trace, "a capture that never began has data")
        contains(answer.message.xspace.warnings[0], "ended before its start", "its warning")


@test
def later_of_two_requests_for_one_start_is_busy(t):
    target = t.target().serve()
    with Calls(target) as calls:
        at = in_ms(400)
        streams = []
        for name in "ab":
            streams.append(calls.start(PROFILE, profile_request(300, {"start_timestamp_ns": at},
                                                                session_id=name)))
            calls.settle()
        answers = [calls.finish(stream) for stream in streams]
        equal([a.status for a in answers], [OK, INTERNAL], "statuses")
        contains(answers[1].text, f"{BUSY} session a: 0.3 s, begun ", "the second's text")


@test
def a_delayed_start_can_be_cancelled(t):
    target = t.target().serve()
    with Calls(target) as calls:
        at = in_ms(600)
        for way in ("cancel", "vanish"):
            with Calls(target) as other:
                stream = other.start(PROFILE, profile_request(LONG_MS, {"start_timestamp_ns": at},
                                                              session_id=way))
                other.settle()
                if way == "cancel":
                    other.cancel(stream)
                    other.settle()
        # Both captures would record from |at| on.
        sleep_until(at)
        reply = calls.expect(PROFILE, profile_request(50))
        check(start_time(trace_of(reply)) >= at, "the capture came too early: the test is void")


run()
