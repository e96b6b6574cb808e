# SPDX-License-Identifier: Apache-2.0
"""Measures the time from the end of the recording to the answer."""
import os
import statistics
import subprocess
import time

from common import BUSY, N_BURST, PROFTAP, Failure, Target, count_in_file, report, run_lines


def show_round_trip(out, name, line, aim, rival):
    middle, least, most = map(float, line.split()[:3])
    out.figure(name, f"{middle:.2f}", "ms", aim, f"{rival} (min {least:.2f}, max {most:.2f})")


def time_capture(port, duration_ms, directory, n):
    """Returns the median wall time of `proftap capture` minus the duration, in ms, and the last file."""
    extra = []
    for _ in range(n):
        start = time.monotonic()
        done = subprocess.run([PROFTAP, "capture", port, str(duration_ms), "--log_dir", directory],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        extra.append((time.monotonic() - start) * 1000 - duration_ms)
        if done.returncode not in (0, 3):  # 3: nothing was recorded, as meant
            raise Failure(f"proftap capture {duration_ms} ended with {done.returncode}")
    return statistics.median(extra), done.stdout.strip()


def show_capture(out, name, port, duration_ms, directory, n):
    extra, file = time_capture(port, duration_ms, directory, n)
    out.figure(name, f"{extra:.1f}", "ms")
    return file


def bench_idle_round_trips(out, directory):
    with Target("emit", "idle") as target:
        target.read("running")
        target.write_line()
        port, = target.read()
        for duration_ms, n, aim, rival in ((1, 21, "<= 0.7 ms", "JAX 0.7 ms"),
                                           (500, 5, "<= 1.5 ms", "JAX 2.3-2.8 ms")):
            line, = run_lines("bench_round_trip", port, duration_ms, n)
            show_round_trip(out, f"round trip - {duration_ms} ms, idle", line, aim, rival)
            show_capture(out, f"proftap capture - {duration_ms} ms, idle", port, duration_ms,
                         directory, min(n, 5))
        target.end()


def bench_burst_round_trips(out, directory):
    n_calls, n_captures = 5, 3
    with Target("emit", "burst", str(N_BURST)) as target:
        port, = target.read()
        line, = run_lines("bench_round_trip", port, 500, n_calls)
        n_spans, n_dropped = map(int, line.split()[4:6])
        show_round_trip(out, f"round trip - 500 ms, {N_BURST:,} spans", line, "<= 60 ms",
                        "JAX 421-491 ms")
        file = show_capture(out, f"proftap capture - 500 ms, {N_BURST:,} spans", port, 500,
                            directory, n_captures)
        said = [line.split() for line in target.end()]
    n_in_file = count_in_file(report([file])).get("span", 0)
    if all(words[2] == "whole" for words in said):
        check_burst([int(words[1]) for words in said], n_calls, n_spans, n_dropped, n_in_file)
        out.line(f"counted: {n_calls} x {N_BURST:,} emitted, {n_spans:,} in the answers, "
                 f"{n_dropped} dropped")
    else:
        out.line(f"not counted: the machine is too busy for {N_BURST:,} spans in 500 ms")
    out.figure("bytes a span, in the file", f"{os.path.getsize(file) / n_in_file:.1f}", "bytes", "<= 18",
               "JAX 15")


def check_burst(emitted, n_calls, n_spans, n_dropped, n_in_file):
    if sum(emitted[:n_calls]) != n_spans or n_dropped or emitted[-1] != n_in_file:
        raise Failure(f"emitted {emitted}; in {n_calls} answers {n_spans:,} and {n_dropped:,} "
                      f"dropped; in the last file {n_in_file:,}{BUSY}")


def bench_round_trips(out, directory):
    out.method("round trip: Profile through gRPC on one connection, minus the duration asked for; "
               "medians of 21, 5 and 5 calls; the answer is counted after the clock was read")
    out.method("proftap capture: wall clock of the whole command, its own start, the file and the "
               "summary included, minus the duration; medians of 5, 5 and 3")
    bench_idle_round_trips(out, directory)
    bench_burst_round_trips(out, directory)
