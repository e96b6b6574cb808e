#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests clients that give up at each stage of a capture, by the stock service and by proftap's, and thousands of
clients: the session is free again at once, and nothing of them remains."""
import contextlib
import os

from calls import profile_request
from checks import SLOWNESS
from fixture import SANITIZERS, check, equal, find_proftapd, read_status, run, schema, timed, wait_until
from http2 import (DATA, END_HEADERS, END_STREAM, HEADERS, OK, PROFILE, TERMINATE, Connection, frame,
                   indexed_headers, message)
from peers import check_free, unharmed
from processes import is_recording
from profiler import V1, Profiler, capture_request

FAR = 1 << 62
LONG_MS = 60000
# Enough for the answer's head and progress, and for nothing of a trace.
WINDOW = 300
N_SPANS = 60000
N_CONNECTIONS = 1000
N_AT_ONCE = 100
N_TERMINATES = 100000
# Threads that gRPC starts only once, under load. A leak would be there for each client.
N_LATE = 3
N_STREAMS = 16  # streams that the server takes at a time


class Unary:
    """tensorflow.ProfilerService/Profile."""
    path = PROFILE
    # The limit of captures that wait for their start, plus one.
    n_waiting = 65

    @staticmethod
    def request(duration_ms, **options):
        return profile_request(duration_ms, options)

    @staticmethod
    def is_answered(calls, stream):
        calls.connection.read_some(0)
        return calls.connection.streams[stream].headers


class Streamed:
    """proftap.v1.Profiler/Capture."""
    path = V1 + "Capture"
    # More than the captures that may wait for their start, or be written, at a time.
    n_waiting = 65

    @staticmethod
    def request(duration_ms, **options):
        return capture_request(duration_ms, LONG_MS, **options)

    @staticmethod
    def is_answered(calls, stream):
        return any(p.progress.xspace_bytes for p in calls.parts(stream))


def on_both(check_one):
    """Makes a timed test of both services. Clients that have gone leave no descriptor and no thread."""
    def both(t):
        for service in (Unary, Streamed):
            with unharmed(t, sleeps=False) as target:
                server = find_proftapd(target.pid)
                check_free(t, target)
                before = count_held(server)
                check_one(t, target, service)
                wait_until(lambda: count_held(server) <= before + N_LATE, f"{before} descriptors and threads",
                           5 * SLOWNESS)
    both.__name__ = check_one.__name__
    return timed(both)


def count_held(server):
    return len(os.listdir(f"/proc/{server}/fd")) + int(read_status(server)["Threads"])


def begin(calls, target, service, duration_ms=LONG_MS):
    target.send("await 1")
    stream = calls.start(service.path, service.request(duration_ms))
    calls.connection.read_some(0)
    target.obeyed(1)
    return stream


@on_both
def cancelling_before_the_start_ends_the_wait(t, target, service):
    for _ in range(service.n_waiting):
        with Profiler(target) as calls:
            stream = calls.start(service.path, service.request(10, start_timestamp_ns=FAR))
            calls.settle()
            check(not calls.is_ended(stream), f"the capture did not wait: {calls.connection.streams[stream].headers}")
            calls.cancel(stream)
            calls.settle()
    check_free(t, target)


@on_both
def cancelling_while_recording_frees_the_place(t, target, service):
    with Profiler(target) as calls:
        calls.cancel(begin(calls, target, service))
        check_free(t, target)


@on_both
def cancelling_while_the_trace_is_made_frees_the_place(t, target, service):
    with Profiler(target) as calls:
        stream = begin(calls, target, service, 300)
        target.ask(f"burst {N_SPANS}")
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
        calls.cancel(stream)
        check_free(t, target)


@on_both
def cancelling_while_the_trace_comes_frees_its_memory(t, target, service):
    with Profiler(target, window=WINDOW) as calls:
        stream = begin(calls, target, service, 300)
        target.ask(f"burst {N_SPANS}")
        wait_until(lambda: service.is_answered(calls, stream), "the answer to begin")
        check_free(t, target)
        check(not calls.is_ended(stream), "the trace came without a window")
        calls.cancel(stream)
        check_free(t, target)


@on_both
def a_deadline_of_10_ms_ends_a_capture_of_a_second(t, target, service):
    with Profiler(target) as calls:
        body = message(service.request(1000).SerializeToString())
        stream = calls.connection.start(service.path, body, extra=[("grpc-timeout", "10m")])
        answer = calls.connection.finish(stream, 0.9)
        check(answer.status != OK, f"answered: {answer.status}")
        check_free(t, target)


@timed
def a_thousand_connections_leave_nothing(t):
    with unharmed(t) as target:
        server = find_proftapd(target.pid)
        before = count_held(server)
        for _ in range(N_CONNECTIONS // N_AT_ONCE):
            with contextlib.ExitStack() as stack:
                for i in range(N_AT_ONCE):
                    stack.enter_context(Connection(target.port, greets=i % 2))
        wait_until(lambda: count_held(server) <= before, f"{before} descriptors and threads",
                           5 * SLOWNESS)


class Terminator:
    """Makes as many calls at a time as the server takes, with the fewest bytes in both directions."""

    def __init__(self, port):
        self.connection = Connection(port)
        self.headers, self.again = indexed_headers(TERMINATE)
        request = schema("profiler_service").TerminateRequest(session_id="nobody's")
        self.body = message(request.SerializeToString())
        self.left = b""

    def call(self, n):
        c = self.connection
        parts = []
        for _ in range(n):
            stream = c.new_stream()
            parts += [frame(HEADERS, END_HEADERS, stream, self.headers),
                      frame(DATA, END_STREAM, stream, self.body)]
            self.headers = self.again
        check(c.send(*parts), "the server has hung up")
        n_ended = 0
        while n_ended < n:
            n_ended += self.count_ends()

    def count_ends(self):
        """The number of streams that end in the next bytes."""
        data = self.connection.socket.recv(1 << 16)
        check(data, "the server has hung up")
        data, at, n = self.left + data, 0, 0
        while at + 9 <= len(data) and at + 9 + int.from_bytes(data[at:at + 3], "big") <= len(data):
            n += data[at + 3] == HEADERS and data[at + 4] & END_STREAM
            at += 9 + int.from_bytes(data[at:at + 3], "big")
        self.left = data[at:]
        return n


@timed
def a_hundred_thousand_terminates_end_nothing(t):
    n = N_TERMINATES if SANITIZERS == "no" else 1000
    with unharmed(t, sleeps=False) as target:
        capture = t.begin(target)
        terminator = Terminator(target.port)
        for _ in range(n // N_STREAMS):
            terminator.call(N_STREAMS)
        check(is_recording(target.pid), "the session was ended")
        target.ask("burst 10")
        equal(t.stop(target, capture).trace.count("burst"), 10, "spans")
        terminator.connection.close()


run()
