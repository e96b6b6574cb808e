# SPDX-License-Identifier: Apache-2.0
"""Reads a trace back from each of its formats: (thread, name, start_ns, duration_ns, args) of each event.

args are sorted pairs of a key and a value in the form of NDJSON: bytes in base64, a number that is not finite as a text.
"""
import base64
import csv
import io
import itertools
import json
import math
import sqlite3
from decimal import Decimal

from conversions import Conversion
from fixture import equal, schema

HIDDEN = {"_r", "_a", "_p", "_pt", "_c", "_ct"}
COUNTERS = "_counters_"
SAMPLES = {"sample", "waiting", "state"}

csv.field_size_limit(1 << 30)


def freeze(pairs):
    """Returns the pairs with JSON's one number type: a whole float becomes an integer."""
    return tuple(sorted(((key, plain(value)) for key, value in pairs), key=repr))


def plain(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (float, Decimal)):
        if not math.isfinite(value):
            return str(value).replace("Infinity", "inf").lower()
        return int(value) if value == int(value) else float(value)
    return value


# --- XSpace, by Google's decoder -------------------------------------------------------------


def round_ps(ps):
    """Rounds to the nearest number, and halves upward, also below 0."""
    return (ps + 500) // 1000


def read_pairs(plane, stats):
    for stat in stats:
        kind, key = stat.WhichOneof("value"), plane.stat_metadata[stat.metadata_id].name
        value = getattr(stat, kind)
        if key not in HIDDEN:
            yield key, plane.stat_metadata[value].name if kind == "ref_value" else value


def each_of_plane(plane, shift_ns):
    names = {id_: (of_name.name, list(read_pairs(plane, of_name.stats)))
             for id_, of_name in plane.event_metadata.items()}
    for line in plane.lines:
        thread, shift_of_line_ns = line.name or line.display_name or "(unnamed)", line.timestamp_ns + shift_ns
        for event in line.events:
            if event.WhichOneof("data") == "num_occurrences":
                continue
            name, pairs = names.get(event.metadata_id, ("", []))
            start, end = round_ps(event.offset_ps), round_ps(event.offset_ps + max(event.duration_ps, 0))
            duration = 0 if line.name == COUNTERS else end - start
            yield thread, name, start + shift_of_line_ns, duration, freeze([*read_pairs(plane, event.stats), *pairs])


def read_epoch(space):
    """Returns when the trace began, by the client's clock."""
    stats = {}
    for plane in space.planes:
        if plane.name == "Task Environment":
            stats = dict(read_pairs(plane, plane.stats))
    return stats.get("profile_start_time", 0) - stats.get("proftap_clock_offset_ns", 0)


def each_of_xspaces(paths):
    spaces = [schema("xplane").XSpace.FromString(path.read_bytes()) for path in paths]
    epochs = [read_epoch(space) for space in spaces]
    for space, epoch in zip(spaces, epochs):
        for plane in space.planes:
            if plane.name.endswith((" samples", " thread states")):  # support/sampled.py has these
                continue
            yield from each_of_plane(plane, epoch - min(epochs))


# --- the other formats -----------------------------------------------------------------------


def each_of_ndjson(t, paths):
    for line in Conversion(t, "ndjson", *paths).data.splitlines()[1:]:
        line = dict(json.loads(line, object_pairs_hook=list))
        if line["type"] in SAMPLES:
            continue
        yield (line["thread"], line["name"], line["start_ns"], line.get("duration_ns", 0),
               freeze(line.get("args", [])))


def each_of_csv(t, paths):
    text = Conversion(t, "csv", *paths).data.decode()
    for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
        if row["type"] in SAMPLES:
            continue
        yield (row["thread"], row["name"], int(row["start_ns"]), int(row["duration_ns"] or 0),
               freeze(json.loads(row["args"] or "[]", object_pairs_hook=list)))


def group(db, sql):
    """Yields (first column, rows without it) for each run of rows with the same first column."""
    for key, rows in itertools.groupby(db.execute(sql), lambda row: row[0]):
        yield key, [row[1:] for row in rows]


def each_of_sqlite(t, paths):
    """A counter's samples have rows of their own."""
    db = sqlite3.connect(Conversion(t, "sqlite", *paths).path)
    args = group(db, "SELECT event_id, key, value FROM args JOIN keys ON keys.id = key_id ORDER BY event_id")
    event, pairs = next(args, (None, []))
    for id_, *row in db.execute(
            "SELECT id, thread, name, start_ns, coalesce(duration_ns, 0) FROM items ORDER BY id"):
        yield (*row, freeze(pairs if id_ == event else []))
        if id_ == event:
            event, pairs = next(args, (None, []))
    equal(event, None, "an event that is only in the table of arguments")
    for _, rows in group(db, """
            SELECT c.id, t.name, n.name, at_ns, key, value FROM counters c JOIN threads t ON t.id = thread_id
            JOIN names n ON n.id = name_id LEFT JOIN keys ON keys.id = key_id ORDER BY c.id"""):
        yield (*rows[0][:3], 0, freeze(row[3:] for row in rows if row[3] is not None))


def each_of_chrome(t, paths):
    """Yields spans and instants. Samples are series of numbers in this format, and another test compares them."""
    document = dict(json.loads(Conversion(t, "chrome", *paths).data, object_pairs_hook=list, parse_float=Decimal))
    threads = {}
    shift_ns = int(dict(document["metadata"]).get("shift-ns", 0))
    for event in map(dict, document["traceEvents"]):
        if (event["ph"], event["name"]) == ("M", "thread_name"):
            threads[event["pid"], event["tid"]] = dict(event["args"])["name"]
        elif event["ph"] in "Xi":
            yield (threads[event["pid"], event["tid"]], event["name"], int(event["ts"] * 1000) - shift_ns,
                   int(event.get("dur", 0) * 1000), freeze(event.get("args", [])))
