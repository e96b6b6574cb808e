#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the client against a gRPC server that lies, breaks off, or names files elsewhere: readable data is published,
every problem is reported, and nothing is written elsewhere."""
import json
import os
import struct
import subprocess
import time
import zlib
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from checks import in_time
from fake_server import FakeServer, field, space, tool_data, varint
from fixture import SANITIZERS, check, contains, equal, run, test, timed
from http2 import RST_STREAM
from processes import PROFTAP
from viewing import View, convert

MS = 20
BOMB_BYTES = 200 << 20
# No client of this test needs more memory.
LIMIT_KIB = 128 << 10
EMPTY_TRACE = varint(7 << 3) + b"\1"
NAMES = ("../../../../escaped", "/tmp/proftap-escaped", "", "a\0b", "x/../../../escaped.txt",
         "xplane.pb\0", "./xplane.pb", "y" * 1000000)


def capture(t, script, *options, code=0):
    return t.capture(FakeServer(t, script), MS, *options, code=code)


def answer(t, message, *options, code=0, **headers):
    return capture(t, lambda c: c.reply(message, **headers), *options, code=code)


def check_said(c, *parts):
    for part in parts:
        contains(c.stderr, part, "standard error")
    check(len(c.stderr) < 2000, f"{len(c.stderr)} bytes on standard error")
    check(not any(ch < " " and ch != "\n" or "\x7f" <= ch < "\xa0" for ch in c.stderr),
          f"control characters on standard error: {c.stderr!r}")


def check_nothing(c, *parts):
    check_said(c, *parts)
    equal((c.stdout, c.left()), ("", []), "standard output and what is left")


def check_files(t, c):
    """Checks that the trace is the only file, in this test's directory and in the one that the server names."""
    files = sorted(str(p) for p in t.dir.rglob("*") if p.is_file())
    equal(files, [str(c.path)], "files")
    check(not os.path.exists("/tmp/proftap-escaped"), "the client wrote to the path that the server named")


def check_trace(c, n):
    equal(c.trace.count("span"), n, "spans")
    equal(c.path.name.endswith(".xplane.pb"), True, "the name")


# The bytes that are the trace.

@test
def the_field_xspace_alone_is_the_trace(t):
    check_trace(answer(t, field(8, space(3))), 3)


@test
def the_tool_data_xplane_pb_alone_is_the_trace(t):
    check_trace(answer(t, tool_data("xplane.pb", space(4))), 4)


@test
def first_of_both_forms_is_the_trace(t):
    check_trace(answer(t, tool_data("xplane.pb", space(4)) + field(8, space(3))), 4)
    check_trace(answer(t, field(8, space(3)) + tool_data("xplane.pb", space(4))), 3)


@test
def first_of_two_files_of_one_name_is_the_trace(t):
    c = answer(t, tool_data("xplane.pb", space(4)) + tool_data("xplane.pb", space(3)))
    check_trace(c, 4)
    check_files(t, c)


@test
def names_of_files_are_never_paths(t):
    evil = b"".join(tool_data(name, space(9)) for name in NAMES)
    c = answer(t, evil + field(8, space(3)))
    check_trace(c, 3)
    check_files(t, c)


@test
def files_without_a_trace_are_reported_and_not_written(t):
    c = answer(t, b"".join(tool_data(name, space(9)) for name in NAMES), code=1)
    check_nothing(c, f'the answer holds no XSpace but {len(NAMES)} other files, the first called '
                  '"../../../../escaped"; nothing was written')
    check_files_none(t)


@test
def one_file_without_a_trace_is_reported(t):
    c = answer(t, tool_data("trace.json.gz", space(9)), code=1)
    check_nothing(c, 'the answer holds no XSpace but another file, called "trace.json.gz"; nothing')
    check_files_none(t)


def check_files_none(t):
    equal([str(p) for p in t.dir.rglob("*") if p.is_file()], [], "files")


@test
def a_trace_that_the_server_calls_empty_is_kept(t):
    c = answer(t, EMPTY_TRACE + field(8, space(3)))
    check_trace(c, 3)
    c.find_warning("the server reports an empty trace, but the trace has events")


