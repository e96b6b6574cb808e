#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests hostile peers, which send a server raw HTTP/2 frames: the target is not affected, the server stays
small and answers the next capture."""
import contextlib
import os
import resource
import socket
import struct
import time
from pathlib import Path

from checks import in_time
from fixture import SANITIZERS, check, equal, find_proftapd, read_fds, run, test, timed, wait_until
from http2 import (CANCEL, CONTINUATION, END_HEADERS, HEADERS, PING, PREFACE, PROFILE, RST_STREAM,
                   SETTINGS, UNIMPLEMENTED, Connection, frame, header, indexed_headers, message,
                   request_headers)
from peers import check_next_capture, unharmed

# After this time silent peers are gone.
SILENCE_S = 12


@timed
def streams_that_are_reset_at_once_end_the_connection(t):
    """20,000 streams are half a megabyte of frames. With TSan each takes a hundred times as long, so there are 400."""
    headers, again = indexed_headers(PROFILE)
    with unharmed(t) as target, Connection(target.port) as c:
        for _ in range(200 if SANITIZERS != "thread" else 4):
            frames = []
            for _ in range(100):
                stream = c.new_stream()
                frames += [frame(HEADERS, END_HEADERS, stream, headers),
                           frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))]
                headers = again
            if not c.send(*frames):
                break
            c.read_some(0)
        c.wait_for_close(5)


@timed
def streams_that_are_reset_one_by_one_end_the_connection(t):
    """Few streams are open at a time: the peer begins one only when the server has read the last one's reset."""
    headers, again = indexed_headers(PROFILE)
    with unharmed(t) as target, Connection(target.port) as c:
        for i in range(300):
            stream = c.new_stream()
            c.send(frame(HEADERS, END_HEADERS, stream, headers if i == 0 else again),
                   frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)), frame(PING, 0, 0, bytes(8)))
            n_pongs = c.pongs
            if not c.wait(lambda: c.pongs > n_pongs, "the answer to a ping"):
                break
        check(c.closed, "still connected")


@timed
def streams_beyond_the_limit_end_the_connection(t):
    """The peer never acknowledges the settings, so their limit does not bind it."""
    headers, again = indexed_headers(PROFILE)
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = False
        c.send(frame(HEADERS, END_HEADERS, c.new_stream(), headers))
        for _ in range(200 if SANITIZERS != "thread" else 4):
            if not c.send(*(frame(HEADERS, END_HEADERS, c.new_stream(), again)
                            for _ in range(100))):
                break
        c.wait_for_close(5)


@timed
def endless_pings_harm_nobody(t):
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = False
        for _ in range(100):
            c.send(frame(PING, 0, 0, b"12345678") * 1000)
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = False
        for _ in range(100):
            c.send(frame(PING, 0, 0, b"12345678") * 1000)
            c.read_some(0)
        reply = c.call("/x", message(b""))
        equal(reply.status, UNIMPLEMENTED, "a call behind the pings")


@timed
def endless_settings_harm_nobody(t):
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = False
        for _ in range(100):
            c.send(frame(SETTINGS) * 1000)


@timed
def silent_connections_are_gone_soon(t):
    with unharmed(t, sleeps=False) as target, contextlib.ExitStack() as stack:
        silent = [stack.enter_context(Connection(target.port, greets=False)) for _ in range(500)]
        last = time.monotonic()
        check_next_capture(t, target)
        for c in silent:
            c.wait_for_close()
        in_time(time.monotonic() - last, SILENCE_S, "silent connections' end")
        check_has_let_go(find_proftapd(target.pid))


def count_sockets(pid):
    n = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            n += "socket:" in os.readlink(f"/proc/{pid}/fd/{fd}")
    return n


def check_has_let_go(server, n_before=4):
    """Waits until all connections are closed. The listener and the private sockets stay open, and so does
    the journal's socket, if there is one."""
    wait_until(lambda: count_sockets(server) <= n_before, "descriptors to be closed", 5)


@timed
def half_a_greeting_is_gone_soon(t):
    with unharmed(t) as target, Connection(target.port, greets=False) as c:
        started = time.monotonic()
        c.send(PREFACE[:10])
        c.wait_for_close()
        check(time.monotonic() - started > 5, "closed too early for a client on a busy machine")
        in_time(time.monotonic() - started, SILENCE_S, "the end of the connection")


