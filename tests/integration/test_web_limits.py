#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of the host daemon's HTTP: connections, headers, bodies, and slow peers. After each attack the next
ordinary request is answered, and memory, descriptors and threads are as before."""
import contextlib
import resource
import select
import time

from checks import contains, in_time
from fixture import SANITIZERS, check, equal, read_fds, read_status, run, test, timed, wait_until
from hosts import start_target
from memory_watch import MemoryWatch, read_memory_kib
from processes import count_connections
from web import Web, read_answer

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 100
N_SLOW = 1000
# The limit of connections for one user.
MAX_OF_USER = 128
# A request must be complete within this time.
REQUEST_S = 5
# The limit of the first line and the header together.
MAX_HEADER_BYTES = 16384
SLACK_KIB = 2048


class Standing:
    """The daemon's resources before a test, to be compared afterwards."""

    def __init__(self, web):
        # The first request allocates memory that stays.
        equal(web.ask("/healthz").status, 200, "an ordinary request")
        self.web = web
        wait_until(lambda: count_connections(web.pid) == 0, "the connection to be gone")
        self.fds, self.threads = read_fds(web.pid), read_status(web.pid)["Threads"]
        self.memory_kib = sum(read_memory_kib(web.pid))

    def await_again(self, is_grpc_used=False):
        equal(self.web.ask("/healthz").status, 200, "an ordinary request afterwards")
        wait_until(lambda: read_fds(self.web.pid) == self.fds, "descriptors to be as before", 2 * REQUEST_S)
        # The number of gRPC's own threads varies.
        if not is_grpc_used:
            equal(read_status(self.web.pid)["Threads"], self.threads, "threads")
        now = sum(read_memory_kib(self.web.pid))
        check(SANITIZERS != "no" or now < self.memory_kib + SLACK_KIB, f"memory: {self.memory_kib} KiB, and now {now}")


@timed
def a_thousand_slow_peers_delay_no_other_request(t):
    web = Web(t)
    before = Standing(web)
    watch = MemoryWatch(web.pid)
    slow = set()
    took_s = 0
    try:
        begin = time.monotonic()
        for i in range(N_SLOW):
            with contextlib.suppress(ConnectionError):
                s = web.connect()
                slow.add(s)
                s.sendall(REQUEST[:1])
        # The daemon has closed the oldest connections for newer ones; the others go on.
        for at in range(1, 4):
            time.sleep(max(0, begin + at - time.monotonic()))
            for s in list(slow):
                with contextlib.suppress(OSError):
                    s.sendall(REQUEST[at:at + 1])
            asked = time.monotonic()
            equal(web.ask("/healthz").status, 200, "an ordinary request meanwhile")
            took_s = max(took_s, time.monotonic() - asked)
            wait_until(lambda: count_connections(web.pid) <= MAX_OF_USER, "one user to have no more connections than he may")
        # At the absolute deadline all connections are closed, whatever the peers send.
        for s in slow:
            s.settimeout(2 * REQUEST_S)
            with contextlib.suppress(ConnectionError):
                equal(s.recv(100), b"", "a slow peer's answer")
    finally:
        for s in slow:
            s.close()
    in_time(took_s, 2, "an ordinary request")
    grown = watch.end().anonymous_kib - before.memory_kib
    check(SANITIZERS != "no" or grown < MAX_OF_USER * 64, f"memory grew by {grown} KiB")
    before.await_again()