def make_bomb():
    """Compresses in pieces: this process must stay small, because its children would seem to be as large."""
    packer = zlib.compressobj(1, wbits=31)
    parts = [packer.compress(bytes(1 << 20)) for _ in range(BOMB_BYTES >> 20)]
    return b"".join(parts) + packer.flush()


@test
def the_client_asks_for_nothing_compressed(t):
    """The client decompresses nothing: some kilobytes could become hundreds of megabytes."""
    bomb = make_bomb()

    def script(c):
        c.headers(grpc_encoding="gzip")
        c.message(bomb, 1)
        c.end()
    c = capture(t, script, code=1)
    check_nothing(c)
    # Later versions of gRPC refuse it before the client does.
    check("the answer is refused: it is compressed, which was not asked for; nothing was written" in
          c.stderr or "Compression algorithm 'gzip' is disabled" in c.stderr, c.stderr)
    peak_kib = getrusage(RUSAGE_CHILDREN).ru_maxrss
    check(SANITIZERS != "no" or peak_kib < LIMIT_KIB, f"the client grew to {peak_kib} KiB")


def check_two_messages(t, script):
    c = capture(t, script, "--timeout", "20000", code=1)
    check_nothing(c, "the answer is refused: it has more than one message; nothing was written")
    in_time(c.elapsed_s, 5, "the end")


@timed
def a_second_message_is_reported_at_once(t):
    def then_end(c):
        c.headers()
        c.message(field(8, space(3)))
        c.message(field(8, space(3)))
        c.end()

    def without_end(c):
        c.headers()
        c.message(field(8, space(3)))
        while True:
            c.message(field(8, space(3)))
    check_two_messages(t, then_end)
    check_two_messages(t, without_end)


# Answers without data to keep.

@test
def an_empty_trace_is_empty(t):
    for message in (EMPTY_TRACE, EMPTY_TRACE + field(8, b""), field(8, space(0))):
        check_nothing(answer(t, message, code=3), "the recording worked and was empty: ")


@test
def an_answer_without_anything_is_reported(t):
    check_nothing(answer(t, b"", code=1), "the server kept the trace: it wrote it to its own disk")


@test
def no_answer_with_status_ok_is_reported(t):
    def script(c):
        c.headers()
        c.end()
    check_nothing(capture(t, script, code=1),
                  "the server ended the call with OK and without a whole answer")


@test
def a_message_of_4_gib_that_ends_early_is_reported(t):
    def script(c):
        c.headers()
        c.data(b"\0\xff\xff\xff\xff" + space(3))
        c.end()
    check_nothing(capture(t, script, code=1), "without a whole answer")


@test
def lengths_beyond_the_message_are_reported(t):
    for message in (varint(6 << 3 | 2) + varint(1 << 32) + space(3), field(6, varint(2 << 3 | 2) +
                    varint(1 << 63) + space(3)), b"\x42\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"):
        c = answer(t, message, code=1)
        check_nothing(c, "the answer is no ProfileResponse: it is malformed, or its end is missing")


@test
def a_connection_cut_in_mid_answer_is_reported(t):
    def script(c):
        c.headers()
        c.data(b"\0\0\0\xff\xff" + space(3))
        c.sock.shutdown(2)
    check_nothing(capture(t, script, code=1), "the connection broke after ", "nothing was written")


@test
def a_server_that_closes_at_once_is_reported(t):
    c = capture(t, lambda c: c.sock.shutdown(2), code=1)
    check_nothing(c, "the connection broke after ")


@test
def a_hundred_megabytes_too_much_take_no_memory(t):
    """The bytes follow a whole trace, in fields with an unknown number."""
    def script(c):
        extra = 100 << 20
        head = field(8, space(3)) + varint(99 << 3 | 2) + varint(extra)
        c.headers()
        c.data(b"\0" + struct.pack(">I", len(head) + extra) + head)
        for _ in range(extra >> 20):
            c.data(bytes(1 << 20))
        c.end()
    check_trace(capture(t, script), 3)
    peak_kib = getrusage(RUSAGE_CHILDREN).ru_maxrss
    check(SANITIZERS != "no" or peak_kib < LIMIT_KIB, f"the client grew to {peak_kib} KiB")


