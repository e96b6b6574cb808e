# SPDX-License-Identifier: Apache-2.0
"""Compares proftap convert with the conversions of XProf and JAX for their viewers, of the same file."""
import os
import subprocess
import time

from common import BENCH, BUSY, N_BURST, PROFTAP, Failure
from rivals import PYTHON

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "xprof_convert.py")
N_RUNS = 3
# (name of our output, its file, the rival for the same output, its command)
RIVALS = (
    ("Chrome's JSON, compressed", "out.trace.json.gz", "JAX's collect_profile", ("trace_viewer", "gzip")),
    ("Chrome's JSON", "out.json", "XProf's trace_viewer", ("trace_viewer", "plain")),
    ("Perfetto", "out.pftrace", "XProf's trace_viewer@, of what its page asks for first", ("trace_viewer@", "plain")),
)


def finish(process):
    """Returns the output, the processor seconds, and the peak of memory in MiB."""
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, process.args))}: ended with {process.returncode}")
    return said, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def convert_ours(path, output):
    """Returns (seconds of the whole command, processor seconds, bytes, MiB)."""
    start = time.monotonic()
    with subprocess.Popen([PROFTAP, "convert", "-o", output, path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        _, cpu, mib = finish(process)
    return time.monotonic() - start, cpu, os.path.getsize(output), mib


def convert_theirs(path, tool):
    with subprocess.Popen([PYTHON, SCRIPT, path, *tool], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}) as process:
        said, _, mib = finish(process)
    seconds, cpu, n_bytes = map(float, said.splitlines()[-1].split())
    return seconds, cpu, n_bytes, mib


def bench_viewers(out, directory):
    if not os.path.exists(PYTHON):
        out.skip("viewers: `make interop` installs XProf, then this runs")
        return
    out.method("viewers: proftap convert, the whole command, best of "
               f"{N_RUNS}, and XProf's own conversion of the same file without its start, one run; 1,000,000 spans with 2 "
               "arguments on 8 threads; memory: all of the process at most, the mapped file included")
    path = os.path.join(directory, "a.xplane.pb")
    subprocess.run([os.path.join(BENCH, "bench_convert"), str(N_BURST), path], check=True)
    for name, file, rival, tool in RIVALS:
        ours = min(convert_ours(path, os.path.join(directory, file)) for _ in range(N_RUNS))
        theirs = convert_theirs(path, tool)
        out.figure(f"1,000,000 events to {name}", f"{ours[0]:.2f}", "s", "",
                   f"processor {ours[1]:.2f} s, {ours[2] / 1e6:.1f} MB; {rival}: {theirs[0]:.2f} s, processor {theirs[1]:.2f} s, "
                   f"{theirs[2] / 1e6:.1f} MB; {theirs[0] / ours[0]:.1f} times ours{BUSY}")
        out.figure(f"1,000,000 events to {name}, memory", f"{ours[3]:.0f}", "MiB", "<= 256 MiB",
                   f"theirs {theirs[3]:.0f} MiB")
