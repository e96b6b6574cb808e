#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a prefork server: its children are counted, or followed and recorded as processes of their own."""
import errno
import os
import resource
import signal
import threading
import time

from cgroup import FreezerCgroup
from checks import in_time
from fixture import (LONG_MS, SESSION, check, contains, equal, find_proftapd, is_alive, need_no_tsan, read_status,
                     run, test, timed, wait_until)
from processes import await_rounds, halt, is_recording

FOLLOW = {"PROFTAP_FOLLOW_FORK": "1"}
# This is longer than a server waits for a stopped child.
NOT_RUN_S = 1.5


def end(pid):
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)


def prefork(t, target, kind):
    """Makes the target fork a child, and returns the numbers of the answer. The first is the child's pid."""
    words = [int(word) for word in target.ask(f"prefork {kind}").split()]
    t.at_end.append(lambda: end(words[0]))
    return words


def prefork_one(t, target, kind):
    return prefork(t, target, kind)[0]


def child_pids(trace):
    return sorted(int(name.split("[")[1].rstrip("]")) for name in trace.children)


def count_arenas(server):
    """Returns the number of arenas that the server maps."""
    with open(f"/proc/{server}/maps") as f:
        return sum("memfd:proftap" in line for line in f)


@test
def children_that_nobody_follows_are_counted(t):
    target = t.target().serve()
    for _ in range(3):
        prefork_one(t, target, "steady")
    capture = t.emit(target, 200, "burst 5")
    contains(capture.stderr, "warning: 3 forked children are not recorded; set follow_fork, or PROFTAP_FOLLOW_FORK=1 in the program's environment\n",
             "the summary")
    equal(child_pids(capture.trace), [], "planes of children")


