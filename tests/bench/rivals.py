# SPDX-License-Identifier: Apache-2.0
"""Measures round trips beside JAX's own server, by the same client, in turns."""
import os
import statistics
import subprocess

from common import BUILD, N_BURST, Failure, Target, run_lines

PYTHON = os.path.join(BUILD, "venv", "bin", "python")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jax_target.py")
N_ROUNDS = 5
# The Python of the JAX program takes longer for its annotations than our target. Both get this time.
BURST_MS = 1500


class JaxTarget(Target):
    """A JAX program with JAX's server: idle, or emitting N annotations in each capture."""

    def __init__(self, n):
        self.name = "jax_target.py"
        self.process = subprocess.Popen(
            [PYTHON, SCRIPT, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})


def start_ours(n):
    if n:
        return Target("emit", "burst", str(n))
    target = Target("emit", "idle")
    target.read("running")
    target.write_line()
    return target


def measure(port, duration_ms):
    """Returns (ms beyond the duration, spans in the answer)."""
    words = run_lines("bench_round_trip", port, duration_ms, 1)[0].split()
    return float(words[0]), int(words[4])


def compare(out, name, n_spans, duration_ms):
    with start_ours(n_spans) as ours, JaxTarget(n_spans) as theirs:
        ports = [target.read()[0] for target in (ours, theirs)]
        for port in ports:
            measure(port, 1)
        rounds = [[measure(port, duration_ms) for port in ports] for _ in range(N_ROUNDS)]
    mine, jax = (statistics.median(r[i][0] for r in rounds) for i in (0, 1))
    counted = ""
    if n_spans:
        counted = ", ".join(f"{r[0][1]:,} / {r[1][1]:,}" for r in rounds[-1:])
        counted = f"; spans in the last answers {counted}"
    out.figure(f"round trip - {duration_ms} ms, {name}", f"{mine:.2f}", "ms", "",
               f"JAX {jax:.2f} ms in this run: {jax / mine:.1f} times ours{counted}")


def bench_rivals(out, _):
    if not os.path.exists(PYTHON):
        out.skip("rivals: `make interop` installs JAX, then this runs")
        return
    out.method("rivals: Profile through gRPC by our client, a new connection each, to our server and to "
               f"JAX's in turns; wall clock minus duration; medians of {N_ROUNDS}; JAX's annotations "
               "come from Python, ours from C")
    compare(out, "idle", 0, 1)
    compare(out, "idle", 0, 500)
    compare(out, f"{N_BURST:,} spans", N_BURST, BURST_MS)
