#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A thousand captures cost what ten did: descriptors, threads and memory of target and server."""
import os

from fixture import SANITIZERS, Skip, check, equal, find_proftapd, read_status, run, test
from http2 import OK, PROFILE, Connection, message
from trace_file import schema

# What may differ; memory by little enough that a leak of 600 bytes a capture shows. A thread of gRPC's that comes late
# brings a stack and a heap along: a few mappings.
SLACK = {"descriptors": 3, "threads": 4, "mappings": 12, "resident KiB": 512}


def capture_once(port, number):
    request = schema("profiler_service").ProfileRequest(session_id=f"s{number}", emit_xspace=True)
    request.opts.version = 1
    request.opts.host_tracer_level = 2
    request.opts.duration_ms = 1
    with Connection(port) as c:
        reply = c.call(PROFILE, message(request.SerializeToString()))
    equal((reply.status, reply.text), (OK, ""), f"the answer to capture {number}")


def measure(pid):
    status = read_status(pid)
    return {"descriptors": len(os.listdir(f"/proc/{pid}/fd")), "threads": int(status["Threads"]),
            "mappings": len(open(f"/proc/{pid}/maps").readlines()),
            "resident KiB": int(status["VmRSS"].split()[0])}


def capture_some(target, server, numbers):
    for number in numbers:
        capture_once(target.port, number)
    return {"target": measure(target.pid), "server": measure(server)}


def check_same(before, after, name):
    for key, value in before[name].items():
        check(after[name][key] <= value + SLACK[key],
              f"{key} of the {name}: {value} after the first, {after[name][key]} at the end")


@test
def a_thousand_captures_cost_what_ten_did(t):
    if SANITIZERS != "no":
        raise Skip("a sanitizer keeps what was freed")
    target = t.target().serve()
    target.ask("burst 10")
    server = find_proftapd(target.pid)
    before = capture_some(target, server, range(50))
    after = capture_some(target, server, range(50, 1000))
    for name in ("target", "server"):
        check_same(before, after, name)
    print(f"# {before} {after}")


run()
