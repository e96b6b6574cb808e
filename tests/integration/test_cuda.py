#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the capture of a CUDA program by the installed collector, on fakes of NVIDIA's libraries:
the whole way from the launches in the program to the trace file."""
import os
import shutil
import select
import signal
import subprocess

from checks import PATIENCE_S, contains
from devices import count_events, device_planes, gpu_warnings, library
from doctors import expect, findings
from fixture import SANITIZERS, Skip, check, equal, need_namespaces, need_no_sanitizer, run, test
from processes import TOP_BUILD

CUDA = TOP_BUILD / "tests" / "cuda"
CUPTI = CUDA / "fake_libcupti.so"
# Long enough for a busy machine: the program makes some hundred steps in this time.
RECORDED_MS = 500
LONG_MS = 60000
KERNEL = "matmul(float*, float*, int)"
# Mounts the directory $1, which holds a toolkit, on /usr/local, and runs the other arguments.
TOOLKIT = 'mount --bind "$1" /usr/local && shift && exec "$@"'


class Program:
    """A process of tests/cuda/program.c. It uses the fake device only after the collector has
    opened the file |cupti|."""

    def __init__(self, t, cupti=CUPTI, libraries=(), prefix=(), **env):
        driver = t.dir / "libcuda.so.1"
        driver.write_bytes((CUDA / "fake_libcuda.so").read_bytes())
        self.process = subprocess.Popen(
            [*prefix, CUDA / "program", driver, cupti, *libraries], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, **env})
        self.port = int(self.process.stdout.readline())
        self.status = 0

    def obey(self, letter):
        self.process.stdin.write(letter)
        self.process.stdin.flush()

    def ask(self, letter):
        self.obey(letter)
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            self.process.kill()
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        equal(self.process.wait(60), self.status, "the program's status")
        self.process.stdout.close()


def named(t, **env):
    """Starts a Program whose PROFTAP_CUPTI names the fake CUPTI."""
    return Program(t, PROFTAP_CUPTI=str(CUPTI), **env)


def copy(source, *to):
    path = to[0].joinpath(*to[1:])
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)
    return path


def count_launches(capture):
    return capture.trace.thread("program").count()["cuLaunchKernel"]


def check_recorded(t, program):
    """Checks that a capture has the program's kernels and no GPU warning; returns the capture."""
    capture = t.capture(program, RECORDED_MS)
    equal(gpu_warnings(capture), [], "warnings of devices")
    check(count_events(capture.trace, KERNEL) > 10, f"{count_events(capture.trace, KERNEL)} kernels")
    return capture


@test
def kernels_and_copies_arrive_with_their_launches(t):
    with named(t) as program:
        capture = check_recorded(t, program)
    planes = device_planes(capture.trace)
    equal([plane.name for plane in planes][:1], ["/device:GPU:0"], "planes")
    n_kernels, launches = count_events(capture.trace, KERNEL), count_launches(capture)
    # The device is recorded some milliseconds longer than the threads, so the first and last
    # kernels may have no launch in the trace.
    check(abs(n_kernels - launches) <= launches / (10 if SANITIZERS == "no" else 3), f"{n_kernels} kernels of {launches} launches")


@test
def an_absent_cupti_is_reported_and_spans_arrive(t):
    with Program(t, PROFTAP_CUPTI="/no/such/libcupti.so") as program:
        capture = t.capture(program, RECORDED_MS)
    said = gpu_warnings(capture)
    equal(len(said), 1, f"warnings of devices: {said}")
    contains(said[0], "PROFTAP_CUPTI=/no/such/libcupti.so: there is no such file", "the warning")
    check(capture.trace.thread("program").count()["layer"] > 10, "spans")


@test
def cupti_is_found_in_a_wheel_beside_the_programs_cuda(t):
    runtime = library(t, "libcudart.so.13")
    with Program(t, copy(CUPTI, t.dir, "libcupti.so.13"), [runtime]) as program:
        check_recorded(t, program)
        found = findings(t, str(program.process.pid))
    expect(found, "target_cupti", "yes")
    contains(found["target_cupti"]["text"], str(t.dir / "libcupti.so.13"), "the doctor's finding")


