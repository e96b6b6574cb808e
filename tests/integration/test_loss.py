#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests full rings: every dropped record is counted, and none twice."""
import json
import os
import re
import signal
import subprocess

from fixture import check, equal, find_proftapd, run, test
from processes import PROFTAP, halt

RING_BYTES = 64 << 10
N_SLOTS = RING_BYTES // 16


def burst_unread(t, n, *commands):
    """Emits |n| spans, and what |commands| emit, while the server is stopped. Returns the target and the capture."""
    target = t.target().serve(0, RING_BYTES)
    server = find_proftapd(target.pid)
    capture = t.begin(target)
    halt(server)
    target.ask(f"burst {n}", *commands)
    os.kill(server, signal.SIGCONT)
    return target, t.stop(target, capture)


@test
def full_ring_drops_are_counted_exactly(t):
    n = 50000
    target, capture = burst_unread(t, n)
    trace = capture.trace
    n_arrived, n_lost = trace.count("burst"), trace.host_stat("ptap_lost_ring_full")
    equal(n_arrived + n_lost, n, f"{n_arrived} arrived + {n_lost} dropped")
    equal(n_arrived, N_SLOTS, "arrived: a ring that nobody reads holds")
    equal(trace.host_stats["dropped_traces"], ("uint64_value", n_lost), "dropped_traces")
    dropped = re.search(r" · dropped ([\d,]+)\n", capture.stderr).group(1)
    equal(dropped, f"{n_lost:,}", "dropped in the summary")
    capture.find_warning(str(n_lost), f"thread target ({target.pid})", "ring")


@test
def a_record_with_arguments_goes_whole_or_not_at_all(t):
    n = 3000
    _, capture = burst_unread(t, 1, f"cycle {n}")
    trace = capture.trace
    turns = [e for line in trace.threads for e in line.named("turn")]
    equal([e.stats for e in turns], [{"number": ("int64_value", i)} for i in range(len(turns))],
          "arguments of the turns")
    check(len(turns) < n, "nothing was dropped: the test is void")
    arrived = 1 + len(turns) + trace.count("cycle")
    equal(trace.count("burst"), 1, "bursts")
    equal(arrived + trace.host_stat("ptap_lost_ring_full"), 1 + 2 * n, "arrived + dropped")


@test
def trace_that_lost_all_records_names_that_reason_only(t):
    target = t.target().serve(0, RING_BYTES, 0, "127.0.0.1", 0, 0, "-", 1)  # 1 byte of memory for a capture, so no record fits
    capture = t.begin(target)
    target.ask("burst 100")
    t.stop(target, capture)
    equal(capture.trace.count("burst"), 0, "arrived")
    capture.find_warning("no annotation was recorded: all records were dropped")


@test
def async_spans_beside_lost_records_are_counted_and_never_made_up(t):
    """The ring of one of two threads is full, so a begin and an end may belong to different spans."""
    for begin_noise, end_noise in ((20, 0), (0, 20)):
        target = t.target().serve(0, RING_BYTES)
        server = find_proftapd(target.pid)
        capture = t.begin(target)
        halt(server)
        longest_ns = int(target.ask(f"requests 2000 {begin_noise} {end_noise} 3"))
        os.kill(server, signal.SIGCONT)
        trace = t.stop(target, capture).trace
        events = [e for line in trace.lines if line.name == "request" for e in line.events]
        halves = [trace.host_stat(f"ptap_async_{what}") for what in ("ends_without_begin", "begins_without_end")]
        check(trace.host_stat("ptap_lost_ring_full") > 20000, "few records were dropped: the test is void")
        equal(len(events) + max(halves), 2000, f"requests, {halves} of them halves")
        equal({name for e in events for name in e.stats} - {"id", "_a"}, set(), "stats of requests")
        equal([e.duration_ps for e in events if e.duration_ps > 1000 * longest_ns], [],
              f"requests longer than the program's longest, {longest_ns} ns")
        target.ask("stop")


@test
def a_backlog_of_requests_is_all_there(t):
    """Far more requests of one name are open at once than the trace has lines for that name."""
    n = 5000
    target = t.target().serve(0, 1 << 20)
    capture = t.begin(target)
    target.ask(*(f"async begin {i}" for i in range(n)), *(f"async end {i}" for i in range(n)))
    capture = t.stop(target, capture)
    events = [e for line in capture.trace.lines if line.name == "request" for e in line.events]
    equal((len(events), {name for e in events for name in e.stats}), (n, {"id", "_a"}), "requests, and the names of their arguments")
    told = json.loads(subprocess.run([PROFTAP, "report", "--json", capture.path], check=True, capture_output=True).stdout)
    (row,) = (row for plane in told["planes"] for row in plane["async_spans"])
    durations = sorted(e.duration_ps // 1000 for e in events)
    equal((row["count"], row["whole"], row["unfinished"]), (n, n, 0), "requests in the report")
    check(abs(row["p50_ns"] - durations[n // 2 - 1]) <= 2, f"a median of {row['p50_ns']}, not {durations[n // 2 - 1]}")
    check(abs(row["mean_ns"] - sum(durations) / n) <= 2, f"a mean of {row['mean_ns']}")
    equal((told["totals"]["dropped"], told["warnings"]), (0, []), "losses")


@test
def records_that_fit_are_never_dropped(t):
    _, capture = burst_unread(t, N_SLOTS)
    trace = capture.trace
    equal(trace.count("burst"), N_SLOTS, "arrived")
    equal(trace.host_stat("ptap_lost_ring_full"), 0, "dropped")
    equal(capture.warnings, [], "warnings")


@test
def a_ring_that_is_read_wraps_without_uncounted_loss(t):
    n = 8000
    target = t.target().serve(0, RING_BYTES)
    capture = t.begin(target)
    target.ask(f"cycle {n} 50")
    trace = t.stop(target, capture).trace
    numbers = [e.stats["number"].value for line in trace.threads for e in line.named("turn")]
    equal(numbers, sorted(set(numbers)), "the turns' numbers")
    # A turn takes two slots of the ring, and a cycle one.
    check(len(numbers) * 3 > 4 * N_SLOTS, f"only {len(numbers)} turns: the ring did not go round")
    arrived = len(numbers) + trace.count("cycle")
    equal(arrived + trace.host_stat("ptap_lost_ring_full"), 2 * n, "arrived + dropped")


run()
