#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests properties of every plane of every kind of trace: its process, ids of lines that viewers
keep apart, names, and events within the trace.
"""
import json
import os
import signal
import subprocess
import sys

from calls import PROFILER, Calls, profile_request, trace_of
from checks import wait_until
from devices import Device, device_planes, library
from fixture import SANITIZERS, check, equal, run, schema, test
from hosts import Host, start_target
from nvidia import Machine
from processes import PROFTAP
from running import find_files, finish, make_environment, need_preload, start
from trace_file import Trace, read_stats

# Planes of the recording, of a part of a file, and of the machine belong to no process.
NO_PROCESS = {"Task Environment", "proftap:part", "/host:CPU machine"}
# XLA reserves these ids for lines that it derives from others (trace_utils.h). Viewers cut ids down
# to 32 bits.
FIRST_DERIVED = 0xdeadbeef
N_DERIVED = 390
LOW = (1 << 32) - 1
# Each poll emits some records of each kind that a collector can emit.
EVERYTHING = {key: 2 for key in ("poll", "copies", "sets", "syncs", "overheads", "counters", "memory")}
BESIDE = {"CUPTI overhead", "Synchronization", "Memory"}


def check_ids(plane, what):
    ids = [line.id for line in plane.lines]
    equal(len(set(ids)), len(ids), f"{what}: different ids of lines among {ids}")
    equal(len({i & LOW for i in ids}), len(ids), f"{what}: different ids in 32 bits among {ids}")
    if plane.name.startswith("/device:"):
        derived = [(line.name, line.id) for line in plane.lines
                   if (line.id - FIRST_DERIVED) & LOW < N_DERIVED]
        equal(derived, [], f"{what}: lines with ids of derived ones")


def check_events(plane, length_ps, what):
    for line in plane.lines:
        check(line.display_name or line.name, f"{what}: line {line.id} has no name")
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name
            check(name, f"{what}: an event on {line.name} has no name")
            start = line.timestamp_ns * 1000 + event.offset_ps
            check(0 <= start <= start + event.duration_ps <= length_ps,
                  f"{what}: {name} on {line.name} is from {start} to {start + event.duration_ps} of {length_ps} ps")


def check_space(space, pids, what):
    """Checks that the planes belong to the processes |pids| and to no others."""
    stats_of = {plane.name: {key: stat.value for key, stat in read_stats(plane, plane.stats).items()} for plane in space.planes}
    equal(len(stats_of), len(space.planes), f"{what}: different names of planes among {[p.name for p in space.planes]}")
    times = [stats_of["Task Environment"][f"profile_{end}_time"] for end in ("start", "stop")]
    found = set()
    for plane in space.planes:
        where = f"{what}, {plane.name}"
        stats = stats_of[plane.name]
        if plane.name in NO_PROCESS:
            check("process_id" not in stats, f"{where}: it is of no process")
        else:
            check("process_id" in stats, f"{where}: no process_id among {sorted(stats)}")
            found.add(stats["process_id"])
        check_ids(plane, where)
        check_events(plane, 1000 * (times[1] - times[0]), where)
    equal(found, set(pids), f"{what}: processes")


def check_trace(trace, pids, what):
    check_space(trace.space, pids, what)
    for plane in trace.space.planes:
        equal([line.name for line in plane.lines if not line.events], [], f"{what}, {plane.name}: lines without events")
    return trace


def names_of_lines(trace):
    return {line.name for plane in trace.space.planes for line in plane.lines}


def make_own_trace(t):
    """Returns a plug-in's trace: a device of some other kind, and a plane of the host."""
    space = schema("xplane").XSpace()
    for number, name in enumerate(("/device:CUSTOM:fpga", "/host:fpga driver")):
        plane = space.planes.add(id=number, name=name)
        plane.event_metadata[1].id, plane.event_metadata[1].name = 1, "work"
        plane.stat_metadata[1].id, plane.stat_metadata[1].name = 1, "lanes"
        plane.stats.add(metadata_id=1, int64_value=4)
        line = plane.lines.add(id=1, name="queue")
        line.events.add(metadata_id=1, offset_ps=10**15, duration_ps=1000)
    path = t.dir / "own.xspace"
    path.write_bytes(space.SerializeToString())
    return path


def fetch(env, *words):
    done = subprocess.run([PROFTAP, *map(str, words)], env={**os.environ, **env}, capture_output=True, text=True, timeout=60)
    equal(done.returncode, 0, f"exit status of {words}; {done.stderr!r}")
    return [Trace(path) for path in done.stdout.splitlines() if path.endswith(".pb")]


@test
def traces_of_a_programs_server_are_consistent(t):
    target = t.target().serve()
    with Calls(target) as calls:
        trace = trace_of(calls.finish(calls.start(PROFILER + "Profile", profile_request(50))).message)
    check_trace(trace, [target.pid], "Profile")
    check_trace(t.emit(target, 50, "burst 20").trace, [target.pid], "capture")


