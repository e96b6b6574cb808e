#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proftap.v1.Profiler's readers that are slow or leave: the session is free, and so are others."""
from calls import PROFILER, profile_request
from checks import SLOWNESS, wait_in_time
from fixture import LONG_MS, check, contains, equal, run, test, wait_until
from http2 import OK, RESOURCE_EXHAUSTED
from profiler import RECORDING, Profiler, await_no_stream, count_streams

MAX_STREAMS = 8
# A trace of so many spans is more than a reader takes that never opens its window.
MANY_SPANS = 20000


@test
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
    """A capture whose reader takes no more than its first window, when it is recorded."""
    stream = calls.capture(LONG_MS, session_id="much", interval_ms=1000)
    target.ask("await 1", f"burst {MANY_SPANS}")
    with Profiler(target) as others:
        equal(others.stop("much")[0], (OK, ""), "the answer to Stop")
        wait_until(lambda: not others.ask("Status").session, "the session to be free")
    return stream


def reluctant(target):
    """A connection that never opens its window."""
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
        equal(others.deliver(stream_of_others).trace.count("burst"), 10, "spans of the next one")
        wait_until(lambda: count_streams(target) == 1, "one thread to deliver")
        check(not slow.ended(stream), "the slow one has everything: the test is void")
        # It goes on where it was.
        slow.open_window(stream)
        equal(slow.deliver(stream).trace.count("burst"), MANY_SPANS, "spans of the slow one")
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
        # Stock clients are none of them.
        equal(others.call(PROFILER + "Profile", profile_request(50)).status, OK, "a stock client's status")
        slow.pop().connection.close()
        wait_until(lambda: count_streams(target) < MAX_STREAMS, "a thread to end")
        others.deliver(others.capture(50))
    for calls in slow:
        calls.connection.close()
    await_no_stream(target)


run()
