#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests targets whose clocks differ from the client's: the offset is measured, applied, shown, and
written into the trace."""
import json
import os
import re
import time

from clocked_server import ClockedServer
from fixture import check, equal, run, test
from stock_program import StockProgram
from trace_file import Trace

# Many times a round trip on a loaded machine; the offsets are farther apart.
NEAR_NS = 500 * 10**6
AHEAD_NS, BEHIND_NS = 3600 * 10**9, -7200 * 10**9


def capture_both(t, *options, **how):
    servers = [ClockedServer(t, AHEAD_NS, **how), ClockedServer(t, BEHIND_NS)]
    return servers, t.capture(",".join(str(s.port) for s in servers), 20, *options)


def read_stamp(path):
    environment = Trace(path).environment
    return [environment[f"proftap_clock_{what}_ns"] for what in ("offset", "uncertainty")]


@test
def each_server_gets_the_start_in_its_own_time(t):
    before = time.time_ns()
    servers, _ = capture_both(t)
    (ahead,), (behind,) = (server.requests for server in servers)
    distance = ahead.opts.start_timestamp_ns - behind.opts.start_timestamp_ns
    check(abs(distance - (AHEAD_NS - BEHIND_NS)) < NEAR_NS, f"between the two: {distance} ns")
    start = ahead.opts.start_timestamp_ns - AHEAD_NS
    check(before < start < time.time_ns() + NEAR_NS, f"the instant: {start}, now {time.time_ns()}")
    equal(ahead.session_id, behind.session_id, "the session")


@test
def the_offset_is_in_the_trace(t):
    _, capture = capture_both(t)
    for path, expected in zip(capture.stdout.split(), (AHEAD_NS, BEHIND_NS), strict=True):
        offset, uncertainty = read_stamp(path)
        equal((offset.kind, uncertainty.kind), ("int64_value",) * 2, "types")
        check(0 < uncertainty.value < NEAR_NS, f"uncertainty: {uncertainty}")
        check(abs(offset.value - expected) <= uncertainty.value, f"{offset} ± {uncertainty}")
        trace = Trace(path)
        # The client's copy has each item of the server's trace exactly once.
        equal([plane.name for plane in trace.space.planes], ["/host:CPU", "Task Environment"], "planes")
        equal((list(trace.space.hostnames), list(trace.space.warnings)),
              (["fake"], ["from the fake"]), "host names, warnings")
        equal(len(trace.environment), 4, f"stats: {trace.environment}")
        equal(trace.count("span"), 1, "spans")


@test
def the_offset_is_shown(t):
    _, capture = capture_both(t)
    found = re.findall(r"^127.*· clock ([+-][\d.]+) ms ± ([\d.]+) ms$", capture.stderr, re.M)
    for (offset, uncertainty), expected in zip(found, (AHEAD_NS, BEHIND_NS), strict=True):
        check(abs(float(offset) - expected / 1e6) <= float(uncertainty), f"{offset} ± {uncertainty}")


@test
def the_offset_is_in_the_json(t):
    _, capture = capture_both(t, "--json")
    result = json.loads(capture.stdout)
    for target, expected in zip(result["targets"], (AHEAD_NS, BEHIND_NS), strict=True):
        check(abs(target["clock_offset_ns"] - expected) <= target["clock_uncertainty_ns"] < NEAR_NS,
              f"{target}")
        # All starts are the same by the client's clock, to a nanosecond.
        equal(target["start_unix_ns"], result["start_unix_ns"], "the start")


@test
def the_clock_of_a_stock_server_is_bracketed(t):
    """The server recorded after the request and before its answer, which bounds its clock."""
    offsets = AHEAD_NS, BEHIND_NS
    servers = [ClockedServer(t, offset, is_stock=True) for offset in offsets]
    targets = ",".join(str(s.port) for s in servers)
    capture = t.capture(targets, 20, "--json")
    result = json.loads(capture.stdout)
    for target, expected in zip(result["targets"], offsets, strict=True):
        offset, error = target["clock_offset_ns"], target["clock_uncertainty_ns"]
        check(abs(offset - expected) <= error < AHEAD_NS, f"{offset} ± {error}, and it is {expected}")
        equal([stat.value for stat in read_stamp(target["file"])], [offset, error], "in the trace")
        check(abs(target["start_unix_ns"] - time.time_ns()) < AHEAD_NS, f"the start: {target['start_unix_ns']}")
        # The server got the start by the client's clock, because its own was not known yet.
        equal(target["start_late_ns"], None, "how late it was")
    found = re.findall(r"^127.*· clock ([+-][\d.]+) ms ± ([\d.]+) ms$", t.capture(targets, 20).stderr, re.M)
    for (offset, error), expected in zip(found, offsets, strict=True):
        check(abs(float(offset) - expected / 1e6) <= float(error), f"{offset} ± {error}")


@test
def stock_servers_of_this_machine_have_its_clock(t):
    servers = [StockProgram(t, f"jax-{i}-{os.getpid()}") for i in range(2)]
    result = json.loads(t.capture(",".join(str(s.port) for s in servers), 20, "--json").stdout)
    for target in result["targets"]:
        equal((target["clock_offset_ns"], target["clock_uncertainty_ns"]), (0, 0), "offset")


@test
def a_stock_server_of_impossible_times_has_an_unknown_clock(t):
    """The server claims to have recorded for longer than the client waited."""
    servers = [ClockedServer(t, None), ClockedServer(t, None)]
    capture = t.capture(",".join(str(s.port) for s in servers), 600000, "--json")
    result = json.loads(capture.stdout)
    for target, server in zip(result["targets"], servers, strict=True):
        equal((target["clock_offset_ns"], target["clock_uncertainty_ns"]), (None, None), "offset")
        equal(server.requests[0].opts.start_timestamp_ns, result["start_unix_ns"], "its start")
        equal(set(Trace(target["file"]).environment), {"profile_start_time", "profile_stop_time"},
              "stats")


@test
def a_target_that_begins_late_is_reported(t):
    _, capture = capture_both(t, late_ns=5 * 10**6)
    equal([w for w in capture.warnings if "began" in w],
          ["began 5.0 ms after the agreed instant: the target was not ready; a longer --delay helps"],
          "warnings")


@test
def a_longer_delay_is_kept(t):
    before = time.time_ns()
    servers, _ = capture_both(t, "--delay", 900)
    start = servers[0].requests[0].opts.start_timestamp_ns - AHEAD_NS
    check(start > before + 9 * 10**8, f"began {start - before} ns after the command")


@test
def a_start_given_by_the_user_is_by_the_clients_clock(t):
    start = time.time_ns() + 10**9
    servers, _ = capture_both(t, "--start_timestamp_ns", start)
    distance = servers[1].requests[0].opts.start_timestamp_ns - start - BEHIND_NS
    check(abs(distance) < NEAR_NS, f"off by {distance} ns")


run()
