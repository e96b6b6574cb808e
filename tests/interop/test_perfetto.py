# SPDX-License-Identifier: Apache-2.0
"""Tests that Google's trace_processor finds the contents of the trace in our .pftrace."""
import json
import pathlib
import subprocess

import perfetto
import sampled
from made_spaces import Plane, XSpace, write
from processes import BUILD, PROFTAP, SOURCE, Pipeline, capture, folder, run
from test_jax import jax_server

GOLDEN = SOURCE / "tests/golden"
# The losses that golden files report.
LOST = {"environment": {"traced_buf_trace_writer_packet_loss": 12}, "late": {}}


def test_golden_files():
    """Each golden file is the same by SQL and as NDJSON, without an error, and with its loss."""
    with folder() as work:
        for path in sorted(GOLDEN.glob("*.xplane.pb")):
            perfetto.check([path], work, LOST.get(path.name.split(".")[0]))


def test_capture_of_the_example():
    """A capture of our example keeps its spans, steps, counters, flows and async spans, and real pids and tids."""
    with folder() as work, Pipeline(work) as pipeline:
        path = capture(pipeline.port, 500, work / "logs")
        found = perfetto.check([path], work)
        assert {key[1] for key in found.spans} == {pipeline.process.pid}
        assert {"batch", "compress"} <= {key[4] for key in found.spans} and found.samples


def test_jax_capture():
    """A capture of JAX's own server, whose host plane has no pid, is converted whole."""
    with folder() as work, jax_server(work) as (port, _):
        path = capture(port, 300, work / "logs", "--python_tracer_level", "1")
        found = perfetto.check([path], work)
        assert any(key[4] == "our own work" for key in found.spans)


def make_host(path, name, pid, epoch_ns, flow):
    """Makes a trace of a host: one span has a flow that may leave the process, the flow of others stays in it."""
    space = XSpace(hostnames=[name])
    host = Plane(space, "/host:CPU", process_id=pid, ptap_process_name="train")
    host.line(pid, "main")
    host.event("work", 1000, 5000, _pt=0, _ct=0, **flow)
    host.event("send", 10000, 5000, _pt=0, _p=pid)
    host.event("receive", 19000, 5000, _ct=0, _c=pid)
    Plane(space, "Task Environment", profile_start_time=epoch_ns)
    return write(space, path)


EPOCH_NS = 10**18


def test_programs_of_one_host():
    """The traces of two programs of one host are one machine with common times, and a flow joins the programs."""
    with folder() as work:
        paths = [make_host(work / "a.xplane.pb", "gpu7", 4242, EPOCH_NS, {"_p": 99}),
                 make_host(work / "b.xplane.pb", "gpu7", 4243, EPOCH_NS + 20000, {"_c": 99})]
        found = perfetto.check(paths, work)
        assert found.arrows.total() == 3, found.arrows
        machines, = perfetto.query(work / "out.pftrace", "select distinct machine_id from process")
        assert machines == [[0]], machines


def test_two_hosts():
    """Traces of two hosts stay apart, also two with the same host name and pid; their times are common."""
    with folder() as work:
        paths = [make_host(work / f"{i}.xplane.pb", name, 4242, EPOCH_NS + i * 20000, {})
                 for i, name in enumerate(("gpu7", "gpu8", "gpu7"))]
        out = work / "out.pftrace"
        run(PROFTAP, "convert", "-o", out, *paths)
        trouble, spans, flows = perfetto.query(out, perfetto.TROUBLE, """
            select process.machine_id, pid, tid, ts from slice join thread_track on slice.track_id = thread_track.id
                join thread using (utid) join process using (upid) where slice.name = 'send' order by ts""",
            "select a.ts, b.ts from flow join slice as a on a.id = slice_out join slice as b on b.id = slice_in")
        assert not trouble, trouble
        assert spans == [[i, 4242, 4242, 10000 + i * 20000] for i in range(3)], spans
        assert sorted(flows) == [[10000 + i * 20000, 19000 + i * 20000] for i in range(3)], flows


