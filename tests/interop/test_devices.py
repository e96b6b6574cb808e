# SPDX-License-Identifier: Apache-2.0
"""Tests a trace of a program with a GPU in XProf and trace_processor; tests/golden/gpu.c describes the program. No GPU is needed.
"""
import contextlib
import csv
import json
import shutil

import perfetto
import viewer
from processes import PROFTAP, SOURCE, folder, run

STEPS = range(3)
STEP_US = 300
COPY, GEMM, NODE = "MemcpyHToD", "gemm", "void net::backward<float>(float*, int)"
# "reduce" runs beside the gemms on a stream of its own. "tail" begins before the previous gemm of its stream has ended.
REDUCE, TAIL = "reduce", "tail"
OP, MADE_IN = "forward/matmul:MatMul", "build"


@contextlib.contextmanager
def trace():
    with folder() as work:
        path = work / "gpu7.xplane.pb"
        shutil.copy(SOURCE / "tests/golden/gpu.xplane.pb", path)
        yield path


def show(tool):
    with trace() as path:
        return viewer.show(path, tool)


def rows(table):
    """[{column: value}]"""
    names = [column["id"] for column in table["cols"]]
    return [dict(zip(names, (cell and cell.get("v") for cell in row["c"]))) for row in table["rows"]]


def table_with(tables, first):
    found = [t for t in tables if [c["id"] for c in t.get("cols", [])][:1] == [first]]
    assert len(found) == 1, [t.get("cols") for t in tables]
    return found[0]


def test_kernel_stats():
    """kernel_stats has names, launch shapes, occupancy, times and operations of all kernels, also of a graph's node."""
    found = {row["kernel_name"]: row for row in rows(show("kernel_stats"))}
    assert set(found) == {GEMM, NODE, REDUCE, TAIL}, set(found)
    gemm, node, reduce = found[GEMM], found[NODE], found[REDUCE]
    assert (gemm["occurrences"], gemm["total_duration_us"], gemm["min_duration_us"], gemm["max_duration_us"]) == \
        (6, 300, 40, 60), gemm
    assert (gemm["registers_per_thread"], gemm["shmem_bytes"], gemm["block_dim"], gemm["grid_dim"]) == \
        (32, 0, "256,1,1", "16,1,1"), gemm
    assert gemm["occupancy_pct"] == 100 and gemm["op_name"] == "forward/matmul", gemm
    assert (node["occurrences"], node["avg_duration_us"]) == (3, 90), node
    assert (node["registers_per_thread"], node["shmem_bytes"], node["grid_dim"]) == (255, 1024, "64,2,1"), node
    assert (reduce["occurrences"], reduce["total_duration_us"], reduce["shmem_bytes"]) == (3, 180, 512), reduce
    assert (found[TAIL]["occurrences"], found[TAIL]["total_duration_us"]) == (3, 54), found[TAIL]
    assert node["occupancy_pct"] == 12.5 and node["op_name"] == MADE_IN, node


def test_overview_has_steps():
    """overview_page shows PTAP_STEP's steps, with the device's time for each, and the device's model."""
    page = show("overview_page")
    steps = rows(table_with(page, "stepnum"))
    assert [row["stepnum"] for row in steps] == [str(n) for n in STEPS], steps
    for row in steps:
        # Time with several kernels counts once.
        assert row["deviceComputeTimeMs"] == 0.208 and row["infeedTimeMs"] == 0.02, row
    words = json.dumps(page)
    assert "Nvidia GPU (Hopper)" in words and '"device_core_count": "1"' in words, words


def test_operations():
    """framework_op_stats: spans' names are operations on the device; XProf reads "name:Type"."""
    device = {row["operation"]: row for row in rows(show("framework_op_stats")[0])
              if row["host_or_device"] == "Device" and row["operation"] != "IDLE"}
    assert set(device) == {"forward/matmul", MADE_IN}, set(device)
    # This includes the copies of the same span.
    assert (device["forward/matmul"]["type"], device["forward/matmul"]["total_time"]) == ("MatMul", 594), device
    assert device[MADE_IN]["occurrences"] == 3 and device[MADE_IN]["total_time"] == 270, device


def flows(events, way):
    """Returns {flow: names of its events}."""
    found = {}
    for event in events:
        if event["ph"] == "X" and event.get(way):
            found.setdefault(event["bind_id"], []).append(event["name"])
    return found


def test_arrows_from_launches():
    """trace_viewer@: arrows lead from each launch to the device's work for it; both sides have the steps' groups."""
    with trace() as path:
        events = viewer.trace_events(path, "trace_viewer@")
    outs, ins = flows(events, "flow_out"), flows(events, "flow_in")
    assert set(outs) == set(ins) and len(outs) == 6 * len(STEPS), (outs, ins)
    pairs = sorted((outs[flow], ins[flow]) for flow in outs)
    # XProf draws a graph's kernels once more, on a line of its own.
    expected = [(["cuGraphLaunch (CudaGraph:7)"], {NODE, "Command Buffer 7"}), (["cuLaunchKernel"], {GEMM}),
                (["cuLaunchKernel"], {REDUCE}), (["cuLaunchKernelEx"], {TAIL}), (["cuMemcpyHtoDAsync_v2"], {COPY})]
    for launch, did in pairs:
        assert any(launch == a and set(did) <= b for a, b in expected), (launch, did)
    for _, event in viewer.complete(events):
        if event["name"] in (GEMM, COPY, NODE, REDUCE, TAIL, "cuLaunchKernel"):
            assert event["args"]["group_id"] == (event["ts"] - 20) // STEP_US, event


