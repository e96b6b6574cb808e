#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with a profiler server like JAX's: the server listens on all addresses and has only ProfilerService,
without Monitor. The program maps a file named like JAX's library. It prints its port, then each call's method.

usage: stock_program.py NAME LIBRARY XSPACE THREAD    LIBRARY: a file that is mapped; XSPACE: what it records, in hex; THREAD: a thread's name or ""
"""
import mmap
import os
import re
import signal
import sys
import threading
import time
import types

from fake_server import FakeServer, field, number, space
from processes import Process

RECORDED_NS = 20_000_000


class StockProgram(Process):
    """|library| is the name of the library that the program maps, |thread| the name of a second thread; |calls| are
    the methods that were called."""

    def __init__(self, t, name, library="libjax_common.so", user=None, thread="", python="/usr/bin/python3", env=None):
        place = t.dir / f"libraries of {name}"
        path = (place if place.exists() else t.public_dir(place.name)) / library
        path.write_bytes(b"no library")
        super().__init__(name, [python, __file__, name, path, space().hex(), thread], env, user=user)
        t.keep(self)
        self.port = int(self.read_line())
        self.wait_mark = path.with_name(path.name + ".waits")
        self.death_mark = path.with_name(path.name + ".dies")

    def die_when_recorded(self):
        """Makes the program die when the next Profile comes."""
        self.death_mark.touch()

    def wait_when_recorded(self):
        """Makes the program answer the next Profile only after one more call, such as Terminate."""
        self.wait_mark.touch()

    @property
    def calls(self):
        return [line.rstrip() for line in self.out[1:]]

    @property
    def requests(self):
        """Returns the calls but Monitor, which each search for servers on this machine makes, also those of other tests."""
        return [call for call in self.calls if call != "Monitor"]


def times(start_ns, stop_ns):
    """Returns a plane with the times of the recording, which can be appended to an XSpace."""
    plane = field(2, b"Task Environment")
    for i, (name, value) in enumerate(((b"profile_start_time", start_ns), (b"profile_stop_time", stop_ns)), 1):
        plane += field(5, number(1, i) + field(2, number(1, i) + field(2, name)))
        plane += field(6, number(1, i) + number(3, value))
    return field(1, plane)


def say(method):
    """Prints a line in one write: calls come on several threads, and print() writes the line's end by itself."""
    sys.stdout.write(method + "\n")
    sys.stdout.flush()


def print_next(connection):
    """Prints the next call, which gets no answer (Connection.begin_call())."""
    n_calls = len(connection.calls)
    while len(connection.calls) == n_calls:
        connection.read_frame()
    say(re.search(rb"/[\w.]+/(\w+)", connection.heads[connection.calls[-1]])[1].decode())


def main(name, library, recorded, thread):
    def answer(connection):
        say(connection.method())
        if connection.method() == "Monitor":
            connection.fail(12, "unimplemented.")
        elif connection.method() == "Profile" and os.path.exists(library + ".dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        elif connection.method() == "Profile" and os.path.exists(library + ".waits"):
            print_next(connection)
            connection.reply(field(8, bytes.fromhex(recorded) + times(time.time_ns() - RECORDED_NS, time.time_ns())))
        else:
            connection.reply(field(8, bytes.fromhex(recorded) + times(time.time_ns() - RECORDED_NS, time.time_ns())))
        while True:
            print_next(connection)

    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write(name)
    if thread:
        helper = threading.Thread(target=signal.pause, daemon=True)
        helper.start()
        with open(f"/proc/self/task/{helper.native_id}/comm", "w", encoding="ascii") as comm:
            comm.write(thread)
    with open(library, "rb") as f:
        mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
    print(FakeServer(types.SimpleNamespace(at_end=[]), answer, "0.0.0.0").port, flush=True)
    signal.pause()
    mapped.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
