# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of an annotation."""
import os
import signal
import statistics
import subprocess
import time

from common import BUSY, PROFTAP, Failure, Target, count_in_file, read_fields, report

N_COST_RUNS = 3
RING_BYTES = 1 << 20  # as in bench_cost.c

COSTS = (
    # (kind of bench_cost, figure, number of bare clock reads that are subtracted, aim). The cost of a clock read
    # differs between machines, so the aims are for the time above it.
    ("off", "span, off", 0, "<= 0.3 ns"),
    ("span", "span, recording", 2, "<= 7.5 ns"),
    ("first", "span, first lap through the ring", 2, "<= 9 ns"),
    ("args", "span with two int args, recording", 2, "<= 18 ns"),
    ("instant", "instant, recording", 1, "<= 4.5 ns"),
    ("counter", "counter, recording", 1, "<= 4.5 ns"),
    ("full", "span, ring full", 2, ""),
)


def record_costs(n_threads, directory):
    """Returns the rows of bench_cost by kind, and its trace."""
    with Target("bench_cost", str(n_threads)) as target:
        port, = target.read("port")
        capture = subprocess.Popen(
            [PROFTAP, "capture", port, "60000", "--log_dir", directory],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        target.read("recorded")
        fill_ring(target)
        rows = {}
        while (line := target.read()) != ["done"]:
            rows[line[1]] = [float(word) for word in line[2:]]
        capture.send_signal(signal.SIGINT)
        files = capture.communicate()[0].split()
        target.end()
    if capture.returncode != 0:
        raise Failure(f"proftap capture ended with {capture.returncode}")
    return rows, report(files)


def fill_ring(target):
    """Stops the server after it has fetched all data, and lets the target fill its rings."""
    server = target.find_server()
    time.sleep(0.5)
    os.kill(server, signal.SIGSTOP)
    while read_fields(f"/proc/{server}/status")["State"][0] != "T":
        time.sleep(0.001)
    target.write_line()
    try:
        target.read("full")
    finally:
        os.kill(server, signal.SIGCONT)


def check_counts(rows, trace):
    counts = count_in_file(trace)
    dropped = trace["totals"]["dropped"]
    for kind, row in rows.items():
        emitted = int(row[-1])
        found = counts.get(kind, 0) + (dropped if kind == "full" else 0)
        if emitted != found:
            raise Failure(f"{kind}: emitted {emitted:,}, in the file {counts.get(kind, 0):,}, "
                          f"dropped in all {dropped:,}{BUSY}")
    return counts


def merge(runs):
    """Returns the medians of several runs' rows."""
    return {kind: [statistics.median(run[kind][i] for run in runs) for i in range(3)]
            for kind in runs[0]}


def show_cost(out, name, row, n_reads, aim):
    emit, read, none = row
    if n_reads == 0:
        out.figure(name, f"{emit - none:.2f}", "ns", aim,
                   f"{emit:.2f} ns with its loop, the loop alone {none:.2f} ns")
        return
    reads = "two rdtsc" if n_reads == 2 else "one rdtsc"
    out.figure(f"{name}, above {reads}", f"{emit - read:.2f}", "ns", aim,
               f"{emit - none:.2f} ns in all, {reads} {read - none:.2f} ns")


def show_costs(out, n_threads, rows):
    threads = "1 thread" if n_threads == 1 else f"{n_threads} threads"
    for kind, name, n_reads, aim in COSTS:
        show_cost(out, f"{name}, {threads}", rows[kind], n_reads, aim)
    show_against(out, f"span, ring full, {threads}, against recording", rows["full"], rows["span"], "recording")


def show_against(out, name, row, other, of_what):
    """Shows a figure that must not exceed another one; 5 % are noise."""
    cost, other_cost = row[0] - row[2], other[0] - other[2]
    out.figure(name, f"{cost:.2f}", "ns", f"<= 1.05 x {of_what}", "",
               (f"{cost / other_cost:.2f}", of_what))


def bench_costs(out, directory):
    out.method("annotation: batches of 2,000 (off: 100,000, first lap: 1,000, full: 10,000), each followed by as many "
               "clock reads and an empty loop, which is subtracted from both; pauses let the "
               f"server keep up; medians of 61 rounds of each thread, then of {N_COST_RUNS} runs")
    out.method("ring full: proftapd stopped by SIGSTOP; counted: emitted = in the file (+ dropped "
               "when full), of each kind, else this run fails")
    n_emitted = n_dropped = 0
    fitted = []
    merged = {}
    for n_threads in (1, 2):
        runs = []
        for _ in range(N_COST_RUNS):
            rows, trace = record_costs(n_threads, directory)
            fitted.append(check_counts(rows, trace)["full"] / n_threads)
            n_emitted += sum(int(row[-1]) for row in rows.values())
            n_dropped += trace["totals"]["dropped"]
            runs.append(rows)
        merged[n_threads] = merge(runs)
        show_costs(out, n_threads, merged[n_threads])
    show_against(out, "span, recording, 2 threads against 1", merged[2]["span"], merged[1]["span"], "one thread")
    out.line(f"counted: {n_emitted:,} emitted, {n_emitted - n_dropped:,} in the files, "
             f"{n_dropped:,} dropped by full rings")
    out.method("bytes in memory: the ring's size over the spans that fitted in while nobody emptied it")
    out.figure("bytes a span, in memory", f"{RING_BYTES / statistics.median(fitted):.1f}", "bytes", "<= 16",
               "JAX ~210")
