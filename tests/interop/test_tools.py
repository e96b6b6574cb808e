# SPDX-License-Identifier: Apache-2.0
"""Probes and grpcurl-like tools: gRPC's health service and server reflection, by gRPC's own clients."""
import contextlib
import threading

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)

from processes import PATIENCE_S, Pipeline, folder, stop
from service import refused

SERVING = health_pb2.HealthCheckResponse.SERVING
Request = health_pb2.HealthCheckRequest


@contextlib.contextmanager
def channel():
    with folder() as work, Pipeline(work) as pipeline:
        with grpc.insecure_channel(f"127.0.0.1:{pipeline.port}",
                                   options=[("grpc.enable_http_proxy", 0)]) as found:
            found.pipeline = pipeline
            yield found


def test_health_check():
    """Check says SERVING for the server and each service, and NOT_FOUND for another."""
    with channel() as calls:
        health = health_pb2_grpc.HealthStub(calls)
        for name in ("", "tensorflow.ProfilerService", "proftap.v1.Profiler"):
            assert health.Check(Request(service=name), timeout=PATIENCE_S).status == SERVING, name
        with refused(grpc.StatusCode.NOT_FOUND):
            health.Check(Request(service="no.such.Service"), timeout=PATIENCE_S)


def test_health_watch():
    """Watch says SERVING at once, and ends when the program does."""
    with channel() as calls:
        watch = health_pb2_grpc.HealthStub(calls).Watch(Request(), timeout=PATIENCE_S)
        assert next(watch).status == SERVING
        stop(calls.pipeline.process, "pipeline")
        with refused(grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
            next(watch)


def test_health_watch_of_a_stranger():
    """Watch of an unknown service answers SERVICE_UNKNOWN, and stays open until its client goes."""
    with channel() as calls:
        watch = health_pb2_grpc.HealthStub(calls).Watch(Request(service="x"), timeout=PATIENCE_S)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        assert watch.is_active()
        watch.cancel()


def test_reflection():
    """A client without any .proto learns the services, builds a request and captures."""
    with channel() as calls:
        database = ProtoReflectionDescriptorDatabase(calls)
        services = set(database.get_services())
        assert {"tensorflow.ProfilerService", "proftap.v1.Profiler", "grpc.health.v1.Health",
                "grpc.reflection.v1alpha.ServerReflection"} <= services, services
        pool = descriptor_pool.DescriptorPool(database)
        method = pool.FindServiceByName("tensorflow.ProfilerService").FindMethodByName("Profile")
        request = message_factory.GetMessageClass(method.input_type)(emit_xspace=True)
        request.opts.version = 1
        request.opts.duration_ms = 200
        request.opts.host_tracer_level = 2
        call = calls.unary_unary(
            f"/{method.containing_service.full_name}/{method.name}",
            request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(method.output_type).FromString)
        space = call(request, timeout=PATIENCE_S).xspace
        assert any(line.events for plane in space.planes for line in plane.lines)


def test_reflection_of_every_service():
    """Each service that is listed can be found, with all methods and the messages that they take."""
    with channel() as calls:
        database = ProtoReflectionDescriptorDatabase(calls)
        pool = descriptor_pool.DescriptorPool(database)
        for name in database.get_services():
            methods = pool.FindServiceByName(name).methods
            assert methods, name
            for method in methods:
                assert method.input_type.full_name and method.output_type.full_name
                found = database.FindFileContainingSymbol(method.full_name)
                assert found.name == method.containing_service.file.name


def test_reflection_of_what_is_not_there():
    """An unknown symbol and an unknown file are not found; the call continues."""
    with channel() as calls:
        database = ProtoReflectionDescriptorDatabase(calls)
        for find, name in ((database.FindFileContainingSymbol, "no.such.Message"),
                           (database.FindFileByName, "no/such.proto")):
            try:
                find(name)
            except KeyError:
                continue
            raise AssertionError(f"{name} was found")
        assert database.get_services()


def test_idle_reflection_does_not_keep_the_server():
    """A reflection stream without requests ends with the program, not a minute later."""
    with channel() as calls:
        over = threading.Event()
        request = reflection_pb2.ServerReflectionRequest(list_services="")

        def ask():
            yield request
            over.wait(PATIENCE_S)

        stream = reflection_pb2_grpc.ServerReflectionStub(calls).ServerReflectionInfo(
            ask(), timeout=PATIENCE_S)
        assert next(stream).list_services_response.service
        stop(calls.pipeline.process, "pipeline")
        with refused(grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
            next(stream)
        over.set()
