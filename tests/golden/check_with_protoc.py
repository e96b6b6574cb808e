#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the golden files with Google's decoder and compares them with the texts they were made from.

It shares no code with the encoder, nor with the parser in C: names, times, and the member of the
oneof in which each stat lies must be what the text says.
"""
import codecs
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("top_srcdir", Path(__file__).resolve().parents[2]))
PROTO = "tsl/profiler/protobuf/xplane.proto"
TOKEN = re.compile(rb'\s*(?:"((?:[^"\\]|\\.)*)"(?:\*(\d+))?|([^\s":]+:)|(\S+))')
LATE_NS = (2**63 - 1) // 2000

codecs.register_error("question", lambda e: ("?" * (e.end - e.start), e.end))


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def load_schema(folder):
    if not shutil.which("protoc"):
        skip("protoc is not installed")
    subprocess.run(["protoc", f"-I{ROOT}/proto", f"--python_out={folder}", PROTO], check=True)
    sys.path.insert(0, folder)
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        skip("python3-protobuf is not installed")
    import importlib

    return importlib.import_module("tsl.profiler.protobuf.xplane_pb2")


def unescape(raw):
    simple = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}

    def one(match):
        code = match.group(1)
        return bytes([int(code[1:], 16)]) if code[:1] == b"x" else simple[code]

    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.)", one, raw)


def tokens(text):
    found = []
    for string, times, kind, word in TOKEN.findall(text):
        if kind or word:
            found.append((kind or word).decode())
        else:
            found.append(unescape(string) * int(times or 1))
    return found


def clean(name):
    return name.split(b"\0")[0].decode("utf-8", "question")


def for_counter(name):
    return re.sub(r'["\\\x00-\x1f\x7f]', "_", name)


def parse_stats(items):
    """[(name, oneof member, value)]; a kind token ends in a colon, its value follows."""
    stats = []
    for name, kind, value in zip(items[::3], items[1::3], items[2::3]):
        member = kind[:-1]
        if member == "double":
            value = float(value)
        elif member in ("int", "uint"):
            value = int(value)
        elif member == "string":
            value = clean(value)
        stats.append([clean(name), member, value])
    return stats


class Expected:
    def __init__(self, path):
        self.planes, self.hosts, self.warnings, self.errors = [], [], [], []
        for text in path.read_bytes().splitlines():
            if text.strip() and not text.startswith(b"#"):
                self.add(tokens(text))
        for plane in self.planes:
            self.finish(plane)

    def add(self, t):
        kind = t[0]
        if kind == "plane":
            self.planes.append({"id": int(t[1]), "name": clean(t[2]), "stats": [], "lines": []})
        elif kind == "set":
            self.planes[-1]["stats"] += parse_stats(t[1:])
        elif kind == "line":
            self.planes[-1]["lines"].append({"id": int(t[1]), "name": clean(t[2]), "events": []})
        elif kind == "event":
            event = [int(t[1]), int(t[2]), clean(t[3]), parse_stats(t[4:])]
            self.planes[-1]["lines"][-1]["events"].append(event)
        else:
            {"host": self.hosts, "warning": self.warnings, "error": self.errors}[kind].append(
                clean(t[1]))

    @staticmethod
    def is_drawable(event):
        numbers = [v for _, member, v in event[3] if member in ("int", "uint", "double")]
        return bool(numbers) and all(math.isfinite(v) for v in numbers)

    def finish(self, plane):
        """Makes the encoder's own changes: counters, reserved names, empty lines."""
        n_bad = 0
        renamed = {}
        for line in plane["lines"]:
            if line["name"] != "_counters_":
                continue
            good = [e for e in line["events"] if self.is_drawable(e)]
            n_bad += len(line["events"]) - len(good)
            line["events"] = good
            for event in good:
                event[2] = for_counter(event[2])
                for stat in event[3]:
                    renamed[stat[0]] = for_counter(stat[0])
        renamed["group_id"] = "group_id_"
        for line in plane["lines"]:
            for event in line["events"]:
                for stat in event[3]:
                    stat[0] = renamed.get(stat[0], stat[0])
        plane["lines"] = [line for line in plane["lines"] if line["events"]]
        if n_bad:
            text = f"{n_bad} counter samples were not finite numbers and are left out"
            plane["stats"].append(["nan_counter_events", "string", text])


def actual_stats(plane, stats):
    result = []
    for stat in stats:
        member = stat.WhichOneof("value")
        value = getattr(stat, member)
        name = plane.stat_metadata[stat.metadata_id].name
        if member == "ref_value":
            value = plane.stat_metadata[value].name
        kinds = {"int64_value": "int", "uint64_value": "uint", "double_value": "double",
                 "str_value": "string", "ref_value": "string", "bytes_value": "bytes"}
        result.append([name, kinds[member], value])
    return result


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def same(actual, expected, what):
    check(actual == expected, f"{what}: {str(actual)[:200]} instead of {str(expected)[:200]}")


def check_metadata(plane):
    for table in (plane.event_metadata, plane.stat_metadata):
        for key, value in table.items():
            check(key >= 1 and key == value.id, f"metadata key {key} has id {value.id}")
    names = [m.name for m in plane.stat_metadata.values()]
    check("group_id" not in names, "a stat is called group_id")


def check_line(plane, line, expected):
    same((line.id, line.name), (expected["id"], expected["name"]), "line")
    first = expected["events"][0][0]
    same(line.timestamp_ns, first if first > LATE_NS else 0, "timestamp_ns")
    same(len(line.events), len(expected["events"]), "number of events")
    for event, (start, duration, name, stats) in zip(line.events, expected["events"]):
        same(event.WhichOneof("data"), "offset_ps", f"oneof of {name[:20]}")
        same(line.timestamp_ns * 1000 + event.offset_ps, start * 1000, f"start of {name[:20]}")
        same(event.duration_ps, duration * 1000, f"duration of {name[:20]}")
        check(event.metadata_id in plane.event_metadata, f"{name[:20]} has no metadata")
        same(plane.event_metadata[event.metadata_id].name, name, "name")
        same(actual_stats(plane, event.stats), stats, f"stats of {name[:20]}")


def check_case(schema, path):
    expected = Expected(path)
    space = schema.XSpace()
    space.ParseFromString(path.with_suffix(".xplane.pb").read_bytes())
    same(list(space.hostnames), expected.hosts, "hostnames")
    same(list(space.warnings), expected.warnings, "warnings")
    same(list(space.errors), expected.errors, "errors")
    same(len(space.planes), len(expected.planes), "number of planes")
    for plane, wanted in zip(space.planes, expected.planes):
        check_metadata(plane)
        same((plane.id, plane.name), (wanted["id"], wanted["name"]), "plane")
        same(actual_stats(plane, plane.stats), wanted["stats"], "plane stats")
        same(len(plane.lines), len(wanted["lines"]), "number of lines")
        for line, wanted_line in zip(plane.lines, wanted["lines"]):
            check_line(plane, line, wanted_line)


def main():
    with tempfile.TemporaryDirectory() as folder:
        schema = load_schema(folder)
    cases = sorted((ROOT / "tests/golden").glob("*.txt"))
    failed = 0
    print(f"1..{len(cases)}")
    for i, path in enumerate(cases, 1):
        try:
            check_case(schema, path)
            print(f"ok {i} - {path.name}")
        except Exception as error:  # a decoding error is a failed case, too
            failed += 1
            print(f"not ok {i} - {path.name}\n# {type(error).__name__}: {error}")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
