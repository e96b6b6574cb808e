#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the counters of a program's usage, for programs without annotations."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from checks import Late
from fixture import NOBODY, SANITIZERS, Skip, check, contains, equal, free_port, need_root, run, test, timed
from processes import LIBRARY, PROFTAP, PROFTAPD, Process
from profiler import Profiler, set_options
from running import record
from trace_file import own_schema

PROCESS = {"process cpu %", "process cpu wait %", "process context switches/s", "process threads",
           "process rss MiB", "process minor faults/s", "process major faults/s"}
IO = {"process read bytes/s", "process write bytes/s", "process disk read bytes/s",
      "process disk write bytes/s"}
MIB = 1 << 20

# Obeys lines of Python. The answer to each is what it printed, or "done".
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
    """A program that does not use annotations, but has a server."""

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
    """Returns the sum over the capture of a rate per second."""
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
    capture.find_warning("no annotation was recorded", "host_tracer_level 2 records")
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
    # The kernel updates the times of a running thread every few milliseconds.
    check(abs(threads[busiest] - process) < 0.25 * process + 3, f"{threads}, process {process}")


def sample_times_ns(trace, name):
    """Returns the samples' CLOCK_MONOTONIC times."""
    begin_ns = trace.environment["ptap_monotonic_start_ns"].value
    return [begin_ns + e.start_ps // 1000 for e in trace.usage[name].events]


def record_writing(t, host, wait_s):
    """Returns the trace, and whether a sample came after the writing and before the last sample, which the
    recording's end cuts short."""
    with Profiler(host.port) as profiler:
        # The answer says that the recording has begun, with its first sample.
        profiler.send_start(set_options(own_schema().StartRequest()))
        host.send(f"kept = b'x' * {64 * MIB}; f = open({str(t.dir / 'file')!r}, 'wb', 0); "
                  f"f.write(kept[:{20 * MIB}]); print(time.monotonic_ns(), flush=True)")
        written_ns = int(host.read_line())
        equal(host.read_line(), "done", "the host")
        time.sleep(wait_s)
        trace = profiler.deliver(profiler.end_session()).trace
    equal(host.ask("del kept; f.close()"), "done", "the host")
    return trace, sample_times_ns(trace, "process write bytes/s")[-2] > written_ns


@timed
def memory_and_io_counters_match_the_programs_use(t):
    host = start_host(t)
    for wait_s in (0.3, 1, 3, 9):
        trace, is_sampled = record_writing(t, host, wait_s)
        if is_sampled:
            break
    else:
        raise Late("no sample in nine seconds")
    rss = values(trace.usage["process rss MiB"])
    check(60 <= rss[-1] - rss[0] <= 70, f"rss grew by 64 MiB: {rss}")
    written = total(trace.usage["process write bytes/s"])
    # A rate times its interval is only nearly a whole number of bytes.
    check(19.999 * MIB <= written < 21 * MIB, f"written: {written} bytes")
    # With huge pages there are fewer faults than pages.
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
    off = t.capture(host, 50, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0", code=3)
    contains(off.stderr, "the recording worked and was empty", "standard error")
    equal(off.left(), [], "remaining files")
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
def samples_before_the_programs_death_are_kept(t):
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
def samples_before_an_exec_are_kept(t):
    host = start_host(t)
    capture = t.start_capture(host, 15000)
    host.send("await_recording(); time.sleep(0.35); os.execv('/bin/sleep', ['sleep', '20'])")
    trace = capture.finish().trace
    check(capture.elapsed_s < 10, f"the capture took {capture.elapsed_s} s")
    check(min(values(trace.usage["process rss MiB"])) > 3, "the memory of sleep was sampled")


@test
def unreadable_counters_are_left_out(t):
    """The kernel hides the I/O counters of an undumpable process from its user's other processes."""
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


@timed
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



# A server with workers. The first process only waits. Each worker uses a known time; two workers end, and are
# waited for, long before the end.
FAMILY = """
import os, resource, signal, subprocess, sys, time
if sys.argv[1] == "ignored":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def fork(seconds):
    pid = os.fork()
    if pid == 0:
        burn(seconds)
        os._exit(0)
    return pid
time.sleep(0.3)
short = [fork(0.3), fork(0.3)]
for pid in short:
    if sys.argv[1] != "ignored":
        os.waitpid(pid, 0)
long = [fork(0.8), fork(0.8)]
code = "import time\\nwhile time.process_time() < 0.6: pass"
shell = subprocess.Popen(["/bin/sh", "-c", f"'{sys.executable}' -S -c '{code}'; true"])
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(u.ru_utime + u.ru_stime for u in used), time.monotonic_ns(), flush=True)
# Time for more samples.
time.sleep(0.5)
"""


def read_report(path, *options):
    return subprocess.run([PROFTAP, "report", path, *options], capture_output=True, text=True, check=True).stdout


def find_descendants(trace):
    """The descendants with a plane of their own, by name."""
    pids = [int(pid) for name in trace.planes for pid in re.findall(r"^/host:CPU .* \[(\d+)\]$", name)]
    return [trace.process(pid) for pid in pids]


@timed
def a_sum_includes_the_usage_of_descendants(t):
    for mode in ("waited", "ignored"):
        process = record(t, sys.executable, "-c", FAMILY, mode, options=("-o", "ptap_usage_interval_ms=20"))
        used_s, reaped_ns = float(process.stdout.split()[0]), int(process.stdout.split()[1])
        usage = process.trace.usage
        times_ns = sample_times_ns(process.trace, "process and children cpu %")
        if times_ns[-1] < reaped_ns:
            raise Late("no sample in the last half second")
        # The usage of a child that is never waited for is unknown after its last sample.
        blind_s = max(b - a for a, b in zip(times_ns, times_ns[1:])) / 1e9
        unknown_s = 0
        if mode == "ignored":
            used_s, unknown_s = 2 * 0.3 + 2 * 0.8 + 0.6, 5 * blind_s
        missing = {name.replace("process ", "process and children ") for name in PROCESS | IO
                   if "wait" not in name and "switches" not in name} - usage.keys()
        equal(missing, set(), "counters that are missing")
        sum_s = total(usage["process and children cpu %"]) / 100
        own_s = total(usage["process cpu %"]) / 100
        check(0.9 * used_s - unknown_s < sum_s < 1.1 * used_s, f"{mode}: {sum_s} s of {used_s} s, blind for {blind_s} s")
        check(own_s < 0.2 * used_s, f"{mode}: the first process alone used {own_s} s of {used_s} s")
        check(max(values(usage["process and children threads"])) >= 4, f"{mode}: threads")
        check(max(values(usage["process and children rss MiB"])) > 1.5 * max(values(usage["process rss MiB"])),
              f"{mode}: memory")
        # Each child has a plane: the two long ones, which are forks, and the shell's program.
        children = find_descendants(process.trace)
        each = sorted(total(child.usage["process cpu %"]) / 100 for child in children)[-3:]
        check(all(known - 0.05 - blind_s < s < known + 0.15 for s, known in zip(each, (0.6, 0.8, 0.8))),
              f"{mode}: the children used {each} s, blind for {blind_s} s")
        for child in children:
            equal(set(child.usage), {"process cpu %", "process rss MiB"}, "counters of a child")
            check(max(values(child.usage["process rss MiB"]), default=1) > 0.3, "a child's memory")
            equal(child.host_stats["ptap_descendant_of"].value, process.trace.host_stats["process_id"].value, "its ancestor")
        check("sh" in {child.host_stats["ptap_process_name"].value for child in children}, "the shell's name")
        result = json.loads(read_report(process.path, "--json"))
        equal(len(result["processes"]), 1 + len(children), "processes")
        equal([p["descendant_of"] for p in result["processes"]].count(None), 1, "processes that were recorded")
        contains(read_report(process.path), f"descendants {len(children)} (not recorded; only their usage counters are here)", "the report")
        process.path.unlink()


# Writes exactly 20,000,000 bytes, unevenly, and has a child, so that there is a sum.
WRITER = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "2.3"])
with open(sys.argv[1], "wb", 0) as out:
    for n, seconds in ((1, 0.3), (9, 0.05), (2, 0.6), (8, 0.9)):
        out.write(b"x" * n * 1_000_000)
        time.sleep(seconds)
