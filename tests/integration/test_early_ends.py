#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests children and threads that end while they are recorded: their open spans grow no further,
however late they are read."""
import os
import signal
import time

from fixture import check, contains, equal, need_no_sanitizer, run, test, wait_until
from profiler import RECORDING, Profiler
from recorded import record

GAP_S = 0.3
# Two reads may place one instant this far apart, because each has more pairs of clock readings than the one before.
TOLERANCE_PS = 10**9


def serve(t):
    return record(t, t.dir / "logs", PROFTAP_FOLLOW_FORK="1")


def fork_doomed(target):
    """Returns the pid of a child with an open span."""
    child = int(target.ask("prefork doomed"))
    equal(target.read_line(), "open", "the child")
    return child


def find_process(trace, pid):
    return trace.process(pid) if any(name.endswith(f" [{pid}]") for name in trace.planes) else None


def await_end(calls, child):
    """Returns the first trace that has the child's end."""
    def look():
        trace = calls.look_back()
        return trace if "ptap_ended" in trace.process(child).host_stats else None
    return wait_until(look, "the child's end to be known")


def only_span(trace, name):
    """Returns the length of the only, unfinished span."""
    spans = [e for line in trace.threads for e in line.named(name)]
    equal([set(e.stats) for e in spans], [{"unfinished"}], f"stats of {name}")
    return spans[0].duration_ps


def await_standstill(calls):
    """Waits until the span that the thread left open no longer grows."""
    def stands_still():
        before = only_span(calls.look_back(), "left open")
        time.sleep(GAP_S)
        return abs(only_span(calls.look_back(), "left open") - before) < TOLERANCE_PS
    wait_until(stands_still, "the span to stand still")


def kill_warnings(trace):
    return [w for w in trace.space.warnings if "forked child" in w]


@test
def spans_of_a_killed_child_are_cut_with_a_warning(t):
    need_no_sanitizer("turn SIGSEGV into an ordinary exit")
    target = serve(t)
    with Profiler(target) as calls:
        child = fork_doomed(target)
        os.kill(child, signal.SIGSEGV)
        first = await_end(calls, child)
        time.sleep(1 + GAP_S)  # until its rings have been given back
        for trace in (first, calls.look_back()):
            equal(trace.process(child).host_stat("ptap_ended"), "killed by SIGSEGV", "the plane's stats")
            equal(kill_warnings(trace), [f"the forked child {child} (target) was killed by SIGSEGV"], "warnings")
        before, after = (only_span(trace.process(child), "doomed") for trace in (first, trace))
        check(abs(after - before) < TOLERANCE_PS, f"open for {before / 1e9} ms, later for {after / 1e9} ms")
        check(find_process(calls.look_back(last_ms=100), child) is None, "the child is in a window that begins after its end")


@test
def a_child_that_ends_by_itself_is_no_warning(t):
    target = serve(t)
    with Profiler(target) as calls:
        child = int(target.ask("prefork leaving"))
        trace = await_end(calls, child)
        equal(trace.process(child).host_stat("ptap_ended"), "with exit status 4", "the plane's stats")
        equal(kill_warnings(trace), [], "warnings")


@test
def a_thread_is_cut_when_it_is_seen_to_be_gone(t):
    target = serve(t)
    with Profiler(target) as calls:
        target.ask("end_thread")
        await_standstill(calls)


@test
def a_capture_cuts_spans_where_their_thread_ended_early(t):
    """A recorder runs beside the capture and shows when the ends are known."""
    target = serve(t)
    with Profiler(target) as calls:
        stream = calls.capture(60000, session_id="beside")
        calls.await_phase(stream, RECORDING)
        child = fork_doomed(target)
        os.kill(child, signal.SIGKILL)
        target.ask("end_thread")
        await_end(calls, child)
        await_standstill(calls)
        calls.terminate("beside")
        trace = calls.deliver(stream).trace
    contains("\n".join(trace.space.warnings), f"the forked child {child} (target) was killed by SIGKILL", "warnings")
    for seen, name in ((trace.process(child), "doomed"), (trace, "left open")):
        span, = (e for line in seen.threads for e in line.named(name))
        left_ps = trace.duration_ms * 10**9 - span.start_ps - span.duration_ps
        check("unfinished" in span.stats and left_ps > GAP_S * 0.9 * 10**12, f"{name} ends {left_ps / 1e9} ms before the end")


run()
