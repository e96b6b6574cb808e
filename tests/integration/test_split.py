#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--split: a trace in several files, as if of several hosts, because XProf reads no file above 2 GiB."""
import json
import socket

import small_disk
from fake_server import FakeServer, field, space
from fake_stream import Flood, stream_server, whole
from fixture import check, contains, equal, run, test
from trace_file import Trace

MS = 20


def names(capture):
    return [line.rsplit("/", 1)[1] for line in capture.stdout.splitlines()]


def count(paths, name="span"):
    return [Trace(path).count(name) for path in paths]


def check_split(t, capture, port, n_events, max_bytes):
    paths = capture.stdout.splitlines()
    check(len(paths) > 1, f"it was not split: {paths}")
    equal(names(capture), [f"fake_{port}-p{i + 1}.xplane.pb" for i in range(len(paths))], "files")
    equal(sum(count(paths)), n_events, "spans")
    check(min(count(paths)) > 0, "a file without spans")
    for path in paths:
        check(len(open(path, "rb").read()) <= max_bytes, f"{path} is too large")
    equal(sorted(p.name for p in capture.log_dir.rglob("*") if p.is_file()), sorted(names(capture)),
          "what is in the directory")


def check_one(capture, name):
    """One file, with everything."""
    left = [path for path in capture.log_dir.rglob("*") if path.is_file()]
    equal(names(capture), [f"{name}.xplane.pb"], "files")
    equal(left, [capture.path], "what is in the directory")
    equal(count(left), [10000], "spans")


@test
def a_stream_is_split(t):
    server = stream_server(t, whole(space(10000)))
    capture = t.capture(server, MS, "--split=50000")
    check_split(t, capture, server.port, 10000, 50000)
    contains(capture.stderr, "spans 10,000 on 1 thread", "the summary")
    equal(capture.warnings, [], "warnings")


@test
def the_answer_of_a_stock_server_is_split(t):
    server = FakeServer(t, lambda c: c.reply(field(8, space(10000))))
    check_split(t, t.capture(server, MS, "--split=50000"), server.port, 10000, 50000)


@test
def a_trace_that_is_small_enough_is_one_file(t):
    server = stream_server(t, whole(space(100)))
    for option in ("--split", "--split=50000"):
        equal(names(t.capture(server, MS, option)), [f"fake_{server.port}.xplane.pb"], "files")


@test
def scripts_get_the_list(t):
    server = stream_server(t, whole(space(10000)))
    result = json.loads(t.capture(server, MS, "--split=100000", "--json").stdout)
    check(len(result["files"]) > 1, f"files: {result['files']}")
    equal(result["files"][0], result["file"], "the first one")
    equal(sum(count(result["files"])), 10000, "spans")
    result = json.loads(t.capture(server, MS, "--json").stdout)
    equal(result["files"], [result["file"]], "files of one that is not split")


@test
def of_many_each_is_split(t):
    target = t.target().serve()
    server = FakeServer(t, lambda c: c.reply(field(8, space(10000))))
    capture = t.capture(f"127.0.0.1:{target.port},127.0.0.1:{server.port}", MS, "--split=50000", "--json")
    result = json.loads(capture.stdout)
    equal([len(one["files"]) for one in result["targets"]], [1, len(result["files"]) - 1], "files")
    contains(result["files"][0], f"{socket.gethostname()}_{target.port}.xplane.pb", "the first")
    check(len(result["files"]) > 2, f"files: {result['files']}")


@test
def what_cannot_be_split_is_one_file_and_a_warning(t):
    server = stream_server(t, whole(space(10000, name="x" * 6000)))
    capture = t.capture(server, MS, "--split=5000")
    equal(names(capture), [f"fake_{server.port}.xplane.pb"], "files")
    capture.find_warning("not split into files of 5000 bytes: the names of its events and threads alone have more")


@test
def files_that_exist_are_not_overwritten(t):
    server = stream_server(t, whole(space(10000)))
    log_dir = t.dir / "logs"
    t.capture(server, MS, "--split=100000", "--run", "mine", log_dir=log_dir)
    again = t.capture(server, MS, "--split=100000", "--run", "mine", log_dir=log_dir)
    n = len(names(again))
    check(n > 1, f"files: {names(again)}")
    equal(names(again), [f"fake_{server.port}_2-p{i + 1}.xplane.pb" for i in range(n)], "files")
    again.find_warning(f"this trace is called fake_{server.port}_2, and nothing was overwritten")


@test
def something_in_the_way_of_a_later_part_gives_all_another_name(t):
    server = stream_server(t, whole(space(10000)))
    run = t.dir / "logs" / "plugins" / "profile" / "mine"
    (run / f"fake_{server.port}-p2.xplane.pb").mkdir(parents=True)
    capture = t.capture(server, MS, "--split=100000", "--run", "mine", log_dir=t.dir / "logs")
    check(f"fake_{server.port}_2-p1.xplane.pb" in names(capture), f"files: {names(capture)}")
    equal(sorted(p.name for p in run.iterdir()),
          sorted([*names(capture), f"fake_{server.port}-p2.xplane.pb"]), "the run")
    capture.find_warning(f"this trace is called fake_{server.port}_2")


@test
def parts_of_which_one_gets_no_name_are_none(t):
    """With two digits in the suffix the name is longer than a file's can be."""
    name = "x" * (255 - len("-p9.xplane.pb"))
    server = stream_server(t, whole(space(10000)))
    capture = t.capture(server, MS, "--split=15000", "--host_name", name)
    check_one(capture, name)
    capture.find_warning("not split: ", "cannot make the file: file name too long")


@test
def a_disk_with_room_for_one_file_has_one(t):
    log_dir = small_disk.mount(t, "200k")
    server = stream_server(t, whole(space(10000)))
    capture = t.capture(server, MS, "--split=50000", log_dir=log_dir)
    check_one(capture, f"fake_{server.port}")
    capture.find_warning("not split: ", "no space left on device")


@test
def a_limit_out_of_range_is_refused(t):
    for bad in ("0", "4095", "2147483648", "x"):
        contains(t.capture(1, MS, f"--split={bad}", code=2).stderr, "--split", "standard error")


@test
def splitting_takes_little_memory(t):
    flood = Flood(48 << 20)
    server = stream_server(t, flood.script)
    capture = t.capture(server, MS, "--split=10000000")
    paths = capture.stdout.splitlines()
    check(len(paths) >= 5, f"files: {paths}")
    contains(capture.stderr, f"spans {flood.n_events:,} on 1 thread", "the summary")


run()
