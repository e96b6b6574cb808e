#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests CPU samples and states of threads in the flight recorder: in snapshots, in runs of triggers, and after a crash."""
import json
import os
import signal
import subprocess

from fixture import Skip, check, equal, need_no_sanitizer, run, test, wait_until
from processes import PROFTAP
from profiler import Profiler
from recorded import await_gone, end, files, only_run, record
from trace_file import Trace

HZ = 997
SAMPLES, STATES = "/host:CPU samples", "/host:CPU thread states"
WITH_SAMPLES = f"ptap_sample_hz={HZ}"


def start(t, log_dir=None, options=WITH_SAMPLES):
    """Starts a target with a flight recorder that samples. It writes its last run, so no server holds the data."""
    need_no_sanitizer("change the stacks")
    return record(t, log_dir or t.dir / "logs", PROFTAP_RECORDER=options)


def find_times(trace):
    """Returns the times of all samples since the trace began, in ns."""
    refused = [w for w in trace.space.warnings if w.startswith("samples: they are missing") and "perf" in w]
    if refused:
        raise Skip(refused[0])
    plane = trace.planes.get(SAMPLES)
    lines = plane.lines if plane else ()
    return sorted(line.timestamp_ns + e.offset_ps / 1000 for line in lines for e in line.events if not e.duration_ps)


def length_ns(trace):
    return trace.environment["profile_stop_time"].value - trace.environment["profile_start_time"].value


def begin_spin(t, log_dir=None, n=400):
    """Starts a target that uses a processor, and waits until the recorder has |n| samples of it."""
    target = start(t, log_dir)
    target.send("spin 100000")
    with Profiler(target) as calls:
        wait_until(lambda: len(find_times(calls.look_back())) >= n, "samples")
    return target


def functions_of(path):
    done = subprocess.run([PROFTAP, "report", "--json", path], capture_output=True, text=True, check=True)
    return {f["name"] for f in json.loads(done.stdout)["cpu_samples"]["functions"]}


@test
def snapshot_has_samples_of_its_time(t):
    """It takes none away from the next one. A program without any annotation has all that are kept."""
    target = begin_spin(t)
    with Profiler(target) as calls:
        last, whole = calls.look_back(last_ms=200), calls.look_back()
    times = find_times(last)
    check(times and length_ns(last) <= 201e6, f"{len(times)} samples of {length_ns(last)} ns")
    check(len(find_times(whole)) >= 400, "the second snapshot has fewer samples than the recorder had")
    check(length_ns(whole) > 300e6, f"the second snapshot has the last {length_ns(whole)} ns")
    check(STATES in whole.planes, f"planes: {list(whole.planes)}")


@test
def samples_are_those_of_the_time_of_the_spans(t):
    """Spans of the time before have been overwritten."""
    target = start(t)
    target.ask("spin 300", "count 20000", "spin 100")
    with Profiler(target) as calls:
        trace = calls.look_back()
    check(trace.host_stat("ptap_overwritten") > 0, "nothing was overwritten: the test is void")
    first = min(e.start_ps / 1000 for line in trace.threads for e in line.named("number"))
    check(min(find_times(trace)) >= first - 1e6, f"a sample at {min(find_times(trace))}, the first span at {first}")


@test
def recorder_takes_no_samples_by_default(t):
    target = start(t, options="1")
    target.ask("spin 100", "burst 1")
    with Profiler(target) as calls:
        trace = calls.look_back()
    equal([name for name in trace.planes if name in (SAMPLES, STATES)], [], "planes")


@test
def program_that_crashes_leaves_samples(t):
    """The target has no annotations, so its samples are its only data."""
    for how in ("crash", "kill"):
        log_dir = t.dir / how
        target = begin_spin(t, log_dir) if how == "kill" else start(t, log_dir)
        if how == "crash":
            target.ask("spin 300")
        await_gone(end(target, how))
        trace = only_run(log_dir)
        check(len(find_times(trace)) > 100, f"{len(find_times(trace))} samples ({how})")
        check(STATES in trace.planes, f"planes ({how}): {list(trace.planes)}")
        names = functions_of(files(log_dir)[0])
        check("workload_spin" in names, f"functions ({how}): {names}")


@test
def trigger_writes_samples(t):
    log_dir = t.dir / "runs"
    target = start(t, log_dir, f"{WITH_SAMPLES},ptap_trigger_span=number:20ms")
    target.ask("spin 200", "count 1 40")
    wait_until(lambda: files(log_dir), "the run")
    trace = Trace(files(log_dir)[0])
    check(len(find_times(trace)) > 50, f"{len(find_times(trace))} samples")


@test
def followed_children_are_sampled(t):
    need_no_sanitizer("change the stacks")
    target = record(t, t.dir / "logs", PROFTAP_RECORDER=WITH_SAMPLES, PROFTAP_FOLLOW_FORK="1")
    pids = [int(target.ask("prefork steady")) for _ in range(3)]
    with Profiler(target) as calls:
        find_times(calls.look_back())
        for pid in pids:
            wait_until(lambda: any(f"[{pid}]" in name for name in sampled_planes(calls.look_back())), "samples of a child")
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def sampled_planes(trace):
    return [name for name in trace.planes if name.endswith(" samples")]


run()
