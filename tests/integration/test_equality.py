#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the events of a trace, read from the XSpace by Google's decoder, with those of every format that has all of
them. tests/interop compares a .pftrace with NDJSON, by Google's trace_processor.
"""
import collections
import os
import random
import subprocess
from pathlib import Path

from conversions import Conversion, capture_pipeline, capture_requests, goldens, make_space
from fixture import Skip, check, equal, need_no_sanitizer, run, test
from processes import TOP_BUILD, Process
from sampled import (MAIN, SAMPLES, THREADS, from_chrome, from_csv, from_ndjson, from_sqlite, from_xspace, make_trace, sum_folded,
                     states_from_csv, states_from_ndjson, states_from_sqlite, states_from_xspace, sum_pprof, sum_samples,
                     sum_speedscope)
from spans import (COUNTERS, each_of_chrome, each_of_csv, each_of_ndjson, each_of_sqlite, each_of_xspaces,
                   freeze)

SPANS = int(os.environ.get("EQUALITY_SPANS", 5000))
# If the files are larger, only the sums of their items' hashes are compared.
HELD_BYTES = 10_000_000


class Bag(collections.Counter):
    def add(self, item):
        self[item] += 1

    def check(self, expected, what):
        equal(list((self - expected).items())[:3], [], f"items only in {what}")
        equal(list((expected - self).items())[:3], [], f"items missing in {what}")


class Sum:
    """A sum of items that are too many to be held: equal sets have equal sums in any order, and different sets hardly ever do."""

    def __init__(self):
        self.n = self.hashes = 0

    def add(self, item):
        self.n += 1
        self.hashes = (self.hashes + hash(item)) & (2**64 - 1)

    def total(self):
        return self.n

    def check(self, expected, what):
        equal((self.n, self.hashes), (expected.n, expected.hashes), f"the number of items in {what}, and the sum of their hashes")


def as_it_is(item):
    return item


def as_texts(item):
    """Integers above the range of SQL and of most readers of JSON become texts."""
    *row, args = item
    if all(not isinstance(value, int) or value < 2**63 for _, value in args):
        return item
    return (*row, freeze((key, str(value) if isinstance(value, int) and value >= 2**63 else value)
                         for key, value in args))


def as_viewers_take(item):
    """Leaves out samples of counters, which viewers do not take as events."""
    return None if item[0] == COUNTERS else as_texts(item)


FORMATS = (
    ("NDJSON", each_of_ndjson, as_it_is),
    ("CSV", each_of_csv, as_it_is),
    ("SQLite", each_of_sqlite, as_texts),
    ("Chrome's JSON", each_of_chrome, as_viewers_take),
)


def fill(bag, items):
    for item in items:
        if item is not None:
            bag.add(item)
    return bag


def compare(t, *paths):
    """Compares all formats, and returns the number of events."""
    make = Bag if sum(path.stat().st_size for path in paths) <= HELD_BYTES else Sum
    expected = {form: make() for _, _, form in FORMATS}
    for item in each_of_xspaces(paths):
        for form, bag in expected.items():
            fill(bag, [form(item)])
    for what, read, form in FORMATS:
        fill(make(), read(t, paths)).check(expected[form], what)
    return expected[as_it_is].total()


@test
def golden_traces_are_equal_in_every_format(t):
    paths = goldens()
    check(len(paths) >= 10, f"golden traces: {paths}")
    for path in paths:
        compare(t, path)


@test
def captures_of_the_examples_are_equal_in_every_format(t):
    for path in (capture_pipeline(t), capture_requests(t)):
        check(compare(t, path) > 10, f"{path} is nearly empty")


@test
def traces_of_two_hosts_are_equal_in_every_format(t):
    """The traces start at different times, and one host's clock was measured to be 2 us ahead."""
    paths = []
    for host, began_ns, offset_ns in (("alpha", 10**18, 0), ("beta", 10**18 + 5000, 2000)):
        paths.append(t.dir / f"{host}.xplane.pb")
        paths[-1].write_bytes(
            make_space({f"main of {host}": [("work", 100, 50, {"n": 1}), ("rest", 200, 0)]}, host=host, pid=77) +
            make_space({}, "Task Environment",
                       stats={"profile_start_time": began_ns, "proftap_clock_offset_ns": offset_ns}))
    equal(compare(t, *paths), 4, "events")
    starts = {item[0]: item[2] for item in each_of_ndjson(t, paths) if item[1] == "work"}
    equal(starts, {"main of alpha": 100, "main of beta": 3100}, "the begins")