child.wait()
"""


@test
def mean_rate_times_time_equals_the_bytes_written(t):
    process = record(t, sys.executable, "-S", "-c", WRITER, t.dir / "written")
    report = json.loads(subprocess.run([PROFTAP, "report", "--json", process.path], check=True,
                                       capture_output=True).stdout)
    counters = {c["name"]: c for plane in report["planes"] for c in plane["counters"]}
    for name in "process write bytes/s", "process and children write bytes/s":
        line = process.trace.usage[name]
        times = [e.start_ps for e in line.events]
        mean = counters[name]["mean"]
        written = mean * (process.trace.duration_ms * 1e9 - times[0]) / 1e12
        check(abs(written - 20_000_000) < 20_000, f"{name}: mean {mean}, so {written} bytes")
        lengths = [b - a for a, b in zip(times[:-1], times[1:])]
        check(min(lengths) >= 40e9, f"{name}: a rate over {min(lengths) / 1e9} ms")


@test
def busiest_of_many_descendants_have_a_plane_and_the_rest_is_counted(t):
    """512 are counted, and the 32 that used most have a plane of their own."""
    host = start_host(t)
    n = 530
    answer = host.ask("import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                      f"crowd = [os.posix_spawn('/bin/sleep', ['sleep', '600'], {{}}) for _ in range({n})]")
    equal(answer, "done", "the host")
    capture = t.capture(host, 300)
    equal(host.ask("[os.kill(pid, 9) for pid in crowd]"), "done", "the host")
    # proftapd is a descendant of the host, too, unless it was adopted.
    said = [re.fullmatch(r"usage of the process and its children is without (\d+) of them: 512 are counted", w)
            for w in capture.warnings]
    left_out = [int(found[1]) for found in said if found]
    equal(len(left_out), 1, f"warnings of left-out processes: {capture.warnings}")
    check(n - 512 <= left_out[0] <= n - 512 + 1, f"left out: {left_out[0]} of {n}")
    equal(len(find_descendants(capture.trace)), 32, "planes of descendants")


@test
def a_program_without_children_has_no_sum(t):
    process = record(t, sys.executable, "-c", "import time; time.sleep(1)")
    equal([name for name in process.trace.usage if "children" in name], [], "sums")


run()
