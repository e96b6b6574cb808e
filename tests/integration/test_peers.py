#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile peers of a server, frame by frame: the target never notices, the server stays small and
answers the next capture."""
import contextlib
import gzip
import os
import resource
import signal
import socket
import struct
import time

from fixture import (SANITIZERS, check, contains, equal, find_proftapd, read_status, run, schema,
                     test, wait_until)
from http2 import (CANCEL, CONTINUATION, END_HEADERS, HEADERS, INTERNAL, INVALID_ARGUMENT, OK, PING,
                   PREFACE, PROFILE, RST_STREAM, SETTINGS, UNIMPLEMENTED, Connection, frame, header,
                   indexed_headers, message, request_headers)
from processes import is_recording

LIMIT_KIB = 32 << 10
# Who says nothing is gone by then.
SILENCE_S = 3
# A session whose client is gone is free by then.
FREE_S = 0.1


def request(**fields):
    """The bytes of a ProfileRequest's message; |options| are those of its ProfileOptions."""
    options = fields.pop("options", {})
    made = schema("profiler_service").ProfileRequest(**fields)
    for name, value in options.items():
        setattr(made.opts, name, value)
    return made


def profile(**fields):
    return message(request(**fields).SerializeToString())


def read_kib(pid, key):
    return int(read_status(pid)[key].split()[0])


def read_wakeups(target):
    """How often the target's control thread ran."""
    task = [t for t, name in target.thread_names().items() if name == "ptap-control"][0]
    status = read_status(target.pid, task)
    return [int(status[key]) for key in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")]


def check_next_capture(t, target):
    capture = t.start_capture(target, 100, "--attempts", "5")
    target.ask("await 1", "burst 10")
    equal(capture.finish().trace.count("burst"), 10, "spans of the next capture")


@contextlib.contextmanager
def unharmed(t, sleeps=True):
    """A target whose server has served before. Afterwards: nobody noticed anything. |sleeps|: none
    of what is done asks the target for anything."""
    target = t.target().serve()
    t.emit(target, 300, "burst 1")
    server = find_proftapd(target.pid)
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
    wakeups = read_wakeups(target)
    with open(f"/proc/{server}/clear_refs", "w") as f:
        f.write("5")  # the peak starts again
    before = read_kib(server, "VmRSS")
    yield target
    equal(target.ask("port"), str(target.port), "the target's answer")
    equal(find_proftapd(target.pid), server, "the server")
    if sleeps:
        equal(read_wakeups(target), wakeups, "wake-ups of the target")
    grown = read_kib(server, "VmHWM") - before
    if SANITIZERS == "no":
        check(grown < LIMIT_KIB, f"the server grew by {grown} KiB")
    check_next_capture(t, target)


def refused(t, connection, path, body, status, words, **headers):
    reply = connection.call(path, body, **headers)
    equal(reply.status, status, "gRPC status")
    contains(reply.text, words, "gRPC message")


@test
def what_is_no_protobuf_is_invalid(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for body in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x08", b"\x42\x7f\x00"):
            refused(t, c, PROFILE, message(body), INVALID_ARGUMENT, "is not a ProfileRequest")
        refused(t, c, PROFILE, b"", INVALID_ARGUMENT, "no message")
        refused(t, c, "/tensorflow.ProfilerService/Terminate", message(b"\xff"), INVALID_ARGUMENT,
                "is not a TerminateRequest")


@test
def methods_that_nobody_knows_are_unimplemented(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for path in ("/tensorflow.ProfilerService/Monitor", "/x", "", "/" + "a" * 4000, PROFILE + "/"):
            refused(t, c, path, message(b""), UNIMPLEMENTED, "no such method")


@test
def the_content_type_does_not_matter(t):
    """gRPC takes any, so a valid request is one whatever it is called; and others are none."""
    with unharmed(t) as target, Connection(target.port) as c:
        for kind in ("text/html", "application/json", "x" * 1000):
            refused(t, c, PROFILE, b"{}", INVALID_ARGUMENT, "no message", content_type=kind)
            refused(t, c, "/tensorflow.ProfilerService/Terminate", message(b"{}"),
                    INVALID_ARGUMENT, "is not a TerminateRequest", content_type=kind)


@test
def a_request_of_100_mb_is_refused(t):
    with unharmed(t) as target, Connection(target.port) as c:
        body = struct.pack(">BI", 0, 100 << 20) + bytes(100 << 20)
        reply = c.call(PROFILE, body)
        check(reply.status != OK, f"said {reply}")


@test
def a_gzip_bomb_stays_packed(t):
    with unharmed(t) as target, Connection(target.port) as c:
        bomb = gzip.compress(bytes(100 << 20), 1)
        refused(t, c, PROFILE, message(bomb, 1), UNIMPLEMENTED, "send it without compression",
                extra=[("grpc-encoding", "gzip")])


@test
def streams_that_are_reset_at_once_end_the_connection(t):
    """20,000 of them in half a megabyte; less where each takes a hundred times as long."""
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


@test
def streams_that_are_reset_one_by_one_end_the_connection(t):
    """Never more than a few are open: each is seen to be gone before the next."""
    headers, again = indexed_headers(PROFILE)
    with unharmed(t) as target, Connection(target.port) as c:
        for i in range(300):
            stream = c.new_stream()
            c.send(frame(HEADERS, END_HEADERS, stream, headers if i == 0 else again),
                   frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)), frame(PING, 0, 0, bytes(8)))
            n_pongs = c.pongs
            if not c.wait(lambda: c.pongs > n_pongs, "the answer to a ping"):
                break
        check(c.closed, "it was borne")


@test
def streams_beyond_the_limit_end_the_connection(t):
    """From a peer that never acknowledges the settings: the limit does not bind it."""
    headers, again = indexed_headers(PROFILE)
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = False
        c.send(frame(HEADERS, END_HEADERS, c.new_stream(), headers))
        for _ in range(200 if SANITIZERS != "thread" else 4):
            if not c.send(*(frame(HEADERS, END_HEADERS, c.new_stream(), again)
                            for _ in range(100))):
                break
        c.wait_for_close(5)


@test
def pings_without_end_are_borne(t):
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


@test
def settings_without_end_are_borne(t):
    with unharmed(t) as target, Connection(target.port) as c:
        c.polite = False
        for _ in range(100):
            c.send(frame(SETTINGS) * 1000)


@test
def silent_connections_are_gone_soon(t):
    with unharmed(t, sleeps=False) as target, contextlib.ExitStack() as stack:
        silent = [stack.enter_context(Connection(target.port, greets=False)) for _ in range(500)]
        last = time.monotonic()
        check_next_capture(t, target)
        for c in silent:
            c.wait_for_close(max(0.01, last + SILENCE_S - time.monotonic()))
        check_has_let_go(find_proftapd(target.pid))


def count_sockets(pid):
    n = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            n += "socket:" in os.readlink(f"/proc/{pid}/fd/{fd}")
    return n


def check_has_let_go(server, n_before=4):
    """Of all connections; the listener and the private sockets stay, and maybe the journal's."""
    wait_until(lambda: count_sockets(server) <= n_before, "descriptors to be closed", 5)


@test
def half_a_greeting_is_gone_soon(t):
    with unharmed(t) as target, Connection(target.port, greets=False) as c:
        started = time.monotonic()
        c.send(PREFACE[:10])
        c.wait_for_close(SILENCE_S)
        check(time.monotonic() - started > 1, "it was not waited for")


@test
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


@test
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
    """gRPC would abort the server when it finds none."""
    target = t.target().serve()
    server = find_proftapd(target.pid)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (64, 64))
    with contextlib.ExitStack() as stack:
        greeted = [stack.enter_context(Connection(target.port)) for _ in range(100)]
        for c in greeted:
            c.wait(lambda: c.buffer or c.streams, "an answer or the end")
        check(any(not c.closed for c in greeted), "none was served")
    check_next_capture(t, target)
    equal(find_proftapd(target.pid), server, "proftapd")


