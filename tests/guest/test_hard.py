#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that set limits, cancel threads and forbid instructions."""
import os

from host import (NO_LEAK_CHECK, Host, check, contains, equal, host, need_no_sanitizer, need_no_tsan,
                  need_readable_tree, need_root, run, run_host, timed)

# No other process runs as this user, so its processes can be counted. Each run has its own user, because zombies count, too.
LONELY_UID = 70000 + os.getpid() % 10000 * 16


def limit(title, what, value, fails=None, needs=()):
    host("limit", what, str(value), spans={"limited": 100}, title=title, fails=fails, needs=needs)


def need_all_address_space():
    need_no_tsan("maps memory for each thread, out of the same 24 MiB")


def need_small_stacks():
    need_no_tsan("overflows a stack of 64 KiB in one of proftapd's threads")


def need_no_counter():
    need_no_sanitizer("read the time from the vDSO, with the processor's counter")


limit("256 MiB of address space", "as", 256)
limit("24 MiB of address space", "as", 24, needs=[need_all_address_space])
limit("files of 8 MiB", "fsize", 8 << 20)
limit("files of 64 KiB", "fsize", 64 << 10, fails="RLIMIT_FSIZE (ulimit -f) is too low")
limit("a stack of 64 KiB", "stack", 64 << 10, needs=[need_small_stacks])
host("cancel", spans={"done": 50, "outer": 50, "inner": 50, "explicit": 50})
host("no_tsc", "before", spans={"span": 27}, title="no tsc", needs=[need_no_counter])


@timed
def a_thread_that_forbids_the_counter_later_is_counted(t):
    need_no_counter()
    process, seen, captures = run_host(t, "no_tsc", "recording", ("after",), {})
    equal(seen, (0, "done\n"), "(exit status, output)")
    equal(captures[0].trace.count("span"), 20, "spans")
    equal(captures[0].trace.host_stat("dropped_traces"), 7, "dropped")


@timed
def a_followed_child_without_the_counter_is_recorded(t):
    need_no_counter()
    _, seen, captures = run_host(t, "no_tsc", "recording", ("fork",), {})
    equal(seen, (0, "the child: 0\n"), "(exit status, output)")
    trace = captures[0].trace
    pid, = (name.split("[")[1].rstrip("]") for name in trace.planes if "[" in name)
    equal(trace.process(pid).count("span"), 9, "spans of the child")


@timed
def start_at_the_process_limit_succeeds_or_gives_a_reason(t):
    """Each round allows one more process. The start must fail with a sentence until it succeeds, and then never fail again."""
    need_root()
    need_readable_tree()
    plain = Host(t, "limit", "plain", "nproc", "1", user=LONELY_UID, **NO_LEAK_CHECK).behaviour()
    results = []
    for n in range(1, 9):
        process = Host(t, "limit", "armed", "nproc", str(n), user=LONELY_UID + n,
                       **NO_LEAK_CHECK)
        equal(process.behaviour(), plain, f"(exit status, output) with {n} processes")
        start = process.starts[0]
        results.append(start.result)
        if start.result:
            equal(start.port, 0, "ptap_server_port() after a failure")
            contains(start.sentence, "limit on processes", "ptap_last_error")
        process.check_servers_are_gone()
    check(results[0] < 0 and results[-1] == 0, f"ptap_server_start: {results}")
    equal(sorted(results), results, "no success before a failure")


run()