def make_thread(rng, n):
    """Makes spans in random order, many of them at the same times."""
    texts = ["", "a text", 'quotes " and , and ;', "é\u2028\n\t"]
    for _ in range(n):
        args = {f"key {i}": rng.choice([rng.randrange(-2**63, 2**63), rng.choice(texts)])
                for i in range(rng.randrange(3))}
        yield f"name {rng.randrange(200)}", rng.randrange(n * 10), rng.choice([0, 1, rng.randrange(5000)]), args


@test
def many_spans_are_equal_in_every_format(t):
    rng = random.Random(5)
    path = t.dir / "many.xplane.pb"
    path.write_bytes(make_space({f"thread {i}": list(make_thread(rng, SPANS // 4)) for i in range(4)}, pid=77))
    equal(compare(t, path), SPANS // 4 * 4, "events")


def put_underscores(sums):
    """Changes the texts as folded stacks have them."""
    changed = collections.Counter()
    for (thread, kind, functions), weight_ns in sums.items():
        changed[thread.replace(" ", "_"), kind, tuple(name.replace(" ", "_") for name in functions)] += weight_ns
    return changed


def compare_samples(t, path):
    """Compares the samples of threads in all formats that have a place for them, and returns them."""
    from profile_proto import Profile  # run() has checked that google.protobuf is installed
    samples = list(from_xspace(path.read_bytes()))
    expected = fill(Bag(), samples)
    for form, read in (("ndjson", from_ndjson), ("csv", from_csv), ("chrome", from_chrome)):
        fill(Bag(), read(Conversion(t, form, path).data)).check(expected, form)
    fill(Bag(), from_sqlite(Conversion(t, "sqlite", path).path)).check(expected, "sqlite")
    sums = sum_samples(samples)
    equal(sum_folded(Conversion(t, "folded", path).data), put_underscores(sums), "folded")
    equal(sum_speedscope(Conversion(t, "speedscope", path).data), sums, "speedscope")
    equal(sum_pprof(Profile.FromString(Conversion(t, "pprof", path).data)), sums, "pprof")
    return samples


@test
def samples_that_run_and_wait_are_equal_in_every_format(t):
    path = t.dir / "sampled.xplane.pb"
    path.write_bytes(make_trace())
    equal(sorted(compare_samples(t, path)), sorted(SAMPLES), "samples")


@test
def very_deep_stacks_are_equal_in_every_format(t):
    path = t.dir / "deep.xplane.pb"
    deep = tuple(f"f{i}" for i in range(1023))
    (place, samples), *_ = THREADS.items()
    path.write_bytes(make_trace({place: [("cpu", 10, 5, (MAIN, *deep)), *samples]}))
    equal(max(len(sample.functions) for sample in compare_samples(t, path)), 1024, "the deepest stack")


@test
def samples_of_a_real_trace_are_equal_in_every_format(t):
    need_no_sanitizer("change the stacks")
    burn = t.keep(Process("burn", [TOP_BUILD / "tests/programs/burn"], stdin=subprocess.PIPE))
    _, port = burn.read_line().split()
    capture = t.capture(port, 300, "-o", "ptap_sample_hz=997")
    refused = [w for w in capture.trace.space.warnings if w.startswith("samples: they are missing") and "perf" in w]
    if refused:
        raise Skip(refused[0])
    check(len(compare_samples(t, capture.path)) > 50, "there are few samples")


def compare_states(t, path):
    """Compares the states of threads in all formats that have a place for them, and returns them."""
    states = list(states_from_xspace(path.read_bytes()))
    expected = fill(Bag(), states)
    fill(Bag(), states_from_ndjson(Conversion(t, "ndjson", path).data)).check(expected, "ndjson")
    fill(Bag(), states_from_csv(Conversion(t, "csv", path).data)).check(expected, "csv")
    fill(Bag(), states_from_sqlite(Conversion(t, "sqlite", path).path)).check(expected, "sqlite")
    return states


@test
def states_of_threads_are_equal_in_every_format(t):
    path = capture_pipeline(t, "-o", "ptap_sample_hz=99")
    states = compare_states(t, path)
    if not states:
        raise Skip("this kernel refuses perf events")
    equal({state.state for state in states} - {"preempted"}, {"running", "blocked"}, "states")
    check(any(state.reason for state in states), "no thread waited for something that is known")


@test
def given_traces_are_equal_in_every_format(t):
    """tests/interop sets EQUALITY_TRACES to its recordings of other programs."""
    paths = os.environ.get("EQUALITY_TRACES")
    if not paths:
        raise Skip("EQUALITY_TRACES names no traces")
    for path in paths.split(":"):
        check(compare(t, Path(path)) > 100, f"{path} is nearly empty")


run()
