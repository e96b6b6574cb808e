#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert: -t csv has the items of NDJSON, -t csv-kernels and csv-kernel-stats the
kernels of a device in the layout of rocprofv3, and csv-summary the content of the report.
"""
import csv
import io
import json
import statistics
import subprocess

from conversions import GOLDEN, Conversion, Members, capture_requests, goldens, make_bad_names, make_space, read_rows
from fixture import check, equal, run, test
from processes import PROFTAP
from reports import make_training
from sampled import MS, PERIOD_NS, SAMPLES, SPANS, STEP, make_trace

COLUMNS = ["type", "host", "process", "pid", "thread", "tid", "device", "name", "start_ns", "duration_ns", "step",
           "flow_in", "flow_out", "args", "weight_ns", "cpu", "span", "stack"]
DETAILS = "regs:32 static_shared:16 dynamic_shared:1024 grid:4,2,1 block:256,1,1 occ_pct:75"
csv.field_size_limit(1 << 30)

# There are kernels of two streams; the first one also has a copy.
KERNELS = {"stream 1": [("gemm(float*, int)", 100, 50, {"correlation_id": 7, "kernel_details": DETAILS}),
                        ("gemm(float*, int)", 200, 70), ("copy", 300, 5, {"memcpy_details": "kind_src:pinned"})],
           "stream 2": [("add", 120, 25)]}


def read(t, form, *paths, options=()):
    """Returns the header and all rows, and checks that every line ends as RFC 4180 requires."""
    conversion = Conversion(t, form, *paths, options=options)
    check(conversion.data.endswith(b"\r\n"), "the last line does not end with CRLF")
    header, *rows = csv.reader(io.StringIO(conversion.data.decode(), newline=""), strict=True)
    check(all(len(row) == len(header) for row in rows), "a row has not as many fields as the header")
    return conversion, header, rows


def number(text):
    return int(text) if text else 0


def compare(t, path):
    rows = read_rows(t, path)
    conversion, header, found = read(t, "csv", path)
    equal(header, COLUMNS, "columns")
    equal((conversion.lost, conversion.summary["written"]), ({}, len(rows)), "lost and written")
    for row, of in zip(rows, found):
        host, process, pid, thread, tid = row.place
        equal(of[:6], [row.kind, host, process, str(pid), thread, str(tid)], "type and place")
        equal((of[7], int(of[8]), number(of[9])), (row.name, row.start_ns, row.duration_ns), "name and times")
        equal(of[9] == "", row.kind in ("instant", "flow", "counter"), "whether it has a duration")
        equal(of[10], str(row.args["step_num"]) if row.kind == "step" else "", "step")
        equal((number(of[11]), number(of[12])), row.flows, "flows")
        equal(of[14:], ["", "", "", ""], "columns of samples")
        args = json.loads(of[13] or "{}", object_pairs_hook=Members)
        equal((args, args.n), (row.args, row.args.n), "args")


@test
def every_golden_trace_is_there_whole(t):
    for path in goldens():
        compare(t, path)


@test
def a_real_trace_is_there_whole(t):
    compare(t, capture_requests(t))


@test
def samples_have_columns_of_their_own(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    conversion, header, rows = read(t, "csv", path)
    found = [dict(zip(header, row)) for row in rows if row[0] in ("sample", "waiting")]
    equal(conversion.summary["written"], len(rows), "written rows")
    equal([(row["type"], row["span"], row["step"]) for row in found if row["thread"] == "main"],
          [("waiting" if s.kind == "waiting" else "sample", span, str(STEP)) for s, span in zip(SAMPLES, SPANS)], "spans and steps")
    for row, sample in zip(found, SAMPLES, strict=True):
        is_cpu = sample.kind == "cpu"
        equal((row["name"], row["stack"]), (sample.functions[-1], ";".join(sample.functions)), "functions")
        equal((row["weight_ns"], row["duration_ns"]), (str(PERIOD_NS), "") if is_cpu else 2 * (str(sample.weight_ns),), "weights")
        equal(row["cpu"], str(sample.at_ns // MS % 4) if is_cpu else "", "the processor")
        equal((row["pid"], row["thread"], row["args"]), (str(sample.pid), sample.thread, ""), "the place")


@test
def names_of_any_bytes_are_fields(t):
    path, names = make_bad_names(t)
    _, _, rows = read(t, "csv", path)
    equal([row[7] for row in rows], names, "names")
    compare(t, path)


@test
def long_arguments_are_one_field(t):
    """The argument is longer than the conversion's buffer, and has characters that must be quoted.
    """
    path = t.dir / "a.xplane.pb"
    text = 'é"\n,' * 200000
    path.write_bytes(make_space({"main": [("x", 0, 9, {"text": text}), ("y", 10, 9, {"text": "short"})]}))
    _, _, rows = read(t, "csv", path)
    equal([json.loads(row[13]) for row in rows], [{"text": text}, {"text": "short"}], "args")


def make_devices(t):
    """Makes two devices of a host that also has a thread."""
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("work", 0, 999), ("more", 1000, 1)]}) +
                     make_space(KERNELS, "/device:GPU:0") + make_space({"s": [("add", 120, 35)]}, "/device:GPU:1"))
    return path


@test
def kernels_have_the_columns_of_rocprofv3(t):
    conversion, header, rows = read(t, "csv-kernels", make_devices(t))
    equal(header, ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id",
                   "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size",
                   "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X",
                   "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"], "columns")
    kernels = [dict(zip(header, row)) for row in rows]
    equal([(k["Kind"], k["Agent_Id"], k["Stream_Id"], k["Kernel_Name"], int(k["Start_Timestamp"]),
            int(k["End_Timestamp"]), k["Dispatch_Id"]) for k in kernels],
          [("KERNEL_DISPATCH", "Agent 0", "100", "gemm(float*, int)", 100, 150, "1"),
           ("KERNEL_DISPATCH", "Agent 0", "100", "gemm(float*, int)", 200, 270, "2"),
           ("MEMORY_COPY", "Agent 0", "100", "copy", 300, 305, "3"),
           ("KERNEL_DISPATCH", "Agent 0", "101", "add", 120, 145, "4"),
           ("KERNEL_DISPATCH", "Agent 1", "100", "add", 120, 155, "5")], "kernels")
    first, second, *_, last, other = kernels
    equal([first[c] for c in header[8:9] + header[11:]],
          ["7", "1040", "0", "32", "0", "0", "256", "1", "1", "1024", "2", "1"], "launch of the first")
    equal(first["Kernel_Id"], second["Kernel_Id"], "ids of equal names")
    equal(last["Kernel_Id"], other["Kernel_Id"], "ids of equal names")
    equal(conversion.lost, {"events that are no kernels": 2}, "lost")


@test
def sums_of_kernels_are_no_kernels(t):
    """Steps and modules of a TPU, and lines that XLA derives for a GPU, are not counted as kernels.
    """
    path = GOLDEN / "devices.xplane.pb"
    conversion, header, rows = read(t, "csv-kernels", path)
    equal([row[header.index("Kernel_Name")] for row in rows], ["gemm", "add", "fusion.1", "fusion.2", "copy-start"], "kernels")
    equal(conversion.lost, {"events that are no kernels": 4}, "lost")
    kinds = [row.kind for row in read_rows(t, path) if row.place[1] != "/host:CPU"]
    equal(sorted(kinds), ["derived"] * 3 + ["kernel"] * 5, "types")


@test
def stats_of_kernels_are_those_of_rocprofv3(t):
    _, header, rows = read(t, "csv-kernel-stats", make_devices(t))
    equal(header, ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage", "MinNs", "MaxNs", "StdDev"], "columns")
    durations = {"gemm(float*, int)": [50, 70], "add": [25, 35], "copy": [5]}
    equal([row[0] for row in rows], list(durations), "names, by their total")
    for name, calls, total, mean, percent, low, high, deviation in rows:
        of = durations[name]
        equal((int(calls), int(total), int(low), int(high)), (len(of), sum(of), min(of), max(of)), name)
        expected = (statistics.mean(of), 100 * sum(of) / 185, statistics.stdev(of) if of[1:] else 0)
        for value, right in zip((mean, percent, deviation), expected):
            check(abs(float(value) - right) < 1e-5, f"{name}: {value} is not {right}")


@test
def without_kernels_there_is_a_header_alone(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("work", 0, 999)]}))
    for form in ("csv-kernels", "csv-kernel-stats"):
        equal(read(t, form, path)[2], [], form)


def summarize(t, path, *options):
    """Returns the output of csv-summary, after checking it against the report."""
    conversion = Conversion(t, "csv-summary", path, options=options)
    report = subprocess.run([PROFTAP, "report", "--csv", *options, path], capture_output=True, check=True, timeout=20)
    equal(conversion.data, report.stdout, f"{path} {options}")
    return conversion


@test
def a_summary_equals_the_report(t):
    training = make_training(t.dir / "training.xplane.pb")
    for path in (*goldens(), training, make_bad_names(t)[0], capture_requests(t)):
        summarize(t, path)
    for options in (["--name", "^forward"], ["--exclude", "gemm"], ["--thread", "main", "--to", "20ms"],
                    ["--truncate_kernels", "--name", "gemm"]):
        summarize(t, training, *options)


@test
def a_summary_equals_the_golden_file(t):
    """The expected text was reviewed once and is kept here."""
    lines = summarize(t, make_training(t.dir / "training.xplane.pb")).data.decode().split("\r\n")
    equal(lines, (GOLDEN / "training_summary.csv").read_text().split("\n"), "rows; see tests/golden")


@test
def events_that_a_summary_leaves_out_are_counted(t):
    path = make_training(t.dir / "training.xplane.pb")
    for options, n_spans, lost in (([], 364, {"counter samples": 40, "arguments": 40, "spans on derived lines": 41}),
                                   (["--name", "^train$"], 40, {"arguments": 40}),
                                   (["--name", "rss"], 0, {"counter samples": 40})):
        conversion = summarize(t, path, *options)
        equal((conversion.summary["written"], conversion.lost), (n_spans, lost), f"lost with {options}")
    links = summarize(t, GOLDEN / "links.xplane.pb")
    flows = [row.flows for row in read_rows(t, GOLDEN / "links.xplane.pb")]
    equal(links.lost["ends of flows"], sum((i != 0) + (o != 0) for i, o in flows), "ends of flows")


run()
