#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of the hot path with callgrind and holds them against instructions.txt.

usage: check_instructions.py [--update]      prints TAP; make check sets the variables it needs

The numbers repeat exactly, with one compiler. A change that adds an instruction to the hot path, or
takes one away, changes the file, which --update writes.
"""
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ["top_builddir"])
KEPT = Path(os.environ["top_srcdir"]) / "tests/bench/instructions.txt"
PROGRAM = BUILD / "tests/bench/instructions"
N_COUNTED = 1000  # as in instructions.c
COUNTED = re.compile(r"^ *([\d,]+) .*:count_(\w+)", re.MULTILINE)
HEAD = """\
# Instructions of an annotation and the loop around it, counted by callgrind: see check_instructions.py. These
# numbers are for one compiler, with one set of flags; elsewhere the check is skipped.
"""


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def describe_compiler():
    command = [*shlex.split(os.environ.get("CC", "cc")), "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return " ".join([version.splitlines()[0], os.environ["COUNTED_CFLAGS"], platform.machine()])


def read_kept():
    """Returns the compiler, and the count of each kind."""
    lines = [line for line in KEPT.read_text().splitlines() if not line.startswith("#")]
    return lines[0], {kind: int(n) for kind, n in (line.split() for line in lines[1:])}


def count():
    """Returns the instructions by kind, including the loop around the annotation."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}",
                        "--collect-atstart=no", "--toggle-collect=count_*", PROGRAM],
                       stdout=subprocess.DEVNULL, check=True)
        listed = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
    counts = {}
    for n, kind in COUNTED.findall(listed):
        # The line with the function's own file comes first, then those with files inlined into it.
        counts.setdefault(kind, int(n.replace(",", "")) // N_COUNTED)
    return {kind: counts[kind] for kind in sorted(counts)}


def update():
    counts = "".join(f"{kind:<16}{n}\n" for kind, n in count().items())
    KEPT.write_text(f"{HEAD}{describe_compiler()}\n{counts}")


def check():
    if os.environ.get("SANITIZERS", "no") != "no":
        skip("a sanitizer adds its own instructions")
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
    compiler, kept = read_kept()
    if describe_compiler() != compiler:
        skip(f"the numbers are for {compiler}, and this is {describe_compiler()}")
    counted = count()
    kinds = sorted(kept.keys() | counted.keys())
    print(f"1..{len(kinds)}")
    for number, kind in enumerate(kinds, 1):
        is_same = kept.get(kind) == counted.get(kind)
        print(f"{'ok' if is_same else 'not ok'} {number} - {kind}: {counted.get(kind)} instructions")
        if not is_same:
            print(f"# {KEPT} says {kept.get(kind)}: if the change is meant, write that file with --update")
    return kept != counted


if __name__ == "__main__":
    sys.exit(update() if sys.argv[1:] == ["--update"] else check())
