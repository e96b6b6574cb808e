# SPDX-License-Identifier: Apache-2.0
"""Measures whether the data of many targets begins at the agreed instant."""
import contextlib
import json
import statistics
import subprocess

from common import BUSY, PROFTAP, Failure, Target
from trace_file import Trace, load_schemas

N_TARGETS = 64
N_CAPTURES = 5


def serve(target):
    """Starts a target with a server, and returns its port."""
    target.read("running")
    target.write_line()
    return target.read()[0]


def read_first_ns(part, instant):
    """Returns the begin of the first span, in ns since the instant. The targets have our clock."""
    trace = Trace(part["file"])
    start = trace.environment["profile_start_time"].value - instant
    return start + min(line.events[0].start_ps for line in trace.threads) // 1000


def measure_lateness(where, directory):
    """The delays of one capture, in ns since the instant: when each target could record, and each one's first span."""
    done = subprocess.run([PROFTAP, "capture", where, "100", "--log_dir", directory, "--json"],
                          stdout=subprocess.PIPE, check=True, text=True)
    result = json.loads(done.stdout)
    return ([part["start_late_ns"] for part in result["targets"]],
            [read_first_ns(part, result["start_unix_ns"]) for part in result["targets"]])


def bench_skew(out, directory):
    reason = load_schemas()
    if reason:
        raise Failure(f"skew: {reason}")
    out.method(f"skew: {N_TARGETS} targets that make a span each half millisecond, on the same machine, captured at one "
               "instant for 100 ms, 5 times; of each capture the target that was last to be able to record, and the "
               "latest first span of a target in the traces, after the instant")
    with contextlib.ExitStack() as stack:
        targets = [stack.enter_context(Target("emit", "pulse")) for _ in range(N_TARGETS)]
        where = ",".join(f"127.0.0.1:{serve(target)}" for target in targets)
        found = [measure_lateness(where, directory) for _ in range(N_CAPTURES)]
        for target in targets:
            target.end()
    lates = [max(late) for late, _ in found]
    firsts = [max(first) for _, first in found]
    out.figure(f"{N_TARGETS} targets can record, after the instant", f"{statistics.median(lates) / 1000:.1f}", "us",
               "<= 1000 us", f"worst {max(lates) / 1000:.1f} us{BUSY}")
    out.figure(f"first span of {N_TARGETS} targets, after the instant", f"{statistics.median(firsts) / 1000:.1f}", "us",
               "<= 1000 us", f"worst {max(firsts) / 1000:.1f} us{BUSY}")