@test
def a_slow_body_is_abandoned(t):
    web = Web(t)
    before = Standing(web)
    begin = time.monotonic()
    with web.connect() as s:
        s.sendall(b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        while not select.select([s], [], [], 0.5)[0] and time.monotonic() - begin < 3 * REQUEST_S:
            s.sendall(b"a")
        with contextlib.suppress(ConnectionError):
            equal(s.recv(100), b"", "its answer")
    took_s = time.monotonic() - begin
    check(took_s > REQUEST_S - 1, f"the body was given up after {took_s} s")
    check(took_s < 3 * REQUEST_S, "the body was not given up")
    before.await_again()


@test
def headers_are_bounded(t):
    web = Web(t)
    before = Standing(web)
    for lines in (b"X: " + b"a" * 40000, b"\r\n".join(b"X%d: a" % i for i in range(4000))):
        with web.connect() as s:
            with contextlib.suppress(ConnectionError):
                s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\n\r\n")
                equal(read_answer(s).status, 431, "the answer to too long a header")
    equal(web.ask("/healthz", headers={"X": "a" * 8000}).status, 200, "one of ordinary length")
    before.await_again()


def ask_with_header(web, n_bytes):
    """Sends a GET whose first line and header have |n_bytes| bytes in all."""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
    with web.connect() as s:
        s.sendall(head + b"a" * (n_bytes - len(head) - 4) + b"\r\n\r\n")
        return read_answer(s)


@test
def too_long_a_header_is_refused_in_our_words(t):
    web = Web(t)
    equal(ask_with_header(web, MAX_HEADER_BYTES).status, 200, "the longest header that is not too long")
    for n_bytes in (MAX_HEADER_BYTES + 1, 25000):
        answer = ask_with_header(web, n_bytes)
        equal((answer.status, answer.headers["Content-Type"], answer.json["error"]["code"]),
              (431, "application/json", "RESOURCE_EXHAUSTED"), f"the answer to {n_bytes} bytes")
        contains(answer.json["error"]["message"], "more than 16384 bytes", "why")


@test
def answers_of_the_library_repeat_nothing_of_the_request(t):
    """After such an answer the connection is closed."""
    web = Web(t)
    mark = b"marked"
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    post = b"POST /api/v1/captures HTTP/1.1\r\nHost: localhost\r\n"
    for request, status in ((b"GET " + mark + b"\r\n\r\n", 400), (get + mark + b"\r\n\r\n", 400),
                            (b"GET /healthz HTTP/2.0\r\n\r\n", 505), (get + b"Content-Length: " + mark + b"\r\n\r\n", 400),
                            (get + b"Content-Length: 99999999999999999999999\r\n\r\n", 413),
                            (post + b"Transfer-Encoding: chunked\r\n\r\n" + mark + b"\r\n\r\n", 400),
                            (get + b"X: " + mark * 8000 + b"\r\n\r\n", 431)):
        with web.connect() as s:
            s.sendall(request)
            answer = read_answer(s)
            equal(answer.status, status, f"the answer to {request[:80]}")
            check(mark not in answer.body and b"<html>" in answer.body, f"the answer to {request[:80]}: {answer.body}")
            with contextlib.suppress(ConnectionError):
                equal(s.recv(1), b"", "the bytes after it")


@test
def a_header_without_an_end_is_cut(t):
    web = Web(t)
    before = Standing(web)
    watch = MemoryWatch(web.pid)
    with web.connect() as s:
        sent = 0
        with contextlib.suppress(ConnectionError):
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
            while sent < 64 << 20:
                s.sendall(b"X: " + b"a" * 1000 + b"\r\n")
                sent += 1000
    check(sent < 64 << 20, "an endless header was read all the same")
    check(watch.end().anonymous_kib < before.memory_kib + SLACK_KIB, "the header was kept")
    before.await_again()


@test
def bodies_are_bounded(t):
    web = Web(t)
    before = Standing(web)
    equal(web.ask("/healthz", body=b"a").status, 413, "a body that nobody wants")
    equal(web.ask("/healthz", body=b"a" * 500000).status, 413, "a long one")
    with web.connect() as s:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000000\r\n\r\n")
        equal(read_answer(s).status, 413, "a huge one")
    watch = MemoryWatch(web.pid)
    with web.connect() as s:
        sent = 0
        with contextlib.suppress(ConnectionError):
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            while sent < 256 << 20:
                s.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
                sent += 65536
    check(sent < 256 << 20, "an endless body was read all the same")
    check(watch.end().anonymous_kib < before.memory_kib + SLACK_KIB, "the body was kept")
    before.await_again()


@test
def malformed_http_is_disconnected(t):
    web = Web(t)
    before = Standing(web)
    strangers = []
    for words in (b"\0" * 100, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n",
                  b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n"):
        s = web.connect()
        s.sendall(words)
        strangers.append((words, s))
    for words, s in strangers:
        with s, contextlib.suppress(ConnectionError):
            answer = s.recv(100)
            check(not answer or answer.split()[1][:1] in (b"4", b"5"), f"{words} got {answer}")
    before.await_again()


@test
def descriptors_are_left_for_others(t):
    web = Web(t)
    target = start_target(t)
    web.host.await_pids(target.pid)
    before = Standing(web)
    limits = resource.prlimit(web.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(web.pid, resource.RLIMIT_NOFILE, (max(before.fds) + 40, limits[1]))
    silent = [web.connect() for _ in range(100)]
    equal(list(web.host.list()), [target.pid], "the answer of the gRPC port meanwhile")
    check(len(read_fds(web.pid)) < max(before.fds) + 40, "all descriptors are taken")
    for s in silent:
        s.close()
    resource.prlimit(web.pid, resource.RLIMIT_NOFILE, limits)
    before.await_again(is_grpc_used=True)


@test
def many_connections_leave_nothing_behind(t):
    web = Web(t)
    before = Standing(web)
    for i in range(500):
        with web.connect() as s:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"[:i % 45])
    before.await_again()


if __name__ == "__main__":
    run()