@test
def devices_of_a_collector_are_consistent(t):
    device = Device(t, info=2, **EVERYTHING)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 4)
    target.ask("launch 40 k")
    trace = check_trace(t.stop(target, capture).trace, [target.pid], "a collector's device")
    check(BESIDE <= names_of_lines(trace), f"lines: {names_of_lines(trace)}")
    equal([line.name for plane in device_planes(trace) for line in plane.lines if line.name in BESIDE], [],
          "lines among the device's work that are no work")


@test
def plug_in_brings_its_own_trace(t):
    device = Device(t, info=1, xspace=make_own_trace(t), clock_ns=0)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 2)
    trace = t.stop(target, capture).trace
    check(set(trace.planes) >= {"/device:CUSTOM:fpga", "/host:fpga driver"}, f"planes: {sorted(trace.planes)}")
    for name in ("/device:CUSTOM:fpga", "/host:fpga driver"):
        plane = trace.planes[name]
        stats = {key: stat.value for key, stat in read_stats(plane, plane.stats).items()}
        equal(stats, {"lanes": 4, "process_id": target.pid}, f"stats of {name}")


@test
def devices_of_the_driver_are_consistent(t):
    target = Machine(t).target(t).serve()
    target.ask(f"load {library(t)}")
    trace = t.emit(target, 300, options=("-o", "ptap_gpu_usage_interval_ms=20")).trace
    check_trace(trace, [target.pid], "NVML")
    equal([(p.id, p.name) for p in device_planes(trace)], [(0, "/device:GPU:0"), (1, "/device:GPU:1")], "planes of devices")


@test
def traces_of_recorders_and_sessions_are_consistent(t):
    env = make_environment(t)
    recorded = t.target(**env).serve(0, 65536, 0, "127.0.0.1", 0, 0, t.dir / "last", 0, 1, "")
    recorded.ask("burst 9000")
    check_trace(fetch(env, "snapshot", recorded.port, "--log_dir", t.dir / "recorder")[0], [recorded.pid], "a recorder's snapshot")
    device = Device(t, info=1, **EVERYTHING)
    target = device.target(t, **env)
    fetch(env, "start", target.port)
    for look in range(2):
        device.await_step("poll", 3 * (look + 1))
        target.ask("burst 20")
        check_trace(fetch(env, "snapshot", target.port, "--log_dir", t.dir / "session")[0], [target.pid], f"part {look} of a session")
    check_trace(fetch(env, "stop", target.port, "--log_dir", t.dir / "session")[0], [target.pid], "the rest of a session")


@test
def traces_with_followed_children_are_consistent(t):
    target = t.target(PROFTAP_FOLLOW_FORK="1").serve()
    pids = [int(target.ask("prefork steady").split()[0]) for _ in range(2)]
    t.at_end.append(lambda: [os.kill(pid, signal.SIGKILL) for pid in pids])
    check_trace(t.emit(target, 300, "burst 5").trace, [target.pid, *pids], "follow_fork")


PARENT = """
import subprocess, sys
workers = [subprocess.Popen([sys.executable, "-c", "import time; sum(1 for _ in iter(lambda: time.process_time() < 1, False))"]) for _ in range(2)]
print([worker.pid for worker in workers], flush=True)
[worker.wait() for worker in workers]
"""


@test
def traces_with_usage_of_descendants_are_consistent(t):
    if SANITIZERS != "no":
        need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", "--", sys.executable, "-c", PARENT))
    pb, = [path for path in find_files(t) if path.suffix == ".pb"]
    trace = Trace(pb)
    check("process and children cpu %" in trace.usage, f"counters: {sorted(trace.usage)}")
    # Each descendant has a plane that names its process.
    check_trace(trace, [trace.host_stat("process_id"), *json.loads(process.stdout)], "run")
    check(process.stderr, "run said nothing")


@test
def parts_of_a_capture_are_consistent(t):
    target = t.target().serve(0, 1 << 20)
    target.send("await 1", "burst 60000")
    capture = t.start_capture(target, 500, "--split=300000")
    for _ in range(2):
        target.read_line()
    paths = capture.finish().stdout.splitlines()
    check(len(paths) > 1, f"parts: {paths}")
    for path in paths:
        with open(path, "rb") as file:
            check_space(schema("xplane").XSpace.FromString(file.read()), [target.pid], path)


@test
def trace_through_a_host_daemon_is_consistent(t):
    host = Host(t)
    target = start_target(t)
    host.await_pids(target.pid)
    capture = t.start_capture(f"127.0.0.1:{host.port}", 300)
    trace = capture.finish().trace
    check("/host:CPU machine" in trace.planes, f"planes: {sorted(trace.planes)}")
    check_trace(trace, [target.pid], "the host daemon")


run()
