#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests Monitor: it measures the program's activity and disturbs no session or other call."""
import os
import re
import time

from calls import ANALYSIS, PROFILER, Calls, profile_request, trace_of
from checks import not_void
from children import tree_request
from fixture import SANITIZERS, check, contains, equal, run, schema, staged, test, wait_until
from http2 import INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNAVAILABLE

MONITOR, PROFILE = PROFILER + "Monitor", PROFILER + "Profile"
UTIL_IDLE, UTIL_IDLE_STEP = 2, 3


def request(ms, level=1, timestamp=False):
    return schema("profiler_service").MonitorRequest(duration_ms=ms, monitoring_level=level,
                                                     timestamp=timestamp)


def monitor(calls, *how, **more):
    return calls.expect(MONITOR, request(*how, **more), "MonitorResponse")


def read_number(text, pattern):
    found = re.search(pattern, text)
    check(found, f"no {pattern!r} in {text!r}")
    return float(found[1])


@test
def many_long_calls_block_only_calls_of_their_kind(t):
    target = t.target().serve(0, 0, 0, "127.0.0.1", 0, 0, t.dir / "logs")
    tomorrow_ns = time.time_ns() + 86400 * 10**9
    with Calls(target) as lasting, Calls(target) as waiting, Calls(target) as calls:
        for _ in range(8):
            lasting.start(MONITOR, request(86400000))
        for i in range(10):
            waiting.start(PROFILE, tree_request(100, options={"start_timestamp_ns": tomorrow_ns},
                                                session_id=f"tomorrow{i}"))
        # A Monitor call that arrives before all eight have begun is served.
        ninth = []
        wait_until(lambda: ninth.append(lasting.call(MONITOR, request(100), "MonitorResponse")) or ninth[-1].status,
                   "the ninth to be refused")
        equal((ninth[-1].status, ninth[-1].text),
              (RESOURCE_EXHAUSTED, "8 Monitor calls are under way; ask again later"), "the ninth")
        waiting.terminate("nobody")
        calls.expect(ANALYSIS + "EnumSessions",
                     schema("profiler_analysis").EnumProfileSessionsAndToolsRequest(),
                     "EnumProfileSessionsAndToolsResponse", "profiler_analysis")
        check(trace_of(calls.expect(PROFILE, tree_request(100))).planes, "the tree has no planes")
        for i in range(10):
            calls.terminate(f"tomorrow{i}")


@test
def an_idle_program_is_measured_for_the_time_that_was_asked_for(t):
    target = t.target().serve()
    with Calls(target) as calls:
        began = time.monotonic()
        reply = monitor(calls, 300, timestamp=True)
        check(0.3 <= time.monotonic() - began < 5, f"took {time.monotonic() - began} s")
    lines = reply.data.splitlines()
    check(re.fullmatch(r"Timestamp: \d\d:\d\d:\d\d", lines[0]), f"no timestamp in line 1: {lines}")
    contains(lines[1], f"(pid {target.pid})", "the program")
    contains(reply.data, "Step time: no step began meanwhile", "the text")
    check("Memory" not in reply.data, f"details at level 1: {reply.data!r}")
    result = reply.monitor_result
    equal(result.response_type, UTIL_IDLE, "kind of the result")
    check(90 < result.device_idle_time_percent <= 100, f"idle: {result}")


@test
def steps_and_processor_time_are_measured(t):
    target = t.target().serve()
    with Calls(target) as calls:
        stream = calls.start(MONITOR, request(2500, level=2))
        target.ask("await 1")
        for _ in range(3):
            target.ask("step 1 50")
        target.ask("spin 500")
        reply = calls.finish(stream, "MonitorResponse").message
    result = reply.monitor_result
    equal(result.response_type, UTIL_IDLE_STEP, "kind of the result")
    check(50 <= result.step_time_ms_min <= result.step_time_ms_avg <= result.step_time_ms_max < 1000,
          f"step times: {result}")
    contains(reply.data, ", 3 steps", "the text")
    contains(reply.data, "Annotations: 3 on 1 thread\n", "the text")
    check(read_number(reply.data, r"Memory: ([\d.]+) MiB") > 0.5, reply.data)
    cpu = read_number(reply.data, r"CPU: ([\d.]+) %")
    check(8 <= cpu <= 50, f"500 ms of 2500 are {cpu} %")
    n = len(os.sched_getaffinity(target.pid))
    check(abs(100 - cpu / n - result.device_idle_time_percent) < 0.2, f"idle: {result}, {cpu} %")
    check(not re.search("Timestamp", reply.data), "a timestamp that the request did not ask for")


@test
def children_are_measured_with_their_parent(t):
    target = t.target().serve()
    target.ask("spawn while :; do :; done")
    with Calls(target) as calls:
        reply = monitor(calls, 1500)
    own = read_number(reply.data, r"CPU: ([\d.]+) %")
    together = read_number(reply.data, r"With children: ([\d.]+) % CPU")
    # Other processes may use the processors, so the limits are wide.
    check(own < 2 and together > 5, f"own {own} %, together {together} %")
    n = len(os.sched_getaffinity(target.pid))
    check(abs(100 - together / n - reply.monitor_result.device_idle_time_percent) < 0.2, f"idle: {reply}")


@staged
def a_running_session_is_not_disturbed_and_a_new_one_comes_first(t):
    target = t.target().serve()
    with Calls(target) as calls:
        session = calls.start(PROFILE, profile_request(60000, session_id="mine"))
        target.ask("await 2", "burst 10")
        contains(monitor(calls, 100).data, "Step time: not known: another session", "the text")
        target.ask("burst 10")
        calls.terminate("mine")
        equal(trace_of(calls.finish(session).message).count("burst"), 20, "spans of the session")

        watching = calls.start(MONITOR, request(1500))
        target.ask("await 1")
        equal(target.ask("enabled 2"), "0", "whether a Monitor call of level 1 records level 2")
        target.send("await 2", "burst 10")
        session = calls.start(PROFILE, profile_request(300))
        target.obeyed(2)
        equal(trace_of(calls.finish(session).message).count("burst"), 10, "spans of the session")
        not_void(not calls.is_ended(watching), "the monitor ended with the session")
        equal(calls.finish(watching, "MonitorResponse").status, 0, "the monitor's end")


@test
def the_program_may_trace_itself_while_it_is_watched(t):
    target = t.target().serve()
    with Calls(target) as calls:
        watching = calls.start(MONITOR, request(60000))
        target.ask("await 1")
        equal(target.ask(f"trace_start {t.dir}/logs"), "0", "ptap_trace_start")
        equal(target.ask("burst 1", "trace_stop"), "0", "ptap_trace_stop")
        calls.cancel(watching)
        calls.settle()
        equal(trace_of(calls.expect(PROFILE, profile_request(10))).count("burst"), 0, "spans")


@test
def no_duration_is_refused_and_the_programs_end_ends_it(t):
    target = t.target().serve()
    with Calls(target) as calls:
        answer = calls.call(MONITOR, request(0), "MonitorResponse")
        equal((answer.status, answer.text), (INVALID_ARGUMENT, "duration_ms must be greater than zero."),
              "the answer")
        stream = calls.start(MONITOR, request(2**63))
        target.ask("await 1")
        target.kill()
        equal(calls.finish(stream, "MonitorResponse").status, UNAVAILABLE, "status")


run()
