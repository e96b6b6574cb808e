#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests CPU samples by programs whose shares of functions are known, and by the commands that show the samples."""
import collections
import json
import math
import sqlite3
import shutil
import subprocess

from fixture import Skip, check, contains, equal, need_no_sanitizer, run, test
from lent import sandboxed
from processes import PROFTAP, TOP_BUILD, Process
from trace_file import Trace

SHARES = {"burn_fifty": 0.5, "burn_thirty": 0.3, "burn_twenty": 0.2}
DEPTH = 20
HZ = 997


def start(t, program=None):
    """Starts the program and returns it with its port."""
    need_no_sanitizer("change the stacks")
    burn = t.keep(Process("burn", [program or TOP_BUILD / "tests/programs/burn"], stdin=subprocess.PIPE))
    _, port = burn.read_line().split()
    return burn, int(port)


def record(t, port, ms=1000, hz=HZ):
    capture = t.capture(port, ms, "-o", f"ptap_sample_hz={hz}")
    refused = [w for w in capture.trace.space.warnings if w.startswith("samples: they are missing") and "perf" in w]
    if refused:
        raise Skip(refused[0])
    return capture


def report(path):
    done = subprocess.run([PROFTAP, "report", "--json", path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["cpu_samples"]


def report_spans(path):
    done = subprocess.run([PROFTAP, "report", "--json", path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["totals"]["spans"]


def check_shares(counts, shares, what):
    """Checks that the counts are within four standard deviations of the shares: with three, one run of a hundred would fail."""
    n = sum(counts.values())
    check(n > 100, f"{what}: only {n} samples")
    for name, share in shares.items():
        tolerance = 4 * math.sqrt(share * (1 - share) / n)
        check(abs(counts[name] / n - share) <= tolerance, f"{what}: {name} has {counts[name]} of {n}, expected {share:.0%}")


def read_stacks(trace, name="/host:CPU samples"):
    """Returns (thread, [functions from the innermost one], time in ns) of each sample."""
    plane = trace.planes[name]
    stats = {plane.stat_metadata[s.metadata_id].name: s for s in plane.stats}
    stacks = decode_profile(stats["ptap_stacks"].bytes_value)
    for line in plane.lines:
        for event in line.events:
            values = {plane.stat_metadata[s.metadata_id].name: s.uint64_value for s in event.stats}
            functions = stacks[values["stack"]]
            equal(plane.event_metadata[event.metadata_id].name, functions[0], "the name of a sample")
            yield line.name, functions, line.timestamp_ns + event.offset_ps / 1000


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def read_fields(data):
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def read_lists(data):
    """Returns {number of a field: [values]}."""
    fields = collections.defaultdict(list)
    for number, value in read_fields(data):
        fields[number].append(value)
    return fields


def read_numbers(values):
    """Returns the numbers of a repeated field, packed or not."""
    for value in values:
        at = 0
        while isinstance(value, bytes) and at < len(value):
            number, at = read_varint(value, at)
            yield number
        if isinstance(value, int):
            yield value


class Profile:
    """A Profile of pprof, by the numbers of its profile.proto: |samples| are (functions, values, labels)."""

    def __init__(self, data):
        fields = read_lists(data)
        self.texts = [text.decode() for text in fields[6]]
        self.types = [tuple(self.texts[f[i]] for i in (1, 2)) for f in (dict(read_fields(m)) for m in fields[1])]
        self.build_ids = {self.texts[f[5]]: self.texts[f.get(6, 0)] for f in (dict(read_fields(m)) for m in fields[3])}
        functions = {f[1]: self.texts[f[2]] for f in (dict(read_fields(m)) for m in fields[5])}
        self.locations = {f[1]: functions[dict(read_fields(f[4]))[1]] for f in (dict(read_fields(m)) for m in fields[4])}
        self.samples = [self.read_sample(read_lists(message)) for message in fields[2]]

    def read_sample(self, fields):
        labels = {}
        for label in (dict(read_fields(m)) for m in fields[3]):
            labels[self.texts[label[1]]] = self.texts[label[2]] if 2 in label else label.get(3)
        return [self.locations[i] for i in read_numbers(fields[1])], list(read_numbers(fields[2])), labels


def decode_profile(data):
    """Returns the functions of each sample."""
    return [functions for functions, _, _ in Profile(data).samples]


@test
def shares_and_stacks_are_those_of_the_program(t):
    _, port = start(t)
    # Root also samples the kernel's code, such as interrupts.
    samples = [(thread, functions[functions[0] == "[kernel]":], at_ns) for thread, functions, at_ns in read_stacks(record(t, port).trace)]
    inner = [s for s in samples if s[1][0] in SHARES]
    check(len(inner) >= 0.98 * len(samples), f"{len(samples) - len(inner)} of {len(samples)} samples are elsewhere")
    check_shares(collections.Counter(functions[0] for _, functions, _ in inner), SHARES, "self")
    for thread, functions, _ in inner:
        equal((thread, functions.count("descend"), functions[-1] == "[truncated]"), ("first", DEPTH, False), f"{functions}")


@test
def the_report_tells_which_functions_ran_in_which_span(t):
    _, port = start(t)
    said = report(record(t, port).path)
    equal(said["period_ns"], 10**9 // HZ, "the period")
    spans = {span["name"]: {f["name"]: f["self_samples"] for f in span["functions"]} for span in said["spans"]}
    fifty = sum(spans["fifty"].values())
    # A sample between two spans may count for neither, and one at the edge of a span for the other function.
    check(spans["fifty"].get("burn_fifty", 0) + spans["fifty"].get("[kernel]", 0) >= 0.98 * fifty, f"{spans}")
    check(spans["rest"].get("burn_fifty", 0) <= 0.02 * sum(spans["rest"].values()) + 1, f"{spans}")
    totals = {f["name"]: f["total_samples"] for f in said["functions"]}
    check(totals["descend"] >= 0.98 * said["samples"], f"descend has {totals['descend']} of {said['samples']} samples")


@test
def samples_lie_in_the_recording_and_in_order(t):
    _, port = start(t)
    trace = record(t, port, 500).trace
    length_ns = trace.duration_ms * 1e6
    last = 0
    for _, _, at_ns in read_stacks(trace):
        check(last <= at_ns <= length_ns + 1e6, f"a sample at {at_ns} ns, after {last} ns, in {length_ns} ns")
        last = at_ns


@test
def the_number_of_samples_is_that_of_the_processor_time(t):
    _, port = start(t)
    trace = record(t, port).trace
    rates = trace.usage["process cpu %"].events
    n = len(list(read_stacks(trace)))
    # A rate holds from its sample to the next one.
    cpu_ps = sum(rate.stats["value"].value / 100 * (after.start_ps - rate.start_ps) for rate, after in zip(rates, rates[1:]))
    expected = cpu_ps / 1e12 * HZ
    check(abs(n - expected) <= 0.06 * expected, f"{n} samples, expected {expected:.0f}")


@test
def a_thread_that_starts_later_is_sampled(t):
    burn, port = start(t)
    capture = t.start_capture(port, 1500, "-o", f"ptap_sample_hz={HZ}")
    burn.popen.stdin.write("thread\n")
    burn.popen.stdin.flush()
    threads = {thread for thread, _, _ in read_stacks(capture.finish().trace)}
    equal(threads, {"first", "later"}, "sampled threads")


@test
def a_program_whose_file_was_deleted_has_names(t):
    copy = t.dir / "copied"
    shutil.copy(TOP_BUILD / "tests/programs/.libs/burn" if (TOP_BUILD / "tests/programs/.libs/burn").exists()
                else TOP_BUILD / "tests/programs/burn", copy)
    _, port = start(t, copy)
    copy.unlink()
    names = {functions[0] for _, functions, _ in read_stacks(record(t, port, 300).trace)}
    check(set(SHARES) <= names, f"{names}")


@test
def without_the_option_there_are_no_samples(t):
    _, port = start(t)
    trace = t.capture(port, 100).trace
    equal([name for name in trace.planes if name.endswith("samples")], [], "planes with samples")


@test
def a_refusal_of_the_kernel_is_one_warning(t):
    target = sandboxed(t, "errno", "perf_event_open").serve()
    capture = t.emit(target, 100, "burst 3", options=("-o", "ptap_sample_hz=99"))
    equal(capture.trace.count("burst"), 3, "spans")
    warnings = [w for w in capture.trace.space.warnings if w.startswith("samples: ")]
    equal(len(warnings), 1, f"warnings: {list(capture.trace.space.warnings)}")
    contains(warnings[0], "perf_event_open", "the warning")


@test
def pprof_has_the_samples_with_their_spans(t):
    _, port = start(t)
    capture = record(t, port, 500)
    out = t.dir / "out.pprof.pb"
    subprocess.run([PROFTAP, "convert", "-o", out, capture.path], check=True, capture_output=True)
    profile = Profile(out.read_bytes())
    equal(profile.types, [("spans", "count"), ("time", "nanoseconds"), ("samples", "count"), ("cpu", "nanoseconds"),
                          ("offcpu", "nanoseconds")], "types")
    samples = [(functions, values, labels) for functions, values, labels in profile.samples if values[2]]
    n = sum(values[2] for _, values, _ in samples)
    equal(n, len(list(read_stacks(capture.trace))), "samples")
    equal(sum(values[3] for _, values, _ in samples), n * (10**9 // HZ), "processor time")
    equal({labels["thread"] for _, _, labels in samples}, {"first"}, "threads")
    inside = sum(values[2] for functions, values, labels in samples
                 if (functions[0], labels.get("span")) in (("burn_fifty", "fifty"), ("burn_thirty", "rest"), ("burn_twenty", "rest")))
    check(inside >= 0.95 * n, f"{inside} of {n} samples have the span of their function")
    program = str(TOP_BUILD / "tests/programs/burn")
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    contains(notes, f"Build ID: {profile.build_ids[program]}\n", "the build-id of the program")
    spans = sum(values[0] for _, values, _ in profile.samples)
    equal(spans, report_spans(capture.path), "spans")


@test
def a_database_has_the_samples_of_each_thread(t):
    _, port = start(t)
    capture = record(t, port, 300)
    out = t.dir / "out.sqlite"
    subprocess.run([PROFTAP, "convert", "-o", out, capture.path], check=True, capture_output=True)
    rows = sqlite3.connect(out).execute(
        "SELECT t.name, s.weight_ns, s.stack FROM samples s JOIN threads t ON t.id = s.thread_id ORDER BY s.at_ns").fetchall()
    expected = [("first", 10**9 // HZ, ";".join(reversed(functions))) for _, functions, _ in read_stacks(capture.trace)]
    equal(rows, expected, "rows")


@test
def text_shows_functions_with_their_errors(t):
    _, port = start(t)
    done = subprocess.run([PROFTAP, "report", record(t, port, 500).path], capture_output=True, text=True, check=True)
    contains(done.stdout, "functions that ran inside of spans", "the report")
    contains(done.stdout, "functions that ran, by ", "the report")
    contains(done.stdout, "burn_fifty", "the report")


run()