@test
def an_empty_recording_says_that_children_are_not_followed(t):
    target = t.target().serve()
    prefork_one(t, target, "steady")
    capture = t.capture(target, 100, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0", code=3)
    contains(capture.stderr, "; 1 forked child is not recorded; set follow_fork, or PROFTAP_FOLLOW_FORK=1 in the program's environment\n", "the reason")


@test
def child_that_called_exec_is_not_counted(t):
    target = t.target().serve()
    pid = prefork_one(t, target, "exec")
    wait_until(lambda: read_status(pid).get("Name") == "sleep", "the exec")
    equal(t.emit(target, 100, "burst 5").warnings, [], "warnings")


@test
def each_child_is_a_plane_with_its_own_names_and_times(t):
    target = t.target(**FOLLOW).serve()
    pids = [prefork_one(t, target, "steady") for _ in range(3)]
    before = time.time_ns()
    capture = t.emit(target, 500, "burst 5")
    equal(capture.warnings, [], "warnings")
    trace = capture.trace
    equal(child_pids(trace), sorted(pids), "planes of children")
    equal(trace.count("burst"), 5, "spans of the parent")
    equal({line.id for line in trace.threads}, {target.pid}, "the parent's threads")
    start = trace.environment["profile_start_time"].value
    length_ns = trace.environment["profile_stop_time"].value - start
    check(before <= start, "the start lies before the capture")
    for pid in pids:
        child = trace.process(pid)
        contains([p for p in trace.planes if f"[{pid}]" in p][0], "/host:CPU target [", "name")
        equal(child.host_stat("process_id"), pid, "process_id")
        jobs = child.thread(pid).named("job")
        check(50 < len(jobs) <= length_ns / 1e6, f"{len(jobs)} jobs of a millisecond in {length_ns} ns")
        check(all(0 <= e.start_ps < 1000 * length_ns for e in jobs), "a start beyond the capture")
        check(all(e.duration_ps >= 1e9 for e in jobs if "unfinished" not in e.stats),
              "a job shorter than its pause")
        equal({e.name for e in child.counters[0].events}, {"jobs"}, "counters")
        equal(child.host_stat("dropped_traces"), 0, "dropped")


@test
def an_option_of_the_start_follows_forks_too(t):
    target = t.target().serve(0, 0, 0, "127.0.0.1", 0, 1)
    pid = prefork_one(t, target, "steady")
    equal(child_pids(t.emit(target, 200, "burst 1").trace), [pid], "planes of children")


@test
def a_child_forked_in_mid_capture_is_there_from_its_first_annotation(t):
    target = t.target(**FOLLOW).serve()
    capture = t.begin(target)
    pids = [prefork_one(t, target, kind) for kind in ("steady", "thread")]
    nested = prefork_one(t, target, "nested")
    await_rounds(pids)
    trace = t.stop(target, capture).trace
    check(set(pids + [nested]) <= set(child_pids(trace)), f"planes {sorted(trace.planes)}")
    for pid in pids:
        samples = [e.stats["value"].value for e in trace.process(pid).counters[0].events]
        equal(samples[:3], [0, 1, 2], "the first samples of a child")
        check(trace.process(pid).thread(pid).named("job"), "no job")
    equal(sum(trace.process(pid).count("middle") for pid in child_pids(trace)), 1, "spans \"middle\" of all children")


@test
def a_child_without_annotation_has_no_plane(t):
    target = t.target(**FOLLOW).serve()
    prefork_one(t, target, "silent")
    capture = t.emit(target, 100, "burst 5")
    equal(child_pids(capture.trace), [], "planes of children")
    equal(capture.warnings, [], "warnings")


@test
def a_child_killed_in_a_span_leaves_it_unfinished(t):
    target = t.target(**FOLLOW).serve()
    pid = prefork_one(t, target, "doomed")
    capture = t.start_capture(target, 1000)
    equal(target.read_line(), "open", "the child's second line")
    os.kill(pid, signal.SIGKILL)
    target.ask("burst 5")
    trace = capture.finish().trace
    doomed = trace.process(pid).thread(pid).named("doomed")
    equal([e.stats for e in doomed], [{"unfinished": ("int64_value", 1)}], "stats of doomed")


@test
def an_exec_in_a_child_ends_its_part(t):
    target = t.target(**FOLLOW).serve()
    capture = t.begin(target)
    pid = prefork_one(t, target, "exec")
    target.ask("burst 5")
    trace = t.stop(target, capture).trace
    equal(dict(trace.process(pid).thread(pid).count()), {"before": 1}, "events of the child")
    equal(trace.count("burst"), 5, "spans of the parent")


@test
def a_followed_child_can_serve_by_itself(t):
    need_no_tsan("ends a forked child that starts a thread: dup thread with used id")
    target = t.target(**FOLLOW).serve()
    pid, result, port, own_port = prefork(t, target, "own")
    equal((result, port), (0, 0), "ptap_server_start() and ptap_server_port() before it")
    check(own_port not in (0, target.port), f"own port {own_port}")
    equal(child_pids(t.emit(target, 200, "burst 5").trace), [], "planes of children")
    check(t.capture(own_port, 200).trace.count("job") > 20, "jobs at its own server")


@test
def a_followed_child_starts_no_trace_of_its_own(t):
    """With a trace of its own the child would leave the server that records it."""
    target = t.target(TRACE_DIR=t.public_dir("traces"), **FOLLOW).serve()
    pid, *results = prefork(t, target, "tracing")
    equal(results, [-errno.EBUSY, -errno.EINVAL] * 2, "starts and stops")
    contains(target.read_line(), f"recorded by the server of pid {target.pid}, from which it was "
             "forked (follow_fork); start the trace there", "ptap_last_error")
    capture = t.emit(target, 200, "burst 5")
    equal(child_pids(capture.trace), [pid], "planes of children")
    check(capture.trace.process(pid).count("job") > 20, "jobs of the child")


@test
def a_child_that_nobody_follows_traces_itself(t):
    need_no_tsan("ends a forked child that starts a thread: dup thread with used id")
    target = t.target(TRACE_DIR=t.public_dir("traces")).serve()
    equal(prefork(t, target, "tracing")[1:], [0] * 4, "starts and stops")


@test
def workers_that_restart_in_a_loop_are_all_there(t):
    """Each worker is short-lived: it joins, annotates and ends in mid-capture."""
    target = t.target(**FOLLOW).serve()
    server = find_proftapd(target.pid)
    capture = t.start_capture(target, 60000, "-o", "session_id=churn")
    equal(target.ask("await 1"), "recording", "the target")
    n = int(target.ask("churn 50 3 20"))
    capture.signal(signal.SIGINT)
    trace = capture.finish().trace
    equal(len(child_pids(trace)), n, "planes of children")
    for pid in child_pids(trace):
        short = [e for line in trace.process(pid).threads for e in line.named("short")]
        equal(len(short), 20, f"spans of child {pid}")
        check(not any("unfinished" in e.stats for e in short), f"unfinished spans of {pid}")
    wait_until(lambda: count_arenas(server) == 1, "the children's memory to be given back")


@test
def all_workers_may_come_at_once(t):
    target = t.target(**FOLLOW).serve(0, 65536)
    equal(target.ask("rush 150"), "150", "children")
    capture = t.emit(target, 100, "burst 5")
    check("could not be followed" not in capture.stderr, capture.stderr)


@test
def the_end_of_the_master_delivers_its_children(t):
    target = t.target(**FOLLOW).serve()
    server = find_proftapd(target.pid)
    pid = prefork_one(t, target, "doomed")
    # The child and the target report that they record, in any order. A program that ends before that has no recording.
    target.send("await 1")
    capture = t.start_capture(target, 15000)
    equal({target.read_line() for _ in range(2)}, {"open", "recording"}, "the child's line and the target's")
    target.ask("burst 5")
    target.kill()
    trace = capture.finish().trace
    equal(child_pids(trace), [pid], "planes of children")
    equal(trace.process(pid).count("doomed"), 1, "spans of the child")
    wait_until(lambda: not is_alive(server), "the server to end")
    check(is_alive(pid), "the child ended with the server")
    contains(read_status(pid)["Threads"], "1", "threads of the child")


@test
def a_stopped_child_does_not_hold_up_the_others(t):
    target = t.target(**FOLLOW).serve()
    stopped, running = (prefork_one(t, target, "steady") for _ in range(2))
    wait_until(lambda: count_arenas(find_proftapd(target.pid)) == 3, "the children to join")
    halt(stopped)
    capture = t.emit(target, 200, "burst 5")
    capture.find_warning("forked children that did not record: 1")
    equal(child_pids(capture.trace), [running], "planes of children")


@test
def a_child_that_is_not_run_for_a_while_is_waited_for(t):
    """The child is frozen for NOT_RUN_S. That looks like a wait for a processor, and not like a stop."""
    freezer = FreezerCgroup(t)
    target = t.target(**FOLLOW).serve()
    pid = prefork_one(t, target, "steady")
    wait_until(lambda: count_arenas(find_proftapd(target.pid)) == 2, "the child to join")
    freezer.freeze(pid)
    target.send("await 1")
    capture = t.start_capture(target, LONG_MS, "-o", f"session_id={SESSION}")
    wait_until(lambda: is_recording(target.pid), "the server to ask for a recording")
    time.sleep(NOT_RUN_S)
    freezer.thaw()
    equal(target.read_line(), "recording", "the target")
    await_rounds([pid])
    t.stop(target, capture)
    equal(capture.warnings, [], "warnings")
    equal(child_pids(capture.trace), [pid], "planes of children")


@test
def a_server_that_dies_leaves_the_children_alone(t):
    target = t.target(**FOLLOW).serve()
    pid = prefork_one(t, target, "steady")
    server = find_proftapd(target.pid)
    wait_until(lambda: count_arenas(server) == 2, "the child to join")
    os.kill(server, signal.SIGKILL)
    late = prefork_one(t, target, "steady")
    wait_until(lambda: target.ask("port") == "0", "the target to notice the server's end")
    check(is_alive(pid) and is_alive(late), "a child ended with the server")
    target.serve()
    fresh = prefork_one(t, target, "steady")
    equal(child_pids(t.emit(target, 200, "burst 5").trace), [fresh], "planes of children")


@test
def beyond_the_bound_children_are_counted(t):
    target = t.target(**FOLLOW).serve(0, 65536)
    for _ in range(257):
        prefork_one(t, target, "idle")
    equal(count_arenas(find_proftapd(target.pid)), 257, "arenas, with the program's own")
    capture = t.emit(target, 100, "burst 5")
    capture.find_warning("could not be followed: 1 (256 are followed already)")


@test
def a_child_waits_for_a_server_that_is_slow(t):
    target = t.target(**FOLLOW).serve()
    server = find_proftapd(target.pid)
    halt(server)
    timer = threading.Timer(1.5, os.kill, (server, signal.SIGCONT))
    timer.start()
    started = time.monotonic()
    pid = prefork_one(t, target, "idle")
    check(time.monotonic() - started > 1.2, "the server was not stopped: the test is void")
    equal(count_arenas(server), 2, "arenas, with the program's own")
    check(is_alive(pid), "the child ended")


@timed
def a_stopped_server_holds_up_children_for_a_bounded_time(t):
    target = t.target(**FOLLOW).serve()
    server = find_proftapd(target.pid)
    halt(server)
    took_s = []
    for _ in range(2):
        started = time.monotonic()
        prefork_one(t, target, "idle")
        took_s.append(time.monotonic() - started)
    check(took_s[0] > 4.5, f"the first child's first annotation took {took_s[0]} s")
    for took, limit_s in zip(took_s, (9, 3.5)):
        in_time(took, limit_s, "a child's first annotation")
    os.kill(server, signal.SIGCONT)
    capture = t.emit(target, 100, "burst 5")
    capture.find_warning("could not be followed: 2 (no answer in time: the server is busy or stopped)")


@test
def children_leave_descriptors_to_clients(t):
    target = t.target(**FOLLOW).serve(0, 65536)
    server = find_proftapd(target.pid)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (128, 128))
    for _ in range(40):
        prefork_one(t, target, "idle")
    followed = count_arenas(server) - 1
    check(20 <= followed < 40, f"{followed} of 40 were followed")
    capture = t.begin(target)
    # Other clients can still ask while the capture runs and the files of all followed children are open.
    contains(t.capture(target, 10, code=4).stderr, "busy", "answer to the second client")
    target.ask("burst 5")
    equal(t.stop(target, capture).trace.count("burst"), 5, "spans")
    capture.find_warning(f"could not be followed: {40 - followed} ", "too few descriptors")
    capture.find_warning("whose usage was not sampled:", "raise RLIMIT_NOFILE")


run()