@test
def a_greeting_that_is_late_is_heard(t):
    """A client on a busy machine may need seconds between its connection and its greeting."""
    target = t.target().serve()
    with Connection(target.port, greets=False) as c:
        # This sleep is the client's delay.
        time.sleep(4)
        c.send(PREFACE, frame(SETTINGS))
        c.wait(lambda: c.buffer or c.streams, "an answer")
        check(not c.closed, "closed before it greeted")


@timed
def clients_that_go_away_leave_nothing(t):
    with unharmed(t) as target:
        server = find_proftapd(target.pid)
        before = count_sockets(server)
        for i in range(100):
            with Connection(target.port, greets=i % 2) as c:
                if i % 4 == 1:
                    c.send(frame(HEADERS, END_HEADERS, 1, request_headers(PROFILE)))
                if i % 3 == 0:
                    c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                        struct.pack("ii", 1, 0))
                if i % 5 == 0:
                    c.socket.shutdown(socket.SHUT_WR)
        check_has_let_go(server, before)


def cpu_s(pid):
    """Returns the processor time that the process has used."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@test
def a_server_without_descriptors_rests(t):
    runtime = t.dir / "runtime"
    runtime.mkdir(mode=0o700)
    target = t.target(XDG_RUNTIME_DIR=str(runtime), PROFTAP_FOLLOW_FORK="1").serve()
    server = find_proftapd(target.pid)
    limits = resource.prlimit(server, resource.RLIMIT_NOFILE)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (max(read_fds(server)) + 1, limits[1]))
    with contextlib.ExitStack() as stack:
        stack.enter_context(socket.create_connection(("127.0.0.1", target.port)))
        for end in ("sock", "status"):
            door = stack.enter_context(socket.socket(socket.AF_UNIX))
            door.connect(str(runtime / "proftap" / f"{target.pid}.{end}"))
        before_s, seconds = cpu_s(server), 0.5
        # This sleep is the time of a measurement, not a wait for an event.
        time.sleep(seconds)
        used_s = cpu_s(server) - before_s
        check(used_s < seconds / 4, f"used {used_s} s of the processor in {seconds} s")
    resource.prlimit(server, resource.RLIMIT_NOFILE, limits)
    check_next_capture(t, target)


@timed
def more_connections_than_are_served_are_refused(t):
    with unharmed(t) as target:
        with contextlib.ExitStack() as stack:
            greeted = [stack.enter_context(Connection(target.port)) for _ in range(300)]
            for c in greeted:
                c.wait(lambda: c.buffer or c.streams, "an answer or the end")
            n_served = sum(not c.closed for c in greeted)
            equal(n_served, 128, "connections that are served")
        check_has_let_go(find_proftapd(target.pid))


@test
def connections_leave_descriptors_to_the_server_itself(t):
    """gRPC would abort the server if no descriptor were left."""
    target = t.target().serve()
    server = find_proftapd(target.pid)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (64, 64))
    with contextlib.ExitStack() as stack:
        greeted = [stack.enter_context(Connection(target.port)) for _ in range(100)]
        for c in greeted:
            c.wait(lambda: c.buffer or c.streams, "an answer or the end")
        check(any(not c.closed for c in greeted), "no connection was served")
    check_has_let_go(server)
    check_next_capture(t, target)
    equal(find_proftapd(target.pid), server, "proftapd")


@timed
def headers_without_end_end_the_connection(t):
    check_endless_headers(t, polite=True)


@timed
def headers_without_end_and_without_limits_end_the_connection(t):
    """The limits bind only peers that have acknowledged them."""
    check_endless_headers(t, polite=False)


def check_endless_headers(t, polite):
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = polite
        stream = c.new_stream()
        c.send(frame(HEADERS, 0, stream, request_headers(PROFILE)))
        for i in range(10000):
            if not c.send(frame(CONTINUATION, 0, stream, header(f"x-{i}", "a" * 10000))):
                break
            c.read_some(0)
        c.wait_for_close(5)
        check_has_let_go(find_proftapd(target.pid))


@timed
def frames_that_make_no_sense_end_the_connection(t):
    with unharmed(t) as target:
        for bad in (frame(HEADERS, END_HEADERS, 2, b"\x82"), frame(HEADERS, END_HEADERS, 1, b"\xff" * 50),
                    frame(SETTINGS, 0, 5), frame(PING, 0, 0, b"short"), b"\xff" * 100,
                    frame(CONTINUATION, 0, 1), frame(8, 0, 0, bytes(4)), frame(RST_STREAM, 0, 9, b"12")):
            with Connection(target.port) as c:
                c.send(bad)
                c.call("/x", message(b"")) if not c.closed else None


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
run()