def make_odd(path):
    """Makes a trace with everything that a foreign file may have."""
    space = XSpace()
    host = Plane(space, "/host:CPU", process_id=4242, ptap_process_name="train")
    host.line(4242, "deep")
    for i in range(1200):
        host.event("in", i, 5000 - 2 * i)
    host.line(4243, "overlapping")
    for i in range(70):
        host.event(f"o{i}", 10 * i, 1000)
    host.event("out", 2000, 5, _pt=0, _p=7)
    host.line(4244, "arguments")
    host.event("first", 3000, 5, **{"_pt": 0, "_c": 7, "a.b": 1, "a[0]": 2, "é": b"\xff\x00", "n": (2**64 - 1,)})
    host.event("second", 4000, 5, _pt=0, _c=7, nan=float("nan"), inf=float("-inf"), empty="", long="x" * 70000)
    host.event("", 5000, 0, _r=1, step_num=-3)
    host.event("cut", 6000, 100, unfinished=1)
    host.line(4246, "disordered")
    for start in (500, 20, 900, 20, 20):
        host.event("late", start, 100 + start)
    host.line(4247, "launches")
    host.event("cuLaunch", 90, 5, correlation_id=5)
    device = Plane(space, "/device:GPU:0")
    for i in (1, 2):
        device.line(i, "Stream #7")
        device.event("kernel", 100, 50, correlation_id=5)
        device.event("copy", 120 + i, 50)
    for i, (name, value) in enumerate((("process rss MiB", 1.5), ("queue_bytes", -5), ("load", (2**63 + 5,)))):
        host.line(2**62 + i, "_counters_")
        for at in (10, 20):
            host.event(name, at, 0, **{name: value})
    host.line(5000, "before the beginning")
    host.event("early", -700, 300)
    return write(space, path)


def test_foreign_shapes():
    """Deep nesting, overlaps, disorder, times before the begin, argument types and streams of one name are kept."""
    with folder() as work:
        found = perfetto.check([make_odd(work / "odd.xplane.pb")], work)
        assert found.arrows.total() == 4, found.arrows
        units, depth, streams = perfetto.query(
            work / "out.pftrace", "select name, unit from process_counter_track order by name",
            "select max(depth) from slice", "select count(distinct track_id) from slice where name = 'kernel'")
        assert units == [["load", None], ["process rss MiB", "MiB"], ["queue_bytes", "bytes"]], units
        assert depth == [[499]] and streams == [[2]], (depth, streams)


# The labels of processes, which have no other arguments.
LABELS = """select pid, string_value from process join args using (arg_set_id)
    where key glob 'chrome.process_label*' order by pid, key"""


def test_groups():
    """A row on which a grouping puts several tracks, which are drawn apart, has the spans of all of them."""
    with folder() as work:
        path = make_odd(work / "odd.xplane.pb")
        found = perfetto.check([path], work, options=("--primary-group", "category", "--secondary-group", "process"))
        assert {key[1:3] for key in found.spans} == {(1, "train"), (3, "/device:GPU:0")}, found.spans
        labels, = perfetto.query(work / "out.pftrace", LABELS)
        assert labels == [[1, "odd train 4242"], [2, "odd train 4242"], [3, "odd /device:GPU:0"]], labels


def test_keys_of_arguments():
    """Keys have "_" in place of dots and brackets, which would make a tree of them; other keys stay the same."""
    with folder() as work:
        run(PROFTAP, "convert", "-o", work / "out.pftrace", make_odd(work / "odd.xplane.pb"))
        keys, = perfetto.query(work / "out.pftrace", """select key, coalesce(int_value, string_value) from slice
            join args using (arg_set_id) where slice.name = 'first' and key glob 'debug.*' order by key""")
        assert keys == [["debug.a_0_", 2], ["debug.a_b", 1], ["debug.n", -1], ["debug.é", "/wA="]], keys


def test_unfinished_inside_of_finished():
    """A span without an end does not take the end of the span around it."""
    with folder() as work:
        space = XSpace()
        host = Plane(space, "/host:CPU", process_id=4242)
        host.line(4242, "main")
        host.event("whole", 10, 50)
        host.event("cut", 20, 40, unfinished=1)
        out = work / "out.pftrace"
        run(PROFTAP, "convert", "-o", out, write(space, work / "cut.xplane.pb"))
        trouble, slices = perfetto.query(out, perfetto.TROUBLE, "select name, dur from slice order by ts")
        assert (trouble, slices) == ([], [["whole", 50], ["cut", 40]]), (trouble, slices)


def expected_samples(machine=0):
    """Returns the CPU samples of sampled.SAMPLES as perfetto.read_stacks() does."""
    return [(machine, s.pid, s.thread, s.at_ns, s.at_ns // sampled.MS % 4,
             tuple((name, sampled.MODULES.get(name, ""), sampled.BUILD_IDS.get(sampled.MODULES.get(name), "")) for name in s.functions))
            for s in sampled.SAMPLES if s.kind == "cpu"]


def test_samples():
    """Each CPU sample has its time, thread and processor, and its stack leads to the right functions, files and build-ids."""
    with folder() as work:
        trace = work / "gpu7.xplane.pb"
        trace.write_bytes(sampled.make_trace())
        perfetto.check([trace], work)
        assert sorted(perfetto.read_stacks(work / "out.pftrace")) == sorted(expected_samples())


