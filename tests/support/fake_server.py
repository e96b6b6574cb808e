# SPDX-License-Identifier: Apache-2.0
"""A gRPC server that answers what a test wants, byte by byte: frames of http2.py, so that it can also
send what no library would."""
import re
import socket
import struct
import threading
from urllib.parse import quote

from http2 import (ACK, DATA, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW, PING, PREFACE,
                   SETTINGS, WINDOW_UPDATE, frame, header, message)
from trace_file import schema

MAX_FRAME = 16384


class Gone(Exception):
    """The client closed the connection."""


def header_block(headers):
    return b"".join(header(name, str(value)) for name, value in headers.items())


class Connection:
    """One client. |script|(connection) answers the first call, or each if it |repeats|; later ones (Terminate) get OK.
    Calls whose path begins with |unknown|, or with one of several, are UNIMPLEMENTED, and not counted. A Terminate that
    overtakes the first call has nothing to end, and is not counted either."""
    unknown = b"/proftap.v1."
    repeats = False

    def __init__(self, sock, script):
        self.sock, self.script = sock, script
        self.refused = set()  # streams
        self.heads = {}  # of requests, by stream
        self.windows = {0: 65535}
        self.initial_window = 65535
        self.calls = []
        self.bodies = {}  # of requests, by stream

    def read(self, n):
        data = b""
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise Gone
            data += part
        return data

    def frame(self, kind, flags, stream, payload=b""):
        self.sock.sendall(frame(kind, flags, stream, payload))

    def read_frame(self):
        head = self.read(9)
        kind, flags = head[3], head[4]
        stream = struct.unpack(">I", head[5:])[0] & 0x7fffffff
        payload = self.read(struct.unpack(">I", b"\0" + head[:3])[0])
        if kind == SETTINGS and not flags & ACK:
            self.take_settings(payload)
            self.frame(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            self.frame(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            self.windows[stream] = (self.windows.get(stream, self.initial_window) +
                                    struct.unpack(">I", payload)[0])
        elif kind in (DATA, HEADERS):
            self.frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", max(len(payload), 1)))
            # The path is literal in the first request for it: no Huffman code, and not yet indexed.
            if kind == HEADERS:
                self.heads[stream] = payload
                if self.is_unknown(payload):
                    self.refused.add(stream)
            if kind == DATA:
                self.bodies[stream] = self.bodies.get(stream, b"") + payload
            if flags & END_STREAM and stream in self.refused:
                self.refuse(stream)
            elif flags & END_STREAM:
                self.begin_call(stream)

    def take_settings(self, payload):
        for i in range(0, len(payload), 6):
            key, value = struct.unpack(">HI", payload[i:i + 6])
            if key == INITIAL_WINDOW:
                self.initial_window = value

    def is_unknown(self, head):
        unknown = self.unknown if isinstance(self.unknown, tuple) else (self.unknown,)
        return any(path and path in head for path in unknown)

    def method(self):
        """The name of the call's method, without its service."""
        return re.search(rb"/[\w.]+/(\w+)", self.heads[self.stream])[1].decode()

    def refuse(self, stream):
        """Answers UNIMPLEMENTED, as gRPC's own servers do."""
        self.headers(end=True, stream=stream, grpc_status=12, grpc_message="")

    def begin_call(self, stream):
        if not self.calls and b"/Terminate" in self.heads[stream]:
            self.reply(b"", stream=stream)
            return
        self.calls.append(stream)
        if len(self.calls) > 1 and self.repeats:
            self.script(self)
        elif len(self.calls) > 1:
            self.reply(b"", stream=stream)

    def serve(self):
        if self.read(len(PREFACE)) != PREFACE:
            return
        self.frame(SETTINGS, 0, 0)
        while not self.calls:
            self.read_frame()
        if self.script:
            self.script(self)
        while True:
            self.read_frame()

    @property
    def stream(self):
        return self.calls[-1 if self.repeats else 0]

    def headers(self, end=False, stream=None, **more):
        block = header_block({":status": 200, "content-type": "application/grpc",
                              **{key.replace("_", "-"): value for key, value in more.items()}})
        self.frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream or self.stream, block)

    def data(self, data, stream=None):
        """Sends frames, as far as the client's windows allow."""
        stream = stream or self.stream
        data = memoryview(data)  # large ones are not copied for each frame
        while data:
            self.windows.setdefault(stream, self.initial_window)
            n = min(len(data), MAX_FRAME, self.windows[0], self.windows[stream])
            if n <= 0:
                self.read_frame()
                continue
            self.frame(DATA, 0, stream, bytes(data[:n]))
            self.windows[0] -= n
            self.windows[stream] -= n
            data = data[n:]

    def message(self, data, compressed=0, stream=None):
        self.data(message(data, compressed), stream)

    def end(self, status=0, text="", stream=None):
        block = header_block({"grpc-status": status, "grpc-message": quote(text)})
        self.frame(HEADERS, END_HEADERS | END_STREAM, stream or self.stream, block)

    def reply(self, data, stream=None, **headers):
        self.headers(stream=stream, **headers)
        self.message(data, stream=stream)
        self.end(stream=stream)

    def fail(self, status, text=""):
        self.headers(end=True, grpc_status=status, grpc_message=quote(text))


class FakeServer:
    """Listens on self.port until the test ends. By default it is a stock server; |unknown| replaces the services that
    it does not know, and with None it knows all. With |path| it is a unix socket, and self.port is unix:PATH."""

    def __init__(self, t, script, address="127.0.0.1", port=0, unknown=Connection.unknown, path=None, repeats=False):
        self.script = script
        self.unknown = unknown
        self.repeats = repeats
        self.listener = self.listen_at(path) if path else socket.create_server((address, port))
        self.port = f"unix:{path}" if path else self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()
        t.at_end.append(self.close)

    @staticmethod
    def listen_at(path):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        return listener

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(sock)
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        try:
            connection = Connection(sock, self.script)
            connection.unknown = self.unknown
            connection.repeats = self.repeats
            connection.serve()
        except (Gone, OSError):
            pass
        finally:
            sock.close()

    def close(self):
        for sock in [self.listener, *self.sockets]:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


# Messages, in the few forms that tests need; protobuf itself would not make the wrong ones.

def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number_, data):
    """A length-delimited field."""
    return varint(number_ << 3 | 2) + varint(len(data)) + data


def number(number_, value):
    """A varint field."""
    return varint(number_ << 3) + varint(value)


def tool_data(name, data):
    return field(6, field(1, name if isinstance(name, bytes) else name.encode()) + field(2, data))


def space(n_spans=3, warnings=(), name="span"):
    """An XSpace of one thread, as bytes."""
    s = schema("xplane").XSpace(warnings=warnings, hostnames=["fake"])
    plane = s.planes.add(name="/host:CPU")
    plane.event_metadata[1].id = 1
    plane.event_metadata[1].name = name
    line = plane.lines.add(id=1, name="main")
    for i in range(n_spans):
        line.events.add(metadata_id=1, offset_ps=i * 1000000, duration_ps=500000)
    return s.SerializeToString()
