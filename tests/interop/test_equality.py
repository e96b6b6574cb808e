# SPDX-License-Identifier: Apache-2.0
"""Equality: what others recorded is the same in each of our formats; see tests/integration/test_equality.py."""
import os

from processes import SOURCE, capture, folder, run
from test_jax import jax_server


def test_jax_capture():
    """A capture of JAX's own server is the same as XSpace, NDJSON, CSV, SQLite and Chrome's JSON."""
    with folder() as work, jax_server(work) as (port, _):
        path = capture(port, 300, work / "logs", "--python_tracer_level", "1")
        done = run("/usr/bin/python3", SOURCE / "tests/integration/test_equality.py", "given",
                   env={**os.environ, "EQUALITY_TRACES": str(path)})
        lines = [line for line in done.stdout.splitlines() if line.startswith(("ok", "not ok"))]
        assert lines == ["ok 1 - given traces"], done.stdout
