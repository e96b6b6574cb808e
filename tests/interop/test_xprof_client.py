# SPDX-License-Identifier: Apache-2.0
"""XProf's Python client: the calls behind its page, and those that the page does not have."""
import viewer
from processes import Pipeline, folder, one_file, peer

SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}


def call(what, pipeline, log_dir, ms):
    return peer("xprof_client.py", what, f"127.0.0.1:{pipeline.port}", log_dir, ms).stdout


def names_in(path):
    return {name for _, name in viewer.counts(viewer.trace_events(path, "trace_viewer"))}


def test_trace():
    """trace() leaves one run with our spans."""
    with folder() as work, Pipeline(work) as pipeline:
        call("trace", pipeline, work / "logs", 200)
        assert SPANS <= names_in(one_file(work / "logs"))
