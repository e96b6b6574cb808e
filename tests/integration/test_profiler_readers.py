#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that clients of proftap.v1.Profiler that read slowly or leave do not block others."""
from calls import PROFILER, profile_request
from checks import SLOWNESS, wait_in_time
from fixture import LONG_MS, check, contains, equal, run, test, timed, wait_until
from http2 import OK, RESOURCE_EXHAUSTED
from profiler import RECORDING, Profiler, await_no_stream, count_streams

MAX_STREAMS = 8
# A trace of this many spans exceeds the window of a reader that never enlarges it.
MANY_SPANS = 20000


@timed
def a_client_that_leaves_frees_the_session(t):
    target = t.target().serve()
    for leave in ("cancel", "close"):
        with Profiler(target) as calls, Profiler(target) as others:
            stream = calls.capture(LONG_MS)
            calls.await_phase(stream, RECORDING)
            if leave == "cancel":
                calls.cancel(stream)
            else:
                calls.connection.close()
            wait_in_time(lambda: not others.ask("Status").session, f"the session to be free after {leave}",
                         0.1 * SLOWNESS)
    await_no_stream(target)


def record_much(t, target, calls):
    """Records MANY_SPANS spans, and returns the stream of the capture when the session is free."""
    stream = calls.capture(LONG_MS, session_id="much", interval_ms=1000)
    target.ask("await 1", f"burst {MANY_SPANS}")
    with Profiler(target) as others:
        equal(others.stop("much")[0], (OK, ""), "the answer to Stop")
        wait_until(lambda: not others.ask("Status").session, "the session to be free")
    return stream


def reluctant(target):
    """Returns a connection that never enlarges its HTTP/2 window of 64 KiB."""
    calls = Profiler(target, window=65535)
    calls.connection.polite = False
    return calls


@test
def a_slow_reader_holds_neither_the_session_nor_others(t):
    target = t.target().serve()
    with reluctant(target) as slow, Profiler(target) as others:
        stream = record_much(t, target, slow)
        target.send("await 1", "burst 10")
        stream_of_others = others.capture(200)
        target.obeyed(2)
        equal(others.deliver(stream_of_others).trace.count("burst"), 10, "spans of the next trace")
        wait_until(lambda: count_streams(target) == 1, "all delivering threads except one to end")
        check(not slow.ended(stream), "the slow reader has received everything: the test is void")
        # The delivery continues where it stopped.
        slow.open_window(stream)
        equal(slow.deliver(stream).trace.count("burst"), MANY_SPANS, "the slow reader's spans")
    await_no_stream(target)


@test
def number_of_slow_readers_is_bounded(t):
    target = t.target().serve()
    slow = [reluctant(target) for _ in range(MAX_STREAMS)]
    for calls in slow:
        record_much(t, target, calls)
    equal(count_streams(target), MAX_STREAMS, "threads that deliver")
    with Profiler(target) as others:
        status, text = others.end(others.capture(100))
        equal(status, RESOURCE_EXHAUSTED, text)
        contains(text, "too many traces wait", "the text")
        # Calls of stock clients do not count towards this limit.
        equal(others.call(PROFILER + "Profile", profile_request(50)).status, OK, "a stock client's status")
        slow.pop().connection.close()
        wait_until(lambda: count_streams(target) < MAX_STREAMS, "a thread to end")
        others.deliver(others.capture(50))
    for calls in slow:
        calls.connection.close()
    await_no_stream(target)


run()
