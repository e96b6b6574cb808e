#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert -t chrome: Chrome's JSON has the items of NDJSON, in a form that importers
accept completely.
"""
import collections
import json
import math
import subprocess
from decimal import Decimal

from conversions import (CROSSED, DRAWN, Conversion, capture_requests, goldens, make_bad_names, make_space,
                         read_rows)
from fixture import check, contains, equal, run, test
from processes import PROFTAP
from sampled import MODULES, SAMPLES, SPANS, STEP, from_chrome, make_trace


class Chrome:
    def __init__(self, t, *paths, options=()):
        self.conversion = Conversion(t, "chrome", *paths, options=options)
        self.document = json.loads(self.conversion.data, parse_float=Decimal)
        self.events = self.document["traceEvents"]
        self.shift_ns = int(self.document["metadata"].get("shift-ns", 0))
        named = {(e["name"], e["pid"], e["tid"]): e["args"] for e in self.of("M")}
        self.threads = {key[1:]: args["name"] for key, args in named.items()
                        if key[0] == "thread_name"}
        self.processes = {key[1]: args["name"] for key, args in named.items()
                          if key[0] == "process_name"}

    def of(self, phases):
        return [e for e in self.events if e["ph"] in phases]

    def place(self, event):
        return self.processes[event["pid"]], self.threads[event["pid"], event["tid"]]


def to_ns(us):
    """Converts to ns exactly: the numbers have at most three decimals."""
    check(us * 1000 == int(us * 1000), f"{us} has parts of a ns")
    return int(us * 1000)


def text_of(args):
    return json.dumps(args, sort_keys=True, default=float)


def as_viewers_take(value):
    """Turns integers that a viewer would read wrongly into texts."""
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def expected_args(row):
    args = {key: as_viewers_take(value) for key, value in row.args.items()}
    return dict(list(args.items())[:1]) if row.kind == "counter" else args


def is_number(row):
    values = list(row.args.values())
    return bool(values) and not isinstance(values[0], str) and math.isfinite(values[0])


def compare(t, *paths, options=()):
    """Checks that the file has each item of NDJSON and no others."""
    rows = read_rows(t, *paths, options=options)
    chrome = Chrome(t, *paths, options=options)
    samples = [row for row in rows if row.kind == "counter"]
    lost = [row for row in samples if not is_number(row)]
    equal(chrome.conversion.lost.get("counter samples that are no number", 0), len(lost), "lost")
    expected = collections.Counter(
        (row.place[1], row.place[3], row.name, row.start_ns + chrome.shift_ns, row.duration_ns, text_of(expected_args(row)),
         "C" if row.kind == "counter" else "X" if row.kind in DRAWN else "i")
        for row in rows if row not in lost)
    found = collections.Counter(
        (*chrome.place(e), e["name"], to_ns(e["ts"]), to_ns(e.get("dur", 0)), text_of(e.get("args", {})),
         e["ph"]) for e in chrome.of("XiC"))
    equal(found - expected, collections.Counter(), "events only in Chrome's JSON")
    equal(expected - found, collections.Counter(), "events missing in Chrome's JSON")
    equal(chrome.conversion.summary["written"], sum(found.values()), "the events that were counted")
    compare_flows(rows, chrome)
    check_nesting(chrome)
    return chrome, rows


def compare_flows(rows, chrome):
    expected = collections.Counter()
    for row in rows:
        for phase, flow in zip("fs", row.flows):
            if flow:
                expected[phase, hex(flow % 2**64), row.place[3], row.start_ns + chrome.shift_ns] += 1
    found = collections.Counter(
        (e["ph"], e["id"], chrome.threads[e["pid"], e["tid"]], to_ns(e["ts"])) for e in chrome.of("sf"))
    equal(found, expected, "ends of flows")
    check(all(e["cat"] == "flow" for e in chrome.of("sf")), "the category of flows")
    names = collections.defaultdict(set)
    for e in chrome.of("sf"):
        names[e["id"]].add(e["name"])
    equal({id: found for id, found in names.items() if len(found) > 1}, {}, "flows whose ends differ in their names")


def check_nesting(chrome):
    """Checks that no span crosses another one of its row, because importers would drop it."""
    rows = collections.defaultdict(list)
    for e in chrome.of("X"):
        rows[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
    for spans in rows.values():
        ends = []
        for start, end, name in sorted(spans, key=lambda s: (s[0], -s[1])):
            while ends and ends[-1] <= start:
                ends.pop()
            check(not ends or end <= ends[-1], f"{name} at {start} crosses another one")
            ends.append(end)


@test
def every_golden_trace_is_there_whole(t):
    for path in goldens():
        compare(t, path)


@test
def a_real_trace_is_there_whole(t):
    chrome, rows = compare(t, capture_requests(t))
    kinds = {row.kind for row in rows}
    check({"span", "async", "counter", "flow"} <= kinds, f"kinds {kinds}")
    equal({e["name"] for e in chrome.of("sf")}, {"job"}, "names of arrows")
    pids = {row.place[2] for row in rows}
    equal({e["pid"] for e in chrome.events}, pids, "pids are the kernel's")
    real = {(row.place[2], row.place[4]) for row in rows if row.kind == "span"}
    check(real <= set(chrome.threads), "tids are the kernel's")


@test
def samples_refer_to_frames_with_files_and_to_named_threads(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    chrome = Chrome(t, path)
    equal(chrome.conversion.summary["written"], 2 + len(SAMPLES), "spans and samples")
    equal(sorted(from_chrome(chrome.conversion.data)), sorted(SAMPLES), "samples")
    equal({chrome.processes[s["pid"]] for s in chrome.document["samples"]}, {"train", "child"}, "processes")
    equal({f["name"]: f["category"] for f in chrome.document["stackFrames"].values()},
          {name: MODULES.get(name, "") for s in SAMPLES for name in s.functions}, "files of functions")
    check("0" not in chrome.document["stackFrames"], "a frame has the number 0, which readers take for none")


@test
def frames_without_samples_are_left_out(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    document = Chrome(t, path, options=("--pid", "child")).document
    equal(sorted(f["name"] for f in document["stackFrames"].values()),
          sorted(["main", "inflate", "std::vector<int, A<b> >::at(int)"]), "frames")


def read_samples(t, path, *options):
    """Returns NDJSON's rows of samples, and what was lost."""
    conversion = Conversion(t, "ndjson", path, options=options)
    rows = [json.loads(line) for line in conversion.data.splitlines()]
    return [row for row in rows if row["type"] in ("sample", "waiting")], conversion.lost


