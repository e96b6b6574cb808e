#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proftap diff: a trace beside itself, and beside one in which one thing took longer."""
import json
import subprocess

from conversions import capture_requests, make_bad_names, make_space
from fixture import check, contains, equal, run, test
from processes import PROFTAP
from reports import make_training


def diff(*words, code=0):
    done = subprocess.run([PROFTAP, "diff", *words], capture_output=True, text=True, timeout=20)
    equal(done.returncode, code, f"diff {words}: {done.stderr!r}")
    return done


@test
def a_run_does_not_differ_from_itself(t):
    path = make_training(t.dir / "a.xplane.pb")
    done = diff(path, path, "--fail-above", "0%")
    contains(done.stdout, "\nno difference: 7 names\n", "the text")
    said = json.loads(diff(path, path, "--json").stdout)
    equal((said["steps"], said["names"], said["same"]), ([], [], 7), "the JSON form")


@test
def what_takes_longer_is_found_and_nothing_else(t):
    a = make_training(t.dir / "a.xplane.pb", with_device=False)
    b = make_training(t.dir / "b.xplane.pb", with_device=False, forward=1.2)
    done = diff(a, b, "--fail-above", "10%", code=1)
    equal(done.stderr, "the median of forward rose by 20.0 %, more than 10 %\n", "standard error")
    said = json.loads(diff(a, b, "--json", "--fail_above", "10", code=1).stdout)
    equal([(row["name"], row["verdict"], round(row["p50_change"], 3), row["failed"])
           for row in said["names"]], [("forward", "sure", 0.2, True)], "names")
    equal([(row["name"], row["verdict"], round(row["p50_change"], 3), row["failed"])
           for row in said["steps"]], [("train", "sure", 0.067, False)], "steps")
    told = json.loads(diff(a, b, "--json").stdout)
    equal([(row["verdict"], row["failed"]) for row in told["names"] + told["steps"]], [("sure", False)] * 2,
          "without a limit")
    # Not too much, and not in this direction.
    diff(a, b, "--fail-above", "20.5%")
    diff(b, a, "--fail-above", "10%")
    diff(a, b, "--fail-above", "10%", "--exclude", "forward")
    for width in (76, 80):
        text = diff(a, b, "--fail-above", "10%", "--width", str(width), code=1).stdout.replace(f"{t.dir}/", "")
        check(max(map(len, text.splitlines())) <= width, f"more than {width} columns: {text}")
        contains(text, "  too much\n", "the text")


@test
def steps_fail_too(t):
    a = make_training(t.dir / "a.xplane.pb", with_device=False)
    b = make_training(t.dir / "b.xplane.pb", with_device=False, forward=2)
    done = diff(a, b, "--fail-above", "30%", code=1)
    contains(done.stderr, "the median of train rose by 33.5 %, more than 30 %\n", "standard error")


@test
def what_appears_and_vanishes_is_told(t):
    for name, spans in (("a", [("old", 0, 10), ("kept", 20, 5)]), ("b", [("kept", 0, 5), ("new", 9, 7)])):
        (t.dir / f"{name}.xplane.pb").write_bytes(make_space({"main": spans}))
    paths = t.dir / "a.xplane.pb", t.dir / "b.xplane.pb"
    text = diff(*paths, "--fail-above", "0%").stdout
    contains(text, "\nonly in B\n    count    total      p50  name\n        1     7 ns     7 ns  new\n", "B")
    contains(text, "\nonly in A\n    count    total      p50  name\n        1    10 ns    10 ns  old\n", "A")
    rows = {row["name"]: row for row in json.loads(diff(*paths, "--json").stdout)["names"]}
    equal({name: row["verdict"] for name, row in rows.items()},
          {"old": "vanished", "new": "appeared"}, "verdicts")
    equal((rows["old"]["b"], rows["new"]["a"], rows["new"]["p50_change"]), (None, None, None), "nulls")


