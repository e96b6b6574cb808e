#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert on invalid and strange traces, and with outputs that it cannot write: it prints
one sentence, and leaves no file or a complete one.
"""
import collections
import gzip
import re
import resource
import subprocess

from checks import SLOWNESS
from conversions import Conversion, capture_requests, field, goldens, make_space
from fixture import check, contains, equal, run, schema, test
from processes import PROFTAP
from spans import each_of_chrome, each_of_csv, each_of_ndjson, each_of_sqlite

BIG = 2**63 - 1
N_LINES = 10**6 // SLOWNESS


def convert(t, *words, **options):
    return subprocess.run([PROFTAP, "convert", *words], cwd=t.dir, capture_output=True, timeout=120, **options)


def read_formats(t):
    return re.findall(r"^  (\w[\w-]*) +[._]\w", convert(t, "--help").stdout.decode(), re.M)


def streams(t):
    """Returns the formats that can go to standard output."""
    return [name for name in read_formats(t) if name != "sqlite"]


def check_sentence(done, *words):
    text = done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
    equal((done.returncode, text.count("\n")), (1, 1), f"status and lines of {text!r}")
    for word in words:
        contains(text, word, "the sentence")


# --- no trace --------------------------------------------------------------------------------


NO_TRACES = {
    "empty": (b"", "empty file, not a trace"),
    "text": (b"hello world, this is no trace\n", "not a readable trace"),
    "JSON": (b'{"traceEvents": []}', "not a readable trace"),
    "compressed": (gzip.compress(b"\x0a\x00"), "compressed by gzip, not an XSpace"),
    "4 GB": (b"\x0a\xff\xff\xff\xff\x0f", "a length goes beyond the end"),
    "4 GB inside": (field(1, b"\x1a\xff\xff\xff\xff\x0f"), "a length goes beyond the end"),
    "2^64 bytes": (b"\x0a" + b"\xff" * 9 + b"\x01", "not a readable trace"),
}


@test
def files_that_are_no_traces_are_refused(t):
    for name, (data, words) in NO_TRACES.items():
        (t.dir / "in").write_bytes(data)
        check_sentence(convert(t, "-o", "out.ndjson", "in"), "in: ", words)
        equal([p.name for p in t.dir.iterdir()], ["in"], f"files after {name}")


@test
def our_own_outputs_are_refused(t):
    """Packets of Perfetto and profiles of pprof are protobuf messages, like an XSpace."""
    trace = capture_requests(t)
    outputs = {form: ("out",) for form in read_formats(t)}
    outputs["pprof"] = "out.pprof", "out.pprof.pb"
    for form, names in outputs.items():
        for name in names:
            equal(convert(t, "-t", form, "-o", name, trace).returncode, 0, f"status of {form}")
            check_sentence(convert(t, "-t", "csv", "-o", "again", name), f"{name}: ")
            check(not (t.dir / "again").exists(), f"a file was made of {form}")
    for words in (), ("--compression", "none"):
        equal(convert(t, "-t", "perfetto", "-o", "a.pftrace", *words, trace).returncode, 0, "status")
        for command in ("report", "a.pftrace"), ("diff", "a.pftrace", "a.pftrace"), ("view", "a.pftrace"):
            done = subprocess.run([PROFTAP, *command], cwd=t.dir, capture_output=True, timeout=20)
            check_sentence(done, "a.pftrace: a Perfetto trace, not an XSpace; give the .xplane.pb")


@test
def truncated_trace_is_refused_or_shorter(t):
    """A file cut between two planes is a valid shorter trace."""
    data = goldens()[0].read_bytes()
    for n in range(1, len(data), len(data) // 20):
        (t.dir / "in").write_bytes(data[:n])
        done = convert(t, "-o", "out.ndjson", "in")
        if done.returncode:
            check_sentence(done, "in: not a readable trace: at byte ")
        equal((t.dir / "out.ndjson").exists(), done.returncode == 0, "whether there is a file")


# --- strange traces --------------------------------------------------------------------------


def check_all(t, data):
    """Checks that every format accepts the trace, and that the formats with all events have the
    same ones.
    """
    path = t.dir / "in.xplane.pb"
    path.write_bytes(data)
    for form in set(read_formats(t)) - {"ndjson", "csv", "sqlite", "chrome"}:
        done = convert(t, "-t", form, "-o", "out", path)
        equal(done.returncode, 0, f"{form}: {done.stderr}")
    items = collections.Counter(each_of_ndjson(t, [path]))
    equal(collections.Counter(each_of_csv(t, [path])), items, "CSV")
    equal(len(list(each_of_sqlite(t, [path]))), items.total(), "rows of SQLite")
    check(len(list(each_of_chrome(t, [path]))) <= items.total(), "more in Chrome's JSON")
    return items


@test
def impossible_times_can_be_converted(t):
    space = schema("xplane").XSpace()
    plane = space.planes.add(name="/host:CPU")
    plane.event_metadata[1].id = 1
    plane.event_metadata[1].name = "x"
    for base_ns in (0, -BIG, BIG, -BIG - 1):
        line = plane.lines.add(id=7, name=f"from {base_ns}", timestamp_ns=base_ns)
        for offset_ps, duration_ps in ((0, 1), (-BIG, BIG), (BIG, BIG), (-5000, 10**9), (5, -5)):
            line.events.add(metadata_id=1, offset_ps=offset_ps, duration_ps=duration_ps)
    items = check_all(t, space.SerializeToString())
    equal(items.total(), 20, "events")
    check(all(item[3] >= 0 for item in items), "durations below 0")


@test
def duplicate_and_missing_ids_can_be_converted(t):
    space = schema("xplane").XSpace()
    for _ in range(2):
        plane = space.planes.add(id=5, name="/device:GPU:0")
        for _ in range(2):
            line = plane.lines.add(id=9, name="stream")
            event = line.events.add(metadata_id=404, offset_ps=1000, duration_ps=1000)
            event.stats.add(metadata_id=404, int64_value=1)
            event.stats.add(metadata_id=1, ref_value=404)
        plane.stat_metadata[1].id = 1
        plane.stat_metadata[1].name = "refers"
    # The same entries of both tables follow once more, with other names.
    names = b"".join(field(number, b"\x08\x01" + field(2, b"\x08\x01" + field(2, text)))
                     for number in (4, 5) for text in (b"first", b"second"))
    twice = field(1, field(2, b"/host:CPU") + field(3, b"\x08\x01" + field(4, b"\x08\x01\x18\x05") * 2) + names)
    items = check_all(t, space.SerializeToString() + twice)
    equal(items.total(), 6, "events")
    equal({item[4] for item in items}, {(("refers", ""),), ()}, "arguments")


@test
def a_million_lines_are_read(t):
    """One plane has a million lines with one event each."""
    line = field(3, b"\x08\x01" + field(4, b"\x08\x01\x10\x05\x18\x05"))
    path = t.dir / "in.xplane.pb"
    path.write_bytes(field(1, field(2, b"/host:CPU") + line * N_LINES))
    equal(Conversion(t, "csv", path).summary["written"], N_LINES, "events")


# --- outputs that cannot be written ----------------------------------------------------------


def make_large(t):
    """Makes a trace whose output exceeds a pipe's buffer in every format."""
    path = t.dir / "large.xplane.pb"
    spans = [(f"{i * 2654435761 % 2**64:064x}", 100 * i, 50) for i in range(4000)]
    path.write_bytes(make_space({"main": spans}, pid=77) + make_space({"stream": spans}, "/device:GPU:0"))
    return path


