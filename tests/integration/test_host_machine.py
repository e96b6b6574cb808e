#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that traces through the host daemon have the machine's counters beside the program's spans."""
import json
import signal
import subprocess
import time

from calls import PROFILER, Calls, profile_request, trace_of
from fixture import check, contains, equal, run, test, wait_until
from hosts import Host, start_target
from processes import PROFTAP
from profiler import Profiler, set_options
from trace_file import Line, Trace, own_schema, schema
from web import Web

MACHINE = "/host:CPU machine"
LONG_MS = 60000
# Counters that every machine has.
ALWAYS = {"cpu busy %", "memory used bytes", "machine context switches/s"}
MS_PS = 10**9


def serve(t, n=1):
    """A daemon, and |n| programs that it knows."""
    host = Host(t)
    targets = [start_target(t) for _ in range(n)]
    host.await_pids(*(target.pid for target in targets))
    return host, targets


def counters(trace):
    """Returns the machine's counters as {name: line}, or {} if the trace has no plane of the machine."""
    plane = trace.planes.get(MACHINE)
    lines = [Line(plane, line) for line in plane.lines] if plane else []
    equal([line.name for line in lines if line.name != "_counters_"], [], "lines that are no counters")
    return {line.events[0].name: line for line in lines}


def check_counters(trace, what):
    found = counters(trace)
    check(ALWAYS <= set(found), f"{what}: {sorted(found)}")
    for name in ALWAYS:
        times = [event.start_ps for event in found[name].events]
        equal(times[0], 0, f"{what}: when {name} begins")
        # The counters have samples at both ends of the trace.
        check(abs(times[-1] - trace.duration_ms * MS_PS) <= MS_PS, f"{what}: {name} ends at {times[-1]} ps")
        equal(times, sorted(times), f"{what}: the times of {name}")
    ids = [plane.id for plane in trace.space.planes]
    equal(len(set(ids)), len(ids), f"{what}: ids of planes")


def values(line):
    return [event.stats["value"].value for event in line.events]


def warns(trace):
    return any("ptap_machine_usage" in text for text in trace.space.warnings)


def begin_session(profiler, is_wanted):
    request = set_options(own_schema().StartRequest())
    request.options.advanced_configuration["ptap_machine_usage"].bool_value = is_wanted
    profiler.send_start(request)


def record(t, host, *options, target):
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, *options)
    target.ask("await 1", "burst 7")
    capture.signal(signal.SIGINT)
    trace = capture.finish().trace
    equal(trace.count("burst"), 7, "spans")
    return trace


@test
def a_capture_has_machine_counters(t):
    host, (target,) = serve(t)
    trace = record(t, host, target=target)
    check_counters(trace, "a capture")
    with open("/proc/meminfo", encoding="ascii") as file:
        total = 1024 * int(file.readline().split()[1])
    used = values(counters(trace)["memory used bytes"])
    check(all(0 < n < total for n in used), f"{used} of {total} bytes of memory are used")
    check(all(0 <= n <= 100 for n in values(counters(trace)["cpu busy %"])), "shares of time")
    equal([name for name in counters(trace) if name.startswith("process ")], [], "programs")


@test
def machine_counters_need_the_daemon_and_can_be_switched_off(t):
    host, (target,) = serve(t)
    equal(counters(record(t, host, "-o", "ptap_machine_usage=false", target=target)), {}, "switched off")
    direct = t.capture(target, 50)
    equal((counters(direct.trace), warns(direct.trace)), ({}, False), "at the program's own port")
    # At the program's own port a request for these counters gets a warning; through the daemon it changes nothing.
    wanted = "-o", "ptap_machine_usage=true"
    direct = t.capture(target, 50, *wanted)
    equal((counters(direct.trace), warns(direct.trace)), ({}, True), "asked for at the program's own port")
    contains(direct.stderr, "  warning: ptap_machine_usage: without effect: a host daemon (proftapd --host) records the machine",
             "the summary")
    trace = record(t, host, *wanted, target=target)
    check_counters(trace, "asked for through the daemon")
    check(not warns(trace), f"warnings: {list(trace.space.warnings)}")


@test
def stock_snapshots_have_machine_counters(t):
    """A snapshot with a session id has no such counters: the program's own server may write it to a file."""
    host, (target,) = serve(t)
    service = schema("profiler_service")
    request = service.GetSnapshotRequest()
    with Calls(host.port) as calls:
        calls.expect(PROFILER + "StartContinuousProfiling", profile_request(2000), "ContinuousProfilingResponse")
        target.ask("await 1")
        for name in ("GetSnapshot", "GetSnapShot"):
            target.ask("burst 7")
            trace = trace_of(calls.expect(PROFILER + name, request))
            equal(trace.count("burst"), 7, f"spans of {name}")
            check_counters(trace, name)
        target.ask("burst 5")
        request.snapshot_session_id = "named"
        trace = trace_of(calls.expect(PROFILER + "GetSnapshot", request))
        equal((trace.count("burst"), counters(trace)), (5, {}), "spans and counters of a named session's snapshot")
        # Without this the server would hold the session's data for five minutes after the program's end.
        calls.expect(PROFILER + "StopContinuousProfiling", service.StopContinuousProfilingRequest(),
                     "StopContinuousProfilingResponse")


