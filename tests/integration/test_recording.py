#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the main job: the file holds exactly the events and values that the target emitted."""
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import time

from checks import not_void
from fake_server import FakeServer, field, space
from fixture import SANITIZERS, check, contains, equal, find_proftapd, run, schema, staged, test, wait_until
from processes import PROFTAP

ROUNDS = {"alpha": 100, "beta": 50, "gamma": 7}
# Limits of the median errors of spans' durations and of their starts, on a loaded machine.
DURATION_TOLERANCE_NS = 50_000 if SANITIZERS == "no" else 500_000
OFFSET_TOLERANCE_NS = 1_000_000 if SANITIZERS == "no" else 10_000_000


def expected_names(level, n):
    """Returns the events that workload.c emits in |n| rounds on one thread."""
    names = {"outer": n, "args": n, "train": n, "pair": n, "tick": n}
    # A round has a run-time span and a run-time instant of the same name.
    names.update({f"file {i}": 2 for i in range(n)})
    if level >= 2:
        names["informative"] = n
    if level >= 3:
        names["verbose"] = n
    return names


def record_rounds(t, *options):
    target = t.target().serve()
    before_ns = time.time_ns()
    capture = t.start_capture(target, 1000, *options)
    answer = target.ask("threads " + " ".join(f"{k}={v}" for k, v in ROUNDS.items()))
    not_void(capture.popen.poll() is None, "the threads were not done before the capture ended")
    tids = {name: int(tid) for name, tid in (word.split("=") for word in answer.split())}
    return target, tids, capture.finish(), (before_ns, time.time_ns())


def check_threads(trace, tids, level):
    equal({line.name: line.id for line in trace.threads}, tids, "the threads and their ids")
    for name, n in ROUNDS.items():
        equal(dict(trace.thread(name).count()), expected_names(level, n), f"events of {name}")


def check_order(line):
    """Checks that events are sorted by start, the longest first, and that each is inside of its parent."""
    keys = [(e.start_ps, -e.duration_ps) for e in line.events]
    equal(keys, sorted(keys), f"order of the events of {line.name}")
    ends = []
    for e in line.events:
        end = e.start_ps + e.duration_ps
        while ends and e.start_ps >= ends[-1] and not (e.start_ps == ends[-1] == end):
            ends.pop()
        check(not ends or end <= ends[-1], f"{line.name}: {e} ends after its parent, at {ends}")
        ends.append(end)


def check_parents(line, n):
    """Checks that each round's events lie in its "outer", and that the instants lie in "pair"."""
    outers, pairs = line.named("outer"), line.named("pair")
    for i in range(n):
        start, end = outers[i].start_ps, outers[i].start_ps + outers[i].duration_ps
        inside = [e for e in line.events
                  if start <= e.start_ps and e.start_ps + e.duration_ps <= end]
        check({"args", "train", "pair", "tick", f"file {i}"} <= {e.name for e in inside},
              f"{line.name}, round {i}: inside of outer are only {[e.name for e in inside]}")
        tick = line.named("tick")[i]
        check(pairs[i].start_ps <= tick.start_ps <= pairs[i].start_ps + pairs[i].duration_ps,
              f"{line.name}, round {i}: {tick} is not inside of {pairs[i]}")


def check_values(line, n):
    for i, e in enumerate(line.named("args")):
        expected = {
            "i": ("int64_value", -i), "u": ("uint64_value", 2**64 - 1 - i),
            "f": ("double_value", i + 0.25), "s": (e.stats["s"].kind, f"file {i}"),
            "p": (e.stats["p"].kind, hex(0x1000 + i))}
        equal(e.stats, expected, f"arguments of {line.name}, round {i}")
        check({e.stats["s"].kind, e.stats["p"].kind} <= {"str_value", "ref_value"},
              f"strings lie in {e.stats}")
    for i, e in enumerate(line.named("train")):
        equal(e.stats, {"_r": ("int64_value", 1), "step_num": ("int64_value", 10**10 + i)},
              f"step {i} of {line.name}")
    for name in ("outer", "pair", "tick"):
        for e in line.named(name):
            equal(e.stats, {}, f"stats of {name}")
    for e in line.named("tick"):
        equal(e.duration_ps, 0, "duration of an instant")
    for i in range(n):
        shortest = min(e.duration_ps for e in line.named(f"file {i}"))
        equal(shortest, 0, f"duration of the instant among the two file {i}")


def check_counters(trace):
    queue, load = [], []
    for i, n in enumerate(ROUNDS.values()):
        queue += [("int64_value", i * 1000 + k) for k in range(n)]
        load += [("double_value", i + k / 4.0) for k in range(n)]
    for name, expected in (("queue", queue), ("load", load)):
        samples = [e for line in trace.counters for e in line.named(name)]
        equal(sorted(e.stats["value"] for e in samples), sorted(expected), f"samples of {name}")
        equal({e.duration_ps for e in samples}, {0}, f"durations of {name}")
    equal(sum(len(line.events) for line in trace.counters), len(queue) + len(load), "samples")


