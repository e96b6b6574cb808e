# SPDX-License-Identifier: Apache-2.0
"""A fake server whose clock is off: it answers proftap.v1 Status, and Profile with a trace of one thread."""
import time

from fake_server import Connection, FakeServer, Gone, field, number
from trace_file import schema

UNIMPLEMENTED = 12


class ClockedConnection(Connection):
    """Tells calls apart by their requests: Status has no field, and Terminate has no options. It knows no
    other call of proftap.v1."""
    unknown = b"/proftap.v1.Profiler/Capture"

    def begin_call(self, stream):
        self.calls.append(stream)
        body = self.bodies.get(stream, b"")[5:]
        if not body:
            self.answer_status(stream)
            return
        request = schema("profiler_service").ProfileRequest.FromString(body)
        if request.HasField("opts"):
            self.server.requests.append(request)
            self.reply(field(8, self.make_space(request.opts)), stream=stream)
        else:
            self.reply(b"", stream=stream)

    def answer_status(self, stream):
        if self.server.is_stock:
            block = dict(end=True, stream=stream, grpc_status=UNIMPLEMENTED, grpc_message="no")
            self.headers(**block)
            return
        now = time.time_ns() + self.server.offset_ns
        # This stands for another kernel, whose monotonic clock is far from ours.
        self.reply(number(3, now) + number(4, time.monotonic_ns() + 10**15), stream=stream)

    def make_space(self, options):
        space = schema("xplane").XSpace(hostnames=["fake"], warnings=["from the fake"])
        host = space.planes.add(name="/host:CPU")
        host.event_metadata[1].id, host.event_metadata[1].name = 1, "span"
        host.lines.add(id=1, name="main").events.add(metadata_id=1, duration_ps=1000)
        plane = space.planes.add(name="Task Environment")
        start = options.start_timestamp_ns + self.server.late_ns
        stop = start + options.duration_ms * 10**6
        if self.server.is_stock and self.server.offset_ns is not None:
            start = time.time_ns() + self.server.offset_ns
            time.sleep(options.duration_ms / 1e3)  # it records
            stop = time.time_ns() + self.server.offset_ns
        for id, (name, value) in enumerate({"profile_start_time": start, "profile_stop_time": stop}.items(), 1):
            plane.stat_metadata[id].id, plane.stat_metadata[id].name = id, name
            plane.stats.add(metadata_id=id, uint64_value=value)
        return space.SerializeToString()


class ClockedServer(FakeServer):
    """A server whose clock differs from ours by |offset_ns|. A stock server does not know Status, and records as long
    as the request says. If |offset_ns| is None, this is a stock server that answers at once, and claims to have
    recorded."""

    def __init__(self, t, offset_ns, late_ns=0, is_stock=False, **how):
        self.offset_ns, self.late_ns, self.is_stock = offset_ns, late_ns, is_stock or offset_ns is None
        self.requests = []
        super().__init__(t, None, **how)

    def serve(self, sock):
        connection = ClockedConnection(sock, None)
        connection.server = self
        try:
            connection.serve()
        except (Gone, OSError):
            pass
        finally:
            sock.close()
