#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests endless sessions of proftap.v1.Profiler: Start, Snapshot, Stop."""
from calls import PROFILER, Calls
from fixture import check, contains, equal, find_proftapd, is_alive, run, schema, test, wait_until
from http2 import ALREADY_EXISTS, INVALID_ARGUMENT, OK, message
from profiler import NO_SESSION, NOTHING_RUNS, V1, Profiler, set_options
from trace_file import own_schema


@test
def each_span_is_in_one_snapshot_or_in_the_rest(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        equal(calls.begin(session_id="long"), "long", "the session's name")
        found = []
        for n_spans in (10, 20, 30):
            target.ask("await 1", f"burst {n_spans}")
            ask = calls.snapshot if n_spans < 30 else calls.end_session
            delivery = calls.deliver(ask("long"))
            equal(delivery.progress, [], "progress parts of the stream")
            found.append(delivery.trace.count("burst"))
        equal(found, [10, 20, 30], "spans")
        equal(calls.end(calls.snapshot()), NOTHING_RUNS, "a snapshot after the end")
        equal(calls.ask("Status").session, "", "owner of the session")


@test
def a_session_gets_a_name(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        name = calls.begin()
        check(name, "the session has no name")
        contains(calls.ask("Status").session, f"session {name}: until it is stopped", "owner of the session")
        equal(calls.end(calls.snapshot("another")), NO_SESSION, "the answer for another name")
        equal(calls.stop("another")[0], NO_SESSION, "the answer for another name")
        target.ask("await 1", "burst 5")
        equal(calls.deliver(calls.snapshot(name)).trace.count("burst"), 5, "spans")
        calls.deliver(calls.end_session(name))


@test
def a_session_outlives_the_connection_that_began_it(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        calls.begin(session_id="long")
    with Profiler(target) as calls:
        target.ask("await 1", "burst 5")
        equal(calls.deliver(calls.end_session()).trace.count("burst"), 5, "spans")


@test
def other_sessions_are_refused_meanwhile(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        calls.begin(session_id="long")
        for stream in (calls.capture(100), calls.start(V1 + "Start", set_options(
                own_schema().StartRequest()))):
            status, text = calls.end(stream)
            equal(status, ALREADY_EXISTS, text)
            contains(text, "another profiling session is active (session long: until it is stopped",
                     "the text")
        calls.deliver(calls.end_session())
        calls.deliver(calls.capture(50))


@test
def the_rest_can_be_discarded(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        calls.begin()
        target.ask("await 1", "burst 5")
        end, parts = calls.stop(discard=True)
        equal(end, (OK, ""), "the end of Stop")
        equal([p.WhichOneof("part") for p in parts], ["trailer"], "the parts")
        equal((parts[0].trailer.xspace_bytes, parts[0].trailer.is_empty), (0, True), "the trailer")
        wait_until(lambda: not calls.ask("Status").session, "the session to be free")


@test
def a_snapshot_is_the_same_for_stock_clients(t):
    """There is one session, whichever service asks."""
    target = t.target().serve()
    with Profiler(target) as calls, Calls(target) as stock:
        calls.begin()
        target.ask("await 1", "burst 5")
        request = schema("profiler_service").GetSnapshotRequest()
        reply = stock.expect(PROFILER + "GetSnapshot", request)
        check(reply.xspace.ByteSize() > 0, "the stock client got nothing")
        target.ask("burst 7")
        equal(calls.deliver(calls.end_session()).trace.count("burst"), 7, "spans")


@test
def a_program_that_ends_well_takes_its_session_along(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    with Profiler(target) as calls:
        calls.begin()
        target.popen.stdin.close()
        calls.connection.wait_for_close()
        wait_until(lambda: not is_alive(server), "the server to end")


@test
def start_names_the_invalid_option(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        request = set_options(own_schema().StartRequest(), host_tracer_level=9)
        status, text = calls.end(calls.start(V1 + "Start", request))
        equal((status, text), (INVALID_ARGUMENT, "host_tracer_level: 9 is out of range; 0 to 3"), "the end")
        reply = calls.connection.call(V1 + "Start", message(b""))
        equal(reply.status, INVALID_ARGUMENT, "the status of a request without options")


run()