def check_everything(t, *options):
    target, tids, capture, _ = record_rounds(t, *options)
    trace = capture.trace
    check_threads(trace, tids, 2)
    for name, n in ROUNDS.items():
        line = trace.thread(name)
        check_order(line)
        check_parents(line, n)
        check_values(line, n)
    for line in trace.counters:
        check_order(line)
    check_counters(trace)
    equal(trace.host_stats["process_id"], ("int64_value", target.pid), "process_id")
    equal({line.timestamp_ns for line in trace.lines}, {0}, "timestamps of the lines")
    equal(trace.host_stat("dropped_traces"), 0, "dropped")
    check(b"group_id" not in trace.bytes, "group_id is in the file: XProf would not group again")


@staged
def every_event_arrives_on_its_thread_with_its_values(t):
    check_everything(t)


@staged
def every_event_arrives_through_a_file(t):
    check_everything(t, "-o", "ptap_spool_window_bytes=4096")


@staged
def the_session_is_described_as_stock_servers_do(t):
    _, _, capture, (before_ns, after_ns) = record_rounds(t, "-o", "host_tracer_level=1")
    trace = capture.trace
    env = trace.environment
    start, stop = env["profile_start_time"], env["profile_stop_time"]
    equal((start.kind, stop.kind), ("uint64_value", "uint64_value"), "kinds of the two times")
    check(before_ns <= start.value < stop.value <= after_ns,
          f"{before_ns} <= {start.value} < {stop.value} <= {after_ns} does not hold")
    check(10**9 <= stop.value - start.value < 3 * 10**9, f"length {stop.value - start.value} ns")
    equal(list(trace.space.hostnames), [socket.gethostname()], "hostnames")
    equal(list(trace.space.errors), [], "errors")
    options = schema("profiler_options").ProfileOptions.FromString(env["profile_options"].value)
    equal((options.host_tracer_level, options.duration_ms), (1, 1000), "the options echoed")
    for plane in trace.space.planes:
        check(plane.id >= 0 and 0 not in plane.event_metadata and 0 not in plane.stat_metadata,
              f"plane {plane.name} has an id 0")
        for kind in (plane.event_metadata, plane.stat_metadata):
            equal([m.id for m in kind.values()], list(kind), f"ids in {plane.name}")


@staged
def levels_decide_what_is_recorded(t):
    for level in (1, 3):
        _, tids, capture, _ = record_rounds(t, "-o", f"host_tracer_level={level}")
        check_threads(capture.trace, tids, level)


@staged
def files_and_summary_are_as_promised(t):
    target, _, capture, _ = record_rounds(t)
    n = sum(ROUNDS.values())
    run_name = capture.path.parent.name
    check(re.fullmatch(r"\d{4}(_\d\d){5}(_\d+)?", run_name), f"run {run_name}")
    equal(capture.left(), [
        "plugins", "plugins/profile", f"plugins/profile/{run_name}",
        f"plugins/profile/{run_name}/{socket.gethostname()}_{target.port}.xplane.pb"], "files")
    equal(capture.stdout, f"{capture.log_dir}/{capture.left()[-1]}\n", "standard output")
    lines = capture.stderr.splitlines()
    n_counters = len(capture.trace.counters) + len(capture.trace.usage)
    equal(lines[0], f"captured {capture.trace.duration_ms} ms of target (pid {target.pid}) at "
          f"127.0.0.1:{target.port}", "first line")
    check(capture.trace.duration_ms >= 1000, f"{capture.trace.duration_ms} ms were recorded")
    # A round has 8 events at level 2: 5 spans, a step and 2 instants.
    equal(lines[1], f"  spans {6 * n:,} on 3 threads · instants {2 * n:,} · counters {n_counters} · steps {n} · dropped 0",
          "counts")
    check(re.fullmatch(r"  [\d.,]+ [kMG]?B in [\d,]+ ms after the end of the recording", lines[2]),
          f"third line: {lines[2]!r}")
    equal(lines[3], f"view: xprof --logdir {capture.log_dir}    or    proftap view {capture.log_dir}", "last line")
    equal(len(lines), 4, f"number of lines in {lines}")


@test
def two_captures_in_one_second_get_two_runs(t):
    target = t.target().serve()
    log_dir = t.dir / "logs"
    for _ in range(2):
        capture = t.start_capture(target, 50, log_dir=log_dir)
        target.ask("step 1 10")
        capture.finish()
    runs = sorted(p.name for p in (log_dir / "plugins/profile").iterdir())
    equal(len(runs), 2, f"runs {runs}")


@staged
def times_are_those_that_the_target_measured(t):
    target = t.target().serve()
    capture = t.record(target, 1000)
    answer = target.ask("paced 50 2000")
    not_void(capture.popen.poll() is None, "the spans were not done before the capture ended")
    trace = capture.finish().trace
    events = trace.thread(target.pid).named("paced")
    measured = [tuple(map(int, word.split(":"))) for word in answer.split()]
    equal(len(events), len(measured), "number of spans")
    start_ns = trace.environment["profile_start_time"].value
    longer = [m[1] - e.duration_ps / 1000 for e, m in zip(events, measured)]
    later = [start_ns + e.start_ps / 1000 - m[0] for e, m in zip(events, measured)]
    check(min(longer) > -2000, f"a span is longer than the measured time around it: {min(longer)} ns")
    check(statistics.median(longer) < DURATION_TOLERANCE_NS,
          f"spans are shorter than measured by {statistics.median(longer)} ns (median)")
    check(abs(statistics.median(later)) < OFFSET_TOLERANCE_NS,
          f"spans start {statistics.median(later)} ns later than measured (median)")


