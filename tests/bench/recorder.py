# SPDX-License-Identifier: Apache-2.0
"""Measures the flight recorder: a span while it runs, and the time of a snapshot."""
import json
import statistics
import subprocess
import time

from common import PROFTAP, Failure, Target, count_in_file, report
from costs import show_cost

RING_MIB = 32
N_SNAPSHOTS = 7


def take_snapshot(port, directory):
    """Returns (ms of the whole command, ms from the snapshot's time to the end of the answer, the file)."""
    start = time.monotonic()
    done = subprocess.run([PROFTAP, "snapshot", port, "--json", "--log_dir", directory],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    elapsed_ms = (time.monotonic() - start) * 1000
    if done.returncode != 0:
        raise Failure(f"proftap snapshot ended with {done.returncode}")
    said = json.loads(done.stdout)
    return elapsed_ms, said["transfer_ms"], said["file"]


def bench_recorder(out, directory):
    out.method("recorder: a program whose ring overwrites its oldest records; medians of batches of 2,000 after the first lap. "
               f"snapshot: of one ring of {RING_MIB} MiB, full of spans; transfer: from the instant that it shows to the "
               f"end of the answer; medians of {N_SNAPSHOTS}")
    with Target("bench_recorder", str(RING_MIB)) as target:
        show_cost(out, "span, flight recorder", [float(word) for word in target.read("cost")], 2, "<= 7.5 ns")
        port, n_spans = target.read("filled")
        runs = [take_snapshot(port, directory) for _ in range(N_SNAPSHOTS)]
        n_kept = count_in_file(report([runs[-1][2]]))["span"]
        target.end()
    whole_ms, transfer_ms = (statistics.median(run[i] for run in runs) for i in range(2))
    out.figure(f"snapshot of {RING_MIB} MiB, into the file", f"{transfer_ms:.0f}", "ms", "<= 50 ms",
               f"LTTng 68 ms for 29 MB; the whole command {whole_ms:.0f} ms; {n_kept:,} of {int(n_spans):,} spans kept")
