#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests CPU samples by programs whose shares of functions are known, and by the commands that show the samples."""
import collections
import json
import math
import shutil
import signal
import sqlite3
import subprocess
import time

from checks import wait_until
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
    skip_refused(capture)
    return capture


def skip_refused(capture):
    refused = [w for w in capture.trace.space.warnings if w.startswith("samples: they are missing") and "perf" in w]
    if refused:
        raise Skip(refused[0])


def is_recording(t, port):
    done = subprocess.run([PROFTAP, "list"], capture_output=True, text=True, check=True)
    return any(str(port) in line and "recording" in line for line in done.stdout.splitlines())


def read_states(trace, name="/host:CPU thread states"):
    """Returns {thread: [(state, start in ns, duration in ns, what it waits for or None)]}."""
    plane = trace.planes[name]
    texts = {m.id: m.name for m in plane.stat_metadata.values()}
    return {line.name: [(plane.event_metadata[e.metadata_id].name, line.timestamp_ns + e.offset_ps // 1000, e.duration_ps // 1000,
                         next((texts[s.ref_value] for s in e.stats if texts[s.metadata_id] == "in"), None)) for e in line.events]
            for line in plane.lines}


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
    """Returns (thread, [functions from the innermost one], time in ns) of each CPU sample of the program's own threads."""
    plane = trace.planes[name]
    stats = {plane.stat_metadata[s.metadata_id].name: s for s in plane.stats}
    stacks = decode_profile(stats["ptap_stacks"].bytes_value)
    for line in plane.lines:
        if line.name.startswith("ptap-"):  # proftap's own thread in the program
            continue
        for event in line.events:
            if event.duration_ps:  # the thread waited
                continue
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
def the_option_switches_samples_and_states_off(t):
    _, port = start(t)
    trace = t.capture(port, 100, "-o", "ptap_sample_hz=0").trace
    equal([name for name in trace.planes if name.endswith(("samples", "states"))], [], "planes with samples or states")
    trace = t.capture(port, 100, "-o", "ptap_offcpu=false").trace
    equal([name for name in trace.planes if name.endswith("states")], [], "planes with states")


@test
def a_capture_without_options_has_samples_and_states(t):
    _, port = start(t)
    capture = t.capture(port, 1000)
    skip_refused(capture)
    equal(report(capture.path)["period_ns"], 10**9 // 99, "the period")
    states = read_states(capture.trace)
    equal(set(states), {"burn", "first", "ptap-control"}, "threads with states")
    for thread, rows in states.items():
        equal([b[1] - a[1] - a[2] for a, b in zip(rows, rows[1:])], [0] * (len(rows) - 1), f"gaps between states of {thread}")
        equal(rows[0][1], 0, f"the begin of {thread}")
        equal(rows[-1][1] + rows[-1][2], int(capture.trace.duration_ms * 1e6), f"the end of {thread}")
    equal([(row[0], row[3]) for row in states["burn"]], [("blocked", "read")], "the thread that waits for its input")


@test
def the_running_time_is_the_processor_time(t):
    _, port = start(t)
    capture = record(t, port)
    rates = capture.trace.usage["process cpu %"].events
    first_ns, end_ns = rates[0].start_ps / 1000, rates[-1].start_ps / 1000
    cpu_ns = sum(rate.stats["value"].value / 100 * (after.start_ps - rate.start_ps) / 1000 for rate, after in zip(rates, rates[1:]))
    running_ns = sum(max(0, min(start + length, end_ns) - max(start, first_ns))
                     for rows in read_states(capture.trace).values() for name, start, length, _ in rows if name == "running")
    # The kernel counts processor time in ticks of up to 10 ms, at both ends.
    check(abs(running_ns - cpu_ns) <= 0.02 * cpu_ns + 20e6, f"running for {running_ns / 1e6:.1f} ms, used {cpu_ns / 1e6:.1f} ms")


@test
def a_stopped_program_is_shown_as_stopped(t):
    burn, port = start(t)
    capture = t.start_capture(port, 3000)
    wait_until(lambda: is_recording(t, port), "the capture to record")
    burn.popen.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    burn.popen.send_signal(signal.SIGCONT)
    finished = capture.finish()
    skip_refused(finished)
    longest = max((row for row in read_states(finished.trace)["first"] if row[0] == "blocked"), key=lambda row: row[2])
    equal(longest[3], "stopped", f"the reason of {longest}")
    check(longest[2] >= 450e6, f"stopped for {longest[2] / 1e6:.1f} ms")


@test
def waits_have_the_stacks_in_which_the_thread_waits(t):
    """The thread sleeps between its requests. Its sampled waits stand for all of them."""
    requests = t.keep(Process("requests", [TOP_BUILD / "docs/examples/requests"]))
    port = int(requests.read_line().rpartition(" ")[2])
    capture = t.capture(port, 1000)
    skip_refused(capture)
    plane = capture.trace.planes["/host:CPU samples"]
    names = {m.id: m.name for m in plane.stat_metadata.values()}
    stacks = decode_profile(next(s.bytes_value for s in plane.stats if names[s.metadata_id] == "ptap_stacks"))
    rows = [(line.name, e.duration_ps / 1000, {names[s.metadata_id]: s.uint64_value for s in e.stats})
            for line in plane.lines for e in line.events if e.duration_ps]
    waits = [(thread, " ".join(stacks[values["stack"]]), ns, values["waits"]) for thread, ns, values in rows]
    if not waits:
        raise Skip("this user may not sample the kernel")
    sleeper, sleeps = max(collections.Counter(w[0] for w in waits if "nanosleep" in w[1]).items(), key=lambda item: item[1])
    check(sleeps > 10, f"waits: {waits[:20]}")
    own = [w for w in waits if w[0] == sleeper]
    blocked = [row for row in read_states(capture.trace)[sleeper] if row[0] == "blocked"]
    n, n_blocked = sum(w[3] for w in own), len(blocked)
    check(abs(n - n_blocked) <= 0.1 * n_blocked + 3, f"the samples stand for {n} waits of {n_blocked}")


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
    samples = [(functions[functions[0] == "[kernel]":], values, labels) for functions, values, labels in profile.samples
               if values[2] and labels["thread"] == "first"]
    n = sum(values[2] for _, values, _ in samples)
    equal(n, len(list(read_stacks(capture.trace))), "samples")
    equal(sum(values[3] for _, values, _ in samples), n * (10**9 // HZ), "processor time")
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
        "SELECT t.name, s.weight_ns, s.stack FROM samples s JOIN threads t ON t.id = s.thread_id WHERE t.name = 'first' ORDER BY s.at_ns").fetchall()
    expected = [("first", 10**9 // HZ, ";".join(reversed(functions))) for _, functions, _ in read_stacks(capture.trace)]
    equal(rows, expected, "rows")


@test
def text_shows_functions_with_their_errors(t):
    _, port = start(t)
    done = subprocess.run([PROFTAP, "report", record(t, port, 500).path], capture_output=True, text=True, check=True)
    contains(done.stdout, "functions that ran inside of spans", "the report")
    contains(done.stdout, "functions that ran, ", "the report")
    contains(done.stdout, "burn_fifty", "the report")


run()