def test_samples_of_two_hosts():
    """Samples of equal pids on two hosts belong to their machines."""
    with folder() as work:
        paths = [work / "a.xplane.pb", work / "b.xplane.pb"]
        paths[0].write_bytes(sampled.make_trace())
        paths[1].write_bytes(sampled.make_trace().replace(b"gpu7", b"gpu8"))
        out = work / "out.pftrace"
        run(PROFTAP, "convert", "-o", out, *paths)
        trouble, = perfetto.query(out, perfetto.TROUBLE)
        assert not trouble, trouble
        found = perfetto.read_stacks(out)
        by_machine = [sorted(row[1:] for row in found if row[0] == machine) for machine in sorted({row[0] for row in found})]
        assert by_machine == [sorted(row[1:] for row in expected_samples())] * 2, by_machine


STATES = {"running": "Running", "preempted": "R", "blocked": "S"}


def check_states(out, rows):
    """Each state of a thread is there. Perfetto joins equal states that follow each other without a gap."""
    found, = perfetto.query(out, """select thread.tid, ts, dur, state, cpu from thread_state join thread using (utid)
        where state in ('Running', 'R', 'S') order by thread.tid, ts""")
    expected = [[row["tid"], row["start_ns"], row["duration_ns"], STATES[row["name"]], row.get("args", {}).get("cpu")] for row in rows]
    expected.sort()
    assert [row[:2] + row[3:] for row in found] == [row[:2] + row[3:] for row in expected], (found[:5], expected[:5])
    # The last state of each thread goes on to the end of the file.
    ends = {row[0]: i for i, row in enumerate(expected)}
    assert all(found[i][2] == row[2] for i, row in enumerate(expected) if i not in ends.values()), "durations"


def test_samples_of_a_program():
    """The CPU samples and states of a real program are all there, and no packet of them is lost."""
    with folder() as work, subprocess.Popen([BUILD / "tests/programs/burn"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            text=True) as burn:
        port = int(burn.stdout.readline().split()[1])
        path = capture(port, 500, work / "logs", "-o", "ptap_sample_hz=997")
        burn.kill()
        out = work / "out.pftrace"
        run(PROFTAP, "convert", "-o", out, path)
        rows = run(PROFTAP, "convert", "-t", "ndjson", "-o", "-", path).stdout.splitlines()
        expected = [(row["start_ns"], tuple(row["stack"])) for row in map(json.loads, rows) if row["type"] == "sample"]
        trouble, = perfetto.query(out, perfetto.TROUBLE)
        assert not trouble, trouble
        found = [(row[3], tuple(name for name, _, _ in row[5])) for row in perfetto.read_stacks(out)]
        assert sorted(found) == sorted(expected), (len(found), len(expected))
        refusals = [w for w in XSpace.FromString(path.read_bytes()).warnings if w.startswith("samples: they are missing")]
        assert expected or refusals, "there are no samples, and no warning tells why"
        check_states(out, [row for row in map(json.loads, rows) if row["type"] == "state"])


N_SPANS = 1000000
BY_NAME = """select thread.name, slice.name, count(*), sum(ts), sum(dur), min(ts), max(ts + dur),
        sum(extract_arg(slice.arg_set_id, 'debug.batch'))
    from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) group by 1, 2"""


def sum_up(path):
    """Returns the sums of BY_NAME from NDJSON."""
    sums = {}
    run(PROFTAP, "convert", "-o", path.with_suffix(".ndjson"), path)
    with open(path.with_suffix(".ndjson"), encoding="utf-8") as lines:
        next(lines)
        for item in map(json.loads, lines):
            start, length = item["start_ns"], item["duration_ns"]
            row = sums.setdefault((item["thread"], item["name"]), [0, 0, 0, start, 0, 0])
            row[:3] = row[0] + 1, row[1] + start, row[2] + length
            row[3:] = min(row[3], start), max(row[4], start + length), row[5] + item["args"]["batch"]
    return sums


def test_a_million_spans():
    """A million spans, through bundles that threads deflate, are all there, each with its times and arguments."""
    with folder() as work:
        path = work / "million.xplane.pb"
        run(BUILD / "tests/bench/bench_convert", N_SPANS, path)
        out = pathlib.Path(work) / "million.pftrace"
        run(PROFTAP, "convert", "-o", out, path)
        trouble, rows = perfetto.query(out, perfetto.TROUBLE, BY_NAME, patience_s=600)
        assert not trouble, trouble
        assert {(row[0], row[1]): row[2:] for row in rows} == sum_up(path)
        assert sum(row[2] for row in rows) == N_SPANS
