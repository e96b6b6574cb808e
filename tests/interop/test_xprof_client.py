# SPDX-License-Identifier: Apache-2.0
"""XProf's Python client: the calls behind its page, and those that the page does not have."""
import re

import viewer
from processes import Pipeline, folder, one_file, peer
from protos import XSpace

SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}


def call(what, pipeline, log_dir, ms):
    return peer("xprof_client.py", what, f"127.0.0.1:{pipeline.port}", log_dir, ms).stdout


def names_in(path):
    return {name for _, name in viewer.counts(viewer.trace_events(path, "trace_viewer"))}


def test_trace():
    """trace() leaves one run with our spans."""
    with folder() as work, Pipeline(work) as pipeline:
        call("trace", pipeline, work / "logs", 2000)
        assert SPANS <= names_in(one_file(work / "logs"))


def test_monitor():
    """monitor() shows what the program does now, with its steps."""
    with folder() as work, Pipeline(work) as pipeline:
        text = call("monitor", pipeline, work, 500)
        assert "Timestamp: " in text, text
        assert f"Program: pipeline (pid {pipeline.process.pid})" in text, text
        n_steps = re.search(r"Step time: [\d.]+ ms \(avg\).* (\d+) steps", text)
        assert n_steps and int(n_steps[1]) > 0, text


def test_continuous():
    """Two snapshots of a continuous session are two files with our spans, although XProf forces level 0."""
    with folder() as work, Pipeline(work) as pipeline:
        call("continuous", pipeline, work / "logs", 1500)
        paths = sorted((work / "logs").rglob("*.xplane.pb"))
        assert len(paths) == 2, paths
        for path in paths:
            assert SPANS <= names_in(path), path
            warnings = XSpace.FromString(path.read_bytes()).warnings
            assert any("is replaced by the default, 2" in w for w in warnings), list(warnings)
