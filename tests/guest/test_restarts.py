#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts and stops in the middle of spans: each event between a start and a stop is in the trace exactly once. There are as
many rounds as fit into a few seconds; `make nightly` runs 10,000 servers (PROFTAP_RESTARTS=10000)."""
import os

from host import SANITIZERS, Host, check, equal, run, run_host, test, timed

from trace_file import Trace

N_SERVERS = int(os.environ.get("PROFTAP_RESTARTS", "500" if SANITIZERS == "no" else "100"))
N_RECORDED = 100
N_TRACES = max(N_SERVERS // 10, 60)
# Ten servers each second, on a busy machine.
PATIENCE_S = 20 + N_SERVERS // 10
# A stopped server leaves memory that a late thread, or a forked child, may still read: the arena's head and the names.
MAX_KIB_EACH = 14
# A thread that was recorded also leaves its ring's head.
MAX_KIB_EACH_RECORDED = 20
# The first megabyte of the arena, and the ring of 1 MiB that one thread had. They take at most two mappings: the part that was opened, and the rest.
MAX_RESERVED_KIB_EACH = 4096
MAX_MAPPINGS_EACH = 1
MAX_MAPPINGS_EACH_RECORDED = 2
SPARE_KIB = 512
SPARE_MAPPINGS = 16


def read_figures(process):
    """[(descriptors, resident KiB, reserved KiB, mappings)], after a tenth of the servers and after the last."""
    return [tuple(map(int, line.split())) for line in (process.dir / "figures").read_text().splitlines()]


def check_growth(t, n_servers, max_kib, max_mappings, **env):
    process = Host(t, "restarts", "armed", "servers", str(n_servers), **env)
    process.wait(PATIENCE_S)
    equal(process.behaviour(), (0, "done\n"), "(exit status, output)")
    process.check_servers_are_gone()
    early, late = read_figures(process)
    print(f"# {n_servers} servers: descriptors, KiB resident and reserved, mappings: {early} after a tenth of them, "
          f"{late} at the end")
    grown = [b - a for a, b in zip(early, late, strict=True)]
    n = n_servers - n_servers // 10
    equal(grown[0], 0, "descriptors more")
    if SANITIZERS == "no":
        check(grown[1] < n * max_kib + SPARE_KIB, f"{grown[1]} KiB more in {n} servers")
        check(grown[2] < n * MAX_RESERVED_KIB_EACH, f"{grown[2]} KiB more reserved in {n} servers")
        check(grown[3] < n * max_mappings + SPARE_MAPPINGS, f"{grown[3]} mappings more in {n} servers")


@timed
def restarts_in_mid_span_take_bounded_memory(t):
    check_growth(t, N_SERVERS, MAX_KIB_EACH, MAX_MAPPINGS_EACH)


@timed
def restarts_with_a_recorder_take_bounded_memory(t):
    check_growth(t, N_RECORDED, MAX_KIB_EACH_RECORDED, MAX_MAPPINGS_EACH_RECORDED, PROFTAP_RECORDER="1")


@timed
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
def each_trace_has_all_records_between_its_start_and_stop(t):
    process = Host(t, "restarts", "off", "traces", str(N_TRACES))
    process.wait(PATIENCE_S)
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
