#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --split: a trace becomes several files, as if of several hosts, because XProf reads no file above 2 GiB."""
import json
import os
import socket
import subprocess
import zlib
from pathlib import Path

import small_disk
from fake_server import FakeServer, field, space
from fake_stream import Flood, stream_server, whole
from fixture import check, contains, equal, run, test
from processes import PROFTAP
from trace_file import Trace, schema

MS = 20


def names(capture):
    return [line.rsplit("/", 1)[1] for line in capture.stdout.splitlines()]


def count(paths, name="span"):
    return [Trace(path).count(name) for path in paths]


def check_split(t, capture, port, n_events, max_bytes):
    paths = capture.stdout.splitlines()
    check(len(paths) > 1, f"the trace was not split: {paths}")
    equal(names(capture), [f"fake_{port}-p{i + 1}.xplane.pb" for i in range(len(paths))], "files")
    equal(sum(count(paths)), n_events, "spans")
    check(min(count(paths)) > 0, "a file without spans")
    for path in paths:
        check(len(open(path, "rb").read()) <= max_bytes, f"{path} is too large")
    equal(sorted(p.name for p in capture.log_dir.rglob("*") if p.is_file()), sorted(names(capture)),
          "files in the directory")


def check_one(capture, name):
    """Checks that there is one file, with everything."""
    left = [path for path in capture.log_dir.rglob("*") if path.is_file()]
    equal(names(capture), [f"{name}.xplane.pb"], "files")
    equal(left, [capture.path], "files in the directory")
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
    equal(result["files"][0], result["file"], "the first file")
    equal(sum(count(result["files"])), 10000, "spans")
    result = json.loads(t.capture(server, MS, "--json").stdout)
    equal(result["files"], [result["file"]], "files of a trace that is not split")


@test
def traces_of_several_targets_are_split_each(t):
    target = t.target().serve()
    server = FakeServer(t, lambda c: c.reply(field(8, space(10000))))
    capture = t.capture(f"127.0.0.1:{target.port},127.0.0.1:{server.port}", MS, "--split=50000", "--json")
    result = json.loads(capture.stdout)
    equal([len(one["files"]) for one in result["targets"]], [1, len(result["files"]) - 1], "files")
    contains(result["files"][0], f"{socket.gethostname()}_{target.port}.xplane.pb", "the first")
    check(len(result["files"]) > 2, f"files: {result['files']}")


@test
def unsplittable_trace_is_one_file_and_a_warning(t):
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
def an_occupied_part_name_renames_all_parts(t):
    server = stream_server(t, whole(space(10000)))
    run = t.dir / "logs" / "plugins" / "profile" / "mine"
    (run / f"fake_{server.port}-p2.xplane.pb").mkdir(parents=True)
    capture = t.capture(server, MS, "--split=100000", "--run", "mine", log_dir=t.dir / "logs")
    check(f"fake_{server.port}_2-p1.xplane.pb" in names(capture), f"files: {names(capture)}")
    equal(sorted(p.name for p in run.iterdir()),
          sorted([*names(capture), f"fake_{server.port}-p2.xplane.pb"]), "the run")
    capture.find_warning(f"this trace is called fake_{server.port}_2")


@test
def a_part_name_that_is_too_long_leaves_one_file(t):
    """With a suffix of two digits the name would be too long for a file."""
    name = "x" * (255 - len("-p9.xplane.pb"))
    server = stream_server(t, whole(space(10000)))
    capture = t.capture(server, MS, "--split=15000", "--host_name", name)
    check_one(capture, name)
    capture.find_warning("not split: ", "cannot make the file: file name too long")


@test
def a_disk_without_room_for_parts_gets_one_file(t):
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


# Commands that read parts, and know that they are parts.

FORMATS = "perfetto", "chrome", "pprof", "csv", "csv-summary", "ndjson", "sqlite", "speedscope", "folded"


def proftap(*words, code=0):
    done = subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    equal(done.returncode, code, f"exit status of {words}; {done.stderr!r}")
    return done


def trace_of_all_sorts():
    """Makes a trace of two processes with losses: nested spans across the cuts, threads that begin
    late, counters, async spans."""
    s = schema("xplane").XSpace(hostnames=["fake"], warnings=["something was lost"])
    for pid, name in ((100, "/host:CPU"), (200, "/host:CPU child [200]")):
        plane = s.planes.add(name=name)
        for i, text in enumerate(("process_id", "dropped_traces", "ptap_process_name", "_a", "number"), 1):
            plane.stat_metadata[i].id = i
            plane.stat_metadata[i].name = text
        for i, text in enumerate(("outer", "inner", "rate", "async"), 1):
            plane.event_metadata[i].id = i
            plane.event_metadata[i].name = text
        plane.stats.add(metadata_id=1, int64_value=pid)
        plane.stats.add(metadata_id=2, uint64_value=pid * 10)
        plane.stats.add(metadata_id=3, str_value=f"program{pid}")
        for tid, first in ((pid, 0), (pid + 1, 1500)):
            line = plane.lines.add(id=tid, name=f"thread {tid}")
            for i in range(first, 2000):
                if i % 100 == 0:
                    line.events.add(metadata_id=1, offset_ps=i * 1000000, duration_ps=99000000)
                event = line.events.add(metadata_id=2, offset_ps=i * 1000000 + 500000, duration_ps=400000)
                event.stats.add(metadata_id=5, int64_value=i)
        line = plane.lines.add(id=2**62, name="_counters_")
        for i in range(300):
            line.events.add(metadata_id=3, offset_ps=i * 6000000).stats.add(metadata_id=5, int64_value=i % 7)
        line = plane.lines.add(id=2**62 + 1, name="async")
        for i in range(300):
            line.events.add(metadata_id=4, offset_ps=i * 6000000, duration_ps=50000000).stats.add(
                metadata_id=4, int64_value=1)
    environment = s.planes.add(name="Task Environment")
    for i, (text, time) in enumerate((("profile_start_time", 10**18), ("profile_stop_time", 10**18 + 2000000)), 1):
        environment.stat_metadata[i].id = i
        environment.stat_metadata[i].name = text
        environment.stats.add(metadata_id=i, uint64_value=time)
    return s.SerializeToString()


