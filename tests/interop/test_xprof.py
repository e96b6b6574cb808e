# SPDX-License-Identifier: Apache-2.0
"""Compares our file in XProf and JAX with the pipeline's own counts."""
import collections
import contextlib
import json

import spaces
import viewer
from processes import (PROFTAP, Pipeline, Prefork, capture, capture_of_block, folder, one_file, peer,
                       run, wait_until)
from protos import XSpace

N_BATCHES = 6
N_FILES = 32  # in each batch
N_WRITES = 4000


@contextlib.contextmanager
def bounded_trace():
    """Yields (path, counts) of a capture that includes all work: the pipeline rests before and after, and Ctrl-C ends
    the capture when the last file has been written.
    """
    with folder() as work, Pipeline(work, "--per-capture", str(N_BATCHES)) as pipeline:
        with capture_of_block(pipeline.port, work / "logs"):
            pipeline.wait_for_batches(N_BATCHES, N_FILES)
        yield one_file(work / "logs"), pipeline.final_counts()


def read_space(path):
    return XSpace.FromString(path.read_bytes())


def check_steps(events):
    steps = [(viewer.step_number(e), e) for _, e in viewer.complete(events)
             if viewer.step_number(e) is not None]
    assert sorted(n for n, _ in steps) == list(range(N_BATCHES)), steps
    groups = {e["args"]["group_id"] for _, e in steps}
    assert len(groups) == N_BATCHES, f"groups {groups}"


def check_counters(events):
    for name, values in viewer.counter_samples(events).items():
        assert all(1 <= value <= 64 for value in values), (name, values)


def check_nesting(events):
    """Checks that deflate lies within compress, and open and load within read, as in the source."""
    within = {"deflate": "compress", "open": "read", "load": "read"}
    for thread, event in viewer.complete(events):
        if event["name"] not in within:
            continue
        outer = [o for t, o in viewer.complete(events)
                 if t == thread and o["name"] == within[event["name"]] and
                 o["ts"] <= event["ts"] + 1e-3 and
                 event["ts"] + event["dur"] <= o["ts"] + o["dur"] + 1e-3]
        assert len(outer) == 1, (thread, event, outer)


def test_trace_viewer_equals_the_count():
    """trace_viewer: names, threads, steps, counters and arguments are what the pipeline counted."""
    with bounded_trace() as (path, expected):
        events = viewer.trace_events(path, "trace_viewer")
        spaces.assert_same(viewer.counts(events), expected)
        check_steps(events)
        check_counters(events)
        check_nesting(events)
        for thread, event in viewer.complete(events):
            if event["name"] in ("read", "compress", "write"):
                assert "/files/file-" in event["args"]["file"], event
                assert int(event["args"]["bytes"]) > 0, event


def test_streaming_trace_viewer_equals_the_count():
    """trace_viewer@: names, threads, steps and counters are what the pipeline counted."""
    with bounded_trace() as (path, expected):
        events = viewer.trace_events(path, "trace_viewer@")
        spaces.assert_same(viewer.counts(events), expected)
        check_steps(events)
        check_counters(events)


def idle_trace(work):
    """Returns a capture without spans, which has usage only."""
    with Pipeline(work) as pipeline:
        return capture(pipeline.port, 500, work / "logs", "--host_tracer_level", "0")


def test_usage_is_shown():
    """trace_viewer and trace_viewer@ show what the process used, sample by sample, without any span."""
    with folder() as work:
        path = idle_trace(work)
        expected = spaces.usage_counts(read_space(path))
        assert expected["process cpu %"] >= 3 and expected["process rss MiB"] >= 3, expected
        for tool in ("trace_viewer", "trace_viewer@"):
            samples = viewer.usage_samples(viewer.trace_events(path, tool))
            assert {name: len(values) for name, values in samples.items()} == expected, samples
            assert all(1 < value < 1000 for value in samples["process rss MiB"]), samples
        json.loads(viewer.convert(path, "overview_page"))


def test_running_pipeline():
    """A pipeline that never rests: the counts agree except at the edges, where spans are unfinished."""
    with folder() as work, Pipeline(work) as pipeline:
        # A capture that ends by itself lacks records from the time before the program learns of the end.
        with capture_of_block(pipeline.port, work / "logs"):
            wait_until(lambda: pipeline.ask_counts()["writer", "write"] > N_WRITES, "some hundred ms of work")
        path = one_file(work / "logs")
        expected = pipeline.final_counts()
        spaces.assert_same_but_for_edges(
            viewer.counts(viewer.trace_events(path, "trace_viewer")), expected)
        unfinished = [name for _, name, stats in spaces.host_events(read_space(path))
                      if stats.get("unfinished")]
        assert "batch" in unfinished, unfinished  # the reader always has a batch open


