# SPDX-License-Identifier: Apache-2.0
"""Measures proftap report and proftap diff with a million events."""
import os
import subprocess
import tempfile
import time

from common import BENCH, BUSY, N_BURST, PROFTAP, Failure

N_RUNS = 3


def measure(words):
    """Runs proftap; returns the wall seconds, the processor seconds and the peak memory in MiB."""
    start = time.monotonic()
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen([PROFTAP, *words], stdout=null)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(f"proftap {words[0]} ended with {process.returncode}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def bench_report(out, _):
    out.method("report: proftap report, and proftap diff of two traces, 1,000,000 spans with 2 arguments on 8 threads each; best of "
               f"{N_RUNS}; the memory includes the mapped file")
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "a.xplane.pb")
        subprocess.run([os.path.join(BENCH, "bench_convert"), str(N_BURST), path], check=True)
        file_mib = os.path.getsize(path) / (1 << 20)
        for name, words, aim in (("report", ["report", path], "<= 0.5 s"),
                                 ("report, as JSON", ["report", "--json", path], "<= 0.5 s"),
                                 ("diff", ["diff", path, path], "")):
            wall, cpu, most_mib = min(measure(words) for _ in range(N_RUNS))
            out.figure(f"{name} of 1,000,000 events", f"{wall:.2f}", "s", aim, f"processor {cpu:.2f} s{BUSY}")
            out.figure(f"{name} of 1,000,000 events, memory", f"{most_mib:.0f}", "MiB", "<= 256 MiB",
                       f"file {file_mib:.0f} MiB")
