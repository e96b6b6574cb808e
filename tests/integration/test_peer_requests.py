#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests that make no sense, and what is no request: each is answered, and no target notices."""
import contextlib
import gzip
import os
import socket
import struct
import time

from checks import in_time
from fixture import check, contains, equal, run, test
from http2 import INVALID_ARGUMENT, OK, PREFACE, PROFILE, TERMINATE, UNIMPLEMENTED, Connection, message
from peers import profile, refused, request, unharmed


def read_all(sock):
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := sock.recv(4096):
            data += part
    return data


@test
def what_is_no_protobuf_is_invalid(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for body in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x08", b"\x42\x7f\x00"):
            refused(t, c, PROFILE, message(body), INVALID_ARGUMENT, "is not a ProfileRequest")
        refused(t, c, PROFILE, b"", INVALID_ARGUMENT, "no message")
        refused(t, c, TERMINATE, message(b"\xff"), INVALID_ARGUMENT,
                "is not a TerminateRequest")


@test
def methods_that_nobody_knows_are_unimplemented(t):
    with unharmed(t) as target, Connection(target.port) as c:
        for path in ("/tensorflow.ProfilerService/Profiles", "/proftap.v2.Profiler/Capture",
                     "/x", "", "/" + "a" * 4000, PROFILE + "/"):
            refused(t, c, path, message(b""), UNIMPLEMENTED, "no such method")


@test
def the_content_type_does_not_matter(t):
    """gRPC takes any, so a valid request is one whatever it is called; and others are none."""
    with unharmed(t) as target, Connection(target.port) as c:
        for kind in ("text/html", "application/json", "x" * 1000):
            refused(t, c, PROFILE, b"{}", INVALID_ARGUMENT, "no message", content_type=kind)
            refused(t, c, TERMINATE, message(b"{}"),
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
            in_time(time.monotonic() - started, 1, "the end of the connection")


run()
