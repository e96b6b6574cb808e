#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectors in a capture, from the program to the trace: when they are asked, what they do, and what
becomes of it. The device is none; see fake_collector.c."""
from devices import Device, check_gone, check_warnings
from fixture import equal, run, test

STEPS = ["probe", "open", "arm", "start", "poll", "stop", "drain", "stats", "close"]


@test
def steps_come_in_their_order_and_calls_are_spans_of_their_thread(t):
    device = Device(t, info=1, start=3, drain=4)
    target = device.target(t)
    capture = t.emit(target, 100, "launch 5 k", "burst 2")
    check_warnings(capture)
    steps = [what for what in device.log() if what in STEPS]
    equal(list(dict.fromkeys(steps)), STEPS, "steps")
    equal({what: steps.count(what) for what in STEPS if what != "poll"},
          {what: 1 for what in STEPS if what != "poll"}, "how often")
    line = capture.trace.thread("target")
    equal([line.count()[name] for name in ("work", "fakeLaunch", "burst")], [5, 5, 2], "spans")
    for work, call in zip(line.named("work"), line.named("fakeLaunch")):
        equal(work.start_ps <= call.start_ps and
              call.start_ps + call.duration_ps <= work.start_ps + work.duration_ps, True, "the call is in its span")
    check_gone(target)


@test
def level_0_asks_nobody(t):
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.emit(target, 100, "launch 5 k", "burst 2", options=("--device_tracer_level", "0"))
    check_warnings(capture)
    equal(device.log(), [], "what the collector did")
    equal(capture.trace.thread("target").count()["burst"], 2, "spans")


run()