@test
def samples_of_ndjson_have_their_span_and_step(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    rows, _ = read_samples(t, path)
    found = [(row["name"], row.get("span"), row.get("step"), "cpu" in row, "duration_ns" in row) for row in rows]
    expected = [(s.functions[-1], *((SPANS[i], STEP) if i < len(SPANS) else (None, None)), s.kind == "cpu", s.kind == "waiting")
                for i, s in enumerate(SAMPLES)]
    equal(found, expected, "samples")


@test
def times_select_samples_and_waits_that_reach_into_them(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    rows, _ = read_samples(t, path, "--from", "40ms", "--to", "65ms", "--thread", "main")
    equal([(row["type"], row["name"], row["start_ns"]) for row in rows],
          [("waiting", "read", 22_000_000), ("sample", "std::vector<int, A<b> >::at(int)", 60_000_000)], "samples")


@test
def a_grouping_keeps_samples_of_threads_that_have_a_row(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    for form in ("ndjson", "chrome", "folded", "perfetto", "speedscope", "sqlite", "csv"):
        out = t.dir / f"grouped.{form}"
        done = subprocess.run([PROFTAP, "convert", "--json", "-t", form, "-o", out, "--primary_group", "category", path],
                              capture_output=True, text=True, check=True)
        others = sum(s.thread != "main" for s in SAMPLES)
        equal(json.loads(done.stdout)["lost"].get("CPU samples of threads without spans"), others, f"{form}: lost")
    rows, _ = read_samples(t, path, "--primary_group", "category")
    equal({(row["process"], row["thread"]) for row in rows}, {("threads", "main (4242)")}, "rows")


@test
def the_document_is_of_the_shape_that_jax_leaves(t):
    document = Chrome(t, goldens()[0]).document
    equal(list(document), ["displayTimeUnit", "metadata", "traceEvents"], "members")
    equal(document["displayTimeUnit"], "ns", "unit")
    equal(document["metadata"]["highres-ticks"], True, "metadata")
    check(all(document["traceEvents"]), "an empty event, which importers take for an error")


@test
def spans_that_overlap_stand_on_rows_that_nest(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": CROSSED + [("far", 10**6, 1)], "other": CROSSED}))
    chrome, _ = compare(t, path)
    for thread in ("main", "other"):
        rows = collections.defaultdict(set)
        for e in chrome.of("X"):
            if chrome.place(e)[1] == thread:
                rows[e["tid"]].add(e["name"])
        first = ["a", "c", "d"] + ["far"] * (thread == "main")
        equal(sorted(map(sorted, rows.values())), [first, ["b"]], f"rows of {thread}")
    order = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in chrome.of("M")
             if e["name"] == "thread_sort_index"}
    places = [chrome.threads[key] for key in sorted(order, key=lambda key: (order[key], key))]
    equal(places, ["main", "main", "other", "other"], "the order of rows")


@test
def hosts_with_equal_pids_stay_apart(t):
    for host in ("alpha", "beta"):
        (t.dir / f"{host}.xplane.pb").write_bytes(
            make_space({"main": [(f"work of {host}", 5, 5)]}, host=host, pid=4242))
    chrome = Chrome(t, t.dir / "alpha.xplane.pb", t.dir / "beta.xplane.pb")
    found = {e["name"]: (e["pid"], chrome.processes[e["pid"]]) for e in chrome.of("X")}
    equal(found["work of alpha"], (4242, "alpha /host:CPU"), "the first process of the pid")
    pid, name = found["work of beta"]
    check(pid >= 2**30, f"a pid that Linux gives: {pid}")
    equal(name, "beta /host:CPU [4242]", "the second process of the pid")
    equal(chrome.conversion.lost, {"processes of one pid on several hosts": 1}, "lost")


@test
def threads_that_are_drawn_as_one_row_do_not_cross(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"one": [("a", 0, 100), ("mark", 5, 0)], "two": [("b", 50, 100)],
                                 "three": [("c", 200, 50)]}, pid=77))
    chrome, _ = compare(t, path, options=("--primary_group", "process", "--secondary_group", "category"))
    places = {e["name"]: (chrome.place(e), e["tid"]) for e in chrome.of("Xi")}
    equal({place for place, _ in places.values()}, {("/host:CPU", "threads")}, "the rows' names")
    equal(len({tid for _, tid in places.values()}), 3, "rows")
    equal(places["a"][1], places["mark"][1], "the row of the first thread")


@test
def times_that_viewers_drop_or_round_are_shifted(t):
    path = t.dir / "a.xplane.pb"
    for first_ns, shift in ((-1500, "1500"), (2**53 - 1517, None), (2**53 - 1516, str(1516 - 2**53))):
        path.write_bytes(make_space({"main": [("a", first_ns, 1000), ("b", first_ns + 1510, 7)]}))
        chrome, _ = compare(t, path)
        equal(chrome.document["metadata"].get("shift-ns"), shift, f"the shift of {first_ns}")
        equal(min(to_ns(e["ts"]) for e in chrome.of("X")), first_ns + int(shift or 0), "the first time")


@test
def equal_series_of_one_process_are_told_apart(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(b"".join(
        make_space({"_counters_": [("depth", start_ns, 0, {"value": 1})]}, pid=77) for start_ns in (5, 6)))
    first, second = Chrome(t, path).of("C")
    equal((first["ts"], "id" in first), (Decimal("0.005"), False), "the first series")
    equal((second["ts"], "id" in second), (Decimal("0.006"), True), "the second series")


@test
def names_of_any_bytes_make_valid_json(t):
    path, names = make_bad_names(t)
    chrome, _ = compare(t, path)
    equal([e["name"] for e in chrome.of("X")], names, "names")
    equal({chrome.place(e)[1] for e in chrome.of("X")}, {"\ufffdab\ufffdcd\ufffd"}, "the thread")


@test
def a_trace_without_events_is_an_empty_document(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({}))
    equal(Chrome(t, path).events, [], "events")


@test
def the_file_is_compressed_as_its_name_says(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("x", 0, 9)]}))
    for name, is_gzip in (("a.json", False), ("a.json.gz", True), ("a.trace.json.gz", True),
                          ("a.speedscope.json", False), ("a.ndjson.gz", True),
                          ("my.trace", False), ("my.trace.gz", True), ("a.pprof", True), ("a.pprof.pb", False)):
        form = next((word for word in ("speedscope", "ndjson", "pprof") if word in name), "chrome")
        words = ["-t", form] if name.startswith("my") else []
        done = subprocess.run([PROFTAP, "convert", *words, "-o", t.dir / name, path], capture_output=True,
                              text=True, timeout=20)
        equal(done.returncode, 0, f"{name}: {done.stderr}")
        contains(done.stderr, f"to {form}:", name)
        equal((t.dir / name).read_bytes()[:2] == b"\x1f\x8b", is_gzip, f"whether {name} is compressed")


run()
