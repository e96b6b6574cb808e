#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests snapshots of a flight recorder with little free memory: the program and its server share a cgroup."""
import time

from cgroup import MemoryCgroup
from fixture import check, contains, equal, find_proftapd, need_no_sanitizer, run, test
from numbered import check_numbers, numbers_in
from profiler import Profiler
from recorded import record

MIB = 1 << 20
LIMIT_MIB = 96
RING_BYTES = 16 * MIB
N = 600000  # more than the ring holds


def crowd(t, left_mib, **how):
    """Starts a program with a full ring, in a cgroup with its server, where |left_mib| are free."""
    need_no_sanitizer("take more memory than is left")
    cgroup = MemoryCgroup(t)
    cgroup.limit(LIMIT_MIB * MIB)
    target = record(t, t.dir / "logs", RING_BYTES, **how)
    target.ask(f"count {N}")
    for pid in (find_proftapd(target.pid), target.pid):
        cgroup.add(pid)
    while (room := LIMIT_MIB - left_mib - cgroup.usage // MIB) > 0:
        equal(target.ask(f"touch {max(room // 2, 1)}"), "0", "the answer to touch")
    return cgroup, target


def check_alive(cgroup, target):
    equal(cgroup.n_oom_kills, 0, "processes that the kernel has killed")
    equal(target.ask("enabled 1"), "1", "whether the program records")


def check_newest(trace):
    """Checks that the trace has as many of the newest numbers as fit into memory, and that the rest is counted."""
    found = numbers_in(trace)
    check(found, "the trace has no number")
    check_numbers(found, N - len(found), N)
    counts = [trace.host_stat(f"ptap_{what}") for what in ("overwritten", "lost_memory")]
    equal(sum(counts) + len(found), N, "overwritten, dropped and found numbers")
    check(0 < counts[1] == trace.host_stat("dropped_traces"), f"{counts[1]} dropped")
    contains("\n".join(trace.space.warnings), f"{counts[1]} records dropped: the capture's memory was full",
             "the warnings")


@test
def snapshot_that_fits_is_complete(t):
    cgroup, target = crowd(t, 6)
    time.sleep(0.3)  # so that there is older data
    target.ask("burst 50")
    with Profiler(target) as calls:
        trace = calls.look_back(last_ms=250)
    check_alive(cgroup, target)
    equal((trace.count("burst"), trace.host_stat("dropped_traces")), (50, 0), "spans, and dropped ones")


@test
def snapshots_do_not_exhaust_the_memory_limit(t):
    cgroup, target = crowd(t, 6)
    with Profiler(target) as calls:
        for last_ms in (0, 60000):
            check_newest(calls.look_back(last_ms=last_ms))
    check_alive(cgroup, target)


@test
def records_without_memory_are_counted(t):
    target = t.target(PROFTAP_RECORDER="1").serve(0, MIB, 0, "127.0.0.1", 0, 0, t.dir / "logs", 1)
    target.ask("count 2000")  # each number takes two slots
    with Profiler(target) as calls:
        trace = calls.look_back()
    equal((numbers_in(trace), trace.host_stat("dropped_traces")), ([], 2000), "numbers, and dropped ones")
    target.ask("stop")  # otherwise its server would hold its data


@test
def runs_that_the_program_requests_do_not_exhaust_memory(t):
    cgroup, target = crowd(t, 6)
    equal(target.ask("snapshot memory is low"), "0", "ptap_snapshot")
    with Profiler(target) as calls:
        calls.look_back()  # this snapshot comes after the program's own
    check_alive(cgroup, target)


run()
