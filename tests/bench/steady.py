# SPDX-License-Identifier: Apache-2.0
"""Measures traces of a program that works evenly: the server's processor time and memory, and
when the file is complete."""
import glob
import os

from common import Failure, Target, read_text
from large import check_spans, show_memory
from memory_watch import LOOK_S, MemoryWatch

N_STEADY = 10_000_000
N_MICRO = 500_000
MAX_BYTES = 4 << 30
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def read_cpu_s(pid):
    """Returns the seconds of all threads: (in user mode, in the kernel)."""
    fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[11]) * TICK_S, int(fields[12]) * TICK_S


def ask_for_trace(target, directory):
    target.process.stdin.write(f"{directory} {MAX_BYTES}\n")
    target.process.stdin.flush()
    target.read("running")


def find_file(directory):
    files = glob.glob(f"{directory}/plugins/profile/*/*.xplane.pb")
    if len(files) != 1:
        raise Failure(f"emit: {len(files)} files where one should be, in {directory}")
    return files[0]


def bench_ten_million(out, directory):
    with Target("emit", "steady", str(N_STEADY)) as target:
        ask_for_trace(target, directory)
        server = target.find_server()
        watch = MemoryWatch(server)
        before = read_cpu_s(server)
        start, stop, end = map(float, target.read())
        after = read_cpu_s(server)
        watch.end()
        target.end()
        file = find_file(directory)
    dropped = check_spans("10 M spans", file, N_STEADY)
    user_ns, kernel_ns = ((b - a) * 1e9 / (N_STEADY - dropped) for a, b in zip(before, after))
    out.figure("10 M spans: recorded in", f"{(stop - start) / 1e9:.2f}", "s", "", f"dropped {dropped:,}")
    out.figure("10 M spans: the file is complete after", f"{(end - stop) / 1e6:.0f}", "ms", "<= 400 ms",
               "JAX 9,200 ms")
    out.figure("10 M spans: dropped", dropped, "", "0")
    show_memory(out, "10 M spans: proftapd", watch, "<= 128 MiB")
    out.figure("drain + encode, a span", f"{user_ns:.1f}", "ns", "<= 20 ns",
               f"and {kernel_ns:.1f} ns in the kernel, where the file is written")


def bench_micro(out, directory):
    with Target("emit", "micro", str(N_MICRO)) as target:
        ask_for_trace(target, directory)
        start, stop, _ = map(float, target.read())
        target.end()
        file = find_file(directory)
    dropped = check_spans("1 us spans", file, N_MICRO)
    out.figure("bytes in the file per span of 1 us", f"{os.path.getsize(file) / (N_MICRO - dropped):.1f}", "bytes",
               "<= 16", f"{N_MICRO:,} spans in {(stop - start) / 1e6:.0f} ms")


def bench_steady(out, directory):
    out.method(f"10 M spans: one thread emits {N_STEADY:,} evenly over 2 s, recorded by ptap_trace_start(); time from "
               "ptap_trace_stop() until the file, written but not yet on the disk, has its name; memory: anonymous "
               f"and shared, including the rings, read every {LOOK_S * 1000:.0f} ms")
    out.method("drain + encode: proftapd's CPU time in user mode from the start of the recording until the file is "
               "complete, divided by the number of spans; the kernel counts it in ticks of "
               f"{TICK_S * 1000:.0f} ms, which is {TICK_S * 1e9 / N_STEADY:.0f} ns per span")
    for name, bench in (("steady", bench_ten_million), ("micro", bench_micro)):
        os.mkdir(os.path.join(directory, name))
        bench(out, os.path.join(directory, name))
