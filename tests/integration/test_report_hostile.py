#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap report with files that are made to take all of a machine's time or memory."""
import json
import os
import subprocess

from checks import SLOWNESS
from conversions import field
from fixture import check, equal, run, test
from processes import PROFTAP

EVENT = field(4, b"\x08\x01\x10\x05\x18\x05")
LINE = field(3, b"\x08\x01" + EVENT)


def report(t, path, *words, limits=()):
    """Returns the output, and the processor time in seconds."""
    with open(t.dir / "out", "wb") as out:
        process = subprocess.Popen([*limits, PROFTAP, "report", *words, path], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    equal(process.returncode, 0, "status")
    return (t.dir / "out").read_text(), usage.ru_utime + usage.ru_stime


@test
def time_grows_with_planes_and_not_with_their_square(t):
    """Each plane has two lines of its own."""
    n = 30_000 // SLOWNESS
    path = t.dir / "in.xplane.pb"
    with open(path, "wb") as out:
        out.writelines(field(1, field(2, b"/device:GPU:%d" % i) + 2 * LINE) for i in range(n))
    text, cpu_s = report(t, path, "--json")
    planes = json.loads(text)["planes"]
    equal((len(planes), {len(plane["threads"]) for plane in planes}), (n, {2}), "planes, and threads of each")
    check(cpu_s < 10, f"{n} planes took {cpu_s} s of processor time")


@test
def a_line_takes_some_hundred_bytes(t):
    """The file has 25 bytes for each line; the report also holds the line's span and the span's self time."""
    n = 100_000 // SLOWNESS
    # Sanitizers do not run under such a limit on memory.
    limits = ("prlimit", f"--data={110 << 20}") if SLOWNESS == 1 else ()
    path = t.dir / "in.xplane.pb"
    path.write_bytes(field(1, field(2, b"/host:CPU") + n * LINE))
    text, _ = report(t, path, "--json", limits=limits)
    equal(json.loads(text)["totals"]["threads"], n, "threads")


run()
