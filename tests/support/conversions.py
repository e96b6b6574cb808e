# SPDX-License-Identifier: Apache-2.0
"""Runs proftap convert, and gives the content of a trace in terms that all formats share. Other
formats are compared with NDJSON.
"""
import collections
import gzip
import json
import subprocess

from examples import EXAMPLES, start
from fixture import equal, schema
from processes import PROFTAP, TOP_SRC

GOLDEN = TOP_SRC / "tests" / "golden"
SUFFIXES = {"chrome": ".json", "folded": ".folded", "ndjson": ".ndjson", "pprof": ".pprof",
            "speedscope": ".speedscope.json", "sqlite": ".sqlite", "csv": ".csv",
            "csv-kernels": "_kernel_trace.csv", "csv-kernel-stats": "_kernel_stats.csv",
            "csv-summary": "_summary.csv"}
# The kinds whose times are added up, and all kinds with a duration.
SPANS = {"span", "step", "async", "kernel"}
DRAWN = SPANS | {"derived"}

# place: (host, process, pid, thread, tid). flows: (id that enters or 0, id that leaves or 0).
Row = collections.namedtuple("Row", "place kind name start_ns duration_ns args flows")


class Conversion:
    def __init__(self, t, form, *paths, options=()):
        self.path = t.dir / f"out{SUFFIXES[form]}"
        done = subprocess.run([PROFTAP, "convert", "--json", "-t", form, "-o", self.path, *options,
                               *paths], capture_output=True, text=True, timeout=60)
        equal((done.returncode, done.stderr), (0, ""), f"convert {form} {paths}")
        self.summary = json.loads(done.stdout)
        self.lost = self.summary["lost"]
        self.data = self.path.read_bytes()
        if self.data[:2] == b"\x1f\x8b":
            self.data = gzip.decompress(self.data)


class Members(dict):
    """The members of a JSON object. |n| also counts members that were written again under the same name."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.n = len(pairs)


def read_row(line):
    place = tuple(line[key] for key in ("host", "process", "pid", "thread", "tid"))
    return Row(place, line["type"], line["name"], line["start_ns"], line.get("duration_ns", 0),
               line.get("args", Members([])), (line.get("flow_in", 0), line.get("flow_out", 0)))


def read_rows(t, *paths, options=()):
    """All items, in the order of the NDJSON file."""
    lines = Conversion(t, "ndjson", *paths, options=options).data.splitlines()
    return [read_row(json.loads(line, object_pairs_hook=Members)) for line in lines[1:]]


def read_spans(t, *paths):
    return [row for row in read_rows(t, *paths) if row.kind in SPANS]


def goldens():
    return sorted(GOLDEN.glob("*.xplane.pb"))


def capture_requests(t):
    """A real trace with spans, flows, async spans and counters, and without samples of threads."""
    _, port = start(t, [EXAMPLES / "requests"])
    return t.capture(port, 100, "-o", "ptap_sample_hz=0").path


def capture_pipeline(t, *options):
    """A real trace with nested spans, arguments, steps and counters, and without samples of threads unless |options| ask for them."""
    _, port = start(t, [EXAMPLES / "pipeline", TOP_SRC / "docs" / "man"])
    return t.capture(port, 100, "-o", "ptap_sample_hz=0", *options).path


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, data):
    """Encodes a bytes field of a protobuf message, for traces that Google's encoder refuses, or makes too slowly."""
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def make_space(lines, plane="/host:CPU", host="fake", pid=0, stats=()):
    """An XSpace, as bytes, of {thread: [(name, start_ns, duration_ns, {arg: int or text})]} and stats of the plane."""
    space = schema("xplane").XSpace(hostnames=[host])
    plane = space.planes.add(name=plane)
    ids = {}

    def put_stat(holder, key, value):
        ids.setdefault(key, len(ids) + 1)
        plane.stat_metadata[ids[key]].id = ids[key]
        plane.stat_metadata[ids[key]].name = key
        kind = "str_value" if isinstance(value, str) else "int64_value"
        holder.stats.add(metadata_id=ids[key], **{kind: value})

    names = {}
    for number, (thread, events) in enumerate(lines.items(), 100):
        line = plane.lines.add(id=number, name=thread)
        for name, start_ns, duration_ns, *args in events:
            names.setdefault(name, len(names) + 1)
            plane.event_metadata[names[name]].id = names[name]
            plane.event_metadata[names[name]].name = name
            event = line.events.add(metadata_id=names[name], offset_ps=start_ns * 1000,
                                    duration_ps=duration_ns * 1000)
            for key, value in dict(*args).items():
                put_stat(event, key, value)
    if pid:
        put_stat(plane, "process_id", pid)
    for key, value in dict(stats).items():
        put_stat(plane, key, value)
    return space.SerializeToString()


# "a" and "b" cross, "d" lies in "a", "c" in "b" and after "a".
CROSSED = [("a", 0, 100), ("d", 10, 20), ("b", 50, 100), ("c", 110, 40)]

# {bytes in a file: text that a reader may show}; all bytes have the same length.
BAD_NAMES = {
    "controls": (b"\x01\x1b[31m\n\t\r\x7f\"\\", "\x01\x1b[31m\n\t\r\x7f\"\\"),
    "separators": (b"a;b c 12 34", "a;b c 12 34"),
    "broken": (b"\xffab\x80cd\xfe", "\ufffdab\ufffdcd\ufffd"),
    "spaces": ("\u00a05\u20287\u3000".encode() + b"\xc2\x85 8", "\u00a05\u20287\u3000\x85 8"),
    "long": ("é".encode() * 32768, "é" * 32768),
}


def make_bad_names(t):
    """Returns the path of a trace with spans of BAD_NAMES, on a thread with one of these names, and the names."""
    # Python's protobuf refuses broken names, so stand-ins of the same lengths are replaced at the end.
    stand_ins = {f"{i}" * len(raw): raw for i, (raw, _) in enumerate(BAD_NAMES.values())}
    events = [(name, 100 * i, 100) for i, name in enumerate(stand_ins)]
    thread = "T" * len(BAD_NAMES["broken"][0])
    data = make_space({thread: events})
    for name, raw in stand_ins.items():
        data = data.replace(name.encode(), raw)
    path = t.dir / "bad.xplane.pb"
    path.write_bytes(data.replace(thread.encode(), BAD_NAMES["broken"][0]))
    return path, [name for _, name in BAD_NAMES.values()]
