# SPDX-License-Identifier: Apache-2.0
"""The other way round: proftap as the client of JAX's own server."""
import contextlib
import json
import signal
import subprocess
import sys

import spaces
import viewer
from processes import HERE, PATIENCE_S, PROFTAP, capture, folder, free_port, one_file, run, stop
from protos import XSpace


@contextlib.contextmanager
def jax_server(work):
    port = free_port()
    with open(work / "jax.err", "w") as errors:
        process = subprocess.Popen([sys.executable, HERE / "jax_server.py", str(port)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=errors, text=True)
    try:
        assert process.stdout.readline() == "ready\n", (work / "jax.err").read_text()
        yield port, process.stdout
    finally:
        stop(process, "the JAX program")
        process.stdout.close()


def count(events, name):
    return sum(1 for _, found, _ in events if found == name)


def test_capture_of_jax_server():
    """proftap capture records a JAX program through JAX's server, and proftap report reads that."""
    with folder() as work, jax_server(work) as (port, _):
        path = capture(port, 500, work / "logs", "--python_tracer_level", "0")
        events = list(spaces.host_events(XSpace.FromString(path.read_bytes())))
        n_own, n_steps = count(events, "our own work"), count(events, "train")
        assert n_own > 0 and abs(n_own - n_steps) <= 1, (n_own, n_steps)

        text = run(PROFTAP, "report", path).stdout
        assert "our own work" in text and "train" in text, text
        report = json.loads(run(PROFTAP, "report", "--json", path).stdout)
        rows = {row["name"]: row["count"] for plane in report["planes"]
                for thread in plane["threads"] for row in thread["spans"]}
        assert rows["our own work"] == n_own, rows
        assert rows["train"] == n_steps, rows

        shown = [e["name"] for _, e in viewer.complete(viewer.trace_events(path, "trace_viewer"))]
        assert shown.count("our own work") == n_own


def test_terminate_of_jax_server():
    """Ctrl-C in a capture of a JAX program keeps what JAX recorded until then."""
    with folder() as work, jax_server(work) as (port, output):
        client = subprocess.Popen(
            [PROFTAP, "capture", str(port), str(1000 * PATIENCE_S), "--log_dir", work / "logs"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert output.readline() == "recording\n"
            client.send_signal(signal.SIGINT)
            _, errors = client.communicate(timeout=PATIENCE_S)
        finally:
            client.kill()
            client.wait()
        assert client.returncode == 0, f"exit {client.returncode}: {errors}"
        events = spaces.host_events(XSpace.FromString(one_file(work / "logs").read_bytes()))
        assert count(events, "our own work") > 0
