# SPDX-License-Identifier: Apache-2.0
"""tensorflow.ProfilerService as Python's gRPC calls it, without any code of ours."""
import contextlib

import grpc

import protos
from processes import PATIENCE_S, wait_until

BUSY = "Another profiling session active."


class Service:
    def __init__(self, port):
        self.channel = grpc.insecure_channel(
            f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1),
                                          ("grpc.enable_http_proxy", 0)])
        self._profile = self.method("Profile", protos.ProfileResponse)
        self._terminate = self.method("Terminate", protos.TerminateResponse)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.channel.close()

    def method(self, name, reply):
        return self.channel.unary_unary(f"/tensorflow.ProfilerService/{name}",
                                        request_serializer=lambda m: m.SerializeToString(),
                                        response_deserializer=reply.FromString)

    def profile(self, request, timeout=PATIENCE_S, **options):
        return self._profile(request, timeout=timeout, **options)

    def start(self, request, timeout=PATIENCE_S):
        """Starts a call, and returns its future."""
        return self._profile.future(request, timeout=timeout)

    def terminate(self, session_id):
        return self._terminate(protos.TerminateRequest(session_id=session_id), timeout=PATIENCE_S)

    def is_busy(self):
        """Returns whether a session runs, by a request for a session of 0 ms."""
        try:
            self.profile(request(0))
        except grpc.RpcError as error:
            if error.details().startswith(BUSY) and error.code() == grpc.StatusCode.INTERNAL:
                return True
            raise
        return False

    def hold(self, message):
        """Starts a call, and returns it when its session runs. is_busy() may get its own session first; then the call
        is refused, and made again.
        """
        call = self.start(message)

        def runs():
            nonlocal call
            if call.done():
                assert call.code() == grpc.StatusCode.INTERNAL, call
                assert call.details().startswith(BUSY), call
                call = self.start(message)
            return self.is_busy() and not call.done()

        wait_until(runs, "a session that runs")
        return call

    def wait_free(self):
        wait_until(lambda: not self.is_busy(), "the session's end")


def request(duration_ms, **options):
    """Makes a request with those fields of JAX's client that the server reads."""
    emit_xspace = options.pop("emit_xspace", True)
    session_id = options.pop("session_id", "")
    options = {"version": 1, "host_tracer_level": 2, "device_tracer_level": 1} | options
    message = protos.ProfileRequest(session_id=session_id, emit_xspace=emit_xspace)
    message.opts.duration_ms = duration_ms
    configuration = options.pop("advanced_configuration", {})
    for name, value in options.items():
        setattr(message.opts, name, value)
    for key, value in configuration.items():
        field = {str: "string_value", bool: "bool_value", int: "int64_value"}[type(value)]
        setattr(message.opts.advanced_configuration[key], field, value)
    return message


def has_events(space):
    return any(line.events for plane in space.planes for line in plane.lines)


@contextlib.contextmanager
def refused(*codes):
    """The with-block must fail with one of these statuses. Yields a list to which the status's text is added."""
    texts = []
    try:
        yield texts
    except grpc.RpcError as error:
        assert error.code() in codes, (error.code(), error.details())
        texts.append(error.details())
        return
    raise AssertionError(f"answered OK instead of {codes}")
