#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the inputs of proftap convert, and the options that select events."""
import os
import subprocess

from conversions import GOLDEN, Conversion, make_space, read_rows
from fixture import contains, equal, run, schema, test
from processes import PROFTAP

TRACE = GOLDEN / "spans.xplane.pb"


def convert(*words, code=0):
    """Runs the conversion and returns its messages on standard error."""
    done = subprocess.run([PROFTAP, "convert", "-t", "ndjson", *words], capture_output=True,
                          timeout=20)
    equal(done.returncode, code, f"convert {words}: {done.stderr!r}")
    return done.stderr.decode()


@test
def inputs_that_are_no_files_are_refused_at_once(t):
    os.mkfifo(t.dir / "pipe")
    for path in (t.dir / "pipe", "/dev/null"):
        equal(convert("-o", "-", path, code=1), f"{path}: cannot read: not a file\n", "the error")
    contains(convert("-o", "-", t.dir / "nothing", code=1), "cannot open: no such file", "the error")


def starts(t, *words):
    """Returns {host: ms at which its file begins in the output} for two files, whose recordings began 2 s
    apart.
    """
    for name, epoch_s in (("a", 1), ("b", 3)):
        space = schema("xplane").XSpace.FromString(make_space({"main": [("f", 0, 1)]}, host=name))
        plane = space.planes.add(name="Task Environment")
        plane.stat_metadata[1].name = "profile_start_time"
        plane.stats.add(metadata_id=1, uint64_value=(1700000000 + epoch_s) * 10**9)
        (t.dir / f"{name}.xplane.pb").write_bytes(space.SerializeToString())
    rows = read_rows(t, t.dir / "a.xplane.pb", t.dir / "b.xplane.pb", options=words)
    return {row.place[0]: row.start_ns / 1e6 for row in rows}


@test
def files_are_aligned_as_the_last_option_says(t):
    by_clock, from_start, by_hand = {"a": 0, "b": 2000}, {"a": 0, "b": 0}, {"a": 1, "b": 1993}
    equal(starts(t), by_clock, "times")
    equal(starts(t, "--align", "start"), from_start, "times")
    equal(starts(t, "--align", "1,-7ms"), by_hand, "times")
    equal(starts(t, "--align", "start", "--align", "1,-7ms"), by_hand, "times")
    equal(starts(t, "--align", "5,5", "--align", "start"), from_start, "times")
    equal(starts(t, "--align", "5", "--align", "epoch"), by_clock, "times")


@test
def align_needs_a_time_for_each_file(t):
    starts(t)
    for value, n in (("0,5,9ms", 3), ("5ms", 1)):
        equal(convert("-o", "-", "--align", value, t.dir, code=1),
              f"--align: a time for each file is needed: 2, not {n}\n", "the error")


@test
def a_file_that_is_given_twice_is_read_once(t):
    first, second, copy = (t.dir / f"{name}.xplane.pb" for name in ("first", "second", "copy"))
    first.write_bytes(TRACE.read_bytes())
    second.symlink_to(first.name)
    summary = Conversion(t, "ndjson", t.dir, first, options=["--align", "0"]).summary
    equal((summary["events"], summary["written"]), (7, 7), "events")
    equal(summary["notes"], [f"{path}: was given twice, and is read once" for path in (second, first)], "notes")
    copy.write_bytes(TRACE.read_bytes())
    equal(Conversion(t, "ndjson", first, copy).summary["written"], 14, "events of a copy, too")


@test
def an_empty_selection_is_reported(t):
    note = "nothing of the trace was selected"
    for words in (["--name", "nosuch"], ["--thread", "nosuch"], ["--to=-1s"]):
        said = convert("-o", "-", *words, TRACE)
        contains(said, f"converted 0 of 7 events to ndjson: 0.0 MB\n  note: {note}\n", "the message")
        equal(Conversion(t, "folded", TRACE, options=words).summary["notes"], [note], f"notes of {words}")
    instants = Conversion(t, "folded", TRACE, options=["--name", "^last"]).summary
    equal((instants["written"], instants["lost"], instants["notes"]), (0, {"instants": 1}, []),
          "message about events that folded cannot express")
    equal(Conversion(t, "folded", GOLDEN / "empty.xplane.pb").summary["notes"], [], "message about an empty trace")


