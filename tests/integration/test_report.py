#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proftap report as a user calls it: what it finds, what it shows of it, and what it says when it
cannot."""
import json
import os
import subprocess

from fake_server import space
from fixture import check, contains, equal, run, test
from processes import PROFTAP, TOP_SRC

GOLDEN = TOP_SRC / "tests" / "golden"


def report(*words, code=0):
    done = subprocess.run([PROFTAP, "report", *words], capture_output=True, text=True, timeout=20)
    equal(done.returncode, code, f"report {words}: {done.stderr!r}")
    return done.stdout if code == 0 else done.stderr


def read_names(text):
    """Those of the rows below each head, which stand where the head has its last word."""
    found, at = [], None
    for line in text.splitlines():
        if line.endswith("  name"):
            at = len(line) - 4
        elif at and line[:at].strip() and not line.startswith("  …"):
            check(line[at - 2:at] == "  " and line[at] != " ", f"no name below its head: {line!r}")
            found.append(line[at:])
        else:
            at = None
    return found


@test
def rows_come_in_the_order_asked_for(t):
    path = GOLDEN / "steps.xplane.pb"
    for key in ("self", "total", "count", "p50", "p99", "max"):
        contains(report(path, "--sort", key), " p50        p99        max  name\n", "the head")
        threads = json.loads(report(path, "--sort", key, "--json"))["planes"][0]["threads"]
        member = key if key == "count" else f"{key}_ns"
        values = [row[member] for thread in threads for row in thread["spans"]]
        check(len(values) > 1, f"rows: {values}")
        equal(values, sorted(values, reverse=True), f"values by {key}")
    spans = json.loads(report(path, "--sort", "name", "--json"))["planes"][0]["threads"][0]["spans"]
    equal([row["name"] for row in spans], ["forward", "train"], "names")


@test
def only_the_top_is_shown(t):
    path = GOLDEN / "spans.xplane.pb"
    text = report(path, "--top", "1")
    contains(text, "  … and 4 more names\n", "the report")
    equal(read_names(text), ["long", "job"], "names, one a thread")
    threads = json.loads(report(path, "--top", "1", "--json"))["planes"][0]["threads"]
    equal([len(thread["spans"]) for thread in threads], [1, 1], "rows of the JSON form")


@test
def only_names_that_match_are_shown(t):
    path = GOLDEN / "steps.xplane.pb"
    equal(read_names(report(path, "--name", "^for")), ["forward  [1 unfinished]"], "names")
    equal(read_names(report(path, "--name", "zzz", "--name", "ai|fo")),
          ["train  [1 unfinished]"] * 2 + ["forward  [1 unfinished]"], "names of the last --name")
    contains(report(path, "--name", "nothing"), "spans 5 on 1 thread", "the totals")


@test
def columns_stand_whatever_the_names_are(t):
    shown = {"plain": "plain", "名前": "名前", "é" * 300: "é" * 80 + "…",
             "\x1b[31mred\n": "?[31mred?"}
    for i, name in enumerate(shown):
        path = t.dir / f"{i}.xplane.pb"
        path.write_bytes(space(3, name=name))
        equal(read_names(report(path)), [shown[name]], "names")


@test
def a_log_directory_means_its_newest_run(t):
    runs = t.dir / "plugins/profile"
    # Neither the first nor the last by name.
    for n, run_name in ((1, "2026_01_01_00_00_00"), (3, "2025_01_01_00_00_00"),
                        (2, "2024_01_01_00_00_00")):
        (runs / run_name).mkdir(parents=True)
        path = runs / run_name / "a.xplane.pb"
        path.write_bytes(space(n))
        os.utime(path, (n, n))
    contains(report(t.dir), "spans 3 on 1 thread", "the report")


@test
def a_bad_file_does_not_hide_the_others(t):
    (t.dir / "a.xplane.pb").write_bytes(b"\xff" * 100)
    (t.dir / "b.xplane.pb").write_bytes(space(3))
    (t.dir / "c.xplane.pb.broken").write_bytes(b"\xff")
    done = subprocess.run([PROFTAP, "report", t.dir], capture_output=True, text=True, timeout=20)
    equal(done.returncode, 1, "exit status")
    contains(done.stdout, "spans 3 on 1 thread", "standard output")
    contains(done.stderr, f"{t.dir}/a.xplane.pb: not a readable trace: at byte ", "standard error")
    equal(done.stderr.count("\n"), 1, "lines on standard error")


@test
def what_cannot_be_read_is_said(t):
    empty = t.dir / "empty.xplane.pb"
    empty.touch()
    contains(report(t.dir / "none", code=1), "none: cannot open: no such file or directory", "error")
    contains(report(empty, code=1), "empty.xplane.pb: empty file, not a trace", "error")
    (t.dir / "logs").mkdir()
    contains(report(t.dir / "logs", code=1), "logs: no trace there: neither *.xplane.pb nor ",
             "error")


@test
def wrong_words_are_told(t):
    for words, sentence in (
            ((), "proftap report: exactly one run or file must be given"),
            (("a", "b"), "proftap report: exactly one run or file must be given"),
            (("a", "--sort", "size"), '--sort: bad value "size": must be self, total, count, p50, '
             "p99, max or name"),
            (("a", "--top", "0"), '--top: bad value "0": must be a positive whole number, 1 to '),
            (("a", "--name", "("), '--name: bad value "(": not a regular expression: '),
            (("a", "--tpo", "1"), "report: unknown option --tpo; the nearest is --top")):
        error = report(*words, code=2)
        check(error.startswith(sentence), f"{words}: expected {sentence!r}, got {error!r}")
        check(error.endswith("\ntry: proftap report --help\n"), f"{words}: {error!r}")


run()
