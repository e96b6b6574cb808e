#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests for leaks in target and server: descriptors, threads, mappings and memory, over thousands of captures, and over
hundreds of calls of all kinds."""
import os
import time

from calls import PROFILER, Calls, profile_request
from devices import Device
from fixture import SANITIZERS, Skip, check, equal, find_proftapd, read_status, run, schema, test, wait_until
from http2 import INVALID_ARGUMENT, OK, PROFILE, UNIMPLEMENTED, message
from profiler import WAITING, Profiler

# Memory is measured after these numbers of calls, until nothing has grown since the measurement before. A late thread
# of gRPC's makes it grow once, and a leak each time.
CAPTURES_AT = (10, 1000, 2000, 3000)
CALLS_AT = (500, 1000, 1500)
# The slack is small enough that a leak of 300 bytes a capture, or of 600 bytes a call, shows. The C library keeps the
# stacks of some ended threads.
SLACK = {"resident KiB": 300, "mappings": 4}
SETTLE_S = 3


def profile_once(port, number):
    with Calls(port) as calls:
        answer = calls.call(PROFILE, profile_request(1, session_id=f"s{number}"))
    equal((answer.status, answer.text), (OK, ""), f"the answer to capture {number}")


def stream_once(port, number):
    """Reads a capture to its end, or leaves in the middle if |number| is even."""
    with Profiler(port) as calls:
        stream = calls.capture(1)
        if number % 2:
            calls.deliver(stream)
            return
        calls.await_phase(stream, WAITING)
        calls.cancel(stream)
        wait_until(lambda: not calls.ask("Status").session, "the session to be free")


def capture_once(port, number):
    if number % 3:
        profile_once(port, number)
    else:
        stream_once(port, number)


def measure(pid):
    status = read_status(pid)
    return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": int(status["Threads"]),
            "mappings": len(open(f"/proc/{pid}/maps").readlines()),
            "resident KiB": int(status["VmRSS"].split()[0])}


def measure_both(target, server):
    return {"target": measure(target.pid), "server": measure(server)}


def settle(target, server, before):
    """Measures until nothing has grown, for SETTLE_S at most: a connection takes a moment to go."""
    end = time.monotonic() + SETTLE_S
    while True:
        after = measure_both(target, server)
        if not find_growth(before, after) or time.monotonic() > end:
            return after
        time.sleep(0.05)


def find_growth(before, after):
    return [f"{key} of the {name}: {value} before, {after[name][key]} behind"
            for name in before for key, value in before[name].items()
            if after[name][key] > value + SLACK.get(key, 0)]


def check_nothing_stays(t, call, measured_at, **env):
    if SANITIZERS != "no":
        raise Skip("a sanitizer keeps what was freed")
    target = t.target(**env).serve()
    target.ask("burst 10")
    server = find_proftapd(target.pid)
    measured = []
    grown = None
    for begin, end in zip((0, *measured_at), measured_at):
        for number in range(begin, end):
            call(target, number)
        measured.append(settle(target, server, measured[-1]) if measured else
                        measure_both(target, server))
        grown = find_growth(*measured[-2:]) if begin else None
        if grown == []:
            break
    print(f"# {measured}")
    check(not grown, "; ".join(grown))


@test
def captures_leave_nothing_behind(t):
    check_nothing_stays(t, lambda target, number: capture_once(target.port, number), CAPTURES_AT)


def capture_devices(port, number):
    with Calls(port) as calls:
        request = profile_request(1, {"device_tracer_level": 1}, session_id=f"s{number}")
        answer = calls.call(PROFILE, request)
    equal((answer.status, answer.text), (OK, ""), f"the answer to capture {number}")


@test
def captures_of_devices_leave_nothing_behind(t):
    """The collector is not part of proftap and keeps nothing: see fake_collector.c."""
    device = Device(t, info=2, streams=2, start=3, drain=3)
    check_nothing_stays(t, lambda target, number: capture_devices(target.port, number), CAPTURES_AT, **device.env)
    check(device.count("close") >= CAPTURES_AT[1], f"{device.count('close')} captures had devices")


# One function for each kind of call.

def capture_streamed(calls):
    calls.deliver(calls.capture(1))


def cancel(calls, stream):
    calls.settle()
    calls.cancel(stream)
    wait_until(lambda: calls.call(PROFILE, profile_request(1)).status == OK, "the place to be free")


def cancel_unary(calls):
    cancel(calls, calls.start(PROFILE, profile_request(60000)))


def cancel_streamed(calls):
    cancel(calls, calls.capture(60000))


def fail(calls):
    equal(calls.call(PROFILE, profile_request(1, {"host_tracer_level": 9})).status, INVALID_ARGUMENT,
          "level 9")
    equal(calls.connection.call(PROFILE, message(b"\xff" * 9)).status, INVALID_ARGUMENT, "no protobuf")
    equal(calls.connection.call("/x", message(b"")).status, UNIMPLEMENTED, "an unknown method")


def record_continuously(calls):
    service = schema("profiler_service")
    calls.expect(PROFILER + "StartContinuousProfiling", profile_request(1), "ContinuousProfilingResponse")
    calls.expect(PROFILER + "GetSnapshot", service.GetSnapshotRequest())
    calls.expect(PROFILER + "StopContinuousProfiling", service.StopContinuousProfilingRequest(),
                 "StopContinuousProfilingResponse")


def monitor(calls):
    request = schema("profiler_service").MonitorRequest(duration_ms=1, monitoring_level=2)
    calls.expect(PROFILER + "Monitor", request, "MonitorResponse")


def ask_others(calls):
    """Calls the other services: Status, List, health and reflection."""
    calls.ask("Status")
    calls.ask("List")
    for path, request in (("/grpc.health.v1.Health/Check", b""),
                          ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", b"\x3a\0")):
        reply = calls.connection.call(path, message(request))
        equal(reply.status, OK, f"the answer to {path}")
        check(len(reply.data) > 5, f"no message from {path}")


KINDS = (capture_streamed, cancel_unary, fail, record_continuously, cancel_streamed, monitor, ask_others)


@test
def calls_of_all_kinds_leave_nothing_behind(t):
    def call(target, number):
        with Profiler(target) as calls:
            KINDS[number % len(KINDS)](calls)
    check_nothing_stays(t, call, CALLS_AT)


run()
