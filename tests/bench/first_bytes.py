# SPDX-License-Identifier: Apache-2.0
"""Measures the time from the end of the recording to the first byte of the answer."""
import os
import statistics
import time

from calls import Calls
from common import N_BURST, Failure
from fake_server import field, number
from http2 import PROFILE, message
from profiler import V1, split
from rivals import BURST_MS, PYTHON, JaxTarget, start_ours

N_CALLS = 5
IDLE_MS = 500
CHUNK = b"\x12"  # CaptureReply.chunk


def options(duration_ms):
    """Returns ProfileOptions: version, levels of host and device, duration."""
    return number(5, 1) + number(2, 2) + number(3, 1) + number(9, duration_ms)


def profile_request(duration_ms):
    """Returns a stock client's request, whose answer has the trace in its field xspace."""
    return field(4, options(duration_ms)) + field(6, b"bench") + number(9, 1)


def has_answer(stream):
    return bool(stream.headers or stream.frames)


def has_chunk(stream):
    """Progress comes before the first chunk."""
    return any(part.startswith(CHUNK) for part in split(stream.data))


def measure(port, path, request, duration_ms, has_come):
    """Returns (ms from the end of the recording, bytes of the answer). The recording ends
    |duration_ms| after the request."""
    with Calls(port) as calls:
        calls.settle()
        connection = calls.connection
        start = time.monotonic()
        stream = connection.start(path, message(request))
        found = connection.streams[stream]
        connection.wait(lambda: found.ended or has_come(found), "an answer", duration_ms / 1000 + 60)
        took_ms = (time.monotonic() - start) * 1000 - duration_ms
        reply = connection.finish(stream, 60)
    if reply.status != 0:
        raise Failure(f"{path}: status {reply.status} {reply.text}")
    return took_ms, len(reply.data)


def compare(out, name, n_spans, duration_ms):
    profile, capture = profile_request(duration_ms), field(1, options(duration_ms))
    with start_ours(n_spans) as ours, JaxTarget(n_spans) as theirs:
        ports = [target.read()[0] for target in (ours, theirs)]
        calls = [(ports[0], PROFILE, profile, duration_ms, has_answer),
                 (ports[0], V1 + "Capture", capture, duration_ms, has_chunk),
                 (ports[1], PROFILE, profile, duration_ms, has_answer)]
        # The first round is not counted.
        rounds = [[measure(*call) for call in calls] for _ in range(N_CALLS + 1)][1:]
    mine, stream, jax = (statistics.median(row[i][0] for row in rounds) for i in range(3))
    bytes_of = [row[1] for row in rounds[-1]]
    out.figure(f"first byte - {duration_ms} ms, {name}", f"{mine:.2f}", "ms", "",
               f"JAX {jax:.2f} ms in this run; the last answers have {bytes_of[0] / 1e3:,.0f} / "
               f"{bytes_of[2] / 1e3:,.0f} kB")
    out.figure("first chunk of a stream, the same", f"{stream:.2f}", "ms")


def bench_first_bytes(out, _):
    if not os.path.exists(PYTHON):
        out.skip("first byte: `make interop` installs JAX, then this runs")
        return
    out.method("first byte: from the end of the recording, which is the duration after the request, until the "
               "first frame of the answer of a Profile is read (of a Capture of our own: the first chunk), by "
               f"the same client of a few lines, a connection each, in turns; medians of {N_CALLS}")
    compare(out, "idle", 0, IDLE_MS)
    compare(out, f"{N_BURST:,} spans", N_BURST, BURST_MS)
