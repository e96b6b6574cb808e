# SPDX-License-Identifier: Apache-2.0
"""Tests that trace_processor finds all that a trace has in our Chrome's JSON, and that XProf's JSON has no more."""
import collections
import gzip
import json
import sys

import perfetto
import sampled
import viewer
from made_spaces import Plane, XSpace, write
from processes import PROFTAP, SOURCE, Pipeline, capture, folder, run
from spaces import is_usage
from test_flows import requests_trace
from test_jax import jax_server

GOLDEN = SOURCE / "tests/golden"
SLICES = """select slice.id, process.pid, thread.name, slice.name, slice.ts, slice.dur, slice.arg_set_id
    from slice join thread_track on thread_track.id = slice.track_id join thread using (utid)
        join process using (upid)"""
ARGS = "select arg_set_id, flat_key, value_type, int_value, string_value, real_value from args where flat_key glob 'args.*'"
# The severity "info" is no trouble: trace_processor notes with it that the JSON has a unit for displayed times.
TROUBLE = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"
FLOWS = "select slice_out, slice_in from flow"


def as_viewers_take(value):
    if isinstance(value, int) and value >= 2**63:
        return str(value)
    if isinstance(value, float) and abs(value) < sys.float_info.min:  # trace_processor reads them as 0
        return 0.0
    return perfetto.until_nul(value)


def read_ndjson(path, shift_ns):
    """Spans and instants as (pid, thread, name, start, duration, args), and arrows of flows that have two ends."""
    spans, ends = collections.Counter(), collections.defaultdict(lambda: ([], []))
    for line in run(PROFTAP, "convert", "-t", "ndjson", "-o", "-", path).stdout.splitlines():
        item = json.loads(line)
        if item["type"] in ("trace", "counter", "sample", "waiting", "state"):
            continue
        args = {key: as_viewers_take(value) for key, value in item.get("args", {}).items()}
        thread, name = (perfetto.until_nul(item[member]) or "[No name]" for member in ("thread", "name"))
        key = (item["pid"], thread, name, item["start_ns"] + shift_ns, item.get("duration_ns", 0))
        spans[*key, perfetto.freeze(args)] += 1
        for way, member in enumerate(("flow_out", "flow_in")):
            if member in item:
                ends[item[member]][way].append(key)
    arrows = collections.Counter((outs[0], ins[0]) for outs, ins in ends.values()
                                 if len(outs) == len(ins) == 1 and outs[0][3] <= ins[0][3])
    return spans, arrows


def read_processed(path):
    trouble, slices, args, flows = perfetto.query(path, TROUBLE, SLICES, ARGS, FLOWS)
    values = collections.defaultdict(dict)
    for set_, key, kind, integer, text, real in args:
        values[set_][key.removeprefix("args.")] = {"string": text, "real": real}.get(kind, integer)
    spans, places = collections.Counter(), {}
    for id_, *key, set_ in slices:
        spans[*key, perfetto.freeze(values.get(set_, {}))] += 1
        places[id_] = tuple(key)
    return trouble, spans, collections.Counter((places[a], places[b]) for a, b in flows)


def check(path, work):
    """Returns the number of spans and instants, and of arrows."""
    out = work / "out.json.gz"
    run(PROFTAP, "convert", "-o", out, path)
    shift_ns = int(json.loads(gzip.decompress(out.read_bytes()))["metadata"].get("shift-ns", 0))
    spans, arrows = read_ndjson(path, shift_ns)
    trouble, found, found_arrows = read_processed(out)
    assert trouble == [], (path, trouble)
    perfetto.assert_same(found, spans, f"{path}: spans")
    assert not arrows - found_arrows, f"{path}: arrows that are not there: {list(arrows - found_arrows)[:3]}"
    return found.total(), found_arrows.total()


def test_golden_files():
    """trace_processor: each golden file is there whole, and nothing is wrong with it."""
    with folder() as work:
        for path in sorted(GOLDEN.glob("*.xplane.pb")):
            check(path, work)


def test_flows():
    """trace_processor: flows of a real capture lead from span to span."""
    with requests_trace() as path, folder() as work:
        _, n_arrows = check(path, work)
        assert n_arrows > 20, n_arrows


def test_jax_capture():
    """trace_processor: a capture of JAX's own server is there whole, with no span dropped as overlapping."""
    with folder() as work, jax_server(work) as (port, _):
        n_spans, _ = check(capture(port, 300, work / "logs", "--python_tracer_level", "1"), work)
        assert n_spans > 1000, n_spans


def test_samples():
    """trace_processor: a file with samples and their frames has its spans, and nothing is wrong with it."""
    with folder() as work:
        path = work / "sampled.xplane.pb"
        path.write_bytes(sampled.make_trace())
        assert check(path, work) == (2, 0)


def test_overlaps():
    """trace_processor: kernels of one stream that overlap in any way are all there."""
    with folder() as work:
        space = XSpace(hostnames=["gpu7"])
        stream = Plane(space, "/device:GPU:0")
        stream.line(7, "Stream #7(Compute)")
        for i in range(1000):
            stream.event(f"kernel {i % 7}", 10 * i, 1 + i * i % 997)
        assert check(write(space, work / "a.xplane.pb"), work) == (1000, 0)


def xprofs_spans(path):
    """Returns (thread, name, start, duration) of the spans in XProf's JSON of the file. Names
    of steps have no number."""
    found = collections.Counter()
    for thread, event in viewer.complete(viewer.trace_events(path, "trace_viewer")):
        name = event["name"].rpartition(" ")[0] if viewer.step_number(event) is not None else event["name"]
        found[thread, name, round(event["ts"] * 1000), round(event["dur"] * 1000)] += 1
    return found


def test_xprof_has_no_more():
    """XProf's own conversion of a capture has the same spans at the same times, to its rounding."""
    with folder() as work, Pipeline(work) as pipeline:
        path = capture(pipeline.port, 300, work / "logs")
        out = work / "out.json"
        run(PROFTAP, "convert", "-o", out, path)
        ours = collections.Counter(
            (thread, event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000))
            for thread, event in viewer.complete(json.loads(out.read_text())["traceEvents"]))
        theirs = xprofs_spans(path)
        assert len(theirs) > 50, len(theirs)
        assert not any(is_usage(name) for _, name, _, _ in ours)
        perfetto.assert_same(ours, theirs, "spans")
