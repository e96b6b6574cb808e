#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts and stops in the middle of spans: what lies between a start and a stop is there, all of it and once."""
from host import Host, check, equal, run, run_host, test

from trace_file import Trace

N_SERVERS = 100
N_TRACES = 60


@test
def servers_that_stop_in_mid_span(t):
    process, seen, _ = run_host(t, "restarts", "armed", ["servers", str(N_SERVERS)], {})
    equal(seen, (0, "done\n"), "(exit status, output)")
    # The report has room for so many.
    equal({(start.result, start.sentence) for start in process.starts}, {(0, "")}, "starts")


@test
def a_server_that_stops_in_mid_span_delivers(t):
    _, seen, captures = run_host(t, "restarts", "recording", ["servers", "1"], {})
    equal(seen, (0, "done\n"), "(exit status, output)")
    for capture in captures:
        for line in capture.trace.threads:
            numbers = [e.stats["n"].value for e in line.named("numbered")]
            equal(numbers, list(range(numbers[0], numbers[-1] + 1)) if numbers else [], "numbers")
    capture = captures[0]
    capture.find_warning("the program stopped its server")


@test
def traces_in_a_row_have_what_lies_between_start_and_stop(t):
    process = Host(t, "restarts", "off", "traces", str(N_TRACES))
    equal(process.behaviour(), (0, "done\n"), "(exit status, output)")
    last = -1
    ranges = [list(map(int, line.split())) for line in (process.dir / "ranges").read_text().splitlines()]
    equal(len(ranges), N_TRACES, "traces")
    for i, (begun, ended) in enumerate(ranges):
        path, = (process.dir / "logs" / str(i)).rglob("*.xplane.pb")
        trace = Trace(path)
        numbers = [e.stats["n"].value for line in trace.threads for e in line.named("numbered")]
        equal(numbers, list(range(numbers[0], numbers[-1] + 1)), f"numbers in trace {i}")
        check(numbers[0] <= begun and numbers[-1] >= ended,
              f"trace {i} has {numbers[0]} to {numbers[-1]}, of {begun} to {ended}")
        check(numbers[0] > last, f"trace {i} begins with {numbers[0]}, and the one before ended with {last}")
        equal(trace.host_stat("dropped_traces"), 0, f"dropped in trace {i}")
        last = numbers[-1]


run()
