# SPDX-License-Identifier: Apache-2.0
"""Tests proftap.v1.Profiler, called by Python's gRPC: streams, their ends, and the answers to each client."""
import contextlib
import time

import grpc
import xxhash

import protos
from processes import PATIENCE_S, Pipeline, folder, wait_until
from service import has_events, refused

LONG_MS = 600 * 1000
# The limit includes the test's own calls on a loaded machine.
RELEASE_S = 1
Code = grpc.StatusCode

CaptureRequest = protos.message("proftap.v1.CaptureRequest")
CaptureReply = protos.message("proftap.v1.CaptureReply")
StatusRequest = protos.message("proftap.v1.StatusRequest")
StatusReply = protos.message("proftap.v1.StatusReply")
StopRequest = protos.message("proftap.v1.StopRequest")


class Profiler:
    def __init__(self, channel):
        kinds = {"Capture": (channel.unary_stream, CaptureReply),
                 "Stop": (channel.unary_stream, CaptureReply),
                 "Status": (channel.unary_unary, StatusReply)}
        self.methods = {name: kind(f"/proftap.v1.Profiler/{name}",
                                   request_serializer=lambda m: m.SerializeToString(),
                                   response_deserializer=reply.FromString)
                        for name, (kind, reply) in kinds.items()}

    def call(self, name, request, timeout=PATIENCE_S):
        return self.methods[name](request, timeout=timeout)

    def capture(self, duration_ms, interval_ms=50, timeout=PATIENCE_S, **options):
        request = CaptureRequest(progress_interval_ms=interval_ms)
        request.options.version = 1
        request.options.host_tracer_level = 2
        request.options.duration_ms = duration_ms
        for name, value in options.items():
            setattr(request.options, name, value)
        return self.call("Capture", request, timeout)

    def is_busy(self):
        return bool(self.call("Status", StatusRequest()).session)


@contextlib.contextmanager
def profiler():
    with folder() as work, Pipeline(work) as pipeline:
        # Unlike a Profile's answer, no message of ours reaches gRPC's own limit.
        with grpc.insecure_channel(f"127.0.0.1:{pipeline.port}",
                                   options=[("grpc.max_receive_message_length", 4 << 20),
                                            ("grpc.enable_http_proxy", 0)]) as channel:
            yield Profiler(channel)


def read(stream):
    """Returns (number of progress messages, the XSpace, the trailer) of a whole stream."""
    n_progress, data, trailer = 0, b"", None
    for reply in stream:
        assert trailer is None, "a part behind the trailer"
        part = reply.WhichOneof("part")
        if part == "progress":
            assert not data, "progress behind a chunk"
            n_progress += 1
        elif part == "chunk":
            data += reply.chunk
        else:
            trailer = reply.trailer
    assert trailer.xspace_bytes == len(data), (trailer, len(data))
    assert trailer.xspace_xxh3 == xxhash.xxh3_64_intdigest(data), trailer
    return n_progress, protos.XSpace.FromString(data), trailer


def wait_recording(stream):
    for reply in stream:
        if reply.progress.phase == 1:
            return


def assert_free_soon(calls):
    start = time.monotonic()
    wait_until(lambda: not calls.is_busy(), "the session's end")
    assert time.monotonic() - start < RELEASE_S, time.monotonic() - start


def test_capture():
    """Capture streams progress, the XSpace and a trailer."""
    with profiler() as calls:
        n_progress, space, trailer = read(calls.capture(300))
        assert n_progress >= 3
        assert has_events(space)
        assert trailer.n_events == sum(len(x.events) for p in space.planes for x in p.lines)


def test_cancel():
    """A cancelled Capture frees the session, in whatever phase it is."""
    with profiler() as calls:
        for start in (0, time.time_ns() + LONG_MS * 10**6):
            stream = calls.capture(LONG_MS, start_timestamp_ns=start)
            next(stream)
            stream.cancel()
            assert_free_soon(calls)


def test_deadline():
    """A deadline ends a Capture on both sides."""
    with profiler() as calls:
        with refused(Code.DEADLINE_EXCEEDED):
            read(calls.capture(LONG_MS, timeout=0.3))
        assert_free_soon(calls)
        with refused(Code.DEADLINE_EXCEEDED):
            read(calls.capture(1000, timeout=0.01))
        assert_free_soon(calls)


def test_stop():
    """Stop ends another call's Capture, which gets the data."""
    with profiler() as calls:
        stream = calls.capture(LONG_MS, session_id="mine")
        wait_recording(stream)
        with refused(Code.ALREADY_EXISTS) as texts:
            read(calls.capture(100))
        assert "session mine: 600.0 s" in texts[0], texts
        assert read(calls.call("Stop", StopRequest(session_id="mine")))[2].xspace_bytes == 0
        assert has_events(read(stream)[1])
        with refused(Code.NOT_FOUND):
            read(calls.call("Stop", StopRequest()))


def test_slow_reader():
    """A trace waits for a slow reader, and no other client waits for that reader."""
    with profiler() as calls:
        stream = calls.capture(2000, session_id="slow")
        next(stream)
        wait_until(lambda: not calls.is_busy(), "the end of the recording")
        assert has_events(read(calls.capture(50))[1])
        assert has_events(read(stream)[1])
