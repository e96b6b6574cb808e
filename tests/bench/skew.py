# SPDX-License-Identifier: Apache-2.0
"""How far apart the windows of many targets begin."""
import contextlib
import json
import statistics
import subprocess

from common import BUSY, PROFTAP, Target

N_TARGETS = 64


def serve(target):
    """Its port."""
    target.read("running")
    target.write_line()
    return target.read()[0]


def measure_skew(where, directory):
    done = subprocess.run([PROFTAP, "capture", where, "100", "--log_dir", directory, "--json"],
                          stdout=subprocess.PIPE, check=True, text=True)
    starts = [target["start_unix_ns"] for target in json.loads(done.stdout)["targets"]]
    return max(starts) - min(starts)


def bench_skew(out, directory):
    out.method(f"skew: starts of {N_TARGETS} targets' windows as their traces say, by one clock, the "
               "latest minus the earliest; median and worst of 5 captures of 100 ms")
    with contextlib.ExitStack() as stack:
        targets = [stack.enter_context(Target("emit", "idle")) for _ in range(N_TARGETS)]
        where = ",".join(f"127.0.0.1:{serve(target)}" for target in targets)
        skews = [measure_skew(where, directory) for _ in range(5)]
        for target in targets:
            target.end()
    out.figure(f"skew of {N_TARGETS} targets", f"{statistics.median(skews) / 1000:.1f}", "us",
               "<= 1000 us", f"worst {max(skews) / 1000:.1f} us{BUSY}")
