#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A CUDA program recorded from outside, from its launches to the file, on fakes of NVIDIA's libraries: with the collector as it is
installed, and nothing said to it."""
import os
import subprocess

from devices import count_events, device_planes, gpu_warnings
from fixture import equal, run, test
from processes import TOP_BUILD

CUDA = TOP_BUILD / "tests" / "cuda"
# Time for a machine that is busy; the program makes some hundred steps in it.
RECORDED_MS = 500


class Program:
    def __init__(self, t, **env):
        driver = t.dir / "libcuda.so.1"
        driver.write_bytes((CUDA / "fake_libcuda.so").read_bytes())
        self.process = subprocess.Popen(
            [CUDA / "program", driver, CUDA / "fake_libcupti.so"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, "PROFTAP_CUPTI": str(CUDA / "fake_libcupti.so"), **env})
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        equal(self.process.wait(60), 0, "the program's status")
        self.process.stdout.close()


@test
def kernels_and_copies_arrive_with_their_launches(t):
    with Program(t) as program:
        capture = t.capture(program, RECORDED_MS)
    equal(gpu_warnings(capture), [], "warnings of devices")
    planes = device_planes(capture.trace)
    equal([plane.name for plane in planes][:1], ["/device:GPU:0"], "planes")
    names = {plane.event_metadata[event.metadata_id].name for plane in planes for line in plane.lines
             for event in line.events}
    kernels = [name for name in names if name.startswith(("matmul", "_Z6matmul"))]
    equal(len(kernels), 1, "kernels by name")
    n_kernels = count_events(capture.trace, kernels[0])
    launches = capture.trace.thread("program").count()["cuLaunchKernel"]
    equal(n_kernels > 10, True, "kernels")
    # Devices are recorded some milliseconds longer than threads, so that those of the first and the last moment may be alone.
    equal(abs(n_kernels - launches) <= launches / 10, True, f"{n_kernels} kernels of {launches} launches")


@test
def a_cupti_that_is_not_there_is_said_and_spans_arrive(t):
    with Program(t, PROFTAP_CUPTI="/no/such/libcupti.so") as program:
        capture = t.capture(program, RECORDED_MS)
    said = gpu_warnings(capture)
    equal(len(said), 1, f"warnings of devices: {said}")
    equal("PROFTAP_CUPTI=/no/such/libcupti.so: there is no such file" in said[0], True, said[0])
    equal(capture.trace.thread("program").count()["layer"] > 10, True, "spans")


run()