@test
def announced_sizes_include_the_machine_counters(t):
    host, (target,) = serve(t)
    with Profiler(host.port) as profiler:
        stream = profiler.capture(LONG_MS, session_id="sums")
        target.ask("await 1", "burst 40000")
        profiler.end_session("sums")
        # deliver() checks the number and the checksum of all bytes.
        delivery = profiler.deliver(stream)
    check_counters(delivery.trace, "a stream")
    equal(delivery.progress[-1].xspace_bytes, len(delivery.data), "the announced bytes")
    lines = [line for plane in delivery.space.planes for line in plane.lines]
    equal(delivery.trailer.n_events, sum(len(line.events) for line in lines), "events in the trailer")
    check(not delivery.trailer.HasField("machine_usage"), "the trailer still requests the machine's counters")
    check(not any(part.HasField("machine_usage") for part in delivery.progress), "a progress message still requests the machine's counters")


@test
def a_programs_server_tells_the_time_of_machine_counters(t):
    target = t.target().serve()
    with Profiler(target) as profiler:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        delivery = profiler.deliver(profiler.capture(50))
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    wanted = delivery.trailer.machine_usage
    equal(delivery.progress[-1].machine_usage, wanted, "with xspace_bytes")
    equal(wanted.duration_ns, delivery.trailer.duration_ns, "its length")
    check(before < wanted.start_ns < wanted.start_ns + wanted.duration_ns < after, f"{wanted}")


@test
def a_session_has_machine_counters_only_if_asked(t):
    host, (target,) = serve(t)
    with Profiler(host.port) as profiler:
        for is_wanted in (True, False):
            begin_session(profiler, is_wanted)
            for name, ask in (("snapshot", profiler.snapshot), ("rest", profiler.end_session)):
                target.ask("await 1", "burst 3")
                trace = profiler.deliver(ask()).trace
                equal((trace.count("burst"), bool(counters(trace))), (3, is_wanted), name)
                if is_wanted:
                    check_counters(trace, name)


@test
def the_flight_recorder_has_machine_counters(t):
    host, (target,) = serve(t)
    with Profiler(host.port) as profiler:
        profiler.begin_recorder()
        target.ask("await 1", "burst 3")
        check_counters(profiler.look_back(), "a snapshot")
        check_counters(profiler.deliver(profiler.end_session("recorder")).trace, "the rest")


@test
def empty_trace_stays_empty(t):
    host, _ = serve(t)
    t.capture(f"127.0.0.1:{host.port}", 50, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0", code=3)


@test
def stock_clients_get_machine_counters(t):
    host, targets = serve(t, 2)
    with Calls(host.port) as calls:
        answer = calls.expect(PROFILER + "Profile", profile_request(100, emit_xspace=False))
        equal(len(answer.tool_data), 2, "traces")
        for tool in answer.tool_data:
            check_counters(Trace(data=tool.data), tool.name)
        request = profile_request(100)
        request.opts.advanced_configuration["ptap_target"].int64_value = targets[0].pid
        check_counters(trace_of(calls.expect(PROFILER + "Profile", request)), "of one")
        request.opts.advanced_configuration["ptap_machine_usage"].bool_value = True
        trace = trace_of(calls.expect(PROFILER + "Profile", request))
        check_counters(trace, "asked for")
        check(not warns(trace), f"warnings: {list(trace.space.warnings)}")
        request.opts.advanced_configuration["ptap_machine_usage"].bool_value = False
        equal(counters(trace_of(calls.expect(PROFILER + "Profile", request))), {}, "switched off")


@test
def each_file_of_a_run_has_the_machine_counters(t):
    host, targets = serve(t, 2)
    capture = t.capture(f"127.0.0.1:{host.port}", 100, "--target", "all")
    equal(len(capture.out), len(targets), "files")
    paths = [line.strip() for line in capture.out]
    for path in paths:
        check_counters(Trace(path), path)
    report = json.loads(subprocess.run([PROFTAP, "report", "--json", *paths], check=True, capture_output=True).stdout)
    told = [plane["host"] for plane in report["planes"] if plane["name"] == MACHINE and plane["counters"]]
    equal(len(told), 1, "how often a report of both traces has the machine's counters")


@test
def captures_by_http_have_machine_counters(t):
    web = Web(t, "--log_dir", t.public_dir("web"))
    target = start_target(t)
    web.host.await_pids(target.pid)
    token = web.ask("/api/v1/session").json["token"]
    for is_wanted in (True, False):
        body = json.dumps({"target": target.pid, "duration_ms": 100, "options": {"ptap_machine_usage": is_wanted}})
        begun = web.ask("/api/v1/captures", "POST", body.encode(), {
            "X-Proftap-Token": token, "Content-Type": "application/json"})
        equal(begun.status, 201, begun.text)
        place = begun.headers["Location"]
        capture = wait_until(lambda: (now := web.ask(place).json)["is_over"] and now, "the capture's end")
        equal(capture["state"], "done", "the capture")
        trace = Trace(t.dir / "web" / "plugins" / "profile" / capture["run"] / capture["files"][0])
        if is_wanted:
            check_counters(trace, "a capture of the web")
            check(not warns(trace), f"warnings: {list(trace.space.warnings)}")
        else:
            equal(counters(trace), {}, "switched off")


if __name__ == "__main__":
    run()
