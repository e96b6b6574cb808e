# SPDX-License-Identifier: Apache-2.0
"""@grpc/grpc-js, a gRPC that shares no code with ours, as the client."""
import json
import os
import pathlib
import sys

import grpc

import protos
from processes import HERE, PATIENCE_S, Pipeline, folder, run

NODE = pathlib.Path(sys.executable).with_name("node")
SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}


def test_grpc_js():
    """grpc-js gets a trace, a stream, an error's text, a deadline error, and the data of a session ended early."""
    with folder() as work, Pipeline(work) as pipeline:
        done = run(NODE, HERE / "client.mjs", protos.ROOT, pipeline.port, *SPANS,
                   patience_s=10 * PATIENCE_S,
                   env={**os.environ, "NODE_MODULES": str(NODE.parent.parent / "node_modules")})
    answers = {row.pop("name"): row for row in map(json.loads, done.stdout.splitlines())}
    for name in ("profile", "terminated"):
        answer = answers[name]
        assert answer["code"] == 0 and answer["events"] > 0 and not answer["empty"], answer
        assert SPANS <= set(answer["names"]), answer
    stream = answers["stream"]
    assert stream["code"] == 0 and stream["progress"] >= 2, stream
    assert int(stream["trailer"]["xspace_bytes"]) == stream["bytes"] > 0, stream
    assert int(stream["trailer"]["n_events"]) > 0, stream
    bad = answers["bad level"]
    assert bad["code"] == grpc.StatusCode.INVALID_ARGUMENT.value[0], bad
    assert "host_tracer_level" in bad["text"] and "9" in bad["text"], bad
    deadline = answers["deadline"]
    assert deadline["code"] == grpc.StatusCode.DEADLINE_EXCEEDED.value[0], deadline
