#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests other services on the port: the client reports at once what it can recognise. It exits with 5, or with 1 after
an answer that makes no sense."""
import http.server
import os
import signal
import socket
import socketserver
import ssl
import subprocess
import threading

from checks import in_time
from fake_server import Connection, FakeServer
from fixture import check, contains, equal, find_proftapd, free_port, read_status, run, test, timed, wait_until
from http2 import DATA, END_STREAM
from processes import PROFTAP

# A silent server is given up after 5 s and asked once more for 1 s.
SILENCE_S = 6


class Banner(socketserver.BaseRequestHandler):
    """Speaks first, as SSH, SMTP and FTP do."""

    def handle(self):
        self.request.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
        while self.request.recv(4096):
            pass


class Redis(socketserver.BaseRequestHandler):
    """Answers with an error that has an escape sequence for a colour."""

    def handle(self):
        while self.request.recv(4096):
            self.request.sendall(b"-ERR unknown command '\x1b[31mPRI'\r\n")


class Tls(socketserver.BaseRequestHandler):
    """A real TLS server without a certificate. It closes the connection if the first message is no ClientHello."""

    def handle(self):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).wrap_socket(self.request, server_side=True)
        except OSError:
            pass


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def serve(t, server_class, handler):
    server = server_class(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    t.at_end += [server.server_close, server.shutdown]
    return server.server_address[1]


def check_stranger(t, port, said, *options, within_s=SILENCE_S):
    capture = t.capture(port, 200, *options, code=5)
    contains(capture.stderr, f"127.0.0.1:{port}: something else listens on that port: ",
             "standard error")
    contains(capture.stderr, said, "standard error")
    check("\x1b" not in capture.stderr, f"an escape sequence in {capture.stderr!r}")
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")
    in_time(capture.elapsed_s, within_s, "the reason")


@timed
def a_web_server_is_recognised(t):
    check_stranger(t, serve(t, http.server.ThreadingHTTPServer, Quiet), 'it said "', within_s=3)


class Content(socketserver.BaseRequestHandler):
    """A web server that takes any bytes for a valid request."""

    def handle(self):
        self.request.recv(4096)
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")


@timed
def a_web_server_that_answers_200_is_recognised(t):
    port = serve(t, socketserver.ThreadingTCPServer, Content)
    check_stranger(t, port, 'it said "HTTP/1.1 200 OK"', within_s=3)
    for words in (["start"], ["stop", "--discard"], ["snapshot"], ["monitor"]):
        done = subprocess.run([PROFTAP, *words, str(port)], capture_output=True, text=True, timeout=60)
        equal(done.returncode, 5, f"exit status of {words}: {done.stderr!r}")
        contains(done.stderr, 'something else listens on that port: it said "HTTP/1.1 200 OK"', "standard error")


@timed
def a_server_that_speaks_first_is_recognised(t):
    check_stranger(t, serve(t, socketserver.ThreadingTCPServer, Banner), "SSH-2.0-OpenSSH_9.2p1",
                   within_s=3)


@timed
def a_line_protocol_is_recognised_and_its_colours_are_not_shown(t):
    check_stranger(t, serve(t, socketserver.ThreadingTCPServer, Redis),
                   "it said \"-ERR unknown command '.[31mPRI'\"", within_s=3)


@timed
def a_tls_server_is_recognised(t):
    check_stranger(t, serve(t, socketserver.ThreadingTCPServer, Tls), "it wants TLS", within_s=3)


@timed
def a_server_that_answers_with_an_alert_is_tls(t):
    class Alert(socketserver.BaseRequestHandler):
        """Answers like OpenSSL's own server: a fatal alert, protocol_version."""

        def handle(self):
            self.request.recv(4096)
            self.request.sendall(b"\x15\x03\x01\x00\x02\x02\x46")
    check_stranger(t, serve(t, socketserver.ThreadingTCPServer, Alert), "it wants TLS", within_s=3)


@timed
def a_silent_server_is_given_up_long_before_the_timeout(t):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        check_stranger(t, silent.getsockname()[1], "it accepts the connection and sends nothing",
                       within_s=10)


@timed
def a_silent_server_is_not_called_slow(t):
    """The client reports the silence even if the user's timeout ends first."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        check_stranger(t, silent.getsockname()[1], "it accepts the connection and sends nothing",
                       "--timeout", "300", within_s=4)


@timed
def a_web_server_that_speaks_http2_is_recognised(t):
    port = FakeServer(t, lambda c: c.headers(end=True, content_type="text/html")).port
    check_stranger(t, port, "it speaks HTTP/2 and not gRPC", within_s=3)


@test
def a_web_page_as_the_answer_is_recognised(t):
    def script(c):
        c.headers(content_type="text/html")
        c.data(b"<html>hello</html>")
        c.frame(DATA, END_STREAM, c.stream)
    for unknown in (Connection.unknown, None):
        c = t.capture(FakeServer(t, script, unknown=unknown), 20, code=1)
        contains(c.stderr, "the answer makes no sense: a server that speaks HTTP/2 and not gRPC", "standard error")
        equal((c.stdout, c.left()), ("", []), "standard output and what is left")


@timed
def a_grpc_server_without_the_profiler_service_is_recognised(t):
    port = FakeServer(t, lambda c: c.fail(12, "unknown service")).port
    check_stranger(t, port, "a server without the profiler service; it answered UNIMPLEMENTED: "
                   "unknown service", within_s=3)


@timed
def a_stopped_server_is_not_waited_for(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    os.kill(server, signal.SIGSTOP)
    wait_until(lambda: read_status(server)["State"][0] == "T", "the server to stop")
    check_stranger(t, target.port, "a stopped profiler server does the same",
                   "--timeout", "300", within_s=4)


@test
def an_unknown_host_name_is_reported(t):
    # RFC 6761 keeps this domain from ever being known.
    capture = t.capture("no-such-host.invalid:9999", 200, code=5)
    contains(capture.stderr, "no-such-host.invalid:9999: name not known: ", "standard error")
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")


@test
def unused_loopback_address_is_reported(t):
    port = free_port()
    capture = t.capture(f"[::1]:{port}", 200, code=5)
    contains(capture.stderr, f"[::1]:{port}: ", "standard error")
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")


run()
