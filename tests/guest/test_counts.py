#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that lose records: the received records and the counted losses add up to the emitted ones."""
from host import check, equal, host, need_no_tsan, run, run_host, timed

MAX_RINGS = 1024
SPANS = 10
SMALL_RING = str(64 << 10)


def record(t, name, *args, **env):
    process, seen, captures = run_host(t, name, "recording", args, env)
    equal(seen[0], 0, f"exit status of {name}")
    equal(len(captures), 1, "captures")
    return process, captures[0]


def check_sum(capture, names, emitted):
    received = sum(capture.trace.count(name) for name in names)
    lost = capture.trace.host_stat("dropped_traces")
    equal(received + lost, emitted, f"received ({received}) and lost ({lost})")
    return received


@timed
def every_annotation_in_a_storm_of_signals_is_received_or_counted(t):
    process, capture = record(t, "handlers")
    emitted = int((process.dir / "emitted").read_text())
    received = check_sum(capture, ("work", "part", "handler", "signal"), emitted)
    check(received > emitted // 10, f"only {received} of {emitted} received")
    check(capture.trace.count("handler") > 100, "the handlers recorded nothing")


@timed
def a_fork_in_a_handler_that_interrupts_an_annotation_costs_the_parent_nothing(t):
    """The child finishes the annotation. In a few instructions the library cannot notice the fork (see contract.md), so the
    sum is not exact. Without the check of the level word a third of the records would be lost."""
    need_no_tsan("runs no handler within an annotation")
    process, capture = record(t, "forking")
    emitted = int((process.dir / "emitted").read_text())
    received = sum(capture.trace.count(name) for name in ("counter", "span"))
    lost = capture.trace.host_stat("dropped_traces")
    print(f"# {received} received, {lost} lost of {emitted}")
    check(abs(received + lost - emitted) < emitted // 8, f"received ({received}) and lost ({lost}) of {emitted}")


@timed
def ten_thousand_threads_in_turn_share_the_rings(t):
    _, capture = record(t, "crowd", "10000", "50", GUEST_RING_BYTES=SMALL_RING)
    received = check_sum(capture, ("short",), 10000 * SPANS)
    check(received > 2 * MAX_RINGS * SPANS, f"rings were not used again: {received} received")


@timed
def records_of_threads_beyond_the_rings_are_counted(t):
    _, capture = record(t, "crowd", "1100", "1100", GUEST_RING_BYTES=SMALL_RING)
    received = check_sum(capture, ("short",), 1100 * SPANS)
    check(received <= MAX_RINGS * SPANS, f"{received} received")
    # One more thread is in the trace: the program's first.
    equal(len(capture.trace.threads), received // SPANS + 1, "threads in the trace")
    capture.find_warning(f"{1100 * SPANS - received} records dropped: no ring for another thread")


host("forking", needs=[lambda: need_no_tsan("runs no handler within an annotation")])
host("handlers")
host("crowd", "200", "100", spans={"short": 2000})

run()
