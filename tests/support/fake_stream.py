# SPDX-License-Identifier: Apache-2.0
"""Answers of a proftap.v1 server to Capture, for fake_server.py: good ones, bad ones and large ones."""
import ctypes
import ctypes.util

from fake_server import FakeServer, field, number, varint
from profiler import COLLECTING, RECORDING, xxh3
from trace_file import own_schema

CHUNK_BYTES = 1 << 20


def chunk(data):
    return field(2, data)


def progress(phase=RECORDING, **fields):
    reply = own_schema().CaptureReply()
    reply.progress.phase = phase
    for name, value in fields.items():
        setattr(reply.progress, name, value)
    return reply.SerializeToString()


def trailer(data, **fields):
    reply = own_schema().CaptureReply()
    reply.trailer.xspace_bytes = len(data)
    reply.trailer.xspace_xxh3 = xxh3(data)
    for name, value in fields.items():
        setattr(reply.trailer, name, value)
    return reply.SerializeToString()


def split(data, n=CHUNK_BYTES):
    return [chunk(data[i:i + n]) for i in range(0, len(data), n)]


def deliver(*parts, status=0, text=""):
    """Returns a script that sends these messages, and the end."""
    def script(c):
        c.headers()
        for part in parts:
            c.message(part)
        c.end(status, text)
    return script


def whole(data, n=CHUNK_BYTES, **fields):
    return deliver(progress(), progress(COLLECTING, xspace_bytes=len(data)), *split(data, n),
                   trailer(data, **fields))


def stream_server(t, script, **how):
    """Starts a server that knows all services."""
    return FakeServer(t, script, unknown=None, **how)


class Sum:
    """The checksum of bytes that come one after the other."""

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
        self.library.XXH3_createState.restype = ctypes.c_void_p
        self.library.XXH3_64bits_digest.restype = ctypes.c_uint64
        self.state = ctypes.c_void_p(self.library.XXH3_createState())
        self.library.XXH3_64bits_reset(self.state)
        self.n_bytes = 0

    def add(self, data):
        self.library.XXH3_64bits_update(self.state, data, ctypes.c_size_t(len(data)))
        self.n_bytes += len(data)

    def get(self):
        return self.library.XXH3_64bits_digest(self.state)


class Flood:
    """A trace of one thread, made while it is sent: as many events as fit into |n_bytes|, each with a long text."""

    def __init__(self, n_bytes):
        self.block = b"".join(self.event(i) for i in range(CHUNK_BYTES // 4096 - 1))
        self.n_blocks = n_bytes // len(self.block)
        self.n_events = self.n_blocks * (CHUNK_BYTES // 4096 - 1)

    def event(self, i):
        text = f"{i:08}" + "x" * 4000
        return field(4, number(1, 1) + number(2, i * 1000) + number(3, 500) +
                     field(4, number(1, 1) + field(5, text.encode())))

    def __iter__(self):
        metadata = field(4, number(1, 1) + field(2, number(1, 1) + field(2, b"span")))
        metadata += field(5, number(1, 1) + field(2, number(1, 1) + field(2, b"text")))
        line = field(2, b"main")
        n_line = len(line) + self.n_blocks * len(self.block)
        head = field(2, b"/host:CPU") + metadata + varint(3 << 3 | 2) + varint(n_line)
        yield (field(4, b"fake") + varint(1 << 3 | 2) + varint(len(head) + n_line) + head + line)
        for _ in range(self.n_blocks):
            yield self.block

    def script(self, c):
        """Keeps no data: this process must stay small, because its children would seem to be as large."""
        sum_ = Sum()
        c.headers()
        c.message(progress())
        for data in self:
            sum_.add(data)
            c.message(chunk(data))
        c.message(trailer(b"", xspace_bytes=sum_.n_bytes, xspace_xxh3=sum_.get()))
        c.end()
