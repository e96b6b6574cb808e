#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What proftap convert is told to read, and of that to write."""
import os
import subprocess

from conversions import GOLDEN
from fixture import contains, equal, run, test
from processes import PROFTAP

TRACE = GOLDEN / "spans.xplane.pb"


def convert(*words, code=0):
    """What it says on standard error."""
    done = subprocess.run([PROFTAP, "convert", "-t", "ndjson", *words], capture_output=True,
                          timeout=20)
    equal(done.returncode, code, f"convert {words}: {done.stderr!r}")
    return done.stderr.decode()


@test
def what_is_no_file_is_not_waited_for(t):
    os.mkfifo(t.dir / "pipe")
    for path in (t.dir / "pipe", "/dev/null"):
        equal(convert("-o", "-", path, code=1), f"{path}: cannot read: not a file\n", "the error")
    contains(convert("-o", "-", t.dir / "nothing", code=1), "cannot open: no such file", "the error")


run()
