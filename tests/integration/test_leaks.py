#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Five hundred captures cost nothing: descriptors, threads, mappings and memory of target and server."""
import os
import time

from fixture import SANITIZERS, Skip, check, equal, find_proftapd, read_status, run, test, wait_until
from http2 import OK, PROFILE, Connection, message
from profiler import WAITING, Profiler
from trace_file import schema

N_EACH = 500
N_MAX = 3  # so often, at most
# Of memory by little enough that a leak of 600 bytes a capture shows.
SLACK = {"resident KiB": 300}
SETTLE_S = 3


def profile_once(port, number):
    request = schema("profiler_service").ProfileRequest(session_id=f"s{number}", emit_xspace=True)
    request.opts.version = 1
    request.opts.host_tracer_level = 2
    request.opts.duration_ms = 1
    with Connection(port) as c:
        reply = c.call(PROFILE, message(request.SerializeToString()))
    equal((reply.status, reply.text), (OK, ""), f"the answer to capture {number}")


def stream_once(port, number):
    """Read to its end, or left in the middle."""
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


def capture_some(target, numbers):
    for number in numbers:
        capture_once(target.port, number)


def settle(target, server, before):
    """Measures, until nothing has grown or SETTLE_S are over: a connection takes a moment to go."""
    end = time.monotonic() + SETTLE_S
    while True:
        after = measure_both(target, server)
        if not find_growth(before, after) or time.monotonic() > end:
            return after
        time.sleep(0.05)


def find_growth(before, after):
    return [f"{key} of the {name}: {value} before the last {N_EACH}, {after[name][key]} behind"
            for name in before for key, value in before[name].items()
            if after[name][key] > value + SLACK.get(key, 0)]


@test
def captures_cost_nothing_that_stays(t):
    """A thread of gRPC's may come late, with its stack; what leaks grows each time."""
    if SANITIZERS != "no":
        raise Skip("a sanitizer keeps what was freed")
    target = t.target().serve()
    target.ask("burst 10")
    server = find_proftapd(target.pid)
    capture_some(target, range(N_EACH))
    measured = [measure_both(target, server)]
    for i in range(1, N_MAX):
        capture_some(target, range(i * N_EACH, (i + 1) * N_EACH))
        measured.append(settle(target, server, measured[-1]))
        grown = find_growth(*measured[-2:])
        if not grown:
            break
    print(f"# {measured}")
    check(not grown, "; ".join(grown))


run()
