#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests NVML's readings of a program's GPUs during a recording, on a machine with a fake NVML."""
import time

from calls import PROFILER, Calls, profile_request, trace_of
from checks import wait_until
from devices import Device, device_planes, gpu_warnings, library
from doctors import expect, findings
from fixture import check, contains, equal, run, schema, test
from nvidia import Machine

ALL = {"gpu_busy_pct", "memory_busy_pct", "memory_used_mib", "gpu_temp_c", "sm_clock_mhz", "memory_clock_mhz"}
# Counters that only the first device has.
MEANS = {"sm_active_pct", "sm_occupancy_pct", "tensor_active_pct", "dram_active_pct", "pcie_tx_mib_s", "pcie_rx_mib_s"}
NVML = "NVML's counters are missing"


def counters(plane):
    """Returns the counters of a plane as {name: [(ps, value)]}."""
    found = {}
    for line in plane.lines:
        equal(line.name, "_counters_", "a line of counters")
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name
            found.setdefault(name, []).append((event.offset_ps, event.stats[0].double_value))
    return found


def nvml_warnings(capture):
    return [w for w in gpu_warnings(capture) if NVML in w]


def start_user(t, machine, **env):
    """Starts a program that has loaded CUDA's driver."""
    target = machine.target(t, **env).serve()
    target.ask(f"load {library(t)}")
    return target


@test
def a_programs_gpus_have_counters(t):
    target = start_user(t, Machine(t))
    capture = t.emit(target, 500, options=("-o", "ptap_gpu_usage_interval_ms=20"))
    equal(nvml_warnings(capture), [], "warnings")
    first, second = map(counters, device_planes(capture.trace))
    equal(set(first), ALL | MEANS | {"power_mw"}, "counters of the first device")
    equal(set(second), ALL, "counters of the second one")
    equal({value for _, value in first["power_mw"]}, {350500}, "mW")
    equal({value for _, value in second["gpu_busy_pct"]}, {71}, "%")
    equal({value for _, value in first["sm_active_pct"]}, {2.5}, "%")
    check(len(first["gpu_busy_pct"]) >= 10, f"samples: {len(first['gpu_busy_pct'])}")
    check(2 <= len(first["sm_active_pct"]) <= 8, f"means: {len(first['sm_active_pct'])}")


@test
def devices_are_known_by_their_uuids(t):
    """The program has one device only, which is the second one of NVML."""
    device = Device(t, info=1, uuids=2)
    target = start_user(t, Machine(t), **device.env)
    capture = t.emit(target, 300, options=("-o", "ptap_gpu_usage_interval_ms=20"))
    equal(nvml_warnings(capture), [], "warnings")
    plane, = device_planes(capture.trace)
    equal(plane.name, "/device:GPU:0", "the plane")
    equal({value for _, value in counters(plane)["gpu_busy_pct"]}, {71}, "% for NVML's second device")


@test
def program_without_gpu_has_no_gpu_usage(t):
    machine = Machine(t)
    target = machine.target(t).serve()
    capture = t.emit(target, 300, options=("-o", "ptap_gpu_usage_interval_ms=10"))
    equal(device_planes(capture.trace), [], "planes of devices")
    equal(gpu_warnings(capture), [], "warnings")
    target.ask(f"load {library(t)}")
    for options in (("--device_tracer_level", "0"), ("-o", "ptap_gpu_usage_interval_ms=0")):
        equal(device_planes(t.emit(target, 200, options=options).trace), [], f"planes with {options}")


@test
def a_library_that_hangs_costs_its_counters_and_nothing_else(t):
    hang = t.dir / "hang"
    hang.touch()
    target = start_user(t, Machine(t), FAKE_NVML_INIT_HANGS=str(hang))
    for _ in range(3):
        capture = t.emit(target, 200, "burst 2")
        equal(device_planes(capture.trace), [], "planes of devices")
        check(any("NVML had not answered" in w for w in nvml_warnings(capture)), f"warnings: {capture.warnings}")
        equal(capture.trace.thread("target").count()["burst"], 2, "spans")
    hang.unlink()
    wait_until(lambda: len(device_planes(t.emit(target, 200).trace)) == 2, "NVML to answer")


@test
def a_library_that_is_missing_is_reported(t):
    target = start_user(t, Machine(t, has_library=False))
    capture = t.emit(target, 200)
    check(any("libnvidia-ml.so.1 was not found" in w for w in nvml_warnings(capture)), f"warnings: {capture.warnings}")
    equal(device_planes(capture.trace), [], "planes of devices")


@test
def each_part_of_a_session_has_gpu_usage(t):
    target = start_user(t, Machine(t))
    request = profile_request(2000)
    request.opts.device_tracer_level = 1
    request.opts.advanced_configuration["ptap_gpu_usage_interval_ms"].int64_value = 10
    with Calls(target) as calls:
        def snapshot():
            asked = schema("profiler_service").GetSnapshotRequest()
            return device_planes(trace_of(calls.expect(PROFILER + "GetSnapshot", asked)))

        calls.expect(PROFILER + "StartContinuousProfiling", request, "ContinuousProfilingResponse")
        wait_until(lambda: len(snapshot()) == 2, "NVML to answer")
        for _ in range(2):
            time.sleep(0.1)  # so that there are new samples
            for plane in snapshot():
                samples = counters(plane)["gpu_busy_pct"]
                check(len(samples) >= 2, f"samples of {plane.name}: {samples}")
                equal(samples[0][0], 0, "the time of the first sample, the last one of the part before")


@test
def the_server_keeps_the_result_of_the_last_recording(t):
    target = start_user(t, Machine(t), FAKE_NVML_INIT="9")
    t.emit(target, 200)
    found = findings(t, str(target.port))
    expect(found, "target_gpu_said", "no", "man 7 proftap-errors")
    contains(found["target_gpu_said"]["text"], "NVML does not start: Driver Not Loaded", "the text of target_gpu_said")


run()
