#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has spin visit every state of the ring's models, as they are and with each seeded bug.

A model names its bugs (SEED_...) and what must be possible in it (REACHES_...) with the numbers by which they
are chosen. As it is, no assertion may fail in any state; with any of those numbers one must.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(os.environ.get("top_srcdir", Path(__file__).resolve().parents[2])) / "tests/model"
MODELS = ("capture", "open", "recorder")
CHOICE = re.compile(r"^#define (SEED|REACHES)_(\w+) (\d+)$", re.MULTILINE)
DEPTH = 10000
FAILED = "assertion violated"


def build(model, folder):
    """The verifier of |model|, a program."""
    subprocess.run(["spin", "-a", FOLDER / f"{model}.pml"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O1", "-w", "-DSAFETY", "-o", "pan",
                    "pan.c"], cwd=folder, check=True)


def verify(folder, seed):
    """The verifier's result: an assertion failed, or all states were seen."""
    ran = subprocess.run(["./pan", f"-m{DEPTH}"], cwd=folder, env={**os.environ, "SEED": seed},
                         capture_output=True, text=True)
    said = ran.stdout + ran.stderr
    if FAILED not in said and ("errors: 0" not in said or "Search not completed" in said
                               or "max search depth too small" in said):
        raise AssertionError(f"the search broke off: {said[:500]}")
    return said


def check_sound(folder):
    said = verify(folder, "0")
    if FAILED in said:
        raise AssertionError(said[:500])


def check_seeded(folder, seed):
    if FAILED not in verify(folder, seed):
        raise AssertionError("not one assertion failed")


def list_cases(model):
    """Yields (title, function, arguments) of each case."""
    text = (FOLDER / f"{model}.pml").read_text()
    yield f"{model} holds", check_sound, ()
    for kind, name, number in CHOICE.findall(text):
        words = name.lower().replace("_", " ")
        verb = "is found" if kind == "SEED" else "is possible"
        yield f"{model}: {words} {verb}", check_seeded, (number,)


def run(model, number):
    """Prints the lines of one model; returns how many failed."""
    n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        build(model, folder)
        for number, (title, function, arguments) in enumerate(list_cases(model), number):
            try:
                function(folder, *arguments)
                print(f"ok {number} - {title}", flush=True)
            except AssertionError as error:
                n_failed += 1
                text = str(error).replace("\n", "\n# ")
                print(f"not ok {number} - {title}\n# {text}", flush=True)
    return n_failed


def main():
    if not shutil.which("spin"):
        print("1..0 # SKIP spin is not installed")
        return 0
    counts = [len(list(list_cases(model))) for model in MODELS]
    print(f"1..{sum(counts)}", flush=True)
    return any([run(model, 1 + sum(counts[:i])) for i, model in enumerate(MODELS)])


if __name__ == "__main__":
    sys.exit(main())