@test
def a_call_that_is_reset_is_reported(t):
    def script(c):
        c.headers()
        c.frame(RST_STREAM, 0, c.stream, struct.pack(">I", 2))
    check_nothing(capture(t, script, code=1), "the server answered INTERNAL: ")


@timed
def a_trickle_ends_with_the_timeout(t):
    def script(c):
        c.headers()
        c.data(b"\0\xff\xff\xff\xff")
        while True:
            c.data(b"\0")
            time.sleep(0.01)
    c = capture(t, script, "--timeout", "500", code=6)
    check_nothing(c, "timed out: no whole answer within 500 ms; nothing was written")
    in_time(c.elapsed_s, 3, "the end")


@timed
def a_server_that_never_answers_ends_with_the_timeout(t):
    c = capture(t, lambda c: None, "--timeout", "500", code=6)
    check_nothing(c, "timed out: no whole answer within 500 ms; nothing was written")
    in_time(c.elapsed_s, 3, "the end")


# Commands that a user may run on the kept file.

def proftap(*words, code=0):
    done = subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    equal(done.returncode, code, f"exit status of {words}; {done.stderr!r}")
    return done.stdout or done.stderr


def check_kept(t, c, said, kept, name="fake"):
    check_said(c, said, "; the data received so far is in ")
    path = c.stderr.split("the data received so far is in ")[1].strip()
    equal(c.stdout, "", "standard output")
    check(os.path.basename(path).startswith(name) and path.endswith(".xplane.pb.broken"), path)
    equal(open(path, "rb").read(), kept, "the bytes kept")
    equal([str(p) for p in t.dir.rglob("*") if p.is_file()], [path], "files")


@test
def a_trace_that_cannot_be_read_is_kept_aside(t):
    bad = space(3) + b"\xff" * 20
    check_kept(t, answer(t, field(8, bad), code=1), "the answer is not a readable trace: ", bad)


@test
def a_trace_in_an_answer_that_breaks_off_is_kept_aside(t):
    c = answer(t, field(8, space(3))[:-5], code=1)
    check_kept(t, c, "the answer is no ProfileResponse", space(3)[:-5], name="")


@test
def truncated_trace_is_kept_and_readable(t):
    """The trace is cut in the middle of one of many events, and the run has no other file."""
    data = space(1000)
    c = answer(t, field(8, data)[:-5000], code=1)
    path = Path(c.stderr.split("the data received so far is in ")[1].strip())
    said = f"it ends after {path.stat().st_size} of at least 137"
    for place in (path, path.parent, t.dir / "logs"):
        if place.exists():
            result = json.loads(proftap("report", "--json", place))
            check(any(said in text for text in result["warnings"]), f"warnings: {result['warnings']}")
            check(500 < result["totals"]["spans"] < 1000, f"totals: {result['totals']}")
    n = result["totals"]["spans"]
    # Span i begins at i us, so the kept part is whole up to the begin of its last span.
    whole = f'whole up to {(n - 1) / 1000:.3f} ms, where the row "main" was cut'
    check(any(whole in text for text in result["notes"]), f"notes: {result['notes']}")
    text = proftap("report", path)
    contains(text, said, "the text")
    contains(" ".join(text.split()), whole, "the text")
    view = View(t, path)
    equal(view.fetch(), convert(t, path), "served events")
    equal(view.wait(), 0, "the end of proftap view")
    proftap("convert", path, "-t", "ndjson", "-o", t.dir / "out.ndjson")
    equal(sum('"span"' in line for line in (t.dir / "out.ndjson").read_text().splitlines()
              if json.loads(line).get("type") == "span"), n, "spans that are converted")
    proftap("diff", path, path)


