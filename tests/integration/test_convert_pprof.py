#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert -t pprof: the samples are the stacks of NDJSON's spans, and every reference
in the file is valid.
"""
import collections
import subprocess

from conversions import CROSSED, Conversion, capture_requests, goldens, make_bad_names, make_space, read_rows
from fixture import check, equal, run, test
from processes import PROFTAP
from sampled import SAMPLES, SPANS, STEP, make_trace
from stacks import read_stacks


class Pprof:
    def __init__(self, t, *paths, modules=1):
        from profile_proto import Profile  # run() has checked that google.protobuf is installed
        self.conversion = Conversion(t, "pprof", *paths)
        self.profile = Profile.FromString(self.conversion.data)
        equal(self.profile.string_table[0], "", "the first string")
        self.functions = {f.id: self.text(f.name) for f in self.profile.function}
        self.locations = {place.id: self.functions[place.line[0].function_id]
                          for place in self.profile.location}
        mapping = self.profile.mapping[0]
        check(mapping.has_functions, "the mapping says that it has no functions, so pprof would look for symbols")
        equal({m.id for m in self.profile.mapping}, set(range(1, modules + 1)), "mappings")
        equal({place.mapping_id for place in self.profile.location} - {0, *range(1, modules + 1)}, set(), "mappings of locations")

    def text(self, index):
        return self.profile.string_table[index]

    def labels(self, sample):
        return {self.text(label.key): self.text(label.str) if label.str else label.num
                for label in sample.label}

    def stacks(self):
        """Returns {(labels, names from the outermost): [spans, ns]}."""
        found = {}
        for sample in self.profile.sample:
            stack = (tuple(sorted(self.labels(sample).items())),
                     tuple(self.locations[i] for i in reversed(sample.location_id)))
            found.setdefault(stack, []).append(list(sample.value))
        return found


def list_devices(rows):
    """Returns the devices in the order of their numbers."""
    return list(dict.fromkeys(row.place[:2] for row in rows if row.place[1].startswith("/device:")))


def expected_labels(row_place, devices):
    host, process, pid, thread, tid = row_place
    labels = {"host": host, "process": process, "thread": thread}
    if pid < 2**30:
        labels["pid"] = pid
    if (host, process) in devices:
        labels["device"] = devices.index((host, process))
    if 0 <= tid < 2**30:
        labels["tid"] = tid
    return tuple(sorted(labels.items()))


def compare(t, *paths):
    rows = read_rows(t, *paths)
    pprof = Pprof(t, *paths)
    expected = collections.defaultdict(list)
    for (place, names), values in read_stacks(rows).items():
        expected[expected_labels(place, list_devices(rows)), names].append(values)
    found = {stack: sorted(values) for stack, values in pprof.stacks().items()}
    equal(found, {stack: sorted(values) for stack, values in expected.items()}, "stacks")
    equal(pprof.conversion.summary["written"], sum(s.value[0] for s in pprof.profile.sample), "spans written")
    return pprof, rows


@test
def samples_are_the_stacks_of_golden_traces(t):
    for path in goldens():
        compare(t, path)


@test
def samples_are_the_stacks_of_a_real_trace(t):
    pprof, rows = compare(t, capture_requests(t))
    types = [(pprof.text(v.type), pprof.text(v.unit)) for v in pprof.profile.sample_type]
    equal(types, [("spans", "count"), ("time", "nanoseconds")], "sample types")
    equal(pprof.text(pprof.profile.default_sample_type), "time", "the first sample type")
    check(pprof.profile.time_nanos > 10**18, f"when it began: {pprof.profile.time_nanos}")
    ends = [row.start_ns + row.duration_ns for row in rows]
    equal(pprof.profile.duration_nanos, max(ends) - min(row.start_ns for row in rows), "duration")
    pids = {pprof.labels(sample).get("pid") for sample in pprof.profile.sample}
    equal(pids, {row.place[2] for row in rows}, "pids")


@test
def samples_that_run_and_wait_have_values_of_their_own(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    pprof = Pprof(t, path, modules=5)
    types = [(pprof.text(v.type), pprof.text(v.unit)) for v in pprof.profile.sample_type]
    equal(types, [("spans", "count"), ("time", "nanoseconds"), ("samples", "count"), ("cpu", "nanoseconds"),
                  ("offcpu", "nanoseconds")], "sample types")
    expected = collections.Counter()
    for i, sample in enumerate(SAMPLES):
        labels = (sample.thread, SPANS[i] if i < len(SPANS) else None, STEP if i < len(SPANS) else None)
        is_cpu = sample.kind == "cpu"
        for at, value in enumerate((is_cpu, is_cpu * sample.weight_ns, (not is_cpu) * sample.weight_ns)):
            expected[labels, sample.functions, at] += value
    found = collections.Counter()
    for (labels, functions), values in pprof.stacks().items():
        labels = dict(labels)
        for spans, time, *others in values:
            if not spans:
                equal(time, 0, "time of spans")
                for at, value in enumerate(others):
                    found[(labels["thread"], labels.get("span"), labels.get("step")), functions, at] += value
    equal(+found, +expected, "values")
    equal(pprof.conversion.summary["written"], 2 + len(SAMPLES), "spans and samples")


@test
def spans_that_overlap_keep_their_times(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": CROSSED}))
    found = {names: values for (_, names), values in Pprof(t, path).stacks().items()}
    equal(found, {("a",): [[1, 80]], ("a", "d"): [[1, 20]], ("b",): [[1, 100]], ("c",): [[1, 40]]}, "stacks")


@test
def the_file_grows_with_stacks_not_with_spans(t):
    sizes = []
    for n in (10, 10000):
        path = t.dir / "a.xplane.pb"
        path.write_bytes(make_space({"main": [("work", 1000 * i, 500) for i in range(n)]}))
        pprof = Pprof(t, path)
        equal([list(s.value) for s in pprof.profile.sample], [[n, n * 500]], "values")
        sizes.append(len(pprof.conversion.data))
    check(sizes[1] < sizes[0] + 16, f"sizes {sizes}")


@test
def names_of_any_bytes_make_a_valid_profile(t):
    path, names = make_bad_names(t)
    pprof, _ = compare(t, path)
    equal({names[0] for _, names in pprof.stacks()}, set(names), "names")


@test
def unused_names_stay_away(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("work", 0, 9), ("mark", 3, 0)]}))
    pprof = Pprof(t, path)
    check("mark" not in pprof.profile.string_table, "a name of no span")
    equal(sorted(pprof.functions.values()), ["work"], "functions")


@test
def the_file_is_compressed_and_a_pipe_is_not(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("work", 0, 9)]}))
    plain = subprocess.run([PROFTAP, "convert", "-t", "pprof", "-o", "-", path], capture_output=True, timeout=20,
                           check=True).stdout
    pprof = Pprof(t, path)
    equal(pprof.conversion.path.read_bytes()[:2], b"\x1f\x8b", "the file's first bytes")
    equal(plain, pprof.conversion.data, "bytes in a pipe")


run()
