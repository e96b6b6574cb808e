#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap.v1.Profiler's Stop of captures: who gets the data, and the answer when no capture runs."""
import time

from fixture import LONG_MS, check, contains, equal, run, test
from http2 import CANCELLED, FAILED_PRECONDITION, OK
from profiler import NO_SESSION, Delivery, Profiler


@test
def stop_gives_the_data_to_whoever_began(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        for session_id in ("mine", ""):
            stream = calls.capture(LONG_MS, session_id="mine")
            target.ask("await 1", "burst 10")
            end_of_stop, parts = calls.stop(session_id)
            equal(end_of_stop, (OK, ""), "the answer to Stop")
            nothing = Delivery(parts)
            nothing.check()
            equal((nothing.progress, nothing.data, nothing.trailer.xspace_bytes), ([], b"", 0),
                  "progress, data and trace size for the client that stopped the capture")
            equal(calls.deliver(stream).trace.count("burst"), 10, "spans")


@test
def stop_can_discard(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        stream = calls.capture(LONG_MS, session_id="mine")
        target.ask("await 1", "burst 10")
        equal(calls.stop("mine", discard=True)[0], (OK, ""), "the answer to Stop")
        status, text = calls.end(stream)
        equal((status, text), (CANCELLED, "the session was ended, and its data discarded"), "the end")
        equal({p.WhichOneof("part") for p in calls.parts(stream)}, {"progress"}, "the parts")


@test
def stop_ends_a_capture_that_waits_for_its_start(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        for session_id in ("later", ""):
            stream = calls.capture(100, session_id="later",
                                   start_timestamp_ns=time.time_ns() + LONG_MS * 10**6)
            equal(calls.stop(session_id)[0], (OK, ""), "the answer to Stop")
            delivery = calls.deliver(stream)
            check(delivery.trailer.is_empty, "the trace has events")
            contains(delivery.data.decode("latin-1"), "ended before its start", "the trace")


@test
def stop_of_nothing_is_not_found(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        equal(calls.stop("x")[0], NO_SESSION, "the answer")
        equal(calls.stop()[0], NO_SESSION, "the answer")
        stream = calls.capture(LONG_MS, session_id="mine")
        target.ask("await 1")
        equal(calls.stop("x")[0], NO_SESSION, "the answer")
        check(not calls.ended(stream), "another session was stopped")


@test
def stop_does_not_end_the_programs_own_trace(t):
    target = t.target().serve()
    target.ask(f"trace_start {t.dir / 'logs'}")
    with Profiler(target) as calls:
        equal(calls.stop()[0][0], FAILED_PRECONDITION, "the status")
        contains(calls.ask("Status").session, "a trace of the program's own", "owner of the session")
    target.ask("burst 5", "trace_stop")


run()
