#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the client as a reader of proftap.v1 Capture: it writes chunks to the file at once, checks
what came, and falls back to the stock call if the server does not know this one.
"""
import itertools
import signal
import struct
import threading
from resource import RUSAGE_CHILDREN, getrusage

from checks import PATIENCE_S
from fake_server import FakeServer, field, space, varint
from fake_stream import COLLECTING, Flood, chunk, deliver, progress, split, stream_server, trailer, whole
from checks import in_time
from fixture import SANITIZERS, check, contains, equal, run, schema, test, timed, wait_until
from http2 import message

MS = 20
FLOOD_BYTES = 160 << 20
LIMIT_KIB = 64 << 10


def capture(t, script, *options, code=0):
    return t.capture(stream_server(t, script), MS, *options, code=code)


def check_kept(t, c, said, kept):
    contains(c.stderr, said, "standard error")
    check("nothing was written" not in c.stderr, f"something was: {c.stderr!r}")
    path = c.stderr.split("; the data received so far is in ")[1].strip()
    equal(c.stdout, "", "standard output")
    equal(open(path, "rb").read(), kept, "the bytes kept")
    check(path.endswith(".xplane.pb.broken"), path)
    equal([str(p) for p in t.dir.rglob("*") if p.is_file()], [path], "files")


def check_nothing(c, said):
    contains(c.stderr, said, "standard error")
    equal((c.stdout, c.left()), ("", []), "standard output and what is left")


# Good streams.

@test
def chunks_of_any_size_are_the_trace(t):
    data = space(100)
    for n in (1, 7, len(data)):
        c = capture(t, whole(data, n))
        equal(c.path.read_bytes(), data, f"the file of chunks of {n} bytes")
        equal(c.stderr.count("spans 100 on 1 thread"), 1, "the summary")


@test
def parts_that_a_newer_server_adds_do_not_matter(t):
    data = space(3)
    c = capture(t, deliver(progress(), field(9, b"new"), *split(data, 50), field(77, b""), trailer(data)))
    equal(c.path.read_bytes(), data, "the file")


@test
def a_server_without_progress_is_understood(t):
    data = space(3)
    equal(capture(t, deliver(*split(data), trailer(data))).path.read_bytes(), data, "the file")


@test
def an_empty_trace_is_empty(t):
    data = space(0, ["nothing was recorded: the moon is full"])
    check_nothing(capture(t, whole(data, is_empty=True), code=3), "was empty: the moon is full")
    check_nothing(capture(t, whole(b"", is_empty=True), code=3), "the recording worked and was empty")


@test
def a_trace_that_the_trailer_calls_empty_is_kept(t):
    c = capture(t, whole(space(3), is_empty=True))
    c.find_warning("the server reports an empty trace, but the trace has events")


@test
def a_large_trace_takes_little_memory(t):
    flood = Flood(FLOOD_BYTES)
    c = capture(t, flood.script)
    contains(c.stderr, f"spans {flood.n_events:,} on 1 thread", "the summary")
    check(c.path.stat().st_size > FLOOD_BYTES * 0.9, "the file is small")
    peak_kib = getrusage(RUSAGE_CHILDREN).ru_maxrss
    check(SANITIZERS != "no" or peak_kib < LIMIT_KIB, f"the client grew to {peak_kib} KiB")


# Bad streams.

@test
def a_stream_without_a_trailer_is_kept_aside(t):
    data = space(50)
    c = capture(t, deliver(progress(), *split(data, 100)), code=1)
    check_kept(t, c, "the answer is not whole, or damaged: its end is missing", data)


@test
def a_wrong_checksum_is_kept_aside(t):
    data = space(50)
    c = capture(t, whole(data, xspace_xxh3=4711), code=1)
    check_kept(t, c, "the answer is not whole, or damaged: its checksum is wrong", data)


@test
def a_changed_byte_is_found(t):
    data = space(50)
    changed = data[:60] + bytes([data[60] ^ 1]) + data[61:]
    c = capture(t, deliver(*split(changed), trailer(data)), code=1)
    check_kept(t, c, "the answer is not whole, or damaged: its checksum is wrong", changed)


@test
def a_missing_chunk_is_found(t):
    data = space(50)
    parts = split(data, 100)
    c = capture(t, deliver(*parts[:-1], trailer(data)), code=1)
    check_kept(t, c, "the answer is not whole, or damaged: its length differs from that in its trailer",
               data[:100 * (len(parts) - 1)])


@timed
def data_beyond_the_announced_size_is_not_taken(t):
    announced = progress(COLLECTING, xspace_bytes=150)

    def without_end(c):
        c.headers()
        c.message(announced)
        while True:
            c.message(chunk(b"\0" * 100))
    c = capture(t, without_end, code=1)
    check_kept(t, c, "the answer is not whole, or damaged: more data came than was announced", b"\0" * 100)
    in_time(c.elapsed_s, 5, "the end")


def send_large_chunk(c):
    extra = 100 << 20
    head = varint(2 << 3 | 2) + varint(extra)
    c.headers()
    c.message(progress())
    c.data(b"\0" + struct.pack(">I", len(head) + extra) + head)
    for _ in range(extra >> 20):
        c.data(bytes(1 << 20))


def check_refused_early(t, **where):
    c = t.capture(stream_server(t, send_large_chunk, **where), MS, code=1)
    check_nothing(c, "the answer is refused: it is larger than 1048640 bytes; nothing was written")
    peak_kib = getrusage(RUSAGE_CHILDREN).ru_maxrss
    check(SANITIZERS != "no" or peak_kib < LIMIT_KIB, f"the client grew to {peak_kib} KiB")


@test
def a_chunk_of_100_mb_is_refused_before_it_arrives(t):
    check_refused_early(t)
    check_refused_early(t, path=t.dir / "s.sock")


@test
def progress_for_ever_ends_with_the_timeout(t):
    one = progress(COLLECTING, recorded_bytes=1)

    def script(c):
        c.headers()
        while True:
            c.data(message(one) * 1000)
    c = capture(t, script, "--timeout", "1500", code=6)
    check_nothing(c, "timed out: no whole answer within 1500 ms; nothing was written; allow more")
    peak_kib = getrusage(RUSAGE_CHILDREN).ru_maxrss
    check(SANITIZERS != "no" or peak_kib < LIMIT_KIB, f"the client grew to {peak_kib} KiB")


@test
def progress_for_ever_can_be_interrupted(t):
    one = progress(COLLECTING)
    flows = threading.Event()

    def script(c):
        c.headers()
        for i in itertools.count():
            c.data(message(one) * 1000)
            if i == 10:
                flows.set()
    c = t.start_capture(stream_server(t, script), MS)
    check(flows.wait(PATIENCE_S), "the progress never began")
    c.signal(signal.SIGINT)
    c.signal(signal.SIGTERM)
    check_nothing(c.finish(130), "interrupted twice: nothing was written")


@test
def something_behind_the_trailer_is_refused(t):
    data = space(3)
    c = capture(t, deliver(*split(data), trailer(data), trailer(data)), code=1)
    check_kept(t, c, "the answer is not whole, or damaged: data follows the trailer", data)


@test
def garbage_is_refused(t):
    for bad in (b"\xff" * 20, field(1, b"\xff\xff"), field(3, b"\x0f"), b"\x12\x7f\0"):
        check_nothing(capture(t, deliver(bad), code=1), "the answer is not whole, or damaged: ")
    check_nothing(capture(t, deliver(chunk(b"\0" * (3 << 20))), code=1), "the answer is refused: it is larger than")


@test
def a_trace_that_cannot_be_read_is_kept_aside(t):
    data = space(3) + b"\xff" * 20
    check_kept(t, capture(t, whole(data), code=1), "the answer is not a readable trace: ", data)


@test
def text_of_a_failure_in_mid_stream_is_reported(t):
    data = space(50)
    c = capture(t, deliver(*split(data), status=15, text="the disk is gone"), code=1)
    check_kept(t, c, "the server answered DATA_LOSS: the disk is gone", data)


@test
def a_connection_cut_in_mid_stream_is_reported(t):
    """The connection breaks in the middle of a message. gRPC drops messages that were not read
    before that, so the test waits until the client has read all others.
    """
    data = space(50)
    log_dir = t.dir / "logs"

    def script(c):
        c.headers()
        for part in split(data):
            c.message(part)
        wait_until(lambda: [p for p in log_dir.rglob(".proftap-*") if p.stat().st_size == len(data)],
                   "the client to have all of it")
        c.data(b"\0\0\0\xff\xff\x12")
        c.sock.shutdown(2)
    c = t.capture(stream_server(t, script), MS, log_dir=log_dir, code=1)
    check_kept(t, c, "the connection broke after ", data)


@test
def a_stream_that_stands_still_ends_with_the_timeout(t):
    data = space(50)

    def script(c):
        c.headers()
        for part in split(data):
            c.message(part)
    c = capture(t, script, "--timeout", "700", code=6)
    check_kept(t, c, "timed out: no whole answer within 700 ms; allow more with --timeout", data)


@test
def a_full_disk_ends_the_capture_and_leaves_nothing(t):
    c = t.capture(stream_server(t, Flood(64 << 20).script), MS, code=1,
                  prefix=["prlimit", "--fsize=1000000", "env", "--ignore-signal=XFSZ"])
    check_nothing(c, "cannot write the trace: ")


# The choice of the call.

@timed
def server_without_the_streamed_call_gets_a_plain_request(t):
    asked = []

    def script(c):
        asked.extend(c.bodies.values())
        c.reply(field(8, space(3)))
    c = t.capture(FakeServer(t, script), MS)
    equal(c.trace.count("span"), 3, "spans")
    equal(c.stderr.count("\n"), 4, "lines on standard error")
    in_time(c.elapsed_s, 2, "the capture")
    profile = schema("profiler_service").ProfileRequest.FromString(asked[-1][5:])
    equal((profile.duration_ms, profile.emit_xspace, profile.opts.version), (MS, True, 1), "the request")


@test
def a_refusal_of_the_streamed_call_is_not_asked_again(t):
    calls = []

    def script(c):
        c.fail(3, "options.version: 9 is not known")
        calls.append(c.calls)
    check_nothing(capture(t, script, code=1), "the server answered INVALID_ARGUMENT: options.version")
    equal(calls, [[1]], "calls")


@test
def a_busy_server_names_the_session_that_runs(t):
    busy = "another profiling session is active (session night: 2.0 s of 60.0 s)"
    c = capture(t, lambda c: c.fail(6, busy), code=4)
    check_nothing(c, "busy: another profiling session is active there (session night: 2.0 s of 60.0 s); wait")


@test
def an_interrupt_stops_the_session_and_takes_the_data(t):
    data = space(5)
    asked = []

    def script(c):
        c.headers()
        c.message(progress())
        while len(c.calls) < 2:
            c.read_frame()
        asked.append(c.bodies[c.calls[1]])
        for part in [*split(data), trailer(data)]:
            c.message(part)
        c.end()
    begun = []

    def begin(c):
        begun.append(c)
        script(c)
    c = t.start_capture(stream_server(t, begin), 60000, "--run", "mine")
    wait_until(lambda: begun, "the call")
    c.signal(signal.SIGINT)
    c.finish()
    equal(c.path.read_bytes(), data, "the file")
    equal(asked[0][5:], b"\x0a\x04mine", "the StopRequest")
    c.find_warning("interrupted: the recording was ended early")


@test
def two_interrupts_leave_nothing_of_a_stream(t):
    begun = []

    def script(c):
        c.headers()
        c.message(progress())
        for part in split(space(50)):
            c.message(part)
        begun.append(c)
    c = t.start_capture(stream_server(t, script), 60000)
    wait_until(lambda: begun, "the call")

    def interrupt():
        c.signal(signal.SIGINT)
        return c.popen.poll() is not None
    wait_until(interrupt, "the client to give up")
    c.finish(130)
    check_nothing(c, "interrupted twice: nothing was written")


run()
