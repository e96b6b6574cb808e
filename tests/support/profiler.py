# SPDX-License-Identifier: Apache-2.0
"""proftap.v1.Profiler as any gRPC client calls it. The parts of a stream are put together and checked."""
import ctypes
import ctypes.util
import os
import struct

from calls import Calls
from checks import PATIENCE_S, check, equal, wait_until
from http2 import NOT_FOUND, OK, WINDOW_UPDATE, frame, message
from processes import find_proftapd
from trace_file import Trace, own_schema, schema

V1 = "/proftap.v1.Profiler/"
MAX_CHUNK = 1 << 20
WAITING, RECORDING, COLLECTING = 0, 1, 2
NO_SESSION = (NOT_FOUND, "no such session runs")
NOTHING_RUNS = (NOT_FOUND, "neither a continuous session nor a flight recorder runs")


def set_options(request, **options):
    request.options.version = 1
    request.options.host_tracer_level = 2
    for name, value in options.items():
        setattr(request.options, name, value)
    return request


def capture_request(duration_ms, interval_ms=50, **options):
    request = own_schema().CaptureRequest(progress_interval_ms=interval_ms)
    return set_options(request, duration_ms=duration_ms, **options)


def xxh3(data):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_64bits.restype = ctypes.c_uint64
    return library.XXH3_64bits(data, ctypes.c_size_t(len(data)))


def split(data):
    """Returns the messages of a gRPC stream that have arrived whole."""
    found, at = [], 0
    while at + 5 <= len(data):
        packed, n = struct.unpack(">BI", data[at:at + 5])
        equal(packed, 0, "a message's flag of compression")
        if at + 5 + n > len(data):
            break
        found.append(data[at + 5:at + 5 + n])
        at += 5 + n
    return found


class Delivery:
    """The answer of a Capture; its parts must come in the one valid order."""

    def __init__(self, parts):
        kinds = [part.WhichOneof("part") for part in parts]
        n_progress, n_chunks = kinds.count("progress"), kinds.count("chunk")
        equal(kinds, ["progress"] * n_progress + ["chunk"] * n_chunks + ["trailer"], "the parts")
        self.progress = [part.progress for part in parts[:n_progress]]
        self.chunks = [part.chunk for part in parts[n_progress:-1]]
        self.trailer = parts[-1].trailer
        self.data = b"".join(self.chunks)

    def check(self):
        equal(self.trailer.xspace_bytes, len(self.data), "bytes in the trailer")
        equal(self.trailer.xspace_xxh3, xxh3(self.data), "checksum in the trailer")
        equal([n for n in map(len, self.chunks) if not 0 < n <= MAX_CHUNK], [], "sizes of chunks")

    @property
    def space(self):
        return schema("xplane").XSpace.FromString(self.data)

    @property
    def trace(self):
        return Trace(data=self.data)


class Profiler(Calls):
    def capture(self, *how, **options):
        return self.start(V1 + "Capture", capture_request(*how, **options))

    def parts(self, stream):
        """Returns the parts that have arrived so far."""
        self.connection.read_some(0)
        data = self.connection.streams[stream].data
        return [own_schema().CaptureReply.FromString(part) for part in split(data)]

    def await_phase(self, stream, phase):
        """Waits until the recording has reached |phase|, and returns the parts that have arrived."""
        def has_come():
            return self.ended(stream) or any(
                p.WhichOneof("part") == "progress" and p.progress.phase >= phase
                for p in self.parts(stream))

        self.connection.wait(has_come, f"phase {phase}")
        return self.parts(stream)

    def await_more(self, stream, n_bytes):
        """Waits until more than |n_bytes| of raw data are recorded, and returns their number."""
        def count():
            check(not self.ended(stream), "the capture has ended")
            return max((p.progress.recorded_bytes for p in self.parts(stream)), default=0)

        self.connection.wait(lambda: count() > n_bytes, f"more than {n_bytes} bytes")
        return count()

    def ended(self, stream):
        return self.connection.streams[stream].ended

    def end(self, stream, patience_s=PATIENCE_S):
        """Returns (status, text) of a stream's end."""
        answer = self.finish(stream, None, None, patience_s)
        return answer.status, answer.text

    def deliver(self, stream, patience_s=PATIENCE_S):
        """Returns the whole trace of a Capture that must be OK."""
        equal(self.end(stream, patience_s), (OK, ""), "the end of the stream")
        delivery = Delivery(self.parts(stream))
        delivery.check()
        return delivery

    def open_window(self, stream):
        """Lets the rest of the data come on a connection that was opened with a small window."""
        self.connection.polite = True
        for of in (0, stream):
            self.connection.send(frame(WINDOW_UPDATE, 0, of, (1 << 30).to_bytes(4, "big")))

    def begin(self, **options):
        """Starts an endless session, which must be OK, and returns its name."""
        return self.send_start(set_options(own_schema().StartRequest(), **options))

    def begin_recorder(self, **options):
        """Turns the flight recorder on, which must be OK."""
        return self.send_start(set_options(own_schema().StartRequest(recorder=True), **options))

    def send_start(self, request):
        reply = self.connection.call(V1 + "Start", message(request.SerializeToString()))
        equal((reply.status, reply.text), (OK, ""), "the answer to Start")
        return own_schema().StartReply.FromString(reply.data[5:]).session_id

    def snapshot(self, session_id="", **fields):
        request = own_schema().SnapshotRequest(session_id=session_id, **fields)
        return self.start(V1 + "Snapshot", request)

    def look_back(self, **fields):
        """Returns a snapshot of the flight recorder."""
        return self.deliver(self.snapshot("recorder", **fields)).trace

    def end_session(self, session_id=""):
        """Stops a session, and asks for the rest of its data."""
        return self.start(V1 + "Stop", own_schema().StopRequest(session_id=session_id))

    def stop(self, session_id="", discard=False):
        request = own_schema().StopRequest(session_id=session_id, discard=discard)
        stream = self.start(V1 + "Stop", request)
        return self.end(stream), self.parts(stream)

    def ask(self, method):
        """Calls Status or List, which must be OK, and returns the reply."""
        reply = self.connection.call(V1 + method, message(b""))
        equal((reply.status, reply.text), (OK, ""), f"the answer to {method}")
        return getattr(own_schema(), method + "Reply").FromString(reply.data[5:])


def count_streams(target):
    """Counts the threads that deliver data."""
    tasks = f"/proc/{find_proftapd(target.pid)}/task"
    names = []
    for task in os.listdir(tasks):
        try:
            with open(f"{tasks}/{task}/comm", encoding="ascii") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    return names.count("ptap-stream")


def await_no_stream(target):
    wait_until(lambda: count_streams(target) == 0, "the threads that deliver to end")
