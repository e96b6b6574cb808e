# SPDX-License-Identifier: Apache-2.0
"""What devices cost, with a collector of a device that there is not (tests/integration/fake_collector.c)."""
import os
import re
import statistics
import subprocess
import tempfile

from common import BUILD, PROFTAP, Failure, Target, run_lines
from skew import serve

N_KERNELS = 1000000
N_RUNS = 3
COLLECTOR = os.path.join(BUILD, "tests", "integration", "fake_collector.so")


def bench_costs_of_devices(out):
    out.method("A call into a device's library is a span with its correlation; beside it, in turns, one with two "
               "arguments. A record is a kernel's, 96 bytes, handed on by one thread and taken out by another one, "
               "on a ring of 1 MiB; all without a server.")
    found = {}
    for name, *words in map(str.split, run_lines("bench_collect")):
        if name == "error":
            raise Failure(" ".join(words))
        found[name] = float(words[0])
    out.figure("call into a device's library, off", f"{found['off']:.2f}", "ns")
    out.figure("call into a device's library, recording", f"{found['call']:.2f}", "ns", "<= 1.1 x a span with two args",
               f"span with two args {found['args']:.2f} ns", (f"{found['call'] / found['args']:.2f}",
                                                              "a span with two args"))
    out.figure("record of a device, handed on", f"{found['record']:.1f}", "ns")
    out.figure("records of a device, handed on", f"{found['records'] / 1e6:.1f}", "M/s", ">= 10 M/s")


def find_end_ms(directory):
    """From the end of the recording to the file, as the client says it; and how many events it had no room for."""
    script = os.path.join(directory, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(f"info 1\ndrain {N_KERNELS}\n")
    os.environ.update(FAKE_COLLECTOR=script, PROFTAP_COLLECTOR=COLLECTOR)
    try:
        with Target("emit", "pulse") as target:
            words = [PROFTAP, "capture", serve(target), "200", "--log_dir", tempfile.mkdtemp(dir=directory)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
    finally:
        del os.environ["FAKE_COLLECTOR"], os.environ["PROFTAP_COLLECTOR"]
    if done.returncode or "gpu: " in done.stderr:
        raise Failure(f"proftap capture: {done.stderr}")
    words = (r" in ([\d,.]+) ms after the end", r" dropped ([\d,]+)")
    return tuple(float(re.search(word, done.stderr)[1].replace(",", "")) for word in words)


def bench_collectors(out, directory):
    bench_costs_of_devices(out)
    out.method(f"A capture of 200 ms in which {N_KERNELS:,} kernels were executed, all of which the collector hands on "
               "when it is over; the median of three.")
    ends = [find_end_ms(directory) for _ in range(N_RUNS)]
    dropped = max(n_dropped for _, n_dropped in ends)
    out.figure(f"{N_KERNELS:,} kernels, from the end to the file", f"{statistics.median(ms for ms, _ in ends):.0f}", "ms",
               "<= 1000 ms", f"{dropped:,.0f} dropped for want of memory" if dropped else "")
