# SPDX-License-Identifier: Apache-2.0
"""Traces as Google's decoder reads them: it shares no code with the encoder."""
import collections
import copy
import glob
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import equal

TOP_SRC = Path(os.environ.get("top_srcdir", Path(__file__).resolve().parents[2]))
PROTOS = ("xplane", "profiler_analysis", "profiler_options", "profiler_service",
          "profiler_service_monitor_result")

Event = collections.namedtuple("Event", "name start_ps duration_ps stats")
Stat = collections.namedtuple("Stat", "kind value")


def find_traces(folder):
    """Returns the files below the folder, in order. A run that is published or removed meanwhile
    may be among them or not."""
    return [Path(path) for path in sorted(glob.glob(f"{glob.escape(str(folder))}/**/*.xplane.pb", recursive=True))]


class Line:
    def __init__(self, plane, line):
        self.id = line.id
        self.name = line.display_name or line.name
        self.timestamp_ns = line.timestamp_ns
        self.events = [
            Event(plane.event_metadata[e.metadata_id].name,
                  line.timestamp_ns * 1000 + e.offset_ps, e.duration_ps,
                  read_stats(plane, e.stats)) for e in line.events]

    def named(self, name):
        return [e for e in self.events if e.name == name]

    def count(self):
        return collections.Counter(e.name for e in self.events)


def read_stats(plane, stats):
    """{name: (member of the oneof, value)}; references are followed."""
    found = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        if kind == "ref_value":
            value = plane.stat_metadata[value].name
        found[plane.stat_metadata[stat.metadata_id].name] = Stat(kind, value)
    return found


def is_usage(line):
    return line.name == "_counters_" and line.events and line.events[0].name.startswith(("process ", "thread cpu"))


class Trace:
    def __init__(self, path=None, data=None):
        self.bytes = Path(path).read_bytes() if data is None else data
        self.space = schema("xplane").XSpace.FromString(self.bytes)
        self.planes = {plane.name: plane for plane in self.space.planes}
        self.read_process(self.planes["/host:CPU"])

    def read_process(self, host):
        self.host_stats = read_stats(host, host.stats)
        every = [Line(host, line) for line in host.lines]
        # The server's own measurements: {counter: its line}.
        self.usage = {line.events[0].name: line for line in every if is_usage(line)}
        self.lines = [line for line in every if not is_usage(line)]
        self.threads = [line for line in self.lines if line.name != "_counters_"]
        self.counters = [line for line in self.lines if line.name == "_counters_"]

    def process(self, pid):
        """Returns the same trace, seen from the forked child |pid|."""
        found = [name for name in self.planes
                 if name.startswith("/host:CPU") and name.endswith(f" [{pid}]")]
        equal(len(found), 1, f"number of planes of pid {pid} among {sorted(self.planes)}")
        child = copy.copy(self)
        child.read_process(self.planes[found[0]])
        return child

    @property
    def children(self):
        """Names of the planes of followed children; other descendants have usage counters alone."""
        return [name for name, plane in self.planes.items()
                if name.startswith("/host:CPU") and name.endswith("]")
                and "ptap_descendant_of" not in read_stats(plane, plane.stats)]

    @property
    def environment(self):
        plane = self.planes["Task Environment"]
        return read_stats(plane, plane.stats)

    @property
    def duration_ms(self):
        """The length of the recording; a busy machine makes it longer than requested."""
        times = [self.environment[f"profile_{end}_time"].value for end in ("start", "stop")]
        return (times[1] - times[0] + 500000) // 1000000

    def thread(self, key):
        """The line of a thread, by its name or id."""
        found = [line for line in self.threads if key in (line.name, line.id)]
        equal(len(found), 1, f"number of lines of thread {key} among "
              f"{[(line.id, line.name) for line in self.threads]}")
        return found[0]

    def count(self, name):
        """Events of that name on all threads, and samples of that counter."""
        return sum(line.count()[name] for line in self.lines)

    def host_stat(self, name):
        stat = self.host_stats.get(name)
        return stat.value if stat else 0


def read_flows(trace, name):
    """Returns ({key: (line, mark)} of the marks where the flows of that name begin, the same where they end)."""
    outs, ins = {}, {}
    for line in trace.threads:
        for mark in line.named(name):
            equal(mark.duration_ps, 0, f"duration of {mark}")
            for ends, kind, key in ((outs, "_pt", "_p"), (ins, "_ct", "_c")):
                if key in mark.stats:
                    equal(set(mark.stats), {"id", kind, key}, f"stats of {mark}")
                    equal(mark.stats[kind], ("int64_value", 0), f"kind of context of {mark}")
                    equal(mark.stats[key].kind, "int64_value", f"the key of {mark}")
                    ends[mark.stats[key].value] = line, mark
    return outs, ins


schema_dir = tempfile.TemporaryDirectory(prefix="proftap-schema-")


def schema(name):
    return importlib.import_module(f"tsl.profiler.protobuf.{name}_pb2")


def own_schema():
    """The schema of proftap.v1."""
    return importlib.import_module("proftap.v1.profiler_pb2")


def load_schemas():
    """Makes Python modules of our .proto files. Returns None, or the reason why it cannot."""
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        return "python3-protobuf is not installed"
    if not shutil.which("protoc"):
        return "protoc is not installed"
    subprocess.run(["protoc", f"-I{TOP_SRC}/proto", f"--python_out={schema_dir.name}",
                    *(f"tsl/profiler/protobuf/{name}.proto" for name in PROTOS),
                    "proftap/v1/profiler.proto"], check=True)
    sys.path.insert(0, schema_dir.name)
    return None