@test
def an_old_file_stays_when_the_new_one_is_too_large(t):
    path = make_large(t)
    (t.dir / "out").write_text("old")
    for form in read_formats(t):
        done = convert(t, "-t", form, "-o", "out", path,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        check_sentence(done, "out: cannot write: file too large")
        equal((t.dir / "out").read_text(), "old", f"the old file, after {form}")
        equal(len(list(t.dir.iterdir())), 2, f"files after {form}")


@test
def standard_output_gets_the_bytes_of_the_file(t):
    path = make_large(t)
    for form in streams(t):
        equal(convert(t, "-t", form, "-o", "out", path).returncode, 0, f"status of {form}")
        done = convert(t, "-t", form, "-o", "-", path)
        data = (t.dir / "out").read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        equal(done.returncode, 0, f"status of {form} to standard output")
        check(done.stdout == data, f"{form}: {len(done.stdout)} bytes, not the {len(data)} of the file")


@test
def a_full_device_is_reported(t):
    path = make_large(t)
    for form in streams(t):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROFTAP, "convert", "-t", form, "-o", "-", path], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        check_sentence(done, "standard output: cannot write: no space left")


@test
def a_reader_that_goes_away_is_reported(t):
    path = make_large(t)
    for form in streams(t):
        process = subprocess.Popen([PROFTAP, "convert", "-t", form, "-o", "-", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=False)
        process.stdout.read(1)
        process.stdout.close()
        text = process.stderr.read()
        process.stderr.close()
        done = subprocess.CompletedProcess([], process.wait(60), b"", text)
        check_sentence(done, "standard output: cannot write: broken pipe")


run()