@test
def few_are_not_judged(t):
    for name, ns in (("a", 100), ("b", 900)):
        (t.dir / f"{name}.xplane.pb").write_bytes(
            make_space({"main": [("rare", 1000 * i, ns) for i in range(7)]}))
    paths = t.dir / "a.xplane.pb", t.dir / "b.xplane.pb"
    done = diff(*paths, "--fail-above", "1%")
    contains(done.stdout, " ?  rare\n", "the mark")
    equal(done.stderr, "the median of rare rose by 800.0 %; too few to tell, 7 and 7: not counted\n", "standard error")
    equal([diff(*paths, *words).stderr for words in ((), ("--fail-above", "801%"))], ["", ""], "what is no news")


@test
def of_many_that_are_few_the_first_are_told(t):
    for name, ns in (("a", 100), ("b", 900)):
        (t.dir / f"{name}.xplane.pb").write_bytes(make_space({"main": [(f"n{i}", 1000 * i, ns) for i in range(23)]}))
    lines = diff(t.dir / "a.xplane.pb", t.dir / "b.xplane.pb", "--fail-above", "1%").stderr.splitlines()
    equal((len(lines), lines[20]), (21, "3 more names rose, of which there are too few to tell"), "standard error")


@test
def what_compares_nothing_fails(t):
    """A word that nothing matches, and a program that ended at its start."""
    a = make_training(t.dir / "a.xplane.pb", with_device=False)
    nothing = "nothing was compared: no name is in both traces\n"
    other = t.dir / "other.xplane.pb"
    for spans, sentence in (([], nothing), ([("start", 0, 5)], nothing),
                            ([("forward", 0, 5)], "no step was compared: B has none of the steps of A\n")):
        other.write_bytes(make_space({"main": spans}))
        equal(diff(a, other, "--fail-above", "10%", code=1).stderr, sentence, "standard error")
        equal(diff(a, other).stderr, "", "without a limit")
    equal(diff(a, a, "--name", "tarin", "--fail-above", "10%", code=1).stderr, nothing, "standard error")
    equal(diff(a, a, "--pid", "999", "--fail-above", "10%", code=1).stderr, nothing, "standard error")
    # Who asks for names only is not asked for steps.
    diff(a, other, "--name", "forward", "--fail-above", "10%")


@test
def two_real_runs_are_compared(t):
    """Of a program that does the same all the time: what is said of it is not for a test to know."""
    runs = [capture_requests(t) for _ in range(2)]
    said = json.loads(diff(*runs, "--json").stdout)
    check(said["a"]["totals"]["spans"] and said["b"]["totals"]["spans"], f"spans: {said}")
    contains(diff(*runs).stdout, f"A: {runs[0]}\n", "the head")


@test
def names_that_nobody_would_choose_are_printable(t):
    bad, _ = make_bad_names(t)
    (t.dir / "none.xplane.pb").write_bytes(make_space({"main": [("x", 0, 1)]}))
    for words in ((), ("--json",)):
        text = subprocess.run([PROFTAP, "diff", *words, bad, t.dir / "none.xplane.pb"],
                              capture_output=True, timeout=20, check=True).stdout.decode()
        check(not [c for c in text if c < " " and c != "\n" or "\x7f" <= c < "\xa0"], "a control character")


@test
def a_full_device_is_said_once(t):
    path = make_training(t.dir / "a.xplane.pb")
    for words in ((), ("--json",)):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROFTAP, "diff", *words, path, path], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        equal((done.returncode, done.stderr), (1, "standard output: cannot write: no space left on device\n"),
              f"what is said of {words}")


@test
def wrong_words_are_told(t):
    for words, sentence in (
            ((), "proftap diff: two runs or files must be given"),
            (("a",), "proftap diff: two runs or files must be given"),
            (("a", "b", "c"), "proftap diff: two runs or files must be given"),
            (("a", "b", "--fail-above", "ten"), '--fail_above: bad value "ten": must be a percentage'),
            (("a", "b", "--fail-above", "-1%"), '--fail_above: bad value "-1%": must be a percentage')):
        error = diff(*words, code=2).stderr
        check(error.startswith(sentence), f"{words}: expected {sentence!r}, got {error!r}")
    contains(diff(t.dir / "none", t.dir / "none", code=1).stderr, "none: cannot open", "no file")


run()
