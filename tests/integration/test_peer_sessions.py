#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests endless captures, and clients that leave or stop reading during one: the next client is served."""
import signal
import time

from calls import Calls
from fixture import check, equal, find_proftapd, read_status, run, timed, wait_until
from http2 import INTERNAL, OK, PROFILE, Connection
from peers import check_free, check_next_capture, profile, start_profile, unharmed
from processes import free_port, is_recording


@timed
def a_duration_of_0_is_a_capture_of_nothing(t):
    with unharmed(t, sleeps=False) as target, Connection(target.port) as c:
        equal(c.finish(start_profile(t, target, c, duration_ms=0)).status, OK, "gRPC status")


def check_endless(t, **fields):
    """Checks that an endless recording holds the session, and frees it when its client leaves."""
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


@timed
def a_duration_of_2_to_the_63_is_without_end(t):
    check_endless(t, duration_ms=1 << 63)


@timed
def a_negative_duration_is_without_end(t):
    """The field duration_ms is unsigned, so -1 is sent as 2**64 - 1."""
    check_endless(t, duration_ms=(1 << 64) - 1)


@timed
def a_start_in_2_to_the_63_ns_is_waited_for(t):
    """The waiting capture keeps no other client out, and Terminate ends it."""
    with unharmed(t, sleeps=False) as target, Connection(target.port) as c:
        stream = start_profile(t, target, c, duration_ms=10, session_id="far",
                               options={"version": 1, "start_timestamp_ns": 1 << 63})
        check_next_capture(t, target)
        check(not c.streams[stream].ended, "the capture did not wait for its start")

        with Calls(target) as calls:
            calls.terminate("far")
        equal(c.finish(stream).status, OK, "gRPC status")


@timed
def a_client_killed_in_mid_capture_frees_the_session(t):
    with unharmed(t, sleeps=False) as target:
        for number in (signal.SIGKILL,) * 3:
            capture = t.record(target, 15000)
            capture.signal(number)
            capture.wait()
            check_free(t, target)


@timed
def a_reader_that_stops_holds_up_nobody(t):
    with unharmed(t, sleeps=False) as target, Connection(target.port, window=0) as c:
        target.send("await 1", "burst 60000")
        stream = start_profile(t, target, c, duration_ms=1000)
        target.obeyed(2)
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
        c.wait(lambda: c.streams[stream].headers, "the answer's head")
        check_next_capture(t, target)
        equal(c.streams[stream].data, b"", "bytes sent without a window")
    # A target that ends while the answer waits for its reader is not delayed, and its port is freed.
    target = t.target().serve(free_port())
    server = find_proftapd(target.pid)
    with Connection(target.port, window=0) as c:
        target.send("await 1", "burst 1000")
        stream = start_profile(t, target, c, duration_ms=500)
        target.obeyed(2)
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
        target.kill()
        again = t.target()
        wait_until(lambda: again.start(target.port) == 0, "the port to be free", 2)
    wait_until(lambda: not read_status(server) or read_status(server)["State"][0] == "Z",
               "the old server to end with its last client", 5)


run()
