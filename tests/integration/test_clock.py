#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the times of a capture are those of CLOCK_MONOTONIC in threads that move between
cores: for a moment here, for ten minutes in `make nightly` (PROFTAP_CLOCK_S=600).
"""
import os
import statistics

from fixture import SANITIZERS, SESSION, Skip, check, equal, run, test
from processes import TOP_BUILD, Target

LENGTH_S = int(os.environ.get("PROFTAP_CLOCK_S", "2"))
PROGRAM = TOP_BUILD / "tests" / "programs" / "clock"
MAX_ERROR_NS = 1000
# If a thread was interrupted between its two readings, the pair is too wide to be useful.
NARROW_NS = 2000


def read_ticks(line):
    """Returns [(number, CLOCK_MONOTONIC right before, right after, time in the trace)], all times
    in ns.
    """
    ticks = line.named("tick")
    value = [{key: stat.value for key, stat in e.stats.items()} for e in ticks]
    return [(v["n"], v["before"], after["last_after"], line.timestamp_ns + e.start_ps / 1000)
            for e, v, after in zip(ticks, value, value[1:])]


def measure(ticks, zero):
    """Returns how far each tick lies outside of its two readings, in ns, after the constant offset
    |zero|.
    """
    return [max(before - (at - zero), at - zero - after, 0) for _, before, after, at in ticks]


@test
def times_are_those_of_the_monotonic_clock_on_every_core(t):
    if SANITIZERS != "no":
        raise Skip("a sanitizer's threads and checks take longer than the error that is allowed")
    target = t.keep(Target(program=PROGRAM)).serve()
    capture = t.start_capture(target, (LENGTH_S + 60) * 1000, "-o", f"session_id={SESSION}")
    target.send(f"clock {LENGTH_S}")
    counts = [int(n) for n in target.lines.get(timeout=LENGTH_S + 50).split()]
    trace = t.stop(target, capture).trace
    walkers = [read_ticks(trace.thread(f"walker-{i}")) for i in range(len(counts))]
    for ticks, count in zip(walkers, counts):
        equal([n for n, *_ in ticks], list(range(count - 1)), "numbers")
        times = [at for *_, at in ticks]
        equal(times, sorted(times), "times of one thread, in the order of its spans")
    every = [tick for ticks in walkers for tick in ticks]
    narrow = [tick for tick in every if tick[2] - tick[1] < NARROW_NS]
    check(len(narrow) > len(every) // 4, f"{len(narrow)} of {len(every)} readings are close to each other")
    zero = statistics.median(at - (before + after) / 2 for _, before, after, at in narrow)
    errors = measure(every, zero)
    print(f"# {len(every)} spans in {LENGTH_S} s: at most {max(errors):.0f} ns outside of their two readings; "
          f"{len(narrow)} readings apart less than {NARROW_NS} ns, "
          f"median {statistics.median(after - before for _, before, after, _ in narrow):.0f} ns")
    check(max(errors) < MAX_ERROR_NS, f"{max(errors):.0f} ns wrong")


run()
