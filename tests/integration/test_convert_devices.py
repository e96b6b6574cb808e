#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert --split device: the events of each device are in a file of its own, and those
of programs are in one more file.
"""
import json
import re
import subprocess

from conversions import make_space, read_row
from fixture import contains, equal, run, test
from processes import PROFTAP


def convert(t, *words):
    return subprocess.run([PROFTAP, "convert", *words], cwd=t.dir, capture_output=True, text=True, timeout=60)


def make_hosts(t):
    """Makes two hosts with a program and two devices each; both number their devices alike."""
    paths = []
    for host in ("alpha", "beta"):
        spaces = [make_space({"main": [(f"work of {host}", 5, 50, {"step_num": 1})]}, host=host, pid=4242)]
        spaces += [make_space({"stream": [(f"kernel of {host} {i}", 10 + i, 5), ("both", 20, 5)]}, f"/device:GPU:{i}")
                   for i in range(2)]
        paths.append(t.dir / f"{host}.xplane.pb")
        paths[-1].write_bytes(b"".join(spaces))
    return paths


def read(path):
    return [read_row(json.loads(line)) for line in path.read_text().splitlines()[1:]]


@test
def each_event_is_in_one_file(t):
    done = convert(t, "-t", "ndjson", "--split", "device", "-o", "out", *make_hosts(t))
    names = ["system_profile", *(f"device_profile_{i}" for i in range(4))]
    equal((done.returncode, done.stdout.split()), (0, [f"out/{name}.ndjson" for name in names]), done.stderr)
    equal(sorted(p.name for p in (t.dir / "out").iterdir()), sorted(f"{name}.ndjson" for name in names), "files")
    found = [[row.name for row in read(t.dir / "out" / f"{name}.ndjson")] for name in names]
    equal(found, [["work of alpha", "work of beta"], ["kernel of alpha 0", "both"], ["kernel of alpha 1", "both"],
                  ["kernel of beta 0", "both"], ["kernel of beta 1", "both"]], "events")


@test
def every_format_can_be_split(t):
    paths = make_hosts(t)
    formats = re.findall(r"^  (\w[\w-]*) +([._]\w\S*)", convert(t, "--help").stdout, re.M)
    for name, suffix in formats:
        done = convert(t, "-t", name, "--split", "device", "--json", "-o", name, *paths)
        equal(done.returncode, 0, done.stderr)
        written = [json.loads(line) for line in split_objects(done.stdout)]
        equal([one["file"] for one in written][4], f"{name}/device_profile_3{suffix}", "the last file")
        equal(len(list((t.dir / name).iterdir())), 5, f"files of {name}")


def split_objects(text):
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        _, end = decoder.raw_decode(text, at)
        yield text[at:end]
        at = end


@test
def a_split_obeys_other_selections(t):
    paths = make_hosts(t)
    done = convert(t, "-t", "ndjson", "--split", "device", "--name", "kernel", "--iterations", "1", "-o", "out", *paths)
    equal(done.returncode, 0, done.stderr)
    found = [len(read(t.dir / "out" / f"{name}.ndjson")) for name in ("system_profile", "device_profile_2")]
    equal(found, [0, 1], "numbers of events")


@test
def devices_that_are_not_selected_have_no_file(t):
    paths = make_hosts(t)
    for words, names in ((["--pid", "4242"], ["system_profile"]),
                         (["--pid", "*GPU:1"], ["system_profile", "device_profile_1", "device_profile_3"]),
                         (["--thread", "main"], ["system_profile"])):
        done = convert(t, "-t", "ndjson", "--split", "device", *words, "-o", words[1], *paths)
        equal((done.returncode, done.stdout.split()), (0, [f"{words[1]}/{name}.ndjson" for name in names]), done.stderr)


@test
def files_go_beside_the_trace(t):
    path = make_hosts(t)[0]
    (t.dir / "elsewhere").mkdir()
    path = path.rename(t.dir / "elsewhere" / path.name)
    for place in (path, path.relative_to(t.dir)):
        equal(convert(t, "-t", "folded", "--split", "device", place).returncode, 0, f"status of {place}")
        made = sorted(p.name for p in path.parent.glob("*.folded"))
        equal(made, [f"device_profile_{i}.folded" for i in range(2)] + ["system_profile.folded"], "files")
        for name in made:
            (path.parent / name).unlink()


@test
def impossible_splits_are_explained(t):
    path = make_hosts(t)[0]
    (t.dir / "file").write_text("")
    for status, text, words in (
            (2, "cannot go to standard output", ["-t", "ndjson", "-o", "-", "--split", "device"]),
            (2, "use -t FORMAT", ["-o", "out.ndjson", "--split", "device"]),
            (2, "must be device", ["-t", "ndjson", "--split", "host"]),
            (1, "file: cannot make the directory: not a directory", ["-t", "ndjson", "--split", "device", "-o", "file"])):
        done = convert(t, *words, path)
        equal(done.returncode, status, f"status of {words}: {done.stderr}")
        contains(done.stderr, text, f"{words}")


run()