def capture_both(t):
    """Returns a trace in one file, and the same in parts that somebody renamed, so that their
    order by name is reversed."""
    server = stream_server(t, whole(trace_of_all_sorts()))
    one = t.capture(server, MS, "--run", "one", "--host_name", "fake", log_dir=t.dir / "logs").path
    paths = t.capture(server, MS, "--split=40000", "--run", "parts", "--host_name", "fake",
                      log_dir=t.dir / "logs").stdout.splitlines()
    check(len(paths) >= 3, f"parts: {paths}")
    for i, path in enumerate(paths):
        os.rename(path, f"{os.path.dirname(path)}/{chr(ord('z') - i)}.xplane.pb")
    return one.rename(one.parent / "z.xplane.pb"), Path(paths[0]).parent


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_fields(data):
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, end = read_varint(data, at)
        if tag & 7 == 1:
            value, end = data[at:at + 8], at + 8
        elif tag & 7 == 2:
            value, end = data[end:end + value], end + value
        yield tag >> 3, value
        at = end


def read_packets(data):
    """Returns Perfetto's packets, unpacked, without the trace's id and the ids of sequences, which
    depend on the file's bytes."""
    packets = []
    for _, packet in read_fields(data):
        fields = dict(read_fields(packet))
        if 50 in fields:
            packets += read_packets(zlib.decompress(fields[50]))
        elif 89 not in fields and 35 not in fields:
            packets.append({key: value for key, value in fields.items() if key != 10})
    return packets


@test
def conversions_of_parts_equal_those_of_the_whole(t):
    one, parts = capture_both(t)
    for which in FORMATS:
        made = {}
        for name, place in (("one", one), ("parts", parts)):
            out = t.dir / f"{name}.{which}"
            proftap("convert", place, "-t", which, "-o", out)
            made[name] = out.read_bytes() if which != "perfetto" else read_packets(out.read_bytes())
        check(made["one"] == made["parts"], f"{which}: the parts became something else")


@test
def a_report_of_parts_equals_that_of_the_whole(t):
    one, parts = capture_both(t)
    whole_, split = (json.loads(proftap("report", "--json", place).stdout) for place in (one, parts))
    equal(split["totals"]["dropped"], 3000, "losses")
    equal([p["process_id"] for p in split["planes"] if p["process_id"]], [100, 200], "processes")
    for key in whole_:
        if key not in ("file", "files", "path", "paths", "hosts"):
            equal(split[key], whole_[key], key)
    difference = json.loads(proftap("diff", "--json", one, parts).stdout)
    text = proftap("report", parts).stdout
    contains(text, "dropped 3,000", "the report")
    equal(difference, json.loads(proftap("diff", "--json", one, one).stdout) | {
        key: difference[key] for key in ("a", "b") if key in difference}, "the comparison")


@test
def a_part_that_is_missing_is_reported(t):
    parts = capture_both(t)[1]
    n = len(list(parts.iterdir()))
    (parts / "y.xplane.pb").unlink()
    contains(proftap("report", parts).stdout, f"part 2 of {n} of this capture is missing", "the report")
    contains(proftap("report", parts / "z.xplane.pb").stdout,
             f"part {', '.join(map(str, range(2, n + 1)))} of {n} of this capture is missing", "message about one file")


@test
def a_part_that_was_copied_is_read_once(t):
    one, parts = capture_both(t)
    (parts / "copy.xplane.pb").write_bytes((parts / "x.xplane.pb").read_bytes())
    result = json.loads(proftap("report", "--json", parts).stdout)
    equal(result["totals"], json.loads(proftap("report", "--json", one).stdout)["totals"], "totals")
    check(any("is a copy of another part, and left out" in text for text in result["warnings"]),
          f"warnings: {result['warnings']}")


@test
def stock_traces_without_a_mark_stay_apart(t):
    server = FakeServer(t, lambda c: c.reply(field(8, space(100))))
    for name in ("a", "b"):
        t.capture(server, MS, "--run", "two", "--host_name", name, log_dir=t.dir / "logs")
    result = json.loads(proftap("report", "--json", t.dir / "logs/plugins/profile/two").stdout)
    equal([plane["name"] for plane in result["planes"]], ["/host:CPU", "/host:CPU"], "planes")


@test
def losses_of_a_program_are_counted_once(t):
    target = t.target().serve(0, 4096)
    capture = t.emit(target, 100, "flood 400000", options=("--split=200000", "--run", "mine"))
    paths = capture.stdout.splitlines()
    check(len(paths) > 2, f"parts: {paths}")
    lost = Trace(paths[0]).host_stat("dropped_traces")
    check(lost > 0, "nothing was lost: the test is void")
    result = json.loads(proftap("report", "--json", Path(paths[0]).parent).stdout)
    equal(result["totals"]["dropped"], lost, "losses")
    equal([p["process_id"] for p in result["planes"] if p["name"] == "/host:CPU"], [target.pid], "processes")
    out = t.dir / "trace.json"
    proftap("convert", Path(paths[0]).parent, "-t", "chrome", "-o", out)
    names = [e["args"]["name"] for e in json.loads(out.read_text())["traceEvents"]
             if e.get("name") == "process_name"]
    equal(len(names), 1, f"processes in the viewer: {names}")


run()
