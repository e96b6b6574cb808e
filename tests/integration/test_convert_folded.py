#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert -t folded: lines in the form that flamegraph.pl and speedscope parse, with
the own time of each stack.
"""
import collections
import re

from conversions import (CROSSED, GOLDEN, Conversion, capture_requests, goldens, make_bad_names, make_space,
                         read_rows)
from fixture import check, equal, run, test
from sampled import MAIN, THREADS, make_trace, running, waiting
from stacks import read_stacks


def read_folded(t, *paths):
    """Returns {frames: ns}, parsed and added up as flamegraph.pl does, and the conversion."""
    conversion = Conversion(t, "folded", *paths)
    found = collections.Counter()
    for line in conversion.data.decode().splitlines():
        match = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line)
        check(match, f"no stack and weight: {line[:200]!r}")
        check(not re.fullmatch(r".*\s+?\d+(?:\.\d*)?", match[1]), f"two weights: {line[:200]!r}")
        found[tuple(match[1].split(";"))] += int(match[2])
    return dict(found), conversion


def compare(t, *paths):
    expected, n_lost = collections.Counter(), 0
    stacks = read_stacks(read_rows(t, *paths))
    for (place, names), (_, self_ns) in stacks.items():
        if self_ns:
            expected[tuple(name.replace(" ", "_") for name in (place[1], place[3], *names))] += self_ns
    for (place, names), (n, self_ns) in stacks.items():
        inside = [s for (other, longer), (_, s) in stacks.items()
                  if other == place and longer[:len(names)] == names]
        n_lost += 0 if any(inside) else n
    found, conversion = read_folded(t, *paths)
    equal(found, dict(expected), "stacks")
    equal(conversion.lost.get("spans that took no time", 0), n_lost, "lost spans")
    equal(conversion.summary["written"], sum(n for n, _ in stacks.values()) - n_lost, "spans written")
    n_derived = sum(row.kind == "derived" for row in read_rows(t, *paths))
    equal(conversion.lost.get("spans on derived lines", 0), n_derived, "spans that would count twice")
    return conversion


@test
def weights_are_the_own_times_of_golden_traces(t):
    for path in goldens():
        if path.name == "names.xplane.pb":  # see below
            continue
        compare(t, path)


@test
def weights_are_the_own_times_of_a_real_trace(t):
    compare(t, capture_requests(t))


@test
def spans_that_overlap_keep_their_times(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": CROSSED}))
    found, _ = read_folded(t, path)
    main = ("/host:CPU", "main")
    equal(found, {(*main, "a"): 80, (*main, "a", "d"): 20, (*main, "b"): 100, (*main, "c"): 40}, "stacks")


@test
def spans_without_duration_are_counted(t):
    path = t.dir / "a.xplane.pb"
    events = [("short", 0, 0), ("around", 5, 10), ("inside", 6, 0), ("all", 20, 10), ("of it", 20, 10)]
    path.write_bytes(make_space({"stream": events}, plane="/device:GPU:0"))
    equal(compare(t, path).lost, {"spans that took no time": 2}, "lost")


@test
def times_of_spans_of_running_and_of_waiting_stay_apart(t):
    path = t.dir / "a.xplane.pb"
    place = next(iter(THREADS))
    path.write_bytes(make_trace({place: [running(10, MAIN, "a;b"), running(20, MAIN, "a;b"), waiting(30, 5, MAIN, "a;b"),
                                         waiting(40, 6, MAIN)]}))
    conversion = Conversion(t, "folded", path)
    equal(conversion.data.decode().splitlines(), [
        "train;main;train 50000000", "train;main;train;decode 50000000", "train;main_[cpu];main;a:b 20000000",
        "train;main_[waiting];main;a:b 5000000", "train;main_[waiting];main 6000000"], "lines")
    equal(conversion.lost["names whose ';' or control characters were replaced"], 1, "changed names")
    equal(conversion.summary["written"], 6, "spans and samples")


@test
def depth_is_bounded_and_no_time_lost(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("f", i, 4000 - 2 * i) for i in range(1500)]}))
    found, conversion = read_folded(t, path)
    equal(max(map(len, found)), 2 + 1024, "frames of the longest line")
    equal(sum(found.values()), 4000, "the sum of weights")
    equal(conversion.lost, {"spans inside of 1024 others": 1500 - 1024}, "lost")


@test
def names_of_any_bytes_make_frames(t):
    read_folded(t, GOLDEN / "names.xplane.pb")
    path, _ = make_bad_names(t)
    found, conversion = read_folded(t, path)
    equal({stack[2] for stack in found},
          {"??[31m????\"\\", "a:b_c_12_34", "\ufffdab\ufffdcd\ufffd", "_5_7___8", "é" * 32768}, "frames")
    equal({stack[1] for stack in found}, {"\ufffdab\ufffdcd\ufffd"}, "the thread")
    equal(conversion.lost, {"names whose ';' or control characters were replaced": 2}, "lost")


@test
def names_that_are_changed_are_those_of_the_file(t):
    path = t.dir / "a.xplane.pb"
    events = [("a;b", 0, 100), ("out;of it", 10, 5), ("in;stant", 30, 0), ("a;b", 200, 5)]
    path.write_bytes(make_space({"th;read": events, "other;one": [("left;out", 0, 5)]}, plane="/host:C;PU"))
    words = ("--exclude", "out")
    lost = Conversion(t, "folded", path, options=words).lost
    equal(lost["names whose ';' or control characters were replaced"], 3, "a;b, the thread and the process")


run()
