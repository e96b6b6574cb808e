#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the CUDA collector under valgrind, one row for each program: neither a program nor its forked
children may read memory that is uninitialised, out of bounds or freed."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CUDA = Path(os.environ["top_builddir"]) / "tests" / "cuda"
# A factor on check's own deadlines, because valgrind is slow.
SLOWER = "30"


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def run(program):
    """The output, and whether all tests passed."""
    env = {**os.environ, "CK_TIMEOUT_MULTIPLIER": SLOWER, "CK_VERBOSITY": "normal"}
    env.pop("CK_TAP_LOG_FILE_NAME", None)
    done = subprocess.run(["valgrind", "-q", "--error-exitcode=99", "--child-silent-after-fork=no", program], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    counts = re.search(r"Checks: (\d+), Failures: 0, Errors: 0$", done.stdout, re.MULTILINE)
    return done.stdout, done.returncode == 0 and counts is not None and int(counts[1]) > 0


def check():
    if os.environ.get("SANITIZERS", "no") != "no":
        skip("a sanitizer checks the memory already")
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
    programs = sorted(path for path in CUDA.glob("test_*") if path.is_file() and not path.suffix)
    print(f"1..{len(programs)}", flush=True)
    is_all_well = bool(programs)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (program, (said, is_well)) in enumerate(zip(programs, pool.map(run, programs)), 1):
            for line in () if is_well else said.splitlines():
                print(f"# {line}")
            print(f"{'ok' if is_well else 'not ok'} {number} - {program.name}", flush=True)
            is_all_well &= is_well
    return not is_all_well


if __name__ == "__main__":
    sys.exit(check())
