# SPDX-License-Identifier: Apache-2.0
"""Measures Debian's packaged tracers and proftap in turns, N_REPEATS times, by one command."""
import contextlib
import os
import shutil
import statistics
import subprocess

from common import Failure
from peers_functions import CYG, PATCHABLE, PG, Perf, Uftrace
from peers_lttng import Lttng
from peers_proftap import Proftap
from traced import PACED, Refused

N_REPEATS = 3
# Perf records fewer annotations than the others (peers_functions.PACE), because its traps are slow.
PEERS = (
    Proftap(),
    Lttng(),
    Uftrace(PG, "-pg"),
    Uftrace(CYG, "-finstrument..."),
    Uftrace(PATCHABLE, "-fpatchable..."),
    Perf(),
)


def read_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout or "not from a package"


def measure(peer, directory):
    """Returns {(kind, is_recording): row}, and {kind: bytes of one span or instant in the files}."""
    rows, sizes = {}, {}
    for kind in peer.kinds:
        rows[kind, False] = peer.measure_off(kind)
    for kind in peer.kinds:
        place = os.path.join(directory, f"{peer.tag}-{kind}")
        rows[kind, True], n_emitted, n_found, n_lost, n_bytes = peer.measure_on(kind, place)
        if n_found + n_lost != n_emitted:
            raise Failure(f"{peer.name}: {kind}: emitted {n_emitted:,}, in the file {n_found:,}, lost {n_lost:,}")
        sizes[kind] = n_bytes / n_found
        shutil.rmtree(place)
    return rows, sizes


def measure_in_turns(out, directory):
    """Returns {peer: results of measure()} for the peers that work on this machine."""
    found = {peer: [] for peer in PEERS}
    for _ in range(N_REPEATS):
        for peer in list(found):
            try:
                found[peer].append(measure(peer, directory))
            except Refused as refusal:
                out.skip(f"{peer.name}: {refusal}")
                del found[peer]
    return found


def median_cost(runs, key):
    """Returns (ns of one annotation, ns of its clock reads)."""
    rows = [run[0][key] for run in runs]
    return (statistics.median(row.emit_ns - row.none_ns for row in rows),
            statistics.median(row.reads_ns for row in rows))


def show_cost(out, found, what, key):
    ours = None
    for peer, runs in found.items():
        if key[0] not in peer.kinds:
            continue
        cost, reads = median_cost(runs, key)
        ours = cost if ours is None else ours
        # While off, the cost of proftap may be too small to divide by.
        ratio = (f"{cost / ours:.1f}", "proftap's") if key[1] and peer is not PEERS[0] else None
        note = f"clock reads {reads:.1f} ns" if key[1] else ""
        out.figure(f"{what}: {peer.name}", f"{cost:.2f}", "ns", "", note, ratio)


def show_sizes(out, found, what, kind):
    ours = statistics.median(run[1][kind] for run in found[PEERS[0]])
    for peer, runs in found.items():
        if kind in peer.kinds:
            size = statistics.median(run[1][kind] for run in runs)
            ratio = None if peer is PEERS[0] else (f"{size / ours:.1f}", "proftap's")
            out.figure(f"{what}: {peer.name}", f"{size:.1f}", "bytes", "", "", ratio)


def show_snapshot(out, peer, place):
    try:
        took_ms, n_spans, n_bytes = peer.measure_snapshot(place)
    except Refused as refusal:
        out.skip(f"snapshot: {peer.name}: {refusal}")
        return
    out.figure(f"snapshot: {peer.name}", f"{took_ms:.0f}", "ms", "",
               f"{n_bytes / 1e6:.1f} MB, {n_spans:,} spans: {took_ms * 1e6 / n_spans:.0f} ns a span")


def bench_peers(out, directory):
    for peer in PEERS:
        out.line(f"{peer.name}: {', '.join(f'{package} {read_version(package)}' for package in peer.packages)}"
                 if peer.packages else f"{peer.name}: this tree")
    out.method(f"peers: {PACED} Each in a program of its own, built on its own header or with its own flag, in turns; "
               "medians of the batches, then of "
               f"{N_REPEATS} runs; the loop without the tracer is subtracted. What was emitted is in the file or was "
               "counted as lost by the tracer itself, else this run fails")
    out.method("a span: PTAP_SPAN; two tracepoints without fields; a call of an empty function (minus the call); "
               "a probe at its entry and one at its return. An instant: PTAP_INSTANT; a tracepoint; the probe at the "
               "entry")
    with contextlib.ExitStack() as stack:
        for peer in PEERS:
            stack.enter_context(peer)
        found = measure_in_turns(out, directory)
        for kind in ("span", "instant"):
            show_cost(out, found, f"{kind}, nobody records", (kind, False))
            show_cost(out, found, f"{kind}, recording", (kind, True))
            show_sizes(out, found, f"bytes, {kind}", kind)
        out.method("snapshot: of what was recorded so far, from the command to its end, the recording goes on; "
                   "uftrace and perf's probes have none")
        for peer in found:
            if peer.measure_snapshot:
                show_snapshot(out, peer, os.path.join(directory, f"{peer.tag}-snapshot"))
