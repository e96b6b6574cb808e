# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of an NVTX call, beside a span of proftap's own."""
import os
import signal
import subprocess

from common import BUILD, BUSY, PROFTAP, Failure, Target, count_in_file, report

LIBRARY = os.path.join(BUILD, "lib", ".libs", "libproftap.so.1")
COSTS = (
    # (kind of bench_nvtx, figure, the kind that it is compared with, the name of that)
    ("idle", "NVTX push and pop, idle", "none", "two calls without a tool"),
    ("idle_async", "NVTX start and end, idle", "none", "two calls without a tool"),
    ("registered", "NVTX push and pop, registered", "span", "span"),
    ("carrying", "NVTX push and pop, color and payload", "args", "span with two args"),
    ("text", "NVTX push and pop, message copied", "span", "span"),
    ("mark", "NVTX mark, registered", "span", "span"),
    ("async", "NVTX start and end, registered", "span", "span"),
)


def record(directory):
    """Returns the rows of bench_nvtx by kind, and its trace."""
    os.environ["NVTX_INJECTION64_PATH"] = LIBRARY
    try:
        with Target("bench_nvtx") as target:
            port, = target.read("port")
            capture = subprocess.Popen(
                [PROFTAP, "capture", port, "60000", "--log_dir", directory],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            rows = {}
            while (line := target.read()) != ["done"]:
                rows[line[1]] = [float(word) for word in line[2:]]
            capture.send_signal(signal.SIGINT)
            files = capture.communicate()[0].split()
            target.end()
    finally:
        del os.environ["NVTX_INJECTION64_PATH"]
    if capture.returncode != 0:
        raise Failure(f"proftap capture ended with {capture.returncode}")
    return rows, report(files)


def check_counts(rows, trace):
    counts = count_in_file(trace)
    for kind in ("span", "args", "registered", "carrying", "text", "mark"):
        emitted, found = int(rows[kind][-1]), counts.get(kind, 0)
        if emitted != found:
            raise Failure(f"{kind}: emitted {emitted:,}, in the file {found:,}{BUSY}")


def bench_nvtx(out, directory):
    out.method("NVTX by a client with NVTX 3's tables, libproftap as its tool: as the group costs, one thread, 61 rounds; "
               "the empty loop is subtracted; counted: emitted = in the file")
    rows, trace = record(directory)
    check_counts(rows, trace)
    cost = {kind: row[0] - row[1] for kind, row in rows.items()}
    for kind, name, other, words in COSTS:
        out.figure(name, f"{cost[kind]:.2f}", "ns", "", f"{words} {cost[other]:.2f} ns",
                   (f"{cost[kind] / cost[other]:.2f}", words))