@test
def headers_without_end_end_the_connection(t):
    check_endless_headers(t, polite=True)


@test
def headers_without_end_and_without_limits_end_the_connection(t):
    """The limits bind those who have acknowledged them."""
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


def read_all(sock):
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := sock.recv(4096):
            data += part
    return data


@test
def http1_is_told_what_this_is(t):
    with unharmed(t) as target:
        for line in ("GET / HTTP/1.1", "POST /v1/metrics HTTP/1.1"):
            with socket.create_connection(("127.0.0.1", target.port), 5) as s:
                s.sendall(f"{line}\r\nHost: localhost\r\n\r\n".encode())
                answer = read_all(s).decode()
            contains(answer, "HTTP/1.1 400 ", "the answer")
            contains(answer, "this port speaks gRPC", "the answer")


@test
def tls_and_noise_are_hung_up_on_at_once(t):
    hello = bytes.fromhex("1603010200010001fc0303") + bytes(range(256)) * 2
    with unharmed(t) as target:
        for said in (hello, b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", b"\0" + os.urandom(64),
                     b"pri" + PREFACE[3:]):
            started = time.monotonic()
            with socket.create_connection(("127.0.0.1", target.port), 5) as s:
                s.sendall(said)
                equal(read_all(s), b"", "the answer")
            check(time.monotonic() - started < 1, "it was waited for")


@test
def frames_that_make_no_sense_end_the_connection(t):
    with unharmed(t) as target:
        for bad in (frame(HEADERS, END_HEADERS, 2, b"\x82"), frame(HEADERS, END_HEADERS, 1, b"\xff" * 50),
                    frame(SETTINGS, 0, 5), frame(PING, 0, 0, b"short"), b"\xff" * 100,
                    frame(CONTINUATION, 0, 1), frame(8, 0, 0, bytes(4)), frame(RST_STREAM, 0, 9, b"12")):
            with Connection(target.port) as c:
                c.send(bad)
                c.call("/x", message(b"")) if not c.closed else None


