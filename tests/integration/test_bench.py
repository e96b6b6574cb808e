#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the figures of tests/bench: a missed aim is noticed, and the JSON has the form of
docs/internals/bench.md.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import sys
from pathlib import Path

from checks import check, equal
from fixture import run, test

TOP_SRC = Path(os.environ["top_srcdir"])
sys.path.insert(0, str(TOP_SRC / "tests" / "bench"))

from costs import show_cost
from figures import Output, judge


@test
def aims_judge_the_value_or_the_ratio(t):
    for value, ratio, aim, met in (
            ("0.30", None, "<= 0.3 ns", True), ("0.31", None, "<= 0.3 ns", False),
            ("64", None, "< 64 MiB", False), ("63", None, "< 64 MiB", True),
            ("499", None, ">= 500 MB/s", False), ("1,000", None, ">= 500 MB/s", True),
            (0, None, "0", True), ("0.1", None, "0", False), ("2", None, "1", False),
            ("90", "1.25", "<= 1.25 x recording", True), ("1", "1.26", "<= 1.25 x recording", False),
            ("90", "2", "", None)):
        equal(judge(value, ratio, aim), met, f"{value} ({ratio}) and the aim {aim!r}")


def say_some(directory):
    """Returns the printed text and the JSON of a few figures."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        out = Output(os.path.join(directory, "bench"), {"cpu": "none"})
        out.group = "some"
        out.method("how it is done")
        out.figure("good one", "1,000", "ns", "<= 1000 ns", "a note")
        out.figure("bad one", "20", "ns", "<= 1.3 x one thread", ratio=("1.31", "one thread"))
        out.figure("free one", 7, "")
        out.skip("a tracer: it is not there")
        out.error("two are missing")
        out.end()
    return printed.getvalue(), json.loads(Path(directory, "bench.json").read_text())


def documented_keys(title):
    text = (TOP_SRC / "docs/internals/bench.md").read_text()
    rows = text.split(f"| {title} | value |\n|---|---|\n")[1].split("\n\n")[0]
    return sorted(key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1]))


@test
def a_missed_aim_is_marked_and_repeated_at_the_end(t):
    text, _ = say_some(t.dir)
    lines = text.splitlines()
    equal([line.split("  ")[0] for line in lines if line.startswith("MISS")],
          ["MISS bad one", "MISS bad one: 1.31 x, aim <= 1.3 x one thread"], "lines that say so")
    check(re.search(r"^3 figures in \d+ s; 2 have an aim, 1 miss it:$", text, re.MULTILINE), f"no sum in {text}")
    equal(lines[-1], f"written to {t.dir}/bench.txt and {t.dir}/bench.json", "the last line")
    equal(Path(t.dir, "bench.txt").read_text(), text, "the file of the text")


@test
def the_json_is_as_it_is_documented(t):
    _, said = say_some(t.dir)
    equal(sorted(said), documented_keys("key"), "its keys")
    for figure in said["figures"]:
        equal(sorted(figure), documented_keys("key of a figure"), "a figure's keys")
    equal([(figure["value"], figure["ratio"], figure["met"]) for figure in said["figures"]],
          [(1000, None, True), (20, 1.31, False), (7, None, None)], "the figures")
    equal(said["skipped"], [{"group": "some", "text": "a tracer: it is not there"}], "skipped figures")
    equal(said["errors"], [{"group": "some", "text": "two are missing"}], "the errors")


def load_runner():
    loader = importlib.machinery.SourceFileLoader("bench_run", str(TOP_SRC / "tests" / "bench" / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


@test
def a_group_that_fails_is_one_line_and_the_next_one_runs(t):
    def print_no_number(_out, _directory):
        float("no number\nat all")

    runner = load_runner()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        out = Output(os.path.join(t.dir, "bench"), {"cpu": "none"})
        runner.run_group(out, "first", print_no_number)
        runner.run_group(out, "second", lambda out, _directory: out.figure("next", 1, "ns"))
        out.end()
    lines = printed.getvalue().splitlines()
    check(re.fullmatch(r"error: first: ValueError: .*no number.* \(test_bench\.py:\d+\)", lines[0]), f"no error in {lines}")
    check(lines[1].split() == ["next", "1", "ns"], f"no figure of the next group in {lines}")


@test
def the_aim_of_an_annotation_is_what_it_costs_above_its_clock_reads(t):
    for read_ns in (8.0, 31.0):
        with contextlib.redirect_stdout(io.StringIO()):
            out = Output(os.path.join(t.dir, "bench"), {"cpu": "none"})
            show_cost(out, "span", [read_ns + 6.5, read_ns, 1.0], 2, "<= 7.5 ns")
            show_cost(out, "span", [read_ns + 8.0, read_ns, 1.0], 2, "<= 7.5 ns")
            out.end()
        equal([(figure["value"], figure["met"]) for figure in out.said["figures"]], [(6.5, True), (8.0, False)],
              f"figures where two clock reads cost {read_ns - 1} ns")


run()
