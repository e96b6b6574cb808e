# SPDX-License-Identifier: Apache-2.0
"""The machine and its clock, for the head of the figures."""
import os
import platform

from common import BUSY, kilobytes, read_fields, read_text, run_lines

CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def find_model():
    names = [line.split(":")[1].strip() for line in read_text("/proc/cpuinfo").splitlines()
             if line.startswith("model name")]
    return names[0] if names else platform.machine()


def describe_machine():
    rdtsc_ns, monotonic_ns = map(float, run_lines("bench_clock")[0].split())
    return {"cpu": find_model(), "cores": os.cpu_count(),
            "memory_mib": kilobytes(read_fields("/proc/meminfo"), "MemTotal") >> 10,
            "kernel": platform.release(), "load": round(os.getloadavg()[0], 2),
            "clocksource": read_text(CLOCK_SOURCE) if os.path.exists(CLOCK_SOURCE) else "unknown",
            "rdtsc_ns": rdtsc_ns, "clock_monotonic_ns": monotonic_ns}


def show_machine(out, machine):
    out.line("machine: {cpu}, {cores} cores, {memory_mib} MiB, Linux {kernel}, load {load}".format(**machine))
    out.line("clock: {clocksource}; one rdtsc {rdtsc_ns} ns, one CLOCK_MONOTONIC {clock_monotonic_ns} ns"
             .format(**machine))
    if BUSY:
        out.line("busy: at least half of the cores are in use; the times below are longer than on an idle machine")