@test
def cupti_is_found_where_the_linker_looks(t):
    folder = t.dir / "linker"
    with Program(t, copy(CUPTI, folder, "libcupti.so.13"), LD_LIBRARY_PATH=str(folder)) as program:
        check_recorded(t, program)


@test
def cupti_is_found_in_the_toolkit(t):
    need_namespaces("--mount")
    need_no_sanitizer("bring libraries of their own")
    for folder in ("lib64", "extras/CUPTI/lib64"):
        root = t.dir / folder.replace("/", "_")
        copy(CUPTI, root, "cuda", folder, "libcupti.so.13")
        prefix = ("unshare", "--mount", "--propagation", "private", "sh", "-c", TOOLKIT, "sh", root)
        with Program(t, f"/usr/local/cuda/{folder}/libcupti.so.13", prefix=prefix) as program:
            check_recorded(t, program)


@test
def another_tool_is_named_and_spans_arrive(t):
    with named(t) as program:
        check_recorded(t, program)
        equal(program.ask("k"), "taken", "the reply to k")
        capture = t.capture(program, RECORDED_MS)
        said, = gpu_warnings(capture)
        contains(said, "Kineto records the GPU in this process already", "the warning")
        check(capture.trace.thread("program").count()["layer"] > 10, "spans")
        equal(device_planes(capture.trace), [], "planes")
        equal(program.ask("k"), "free", "the reply to k")
        check_recorded(t, program)


def machine_has_cupti():
    folders = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    return "libcupti" in folders or any(os.path.exists(path) for path in ("/usr/local/cuda", "/opt/cuda"))


@test
def missing_cupti_is_reported_with_a_remedy(t):
    if machine_has_cupti():
        raise Skip("this machine has CUPTI")
    runtime = library(t, "libcudart.so.12")
    with Program(t, libraries=[runtime]) as program:
        capture = t.capture(program, RECORDED_MS)
        found = findings(t, str(program.process.pid))
    said, = gpu_warnings(capture)
    places = (t.dir, f"{t.dir}/../../cuda_cupti/lib", f"{t.dir}/../extras/CUPTI/lib64", "the linker's folders",
              "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64", "/opt/cuda/extras/CUPTI/lib64")
    looked = ", ".join(map(str, places))
    equal(said, f"gpu: cuda: libcupti.so was not found (looked in {looked}); install cuda-cupti of the "
          "CUDA 12 toolkit, or pip install nvidia-cuda-cupti-cu12 and start the program with PROFTAP_CUPTI=/path/to/libcupti.so",
          "the warning")
    expect(found, "target_cupti", "no", "pip install nvidia-cuda-cupti-cu12")
    row = found["target_cupti"]
    contains(row["text"], f"libcupti.so: not found (in {looked})", "the doctor's output")
    contains(row["reason"], "start the program with PROFTAP_CUPTI=", "the second remedy")
    check(capture.trace.thread("program").count()["layer"] > 10, "spans")


def end_in_the_middle(t, end):
    """Ends the program with end() during a capture; returns the finished capture."""
    with named(t) as program:
        capture = t.start_capture(program, LONG_MS)
        equal(program.ask("w"), "recorded", "the reply to w")
        end(program)
        return capture.finish(0)


@test
def a_program_that_exits_loses_none_of_its_kernels(t):
    capture = end_in_the_middle(t, lambda program: program.obey("x"))
    n_kernels, launches = count_events(capture.trace, KERNEL), count_launches(capture)
    check(n_kernels >= launches > 100, f"{n_kernels} kernels of {launches} launches")


@test
def a_program_that_is_terminated_loses_its_last_second(t):
    def terminate(program):
        program.status = -signal.SIGTERM
        program.process.terminate()

    capture = end_in_the_middle(t, terminate)
    check(count_events(capture.trace, KERNEL) > 100, f"{count_events(capture.trace, KERNEL)} kernels")
    contains("\n".join(capture.warnings), "SIGTERM", "the message")


@test
def a_child_that_is_forked_in_the_middle_is_left_alone(t):
    def fork(program):
        equal(program.ask("f"), "0", "the child's status")
        program.obey("x")

    capture = end_in_the_middle(t, fork)
    n_kernels, launches = count_events(capture.trace, KERNEL), count_launches(capture)
    check(n_kernels >= launches > 100, f"{n_kernels} kernels of {launches} launches")


run()
