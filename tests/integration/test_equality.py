#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same events, read back from the XSpace itself by Google's decoder and from every format that has them all.

A .pftrace is compared with NDJSON by Google's trace_processor, in tests/interop.
"""
import collections
import os
import random
from pathlib import Path

from conversions import capture_pipeline, capture_requests, goldens, make_space
from fixture import Skip, check, equal, run, test
from spans import COUNTERS, read_chrome, read_csv, read_ndjson, read_sqlite, read_xspaces

# A million takes some minutes.
SPANS = int(os.environ.get("EQUALITY_SPANS", 5000))


def same(found, expected, what):
    equal(list((found - expected).items())[:3], [], f"what is in {what} only")
    equal(list((expected - found).items())[:3], [], f"what is not in {what}")


def as_viewers_take(items):
    """No samples of counters; of integers that viewers get wrong the text."""
    found = collections.Counter()
    for (thread, name, start, duration, args), n in items.items():
        args = [(key, str(value) if isinstance(value, int) and value >= 2**63 else value) for key, value in args]
        if thread != COUNTERS:
            found[thread, name, start, duration, tuple(sorted(args, key=repr))] += n
    return found


def as_sql_has(items):
    """Of integers that it has no type for the text."""
    return as_viewers_take(items) + collections.Counter(
        {item: n for item, n in items.items() if item[0] == COUNTERS})


def compare(t, *paths):
    """How many events there are."""
    items = read_xspaces(paths)
    same(read_ndjson(t, paths), items, "NDJSON")
    same(read_csv(t, paths), items, "CSV")
    same(read_sqlite(t, paths), as_sql_has(items), "SQLite")
    same(read_chrome(t, paths), as_viewers_take(items), "Chrome's JSON")
    return items.total()


@test
def golden_traces(t):
    paths = goldens()
    check(len(paths) >= 10, f"golden traces: {paths}")
    for path in paths:
        compare(t, path)


@test
def captures_of_the_examples(t):
    for path in (capture_pipeline(t), capture_requests(t)):
        check(compare(t, path) > 100, f"{path} is nearly empty")


@test
def two_hosts(t):
    """Whose clocks are apart, one by more than it was measured to be."""
    paths = []
    for host, began_ns, offset_ns in (("alpha", 10**18, 0), ("beta", 10**18 + 5000, 2000)):
        paths.append(t.dir / f"{host}.xplane.pb")
        paths[-1].write_bytes(
            make_space({f"main of {host}": [("work", 100, 50, {"n": 1}), ("rest", 200, 0)]}, host=host, pid=77) +
            make_space({}, "Task Environment",
                       stats={"profile_start_time": began_ns, "proftap_clock_offset_ns": offset_ns}))
    equal(compare(t, *paths), 4, "events")
    starts = {item[0]: item[2] for item in read_ndjson(t, paths) if item[1] == "work"}
    equal(starts, {"main of alpha": 100, "main of beta": 3100}, "where they begin")


def make_thread(rng, n):
    """Spans in no order, many at the same times."""
    texts = ["", "a text", 'quotes " and , and ;', "é\u2028\n\t"]
    for _ in range(n):
        args = {f"key {i}": rng.choice([rng.randrange(-2**63, 2**63), rng.choice(texts)])
                for i in range(rng.randrange(3))}
        yield f"name {rng.randrange(200)}", rng.randrange(n * 10), rng.choice([0, 1, rng.randrange(5000)]), args


@test
def many_spans(t):
    rng = random.Random(5)
    path = t.dir / "many.xplane.pb"
    path.write_bytes(make_space({f"thread {i}": list(make_thread(rng, SPANS // 4)) for i in range(4)}, pid=77))
    equal(compare(t, path), SPANS // 4 * 4, "events")


@test
def given_traces(t):
    """tests/interop gives what it has recorded of others."""
    paths = os.environ.get("EQUALITY_TRACES")
    if not paths:
        raise Skip("EQUALITY_TRACES names none")
    for path in paths.split(":"):
        check(compare(t, Path(path)) > 100, f"{path} is nearly empty")


run()