@test
def a_pid_without_a_process_is_reported(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("f", 0, 1)]}, pid=4242))
    for command in (["convert", "-t", "ndjson", "-o", "-"], ["report"], ["view"], ["diff", path]):
        for word in ("4243", "trian", "1,trian*"):
            done = subprocess.run([PROFTAP, *command, "--pid", word, path], capture_output=True, text=True,
                                  timeout=60)
            equal((done.returncode, done.stdout), (1, ""), f"exit of {command[0]} --pid {word}")
            equal(done.stderr, f"--pid {word}: no such program or device in {path}, which has: /host:CPU (pid 4242)\n",
                  f"the message of {command[0]}")
    summary = Conversion(t, "ndjson", path, options=["--pid", "4242,4243"]).summary
    equal((summary["written"], summary["notes"]), (1, ["--pid: no program or device is 4243"]), "one of two")


@test
def selection_that_is_always_empty_is_wrong_usage(t):
    for words, said in ((["--min_duration=-5ms"], '--min_duration: bad value "-5ms": must not be negative'),
                        (["--from", "5", "--to", "3"], "--to: is earlier than --from"),
                        (["--to=-1ns", "--from=0"], "--to: is earlier than --from"),
                        (["--thread", ""], '--thread: bad value "": must be names or numbers'),
                        (["--thread", "main,"], '--thread: bad value "main,": must be names'),
                        (["--pid", ",1"], '--pid: bad value ",1": must be names')):
        for command in ("convert", "report"):
            done = subprocess.run([PROFTAP, command, *words, TRACE], capture_output=True, text=True)
            equal((done.returncode, done.stdout), (2, ""), f"exit of {command} {words}")
            contains(done.stderr, said, "the error")
    # Selects the spans that are open at one instant.
    contains(convert("-o", "-", "--from=5ms", "--to=5ms", "--min_duration=0", TRACE), "converted ", "the message")


@test
def a_bad_group_is_reported_with_the_name_of_its_option(t):
    for option in ("--primary_group", "--secondary_group", "--system_trace_primary_group",
                   "--system_trace_secondary_group"):
        said = convert("-o", "-", option, "nosuch", TRACE, code=2)
        equal(said.split(" \"")[0], f"{option}: bad value", "the error")


@test
def names_end_at_a_zero_byte_with_a_warning(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"ma\0in": [("a\0x", 0, 1), ("a\0y", 1, 1, {"k\0": 1}), ("b", 2, 1, {"v": "c\0d"})]}))
    rows = read_rows(t, path)
    equal([(row.place[3], row.name, dict(row.args)) for row in rows],
          [("ma", "a", {}), ("ma", "a", {"k": 1}), ("ma", "b", {"v": "c\0d"})], "names and arguments")
    equal(Conversion(t, "folded", path).summary["notes"], [f"{path}: 4 names have a zero byte and end there"], "notes")


def read_threads(t, path, words):
    return {row.place[3] for row in read_rows(t, path, options=["--thread", words])}


@test
def threads_with_unusual_names_can_be_selected(t):
    path, long = t.dir / "a.xplane.pb", "x" * 300
    threads = ["a,b", "a", "b", "c\\d", long]
    path.write_bytes(make_space({name: [("f", 0, 1)] for name in threads}))
    equal(read_threads(t, path, "a,b"), {"a", "b"}, "threads for two words")
    equal(read_threads(t, path, "a\\,b"), {"a,b"}, "thread with a comma")
    equal(read_threads(t, path, "b,a\\,?,c\\\\d"), {"b", "a,b", "c\\d"}, "threads for three words")
    equal(read_threads(t, path, "x" * 254 + "*"), {long}, "thread with a long name")
    for option in ("--thread", "--pid"):
        contains(convert("-o", "-", option, f"a,{'x' * 256}", path, code=2),
                 f'{option}: bad value "{"x" * 64}…": a name with more than 255 bytes', "the error")


run()