def test_jax_reads_the_same():
    """jax.profiler.ProfileData has the events, counters and arguments that the pipeline counted."""
    with bounded_trace() as (path, expected), folder() as work:
        peer("read_with_jax.py", path, work / "out")
        events = json.loads((work / "out").read_text())
        spaces.assert_same(spaces.counts(events), expected)
        numbers = sorted(stats["step_num"] for _, _, stats in events if "step_num" in stats)
        assert numbers == list(range(N_BATCHES)), numbers


def test_protobuf_reads_the_same():
    """protobuf's own decoder has the same events, and ids and references that resolve."""
    with bounded_trace() as (path, expected):
        space = read_space(path)
        spaces.assert_same(spaces.counts(spaces.host_events(space)), expected)
        for plane in space.planes:
            for table in (plane.event_metadata, plane.stat_metadata):
                assert all(key == value.id and key > 0 for key, value in table.items()), plane.name


def step_rows(page):
    """Returns the step-time table of overview_page and input_pipeline_analyzer."""
    tables = [t for t in page if [c["id"] for c in t.get("cols", [])][:1] == ["stepnum"]]
    assert len(tables) == 1, page
    return [row["c"] for row in tables[0]["rows"]]


def check_step_page(tool):
    with bounded_trace() as (path, _):
        rows = step_rows(viewer.show(path, tool))
        # XProf leaves out the first and the last step of every trace: they might be cut.
        titles = [row[0]["v"] for row in rows]
        assert titles == [f"batch {i}" for i in range(1, N_BATCHES - 1)], rows


def test_overview_page_has_the_steps():
    """overview_page has one row for each step, with its name and number."""
    check_step_page("overview_page")


def test_input_pipeline_has_the_steps():
    """input_pipeline_analyzer has one row for each step, with its name and number."""
    check_step_page("input_pipeline_analyzer")


def test_cpu_samples_leave_the_analyses_alone():
    """XProf draws CPU samples as a process of their own, and computes the same tables as without them."""
    with folder() as work, Pipeline(work, "--per-capture", str(N_BATCHES)) as pipeline:
        with capture_of_block(pipeline.port, work / "logs", "-o", "ptap_sample_hz=499"):
            pipeline.wait_for_batches(N_BATCHES, N_FILES)
        path = one_file(work / "logs")
        space = read_space(path)
        samples = next(plane for plane in space.planes if plane.name == "/host:CPU samples")
        events = viewer.trace_events(path, "trace_viewer@")
        pids = [pid for pid, name in viewer.process_names(events).items() if name.endswith("/host:CPU samples")]
        assert len(pids) == 1, viewer.process_names(events)
        drawn = collections.Counter(event["name"] for event in events if event["pid"] == pids[0] and event["ph"] in "Xi")
        expected = collections.Counter(samples.event_metadata[event.metadata_id].name for line in samples.lines for event in line.events)
        assert expected and drawn == expected, (drawn, expected)

        space.planes.remove(samples)
        without = work / "without" / path.name
        without.parent.mkdir()
        without.write_bytes(space.SerializeToString())
        for tool in ("overview_page", "input_pipeline_analyzer"):
            assert step_rows(viewer.show(path, tool)) == step_rows(viewer.show(without, tool)), tool


def test_report_equals_the_count():
    """proftap report --json agrees with the pipeline about the number of spans."""
    with bounded_trace() as (path, expected):
        report = json.loads(run(PROFTAP, "report", "--json", path).stdout)
        found = {(thread["name"], row["name"]): row["count"]
                 for plane in report["planes"] for thread in plane["threads"]
                 for row in thread["spans"]}
        assert found == {key: n for key, n in expected.items() if "(" not in key[0]}, found


def test_followed_children_are_processes():
    """trace_viewer@: each worker of a prefork server is a process, with its own spans and counter."""
    with folder() as work, Prefork(3) as prefork:
        path = capture(prefork.port, 800, work / "logs")
        events = viewer.trace_events(path, "trace_viewer@")
        names = viewer.process_names(events)
        wanted = {f"/host:CPU prefork [{pid}]" for pid in prefork.workers}
        shown = {pid: name for pid, name in names.items() if "[" in name and not name.endswith((" samples", " thread states"))}
        assert {name.partition(" ")[2] for name in shown.values()} == wanted, names
        with_lines = {event["pid"] for event in events
                      if event["ph"] == "X" and event["name"] == "line"}
        assert with_lines == set(shown), (with_lines, names)
