# SPDX-License-Identifier: Apache-2.0
"""Tests that other servers' recordings, and a million spans, are the same in each of our formats; see
tests/integration/test_equality.py."""
import os

from processes import BUILD, SOURCE, capture, folder, run
from test_jax import jax_server

N_SPANS = 1_000_000


def check_equality(path):
    done = run("/usr/bin/python3", SOURCE / "tests/integration/test_equality.py", "given",
               env={**os.environ, "EQUALITY_TRACES": str(path)}, patience_s=600)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok", "not ok"))]
    assert lines == ["ok 1 - given traces are equal in every format"], done.stdout


def test_jax_capture():
    """A capture of JAX's own server is the same as XSpace, NDJSON, CSV, SQLite and Chrome's JSON."""
    with folder() as work, jax_server(work) as (port, _):
        check_equality(capture(port, 300, work / "logs", "--python_tracer_level", "1"))


def test_a_million_spans():
    """A million spans of 8 threads, with arguments, are the same, too; test_perfetto tests Perfetto's format."""
    with folder() as work:
        path = work / "million.xplane.pb"
        run(BUILD / "tests/bench/bench_convert", N_SPANS, path)
        check_equality(path)