@test
def values_out_of_range_are_told_by_name(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for options, words in (({"version": 1, "host_tracer_level": 9}, "host_tracer_level: 9"),
                               ({"version": 1, "device_tracer_level": 7}, "device_tracer_level: 7"),
                               ({"version": 1, "python_tracer_level": 2**32 - 1},
                                "python_tracer_level: 4294967295")):
            refused(t, c, PROFILE, profile(duration_ms=10, options=options), INVALID_ARGUMENT, words)
        made = request(duration_ms=10, options={"version": 1})
        made.opts.advanced_configuration["ptap_max_capture_byte"].int64_value = 1
        refused(t, c, PROFILE, message(made.SerializeToString()), INVALID_ARGUMENT,
                "ptap_max_capture_bytes")


@test
def nothing_is_written_where_a_client_says(t):
    """Stock servers write there, as the program's user, for whoever reaches the port."""
    with unharmed(t, sleeps=False) as target, Connection(target.port) as c:
        before = sorted(t.dir.rglob("*"))
        made = request(duration_ms=10, repository_root=str(t.dir / "root"), session_id="../up",
                       options={"version": 1, "repository_path": str(t.dir / "path")})
        made.opts.advanced_configuration["override_hostname"].string_value = "../host"
        equal(c.call(PROFILE, message(made.SerializeToString())).status, OK, "gRPC status")
        equal(sorted(t.dir.rglob("*")), before, "files")


def start_profile(t, target, c, **fields):
    stream = c.start(PROFILE, profile(emit_xspace=True, **fields))
    c.read_some(0)
    return stream


@test
def a_duration_of_0_is_a_capture_of_nothing(t):
    with unharmed(t, sleeps=False) as target, Connection(target.port) as c:
        equal(c.finish(start_profile(t, target, c, duration_ms=0)).status, OK, "gRPC status")


def check_endless(t, **fields):
    """A recording without an end holds the session, and lets it go with its client."""
    with unharmed(t, sleeps=False) as target:
        with Connection(target.port) as c:
            start_profile(t, target, c, **fields)
            wait_until(lambda: is_recording(target.pid), "the session to be taken", 5)
            check_busy(t, target)
        check_free(t, target)


def check_busy(t, target):
    def is_busy():
        with Connection(target.port) as c:
            reply = c.call(PROFILE, profile(duration_ms=1))
            return (reply.status == INTERNAL and
                    reply.text.startswith("Another profiling session active. "))
    wait_until(is_busy, "the session to be busy", 5)


def check_free(t, target):
    """Within FREE_S of now; a machine under load gets three."""
    started = time.monotonic()
    while True:
        with Connection(target.port) as c:
            asked = time.monotonic() - started
            if c.call(PROFILE, profile(duration_ms=1)).status == OK:
                break
            check(asked < FREE_S * (3 if SANITIZERS == "no" else 20), f"busy {asked} s after the end")
        time.sleep(0.005)


@test
def a_duration_of_2_to_the_63_is_without_end(t):
    check_endless(t, duration_ms=1 << 63)


@test
def a_negative_duration_is_without_end(t):
    """It is unsigned on the wire."""
    check_endless(t, duration_ms=(1 << 64) - 1)


@test
def a_start_in_2_to_the_63_ns_is_waited_for(t):
    check_endless(t, duration_ms=10, options={"version": 1, "start_timestamp_ns": 1 << 63})


@test
def a_client_killed_in_mid_capture_frees_the_session(t):
    with unharmed(t, sleeps=False) as target:
        for number in (signal.SIGKILL,) * 3:
            capture = t.record(target, 15000)
            capture.signal(number)
            capture.wait()
            check_free(t, target)


@test
def a_reader_that_stops_holds_up_nobody(t):
    with unharmed(t, sleeps=False) as target, Connection(target.port, window=0) as c:
        stream = start_profile(t, target, c, duration_ms=1000)
        target.ask("await 1", "burst 60000")
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
        c.wait(lambda: c.streams[stream].headers, "the answer's head")
        check_next_capture(t, target)
        equal(c.streams[stream].data, b"", "what was sent without a window")
    # A target that ends meanwhile is not held up, nor is its port.
    target = t.target().serve()
    server = find_proftapd(target.pid)
    with Connection(target.port, window=0) as c:
        stream = start_profile(t, target, c, duration_ms=500)
        target.ask("await 1", "burst 1000")
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
        target.kill()
        again = t.target()
        wait_until(lambda: again.start(target.port) == 0, "the port to be free", 2)
    wait_until(lambda: not read_status(server) or read_status(server)["State"][0] == "Z",
               "the old server to end with its last client", 5)


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
run()