@test
def a_step_longer_than_the_capture_arrives_cut_at_its_end(t):
    target = t.target().serve()
    capture = t.start_capture(target, 500)
    target.send("step 1 10000")
    trace = capture.finish().trace
    events = trace.thread(target.pid).events
    equal([e.name for e in events], ["slow"], "events")
    step = events[0]
    equal(step.stats, {"_r": ("int64_value", 1), "step_num": ("int64_value", 7),
                       "unfinished": ("int64_value", 1)}, "the step's stats")
    env = trace.environment
    length_ps = (env["profile_stop_time"].value - env["profile_start_time"].value) * 1000
    check(abs(length_ps - step.start_ps - step.duration_ps) < 10**9,
          f"ends at {step.start_ps + step.duration_ps} ps, the recording at {length_ps} ps")
    check(0.4e12 < step.duration_ps < 9e12, f"duration {step.duration_ps} ps")


@test
def the_summary_says_how_long_it_was_in_truth(t):
    """On a busy machine a recording takes longer than the request says."""
    made = schema("xplane").XSpace.FromString(space(3))
    host = made.planes[0]
    host.stat_metadata[1].id, host.stat_metadata[1].name = 1, "ptap_process_name"
    host.stats.add(metadata_id=1, str_value="ours")
    plane = made.planes.add(name="Task Environment")
    for number, (key, value) in enumerate(
            (("profile_start_time", 10**18), ("profile_stop_time", 10**18 + 512_400_000)), 1):
        plane.stat_metadata[number].id = number
        plane.stat_metadata[number].name = key
        plane.stats.add(metadata_id=number, uint64_value=value)
    server = FakeServer(t, lambda c: c.reply(field(8, made.SerializeToString())))
    check(t.capture(server, 500).stderr.startswith("captured 512 ms of "), "the first line")


def make_stock_space(options, start_ns, stop_ns, last_ns):
    """Makes the answer of JAX's server, whose stop time is the end of its collection."""
    made = schema("xplane").XSpace.FromString(space(3))
    made.planes[0].lines[0].events.add(metadata_id=1, duration_ps=last_ns * 1000)
    plane = made.planes.add(name="Task Environment")
    for number, key in enumerate(("profile_start_time", "profile_stop_time", "profile_options"), 1):
        plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, key
    plane.stats.add(metadata_id=1, uint64_value=start_ns)
    plane.stats.add(metadata_id=2, uint64_value=stop_ns)
    plane.stats.add(metadata_id=3, bytes_value=options.SerializeToString())
    return made.SerializeToString()


@test
def a_stock_recordings_length_excludes_its_collection(t):
    """The server records for 300 ms, or for 600 as if it was stopped meanwhile, and then collects for 300 ms."""
    def answer(connection):
        start_ns = time.time_ns()
        time.sleep(record_ms / 1000 + 0.3)
        options = schema("profiler_options").ProfileOptions(duration_ms=300)
        connection.reply(field(8, make_stock_space(options, start_ns, time.time_ns(), record_ms * 10**6)))

    for record_ms in 300, 600:
        begin = time.monotonic()
        told = t.capture(FakeServer(t, answer), 300, "--json")
        elapsed_ms = (time.monotonic() - begin) * 1000
        said = json.loads(told.stdout)
        equal(said["duration_ms"], record_ms, "length of the recording in ms")
        both_ms = said["duration_ms"] + said["transfer_ms"]
        check(record_ms + 300 <= both_ms <= elapsed_ms, f"{said['duration_ms']} and {said['transfer_ms']} ms "
              f"of {elapsed_ms} ms")
        report = json.loads(subprocess.run([PROFTAP, "report", "--json", said["file"]], check=True,
                                           capture_output=True).stdout)
        equal(report["end_ns"] - report["begin_ns"], record_ms * 10**6, "the length that is reported")


@test
def a_window_ends_when_it_was_agreed_however_late_the_server_wakes(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    t.at_end.append(lambda: os.kill(server, signal.SIGCONT))
    capture = t.record(target, 1000, commands=["burst 5"])
    os.kill(server, signal.SIGSTOP)
    over = time.monotonic() + 1.1
    wait_until(lambda: time.monotonic() > over, "the end of the window")
    target.ask("burst 100")
    os.kill(server, signal.SIGCONT)
    trace = capture.finish().trace
    start, stop = (trace.environment[f"profile_{word}_time"].value for word in ("start", "stop"))
    equal(stop - start, 1_000_000_000, "the window in ns")
    equal(trace.count("burst"), 5, "spans, without those after the end")


run()
