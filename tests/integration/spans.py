# SPDX-License-Identifier: Apache-2.0
"""What a trace holds, read back from each form of it: a Counter of (thread, name, start_ns, duration_ns, args).

args are sorted pairs of a key and a value as NDJSON has it: bytes in base64, what is not finite as a text.
"""
import base64
import collections
import csv
import io
import json
import math
import sqlite3
from decimal import Decimal

from conversions import Conversion
from fixture import schema

HIDDEN = {"_r", "_a", "_p", "_pt", "_c", "_ct"}
COUNTERS = "_counters_"

csv.field_size_limit(1 << 30)


def freeze(pairs):
    """Of JSON's one number type: a whole float is the integer that it is written as."""
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
    """To the nearest; halves upward, and those below 0 too."""
    return (ps + 500) // 1000


def read_pairs(plane, stats):
    for stat in stats:
        kind, key = stat.WhichOneof("value"), plane.stat_metadata[stat.metadata_id].name
        value = getattr(stat, kind)
        if key not in HIDDEN:
            yield key, plane.stat_metadata[value].name if kind == "ref_value" else value


def read_plane(plane, shift_ns):
    for line in plane.lines:
        for event in line.events:
            if event.WhichOneof("data") == "num_occurrences":
                continue
            of_name = plane.event_metadata[event.metadata_id]
            start, end = round_ps(event.offset_ps), round_ps(event.offset_ps + max(event.duration_ps, 0))
            duration = 0 if line.name == COUNTERS else end - start
            yield (line.name or line.display_name or "(unnamed)", of_name.name, line.timestamp_ns + start + shift_ns,
                   duration, freeze([*read_pairs(plane, event.stats), *read_pairs(plane, of_name.stats)]))


def read_epoch(space):
    """When it began, by the clock of who asked for it."""
    stats = {}
    for plane in space.planes:
        if plane.name == "Task Environment":
            stats = dict(read_pairs(plane, plane.stats))
    return stats.get("profile_start_time", 0) - stats.get("proftap_clock_offset_ns", 0)


def read_xspaces(paths):
    spaces = [schema("xplane").XSpace.FromString(path.read_bytes()) for path in paths]
    epochs = [read_epoch(space) for space in spaces]
    return collections.Counter(item for space, epoch in zip(spaces, epochs) for plane in space.planes
                               for item in read_plane(plane, epoch - min(epochs)))


# --- what is made of it ----------------------------------------------------------------------


def read_ndjson(t, paths):
    items = collections.Counter()
    for line in Conversion(t, "ndjson", *paths).data.splitlines()[1:]:
        line = dict(json.loads(line, object_pairs_hook=list))
        items[line["thread"], line["name"], line["start_ns"], line.get("duration_ns", 0),
              freeze(line.get("args", []))] += 1
    return items


def read_csv(t, paths):
    text = Conversion(t, "csv", *paths).data.decode()
    return collections.Counter(
        (row["thread"], row["name"], int(row["start_ns"]), int(row["duration_ns"] or 0),
         freeze(json.loads(row["args"] or "[]", object_pairs_hook=list)))
        for row in csv.DictReader(io.StringIO(text, newline=""), strict=True))


def read_sqlite(t, paths):
    """A counter's samples are rows of their own."""
    db = sqlite3.connect(Conversion(t, "sqlite", *paths).path)
    args, samples = collections.defaultdict(list), collections.defaultdict(list)
    for event, *pair in db.execute("SELECT event_id, key, value FROM args JOIN keys ON keys.id = key_id"):
        args[event].append(pair)
    items = collections.Counter((*row, freeze(args[event])) for event, *row in db.execute(
        "SELECT id, thread, name, start_ns, coalesce(duration_ns, 0) FROM items"))
    for *sample, key, value in db.execute(
            "SELECT c.id, t.name, n.name, at_ns, key, value FROM counters c JOIN threads t ON t.id = thread_id "
            "JOIN names n ON n.id = name_id LEFT JOIN keys ON keys.id = key_id"):
        samples[tuple(sample)] += [(key, value)] if key is not None else []
    return items + collections.Counter((*sample[1:], 0, freeze(pairs)) for sample, pairs in samples.items())


def read_chrome(t, paths):
    """Spans and instants; samples are series of numbers there, and another test's."""
    document = dict(json.loads(Conversion(t, "chrome", *paths).data, object_pairs_hook=list, parse_float=Decimal))
    events = [dict(event) for event in document["traceEvents"]]
    threads = {(e["pid"], e["tid"]): dict(e["args"])["name"] for e in events
               if (e["ph"], e["name"]) == ("M", "thread_name")}
    shift_ns = int(dict(document["metadata"]).get("shift-ns", 0))
    return collections.Counter(
        (threads[e["pid"], e["tid"]], e["name"], int(e["ts"] * 1000) - shift_ns, int(e.get("dur", 0) * 1000),
         freeze(e.get("args", []))) for e in events if e["ph"] in "Xi")