def test_lines_of_a_device():
    """trace_viewer@: streams are named after their contents; overhead and waits are in a plane beside the device's."""
    with trace() as path:
        events = viewer.trace_events(path, "trace_viewer@")
    planes = {name.rpartition(" ")[2] for name in viewer.process_names(events).values()}
    assert {"/device:GPU:0", "/device:CUSTOM:GPU:0"} <= planes, planes
    names = set(viewer.thread_names(events).values())
    assert {"Stream #7(Compute)", "Stream #9(Compute)", "Stream #13(MemcpyH2D)", "CUPTI overhead", "Synchronization"} <= names, names
    by_thread = {(thread, event["name"]) for thread, event in viewer.complete(events)}
    assert {("CUPTI overhead", "Activity buffer request"), ("Synchronization", "Context synchronize"),
            ("Stream #7(Compute)", GEMM), ("Stream #7(Compute)", TAIL), ("Stream #9(Compute)", REDUCE), ("Stream #13(MemcpyH2D)", COPY)} <= by_thread, by_thread
    assert not [e for _, e in viewer.complete(events) if e["name"] == "Context synchronize" and "group_id" in e["args"]]


def test_counters():
    """trace_viewer@: a device's counters have XLA's names where XLA has one, and else their own names."""
    with trace() as path:
        samples = viewer.counter_samples(viewer.trace_events(path, "trace_viewer@"))
    assert samples == {"DRAM Read Bandwidth (%)": [25, 26, 27], "mine": [0.5] * 3}, samples


def test_memory_profile():
    """memory_profile shows the device memory that was allocated and freed, and the device's total."""
    found = show("memory_profile")["memoryProfilePerAllocator"]
    assert set(found) == {"GPU_0"}, set(found)
    summary = found["GPU_0"]["profileSummary"]
    assert summary["peakBytesUsageLifetime"] == str(64 << 20) and summary["memoryCapacity"] == str(80 << 30), summary
    activities = [s["activityMetadata"]["memoryActivity"] for s in found["GPU_0"]["sampledTimelineSnapshots"]]
    assert activities == ["ALLOCATION", "DEALLOCATION"] * len(STEPS), activities


def test_perfetto():
    """trace_processor: device tracks, arrows from launches and counters are the same as in the trace."""
    with trace() as path:
        found = perfetto.check([path], path.parent)
        arrows = sorted((a[3], b[3]) for a, b, _ in found.arrows)
        assert arrows == sorted([("cuLaunchKernel", GEMM)] * 6 + [("cuMemcpyHtoDAsync_v2", COPY)] * 3 +
                                [("cuGraphLaunch (CudaGraph:7)", NODE), ("cuLaunchKernel", REDUCE),
                                 ("cuLaunchKernelEx", TAIL)] * 3), arrows
        assert sum(n for key, n in found.spans.items() if key[2] == "Stream #7(Compute)") == 12
        assert {key[2] for key in found.samples} == {"DRAM Read Bandwidth (%)", "mine"}, found.samples


TRACKS = """select track.id, track.name, slice.name, slice.ts, slice.dur, slice.depth
    from slice join track on slice.track_id = track.id where track.name glob 'Stream*'"""


def test_overlaps_in_perfetto():
    """trace_processor: kernels of one stream that overlap are on tracks of their own, with their own durations."""
    with trace() as path:
        out = path.parent / "out.pftrace"
        run(PROFTAP, "convert", "-o", out, path)
        slices, = perfetto.query(out, TRACKS)
    tracks = {}
    for track, stream, name, _, duration, depth in slices:
        tracks.setdefault(stream, {}).setdefault(track, set()).add(name)
        # Without depth no kernel seems to call another one that ran beside it.
        assert depth == 0 and duration == {GEMM: duration, TAIL: 18000, REDUCE: 60000, NODE: 90000, COPY: 20000}[name], slices
    assert {duration for _, _, name, _, duration, _ in slices if name == GEMM} == {40000, 60000}, slices
    assert sorted(map(sorted, tracks["Stream #7(Compute)"].values())) == [[GEMM, NODE], [TAIL]], tracks
    assert list(tracks["Stream #9(Compute)"].values()) == [{REDUCE}], tracks


def test_kernels_as_csv():
    """csv-kernels and csv-kernel-stats have rocprofv3's columns, and only the events of streams."""
    with trace() as path:
        stats, kernels = (list(csv.DictReader(run(PROFTAP, "convert", "-t", f"csv-{what}", "-o", "-", path).stdout.splitlines()))
                          for what in ("kernel-stats", "kernels"))
    assert {row["Name"]: (row["Calls"], row["TotalDurationNs"]) for row in stats} == {
        GEMM: ("6", "300000"), NODE: ("3", "270000"), COPY: ("3", "60000"), REDUCE: ("3", "180000"), TAIL: ("3", "54000")}, stats
    gemm = [row for row in kernels if row["Kernel_Name"] == GEMM]
    assert len(gemm) == 6 and len(kernels) == 18, kernels
    for row in gemm:
        assert (row["Kind"], row["Queue_Id"], row["VGPR_Count"], row["Workgroup_Size_X"], row["Grid_Size_X"]) == \
            ("KERNEL_DISPATCH", "7", "32", "256", "4096"), row
    assert {row["Kind"] for row in kernels if row["Kernel_Name"] == COPY} == {"MEMORY_COPY"}, kernels