@test
def a_truncated_trace_keeps_all_before_the_cut(t):
    """The number of spans grows with the bytes, and no cut file is taken for a whole one."""
    data = space(12)
    path = t.dir / "cut.xplane.pb.broken"
    last = 0
    for n in range(len(data) // 3, len(data), 3):
        path.write_bytes(data[:n])
        result = json.loads(proftap("report", "--json", path))
        n_spans = result["totals"]["spans"]
        check(last <= n_spans <= 12 and (result["warnings"] or n_spans == 12), f"{n} bytes: {result}")
        last = n_spans
    check(last > 6, f"{last} spans at last")
    path.write_bytes(b"\xff" * 100)
    contains(proftap("report", path, code=1), "not a readable trace", "message about garbage")


@test
def broken_traces_do_not_overwrite_each_other(t):
    log_dir = t.dir / "logs"
    port = FakeServer(t, lambda c: c.reply(field(8, b"\xff" * 100)))
    for _ in range(3):
        t.capture(port, MS, "--run", "mine", "--host_name", "me", log_dir=log_dir, code=1)
    equal(sorted(p.name for p in (log_dir / "plugins/profile/mine").iterdir()),
          ["me.xplane.pb.broken", "me.xplane.pb.broken_2", "me.xplane.pb.broken_3"], "files")


# Texts of errors and names.

@test
def the_status_of_a_stranger_is_shown_by_name_with_its_text(t):
    for status, shown in ((7, "PERMISSION_DENIED: not for you"), (8, "RESOURCE_EXHAUSTED: "),
                          (13, "INTERNAL: "), (77, "UNKNOWN: ")):
        c = capture(t, lambda c: c.fail(status, "not for you"), code=1)
        check_nothing(c, f"the server answered {shown}")
    for status in (-1, "abc"):
        c = capture(t, lambda c: c.fail(status, "not for you"), code=1)
        check_nothing(c, "the server answered ")
        # gRPC 1.51 says UNKNOWN, 1.85 says what it could not read.
        check("UNKNOWN: " in c.stderr or "Error parsing 'grpc-status' metadata" in c.stderr, c.stderr)


@test
def a_status_text_reaches_the_terminal_clean_and_short(t):
    c = capture(t, lambda c: c.fail(13, "\x1b[2J\x1b]0;title\x07red\r\nsecond line\x9b31m"), code=1)
    check_nothing(c, "the server answered INTERNAL: ?[2J?]0;title?red??second line")
    equal(c.stderr.count("\n"), 1, "lines on standard error")
    check_nothing(capture(t, lambda c: c.fail(13, "x" * 6000), code=1), "INTERNAL: xxx")
    # gRPC refuses a text of this length, with one of two statuses.
    c = capture(t, lambda c: c.fail(13, "x" * 100000), code=1)
    check_nothing(c, "the server answered ")
    check(len(c.stderr) < 300 and c.stderr.count("\n") == 1, f"standard error: {c.stderr!r}")


@test
def warnings_and_names_reach_the_terminal_clean(t):
    c = answer(t, field(8, space(3, ["\x1b[2Jcleared\x07\nnext: line"], name="\x1b[31mspan")))
    check_said(c, "  warning: ?[2Jcleared??next: line\n")
    evil = space(0, ["nothing was recorded: \x1b[2Jcleared\n"])
    check_nothing(answer(t, field(8, evil), code=3), "was empty: ?[2Jcleared?\n")


@test
def a_busy_server_is_busy_and_says_who_holds_it(t):
    c = capture(t, lambda c: c.fail(13, "Another profiling session active."), code=4)
    check_nothing(c, "busy: another profiling session is active there; wait for it to end")
    held = "Another profiling session active. Session night, 2 s of 60 s, from 127.0.0.1:4711"
    c = capture(t, lambda c: c.fail(13, held), code=4)
    check_nothing(c, "active there (Session night, 2 s of 60 s, from 127.0.0.1:4711); wait")
    c = capture(t, lambda c: c.fail(13, "Another profiling session active. " + "x" * 400), code=4)
    check_nothing(c, f"active there ({'x' * 200}…); wait for it to end")


@test
def truncated_text_of_a_stranger_is_marked(t):
    check_nothing(capture(t, lambda c: c.fail(13, "x" * 400), code=1), f"INTERNAL: {'x' * 300}…\n")
    check_nothing(answer(t, tool_data("y" * 100, b"z"), code=1), f'another file, called "{"y" * 60}…"; nothing was written')


run()
