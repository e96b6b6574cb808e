# SPDX-License-Identifier: Apache-2.0
"""The stock services as any gRPC client calls them: messages in, messages out, frames by http2.py."""
import collections
import socket
import urllib.parse

from checks import PATIENCE_S, equal
from http2 import CANCEL, OK, RST_STREAM, Connection, frame, message
from trace_file import Trace, schema

PROFILER = "/tensorflow.ProfilerService/"
ANALYSIS = "/tensorflow.ProfileAnalysis/"
BUSY = "Another profiling session active."
UINT64_MAX = 2**64 - 1

# |message| is None unless the status is OK.
Answer = collections.namedtuple("Answer", "status text message")


def profile_request(duration_ms, options=None, **fields):
    """A request like a stock client's, which asks for the data in the answer."""
    request = schema("profiler_service").ProfileRequest(**{"emit_xspace": True, **fields})
    request.opts.version = 1
    request.opts.host_tracer_level = 2
    request.opts.duration_ms = duration_ms
    for name, value in (options or {}).items():
        setattr(request.opts, name, value)
    return request


class Calls:
    """One connection; several calls may be under way."""

    def __init__(self, target, **how):
        self.connection = Connection(getattr(target, "port", target), **how)
        if self.connection.socket.family != socket.AF_UNIX:
            self.connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    headers = {}  # of each call, as http2.request_fields() has them

    def start(self, path, request):
        return self.connection.start(path, message(request.SerializeToString()), **self.headers)

    def cancel(self, stream):
        self.connection.send(frame(RST_STREAM, 0, stream, CANCEL.to_bytes(4, "big")))

    def settle(self):
        """Returns when the server has read all earlier bytes: it answers one call after the other."""
        self.connection.call("/nobody.Knows/This", message(b""))

    def is_ended(self, stream):
        self.connection.read_some(0)
        return self.connection.streams[stream].ended

    def finish(self, stream, reply="ProfileResponse", module="profiler_service", patience_s=PATIENCE_S):
        answer = self.connection.finish(stream, patience_s)
        text = urllib.parse.unquote(answer.text)
        made = None
        if answer.status == OK and reply:
            made = getattr(schema(module), reply).FromString(answer.data[5:])
        return Answer(answer.status, text, made)

    def call(self, path, request, *how, **where):
        return self.finish(self.start(path, request), *how, **where)

    def expect(self, path, request, *how, **where):
        """Returns the message of an answer that must be OK."""
        answer = self.call(path, request, *how, **where)
        equal((answer.status, answer.text), (OK, ""), f"the answer to {path}")
        return answer.message

    def terminate(self, session_id):
        request = schema("profiler_service").TerminateRequest(session_id=session_id)
        return self.expect(PROFILER + "Terminate", request, "TerminateResponse")


def trace_of(response):
    """Returns the trace in a ProfileResponse with an xspace."""
    return Trace(data=response.xspace.SerializeToString())
