# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 by hand, for frames that no library would send.

Huffman coding is not implemented, because gRPC does not use it.
"""
import collections
import socket
import struct
import time

from checks import PATIENCE_S, Failure, check

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 3, 4, 6, 7, 8, 9)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INITIAL_WINDOW = 4  # SETTINGS
CANCEL = 8  # RST_STREAM
MAX_WINDOW = 2**31 - 1

# The gRPC status codes that the tests expect.
OK, CANCELLED, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS = 0, 1, 3, 5, 6
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 8, 9, 12, 13, 14

PROFILE = "/tensorflow.ProfilerService/Profile"
TERMINATE = "/tensorflow.ProfilerService/Terminate"

# The rows of HPACK's static table that a gRPC server's answer uses.
STATIC = {8: (b":status", b"200"), 14: (b":status", b"500"), 31: (b"content-type", b"")}
FIRST_DYNAMIC = 62

# |status| and |text| are grpc-status and grpc-message; |data| joins the payloads of the
# DATA frames, with the 5-byte prefix of each message.
Reply = collections.namedtuple("Reply", "status text data headers")


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def hpack_int(value, bits):
    limit = (1 << bits) - 1
    if value < limit:
        return bytes([value])
    out = bytearray([limit])
    value -= limit
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def header(name, value):
    """Encodes one field as an HPACK literal without indexing."""
    name, value = (x if isinstance(x, bytes) else x.encode() for x in (name, value))
    return b"\0" + hpack_int(len(name), 7) + name + hpack_int(len(value), 7) + value


def request_fields(path, content_type="application/grpc", extra=(), authority="x"):
    return [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", authority),
            ("te", "trailers"), ("content-type", content_type), *extra]


def request_headers(path, **how):
    return b"".join(header(*field) for field in request_fields(path, **how))


def indexed_headers(path):
    """Returns two header blocks: for the first request, and a shorter one for repeats of it.

    The first block adds its fields to the dynamic table; the short one refers to them by index.
    """
    fields = request_fields(path)
    # The first byte 0x40 asks the peer to add the field at the front of its dynamic table.
    first = b"".join(b"\x40" + header(*field)[1:] for field in fields)
    return first, bytes(0x80 | FIRST_DYNAMIC + i for i in reversed(range(len(fields))))


def message(data, compressed=0):
    """Returns |data| with the 5-byte prefix of a gRPC message."""
    return struct.pack(">BI", compressed, len(data)) + data


class Decoder:
    """Decodes the part of HPACK that gRPC's server uses."""

    def __init__(self):
        self.table = collections.deque()

    def read_int(self, data, at, bits):
        limit = (1 << bits) - 1
        value, shift = data[at] & limit, 0
        at += 1
        while value >= limit:
            value += (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        return value, at

    def read_text(self, data, at):
        check(data[at] < 128, "the text is Huffman-coded, which this decoder does not support")
        n, at = self.read_int(data, at, 7)
        return data[at:at + n], at + n

    def find(self, index):
        if index >= FIRST_DYNAMIC:
            return self.table[index - FIRST_DYNAMIC]
        return STATIC.get(index, (b"?", b"?"))

    def decode(self, data):
        found, at = {}, 0
        while at < len(data):
            first = data[at]
            if first & 0xe0 == 0x20:  # the table's size
                _, at = self.read_int(data, at, 5)
                continue
            bits = 7 if first & 0x80 else 6 if first & 0x40 else 4
            index, at = self.read_int(data, at, bits)
            name, value = self.find(index) if index else (None, None)
            if bits != 7:
                if not index:
                    name, at = self.read_text(data, at)
                value, at = self.read_text(data, at)
            if bits == 6:
                self.table.appendleft((name, value))
            found[name.decode()] = value.decode(errors="replace")
        return found


class Stream:
    def __init__(self):
        self.headers, self.frames, self.ended, self.reset = {}, [], False, None

    @property
    def data(self):
        """The contents of the DATA frames, joined only on request: they may be megabytes."""
        self.frames = [b"".join(self.frames)]
        return self.frames[0]


def connect(host, port):
    """|port| is a number, or unix:PATH."""
    if not str(port).startswith("unix:"):
        return socket.create_connection((host, port), PATIENCE_S)
    there = socket.socket(socket.AF_UNIX)
    there.settimeout(PATIENCE_S)
    there.connect(port.removeprefix("unix:"))
    return there


class Connection:
    """One connection. wait() and send_message() also read the peer's frames.

    A |polite| connection acknowledges SETTINGS and PING, and opens the window again after DATA.
    """

    def __init__(self, port, host="127.0.0.1", greets=True, window=MAX_WINDOW):
        self.socket = connect(host, port)
        self.buffer = b""
        self.decoder = Decoder()
        self.streams = collections.defaultdict(Stream)
        self.next_stream = 1
        self.closed = False
        self.goaway = None
        self.pongs = 0
        self.polite = True
        self.window = window
        if greets:
            self.send(PREFACE, frame(SETTINGS, payload=struct.pack(">HI", INITIAL_WINDOW, window)))
            if window > 65535:
                self.send(frame(WINDOW_UPDATE, payload=struct.pack(">I", window - 65535)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, *parts):
        """Sends |parts|. Returns False when the peer has hung up."""
        try:
            self.socket.sendall(b"".join(parts))
        except (ConnectionError, TimeoutError):
            self.closed = True
        return not self.closed

    def new_stream(self):
        self.next_stream += 2
        return self.next_stream - 2

    def send_message(self, stream, body):
        """Sends |body| in DATA frames of 16 KiB, the default maximum.

        Stops early when the peer hangs up, and when it ends the stream.
        """
        for at in range(0, len(body) or 1, 16384):
            part = body[at:at + 16384]
            end = END_STREAM if at + 16384 >= len(body) else 0
            if not self.send(frame(DATA, end, stream, part)):
                return False
            if at % (1 << 20) == 0:
                self.read_some(0)
            if self.streams[stream].ended:
                return True
        return True

    def start(self, path, body, **headers):
        stream = self.new_stream()
        self.send(frame(HEADERS, END_HEADERS, stream, request_headers(path, **headers)))
        self.send_message(stream, body)
        return stream

    def call(self, path, body, **headers):
        return self.finish(self.start(path, body, **headers))

    def finish(self, stream, patience_s=PATIENCE_S):
        """Waits for the reply. Its status is None when the stream ended without a gRPC status."""
        s = self.streams[stream]
        try:
            self.wait(lambda: s.ended, f"stream {stream} to end", patience_s)
        except Failure as e:
            raise Failure(f"{e}; so far {len(s.data)} bytes, headers {s.headers}, "
                          f"GOAWAY {self.goaway}") from None
        status = s.headers.get("grpc-status")
        return Reply(int(status) if status else None, s.headers.get("grpc-message", ""), s.data,
                     s.headers)

    def wait(self, question, what, patience_s=PATIENCE_S):
        """Reads until |question| is true, or the peer has hung up."""
        deadline = time.monotonic() + patience_s
        while not question() and not self.closed:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Failure(f"waited {patience_s} s in vain: {what}")
            self.read_some(left)
        return not self.closed

    def wait_for_close(self, patience_s=PATIENCE_S):
        self.wait(lambda: False, "the peer to hang up", patience_s)

    def read_some(self, patience_s):
        self.socket.settimeout(patience_s or 0.0)
        try:
            data = self.socket.recv(1 << 16)
            self.closed = not data
        except (BlockingIOError, TimeoutError):
            return
        except ConnectionError:
            self.closed = True
            return
        finally:
            self.socket.settimeout(PATIENCE_S)
        self.buffer += data
        self.take_frames()

    def take_frames(self):
        while len(self.buffer) >= 9:
            n = int.from_bytes(self.buffer[:3], "big")
            if len(self.buffer) < 9 + n:
                return
            kind, flags, stream = struct.unpack(">BBI", self.buffer[3:9])
            payload = self.buffer[9:9 + n]
            self.buffer = self.buffer[9 + n:]
            self.take(kind, flags, self.streams[stream], payload)

    def take(self, kind, flags, stream, payload):
        if kind == HEADERS:
            stream.headers.update(self.decoder.decode(payload))
        elif kind == DATA:
            stream.frames.append(payload)
            if self.polite and payload:
                self.send(frame(WINDOW_UPDATE, payload=struct.pack(">I", len(payload))))
        elif kind == RST_STREAM:
            stream.reset = int.from_bytes(payload, "big")
            stream.ended = True
        elif kind == GOAWAY:
            self.goaway = payload
        elif kind == PING and flags & ACK:
            self.pongs += 1
        elif kind in (SETTINGS, PING) and not flags & ACK and self.polite:
            self.send(frame(kind, ACK, 0, payload if kind == PING else b""))
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            stream.ended = True
