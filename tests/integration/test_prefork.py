#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests docs/examples/prefork.c, a prefork server: each worker is a process of its own in the trace."""
import os
import re
import signal
import socket

from checks import PATIENCE_S
from fixture import check, equal, is_alive, run, test, wait_until
from processes import PROFTAPD, TOP_BUILD, Process

PREFORK = TOP_BUILD / "docs" / "examples" / "prefork"


class Prefork(Process):
    def __init__(self, n):
        super().__init__("prefork", [PREFORK, n], {"PROFTAPD": str(PROFTAPD)})
        numbers = [int(word) for word in re.findall(r"\d+", self.read_line())]
        _, self.port, self.own_port, *self.workers = numbers

    def connect(self, t):
        s = socket.create_connection(("127.0.0.1", self.own_port), timeout=PATIENCE_S)
        t.at_end.append(s.close)
        return s


def ask(connection):
    connection.sendall(b"hello\n")
    equal(connection.recv(16), b"HELLO\n", "the answer")


def ask_until_the_end(capture, connections):
    while capture.popen.poll() is None:
        for connection in connections:
            ask(connection)


@test
def each_worker_is_a_process_in_the_trace(t):
    prefork = t.keep(Prefork(3))
    # Each connection belongs to a different worker, and keeps this worker for its whole life.
    connections = [prefork.connect(t) for _ in range(3)]
    for connection in connections:
        ask(connection)
    capture = t.start_capture(prefork.port, 300)
    ask_until_the_end(capture, connections)
    trace = capture.finish().trace
    planes = set(trace.children)
    equal(planes, {f"/host:CPU prefork [{pid}]" for pid in prefork.workers}, "planes")
    for pid in prefork.workers:
        check(trace.process(pid).count("line") >= 1, f"no span 'line' of worker {pid}")
        equal([line.name for line in trace.process(pid).threads], ["worker"], "threads")
    equal(capture.warnings, [], "warnings")


@test
def a_worker_that_replaces_another_is_there_too(t):
    prefork = t.keep(Prefork(1))
    ask(prefork.connect(t))
    capture = t.start_capture(prefork.port, 800)
    os.kill(prefork.workers[0], signal.SIGTERM)
    wait_until(lambda: not is_alive(prefork.workers[0]), "the worker to end")
    ask_until_the_end(capture, [prefork.connect(t)])
    trace = capture.finish().trace
    found = [name for name in trace.children if str(prefork.workers[0]) not in name]
    equal(len(found), 1, f"planes of the new worker among {sorted(trace.planes)}")
    prefork.signal(signal.SIGTERM)
    equal(prefork.wait(), 0, "exit status of the master")


run()
