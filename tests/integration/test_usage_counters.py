#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program uses, as counters: of programs that have no annotation."""
import os
import re
import shutil
import signal
import sys

from checks import Late, not_void
from fixture import (NOBODY, SANITIZERS, Skip, check, contains, equal, free_port, need_root, run,
                     test)
from processes import LIBRARY, PROFTAPD, Process

PROCESS = {"process cpu %", "process cpu wait %", "process context switches/s", "process threads",
           "process rss MiB", "process minor faults/s", "process major faults/s"}
IO = {"process read bytes/s", "process write bytes/s", "process disk read bytes/s",
      "process disk write bytes/s"}
MIB = 1 << 20

# Obeys lines of Python; answers each with what it printed, or "done".
HOST = """
import ctypes, os, sys, threading, time
library = ctypes.CDLL(sys.argv[1])
libc = ctypes.CDLL(None)
def serve():
    assert library.ptap_server_start(int(sys.argv[2])) == 0
def spin(name, seconds):
    libc.prctl(15, name)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def await_recording():
    word = ctypes.c_uint32.in_dll(library, "ptap_impl_level_page")
    while not word.value:
        time.sleep(0.001)
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class Host(Process):
    """A program that never heard of annotations, but has a server."""

    def __init__(self, env=None):
        if SANITIZERS != "no":
            raise Skip("Python does not load a library with sanitizers")
        self.port = free_port()
        super().__init__("host", [sys.executable, "-c", HOST, LIBRARY, self.port], env,
                         stdin=-1)
        equal(self.read_line(), "ready", "the host's first line")

    def send(self, line):
        self.popen.stdin.write(f"{line}\n")
        self.popen.stdin.flush()

    def ask(self, line):
        self.send(line)
        return self.read_line()


def start_host(t):
    host = t.keep(Host({"PROFTAPD": str(PROFTAPD)}))
    equal(host.ask("serve()"), "done", "the host")
    return host


def values(line):
    return [e.stats["value"].value for e in line.events]


def total(line):
    """What a rate per second amounts to over the capture."""
    times = [e.start_ps / 1e12 for e in line.events]
    return sum(v * (b - a) for v, a, b in zip(values(line), times, times[1:]))


def check_times(trace):
    env = trace.environment
    length_ps = (env["profile_stop_time"].value - env["profile_start_time"].value) * 1000
    for name, line in trace.usage.items():
        times = [e.start_ps for e in line.events]
        equal(times, sorted(times), f"order of {name}")
        check(times[0] >= 0 and times[-1] <= length_ps, f"{name}: {times} beyond {length_ps}")
        equal({e.stats["value"].kind for e in line.events}, {"double_value"}, f"kinds of {name}")


@test
def a_program_without_annotations_is_not_empty(t):
    host = start_host(t)
    capture = t.capture(host, 500)
    capture.find_warning("no annotation was recorded", "level 2 or lower")
    trace = capture.trace
    check(PROCESS | IO <= set(trace.usage), f"counters: {sorted(trace.usage)}")
    contains(capture.stderr, f"spans 0 on 0 threads · counters {len(trace.usage)} · steps 0",
             "the summary")
    check_times(trace)
    for name in PROCESS | IO:
        n = len(trace.usage[name].events)
        check(3 <= n <= trace.duration_ms / 100 + 2, f"{name}: {n} samples in {trace.duration_ms} ms")
    equal(values(trace.usage["process threads"])[-1], 2, "threads: Python's and the control thread")


@test
def the_processor_goes_to_the_threads_that_used_it(t):
    host = start_host(t)
    name = "a) R (b 9"
    host.send(f"w = threading.Thread(target=spin, args=({name.encode()!r}, 3)); w.start()")
    equal(host.read_line(), "done", "the host")
    trace = t.capture(host, 600).trace
    check_times(trace)
    threads = {n: total(line) for n, line in trace.usage.items() if n.startswith("thread cpu %")}
    busiest = max(threads, key=threads.get)
    check(re.fullmatch(re.escape(f"thread cpu % {name} (") + r"\d+\)", busiest), f"{threads}")
    process = total(trace.usage["process cpu %"])
    check(process > 5, f"{process} % times seconds of a thread that spins")
    # The kernel brings the times of a running thread up to date every few milliseconds.
    check(abs(threads[busiest] - process) < 0.25 * process + 3, f"{threads}, process {process}")


@test
def memory_and_io_are_what_the_program_did(t):
    host = start_host(t)
    capture = t.start_capture(host, 1000)
    host.send(f"await_recording(); kept = b'x' * {64 * MIB}; "
              f"f = open({str(t.dir / 'file')!r}, 'wb', 0); f.write(kept[:{20 * MIB}])")
    equal(host.read_line(), "done", "the host")
    not_void(capture.popen.poll() is None, "the host was not done before the capture ended")
    trace = capture.finish().trace
    rss = values(trace.usage["process rss MiB"])
    check(60 <= rss[-1] - rss[0] <= 70, f"rss grew by 64 MiB: {rss}")
    written = total(trace.usage["process write bytes/s"])
    check(20 * MIB <= written < 21 * MIB, f"written: {written} bytes")
    # Fewer than pages where memory comes in huge ones.
    check(total(trace.usage["process minor faults/s"]) > 16, "faults")


@test
def the_shortest_capture_has_two_samples(t):
    trace = t.capture(start_host(t), 1).trace
    for name in PROCESS | IO:
        equal(len(trace.usage[name].events), 2, f"samples of {name}")
    check_times(trace)


def check_samples(trace, interval_ms, n_least):
    n = len(trace.usage["process rss MiB"].events)
    check(n_least <= n <= trace.duration_ms / interval_ms + 2,
          f"samples in {trace.duration_ms} ms, one in {interval_ms} ms: {n}")


@test
def the_interval_is_an_option_and_0_is_off(t):
    host = start_host(t)
    capture = t.capture(host, 600, "-o", "ptap_usage_interval_ms=20")
    check_samples(capture.trace, 20, 12)
    capture = t.capture(host, 600, "--ptap_usage_interval_ms", "300")
    check_samples(capture.trace, 300, 2)
    off = t.capture(host, 50, "-o", "ptap_usage_interval_ms=0", code=3)
    contains(off.stderr, "the recording worked and was empty", "standard error")
    equal(off.left(), [], "what is left")
    bad = t.capture(host, 50, "-o", "ptap_usage_interval_ms=60001", code=2)
    contains(bad.stderr, "must be 0 to 60000 ms", "standard error")


@test
def level_0_still_has_the_usage(t):
    target = t.target().serve()
    capture = t.start_capture(target, 300, "-o", "host_tracer_level=0")
    target.ask("burst 10")
    trace = capture.finish().trace
    equal(trace.threads, [], "threads with spans")
    check(PROCESS <= set(trace.usage), f"counters: {sorted(trace.usage)}")


@test
def a_program_that_dies_leaves_what_was_sampled(t):
    host = start_host(t)
    capture = t.start_capture(host, 15000)
    # Samples come every 100 ms.
    equal(host.ask("await_recording(); time.sleep(0.35)"), "done", "the host")
    host.signal(signal.SIGKILL)
    capture.finish()
    check(capture.elapsed_s < 10, f"the capture took {capture.elapsed_s} s")
    capture.find_warning(f"(pid {host.pid}) ended")
    trace = capture.trace
    check_times(trace)
    check(len(trace.usage["process rss MiB"].events) >= 3, f"{trace.usage['process rss MiB']}")
    check(min(values(trace.usage["process rss MiB"])) > 1, "a zombie's memory was sampled")


@test
def a_program_that_execs_leaves_what_was_sampled(t):
    host = start_host(t)
    capture = t.start_capture(host, 15000)
    host.send("await_recording(); time.sleep(0.35); os.execv('/bin/sleep', ['sleep', '20'])")
    trace = capture.finish().trace
    check(capture.elapsed_s < 10, f"the capture took {capture.elapsed_s} s")
    check(min(values(trace.usage["process rss MiB"])) > 3, "the memory of sleep was sampled")


@test
def what_may_not_be_read_is_left_out(t):
    """The I/O of a process that cannot be dumped is not for everyone."""
    need_root()
    proftapd = t.dir / "proftapd"
    shutil.copy(PROFTAPD, proftapd)
    proftapd.chmod(0o755)
    host = t.keep(Host({"PROFTAPD": str(proftapd)}))
    equal(host.ask(f"os.setgid({NOBODY}); os.setuid({NOBODY}); libc.prctl(4, 0); serve()"), "done",
          "the host")
    trace = t.capture(host, 200).trace
    equal(set(trace.usage) & IO, set(), "counters of I/O")
    check(PROCESS <= set(trace.usage), f"counters: {sorted(trace.usage)}")


@test
def a_thousand_threads_are_sampled_within_bounds(t):
    host = start_host(t)
    host.send("threading.stack_size(65536); e = threading.Event(); "
              "[threading.Thread(target=e.wait, daemon=True).start() for _ in range(1000)]")
    equal(host.read_line(), "done", "the host")
    trace = t.capture(host, 3000).trace
    check(max(values(trace.usage["process threads"])) > 1000, "threads")
    n_shown = sum(name.startswith("thread") for name in trace.usage)
    check(n_shown <= 32, f"{n_shown} threads have a counter")
    n_samples = len(trace.usage["process cpu %"].events)
    os.kill(host.pid, signal.SIGKILL)
    if n_samples < 3:
        raise Late(f"{n_samples} samples in three seconds")


run()
