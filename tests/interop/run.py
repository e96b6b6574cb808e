#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test_*() function of every test_*.py beside it, as TAP; fails if one failed.

usage: run.py [--large] [WORD...]   only the tests whose name contains one of the words

--large: those of large_*.py instead, which need gigabytes of disk and memory, and minutes.

The last line is: N passed, N failed. A test is a function that raises when proftap is at fault; its
docstring states the expected behaviour.
"""
import importlib
import inspect
import os
import pathlib
import sys
import traceback

# The peers take a proxy from the environment; everything here is on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"
os.environ["JAX_PLATFORMS"] = "cpu"


def tests(pattern):
    for path in sorted(pathlib.Path(__file__).parent.glob(pattern)):
        module = importlib.import_module(path.stem)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == module.__name__:
                yield f"{path.stem}.{name}", function


def run(number, name, function):
    title = (function.__doc__ or name).splitlines()[0].rstrip(".")
    try:
        function()
    except Exception:  # a test that fails in an unforeseen way is a failed test
        print(f"not ok {number} - {name}: {title}", flush=True)
        for line in traceback.format_exc().splitlines():
            print(f"#   {line}", flush=True)
        return False
    print(f"ok {number} - {name}: {title}", flush=True)
    return True


def main(words):
    is_large = words[:1] == ["--large"]
    words = words[1:] if is_large else words
    found = tests("large_*.py" if is_large else "test_*.py")
    chosen = [t for t in found if not words or any(word in t[0] for word in words)]
    print(f"1..{len(chosen)}")
    results = [run(i, *test) for i, test in enumerate(chosen, 1)]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
