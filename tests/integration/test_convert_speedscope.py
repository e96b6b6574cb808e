#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert -t speedscope: the profiles open and close exactly the spans of NDJSON."""
import collections
import json

from conversions import (CROSSED, DRAWN, Conversion, capture_requests, goldens, make_bad_names, make_space,
                         read_rows)
from fixture import check, equal, run, schema, test
from sampled import SAMPLES, make_trace


class Speedscope:
    def __init__(self, t, *paths, options=()):
        self.conversion = Conversion(t, "speedscope", *paths, options=options)
        self.document = json.loads(self.conversion.data)
        self.frames = [frame["name"] for frame in self.document["shared"]["frames"]]
        self.profiles = self.document["profiles"]

    def spans(self):
        """Replays the events, and returns (profile, name, start, duration) of each span."""
        for profile in self.profiles:
            yield from self.replay(profile)

    def replay(self, profile):
        stack, now = [], profile["startValue"]
        for event in profile["events"]:
            check(now <= event["at"] <= profile["endValue"], f"{event} is out of order or of range")
            now = event["at"]
            if event["type"] == "O":
                stack.append(event)
                continue
            equal(event["frame"], stack[-1]["frame"], f"the event that {event} closes")
            opened = stack.pop()
            yield (profile["name"], self.frames[event["frame"]], opened["at"], event["at"] - opened["at"])
        equal(stack, [], "spans that no event closes")


def compare(t, *paths):
    rows = read_rows(t, *paths)
    speedscope = Speedscope(t, *paths)
    times = [0, *(ns for row in rows for ns in (row.start_ns, row.start_ns + row.duration_ns))]
    is_exact = min(times) >= 0 and max(times) <= 2**53
    shift_ns = 0 if is_exact else -min(times[1:])
    expected = collections.Counter(
        (f"{row.place[1]}: {row.place[3]}", row.name, row.start_ns + shift_ns, row.duration_ns)
        for row in rows if row.kind in DRAWN)
    found = collections.Counter(speedscope.spans())
    equal(found - expected, collections.Counter(), "events only in speedscope's file")
    equal(expected - found, collections.Counter(), "events missing in speedscope's file")
    equal(speedscope.conversion.lost, expected_losses(rows), "lost")
    equal(speedscope.conversion.summary["written"], sum(found.values()), "the spans that were counted")
    for profile in speedscope.profiles:
        equal((profile["type"], profile["unit"]), ("evented", "nanoseconds"), "the profile")
        equal([e["at"] for e in (profile["events"][0], profile["events"][-1])],
              [profile["startValue"], profile["endValue"]], f"the ends of {profile['name']}")
    return speedscope, rows


def expected_losses(rows):
    lost = {"instants": sum(row.kind == "instant" for row in rows),
            "counter samples": sum(row.kind == "counter" for row in rows),
            "ends of flows": sum(flow != 0 for row in rows for flow in row.flows),
            "arguments of spans": sum(row.args.n for row in rows if row.kind in DRAWN)}
    return {what: n for what, n in lost.items() if n}


@test
def every_span_of_golden_traces_opens_and_closes(t):
    for path in goldens():
        compare(t, path)


@test
def samples_of_each_kind_are_a_profile_of_each_thread(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_trace())
    speedscope = Speedscope(t, path)
    profiles = [profile for profile in speedscope.profiles if profile["type"] == "sampled"]
    found = {p["name"]: (p["unit"], p["startValue"], p["endValue"], [speedscope.frames[s[-1]] for s in p["samples"]]) for p in profiles}
    expected = {}
    for name, thread in (("train: main", "main"), ("train: worker é", "worker é"), ("child: pool", "pool")):
        for kind in ("cpu", "waiting"):
            samples = [s for s in SAMPLES if (s.thread, s.kind) == (thread, kind)]
            if samples:
                expected[f"{name} [{kind}]"] = ("nanoseconds", 0, sum(s.weight_ns for s in samples), [s.functions[-1] for s in samples])
    equal(found, expected, "profiles")
    equal(len(profiles), len(found), "profiles of different names")
    equal(sorted(set(speedscope.frames)), sorted(speedscope.frames), "frames, each once")


@test
def a_real_trace_has_a_profile_for_each_thread(t):
    speedscope, rows = compare(t, capture_requests(t))
    threads = {f"{row.place[1]}: {row.place[3]}" for row in rows if row.kind in DRAWN}
    equal({profile["name"] for profile in speedscope.profiles}, threads, "profiles")
    equal(speedscope.document["$schema"], "https://www.speedscope.app/file-format-schema.json", "schema")


@test
def spans_that_overlap_stand_in_further_profiles(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": CROSSED}))
    speedscope, _ = compare(t, path)
    found = [{speedscope.frames[e["frame"]] for e in p["events"]} for p in speedscope.profiles]
    equal(found, [{"a", "c", "d"}, {"b"}], "profiles")


@test
def times_that_javascript_would_round_are_moved(t):
    space = schema("xplane").XSpace.FromString(make_space({"main": [("a", 0, 100), ("b", 10, 20), ("b", 51, 1)]}))
    space.planes[0].lines[0].timestamp_ns = 1_700_000_000_123_456_789
    path = t.dir / "a.xplane.pb"
    path.write_bytes(space.SerializeToString())
    spans = [span[1:] for span in Speedscope(t, path).spans()]
    equal(sorted(spans), [("a", 0, 100), ("b", 10, 20), ("b", 51, 1)], "spans")


@test
def spans_beyond_the_overlap_limit_are_counted(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [(f"{i}", i, 1000) for i in range(70)]}))
    speedscope = Speedscope(t, path)
    equal(speedscope.conversion.lost, {"spans that overlap more than 63 others": 6}, "lost")
    equal(sorted(int(name) for _, name, _, _ in speedscope.spans()), list(range(64)), "spans")


@test
def frames_are_those_of_profiles(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("unwanted", 0, 9), ("point", 1, 0), ("a", 2, 3), ("b", 5, 3)]}))
    speedscope = Speedscope(t, path, options=("--exclude", "unwanted"))
    equal(speedscope.frames, ["a", "b"], "frames")
    equal([name for _, name, _, _ in speedscope.spans()], ["a", "b"], "spans")


@test
def names_of_any_bytes_make_valid_json(t):
    path, names = make_bad_names(t)
    speedscope, _ = compare(t, path)
    equal([name for _, name, _, _ in speedscope.spans()], names, "names")
    equal(speedscope.profiles[0]["name"], "/host:CPU: \ufffdab\ufffdcd\ufffd", "the thread")


@test
def a_trace_without_events_has_no_profiles(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({}))
    equal(Speedscope(t, path).profiles, [], "profiles")


run()
