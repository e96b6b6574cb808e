# SPDX-License-Identifier: Apache-2.0
"""A trace with samples of running and of waiting threads, and the samples as they are in each format.

Samples are written as bytes of the protobuf messages, because the tests of the real viewers have another decoder of
XSpace.
"""
import collections
import csv
import io
import json
import sqlite3

PERIOD_NS = 10_000_000
MS = 1_000_000

# |functions| begin with the outermost one. |weight_ns| is the processor time of a sample, or the time of waiting.
Sample = collections.namedtuple("Sample", "pid thread kind at_ns weight_ns functions")

TRAIN = "/usr/bin/train"
LIBZ = "/usr/lib/libz.so.1"
BUILD_IDS = {TRAIN: "00112233445566778899aabbccddeeff01234567", LIBZ: "abcdef0123"}
# The files of functions; others have none.
MODULES = {"main": TRAIN, "std::vector<int, A<b> >::at(int)": TRAIN, 'Über"lauf': TRAIN, "inflate": LIBZ}

MAIN, AT, UEBER = "main", "std::vector<int, A<b> >::at(int)", 'Über"lauf'


def running(at_ms, *functions):
    return "cpu", at_ms * MS, PERIOD_NS, functions


def waiting(at_ms, ms, *functions):
    return "waiting", at_ms * MS, ms * MS, functions


# {(pid, tid, thread): samples in the order of time}. The thread "main" has spans, the others have none.
THREADS = {
    (4242, 4242, "main"): [
        running(10, MAIN, AT, "inflate"), running(20, MAIN, AT, "inflate"), waiting(22, 30, MAIN, "read"),
        running(60, MAIN, AT), running(70, MAIN, AT, "inflate", "[kernel]"), waiting(75, 5, MAIN, AT, "inflate")],
    (4242, 4243, "worker é"): [
        running(15, "[truncated]", UEBER), waiting(16, 40, MAIN, "read"), waiting(60, 2, MAIN, "read")],
    (5000, 5001, "pool"): [running(30, MAIN, "inflate"), running(31, MAIN, AT)],
}
PROCESSES = {4242: "train", 5000: "child"}
SAMPLES = [Sample(pid, thread, *sample) for (pid, _, thread), samples in THREADS.items() for sample in samples]
# The innermost spans of the samples of the thread "main", and the number of the step around them.
SPANS = ["decode", "decode", "decode", "train", "train", "train"]
STEP = 7


# --- the trace -------------------------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def message(*fields):
    """Encodes fields (number, value); a value is a number, a text or bytes."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return bytes(out)


class Profile:
    """A perftools.profiles.Profile in which each stack is a sample."""

    def __init__(self):
        self.stacks, self.functions, self.texts = [], [], [""]

    def find(self, table, value):
        if value not in table:
            table.append(value)
        return table.index(value)

    def encode(self):
        fields = []
        modules = list(BUILD_IDS)
        for functions in self.stacks:
            fields.append((2, message(*((1, self.find(self.functions, name) + 1) for name in reversed(functions)), (2, 1))))
        for i, path in enumerate(modules, 1):
            fields.append((3, message((1, i), (5, self.find(self.texts, path)), (6, self.find(self.texts, BUILD_IDS[path])))))
        for i, name in enumerate(self.functions, 1):
            mapping = modules.index(MODULES[name]) + 1 if name in MODULES else 0
            text = self.find(self.texts, name)
            fields += [(4, message((1, i), (2, mapping), (3, 64 * i), (4, message((1, i))))),
                       (5, message((1, i), (2, text), (3, text)))]
        return message(*fields, *((6, text) for text in self.texts))


class Plane:
    """An XPlane; names of events and keys of stats get numbers in the order of their use."""

    def __init__(self, name, stats):
        self.name, self.lines = name, []
        self.names, self.keys = [], []
        self.stats = self.encode_stats(6, stats)

    def number(self, table, value):
        if value not in table:
            table.append(value)
        return table.index(value) + 1

    def encode_stats(self, field, stats):
        member = {int: 4, str: 5, bytes: 6}
        return [(field, message((1, self.number(self.keys, key)), (member[type(value)], value))) for key, value in stats.items()]

    def add_line(self, id_, name, events):
        encoded = [(4, message((1, self.number(self.names, name)), (2, at_ns * 1000), (3, duration_ns * 1000),
                               *self.encode_stats(4, stats))) for name, at_ns, duration_ns, stats in events]
        self.lines.append((3, message((1, id_), (2, name), *encoded)))

    def encode(self):
        metadata = [(field, message((1, i), (2, message((1, i), (2, name)))))
                    for field, table in ((4, self.names), (5, self.keys)) for i, name in enumerate(table, 1)]
        return message((2, self.name), *self.lines, *metadata, *self.stats)


def make_samples(pid, name, threads):
    """The plane of the samples of one process; |threads| are (tid, name, [(kind, at_ns, weight_ns, functions)])."""
    profile = Profile()
    for _, _, samples in threads:
        for *_, functions in samples:
            profile.find(profile.stacks, functions)
    plane = Plane(name, {"process_id": pid, "ptap_process_name": PROCESSES[pid], "ptap_stacks": profile.encode(),
                         "ptap_sample_period_ns": PERIOD_NS})
    for tid, thread, samples in threads:
        plane.add_line(tid, thread, [
            (functions[-1], at_ns, weight_ns if kind == "waiting" else 0,
             {"stack": profile.stacks.index(functions), **({"cpu": at_ns // MS % 4} if kind == "cpu" else {})})
            for kind, at_ns, weight_ns, functions in samples])
    return (1, plane.encode())


def make_trace(threads=None):
    """Returns an XSpace as bytes, with the samples of THREADS or of |threads|, which has the same form."""
    threads = threads or THREADS
    host = Plane("/host:CPU", {"process_id": 4242, "ptap_process_name": "train"})
    host.add_line(4242, "main", [("train", 0, 100 * MS, {"step_num": STEP, "_r": 1}), ("decode", 5 * MS, 50 * MS, {})])
    planes = [(1, host.encode())]
    for pid, name in ((4242, "/host:CPU samples"), (5000, "/host:CPU child [5000] samples")):
        own = [(tid, thread, samples) for (of, tid, thread), samples in threads.items() if of == pid]
        if own:
            planes.append(make_samples(pid, name, own))
    return message(*planes, (4, "gpu7"))


def write_process(path, samples, spans=None):
    """Writes a trace of one process, 4242, and returns the path. |samples| are {thread: [(at_ns, ns of waiting or 0, functions)]},
    |spans| are {thread: [(name, start_ns, duration_ns)]}."""
    tids = {thread: tid for tid, thread in enumerate(sorted({*samples, *(spans or {})}), 4242)}
    host = Plane("/host:CPU", {"process_id": 4242, "ptap_process_name": "train"})
    for thread, rows in (spans or {}).items():
        host.add_line(tids[thread], thread, [(*row, {}) for row in rows])
    rows = [(tids[thread], thread, [("waiting" if ns else "cpu", at_ns, ns, functions) for at_ns, ns, functions in own])
            for thread, own in samples.items()]
    path.write_bytes(message((1, host.encode()), make_samples(4242, "/host:CPU samples", rows), (4, "gpu7")))
    return path


# --- samples of each format ------------------------------------------------------------------------------------------


def from_ndjson(data):
    for row in map(json.loads, data.splitlines()):
        if row["type"] in ("sample", "waiting"):
            kind = "cpu" if row["type"] == "sample" else "waiting"
            yield Sample(row["pid"], row["thread"], kind, row["start_ns"], row["weight_ns"],
                         tuple(row["stack"]))


def from_csv(data):
    for row in csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True):
        if row["type"] in ("sample", "waiting"):
            kind = "cpu" if row["type"] == "sample" else "waiting"
            yield Sample(int(row["pid"]), row["thread"], kind, int(row["start_ns"]),
                         int(row["weight_ns"]), tuple(row["stack"].split(";")))


def from_sqlite(path):
    db = sqlite3.connect(path)
    for kind, columns in (("cpu", "samples s"), ("waiting", "(SELECT *, start_ns AS at_ns FROM waits) s")):
        for *row, stack in db.execute(f"""SELECT p.pid, t.name, '{kind}', at_ns, weight_ns, stack FROM {columns}
                JOIN threads t ON t.id = thread_id JOIN processes p ON p.id = t.process_id"""):
            yield Sample(*row, tuple(stack.split(";")))


def from_chrome(data):
    document = json.loads(data)
    frames = document.get("stackFrames", {})
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in document["traceEvents"] if e["name"] == "thread_name"}
    for sample in document.get("samples", []):
        functions, at = [], sample["sf"]
        while at is not None:
            functions.insert(0, frames[str(at)]["name"])
            at = frames[str(at)].get("parent")
        yield Sample(sample["pid"], threads[sample["pid"], sample["tid"]], sample["name"], round(sample["ts"] * 1000),
                     sample["weight"], tuple(functions))


def sum_samples(samples):
    """Returns {(thread, kind, functions): weight in ns}."""
    sums = collections.Counter()
    for s in samples:
        sums[s.thread, s.kind, s.functions] += s.weight_ns
    return sums


def sum_folded(data):
    sums = collections.Counter()
    for line in data.decode().splitlines():
        stack, _, weight = line.rpartition(" ")
        _, row, *functions = stack.split(";")
        for kind in ("cpu", "waiting"):
            if row.endswith(f"_[{kind}]"):
                sums[row.removesuffix(f"_[{kind}]"), kind, tuple(functions)] += int(weight)
    return sums


def sum_speedscope(data):
    document = json.loads(data)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    sums = collections.Counter()
    for profile in document["profiles"]:
        if profile["type"] != "sampled":
            continue
        thread, kind = profile["name"].removesuffix("]").partition(": ")[2].rsplit(" [", 1)
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            sums[thread, kind, tuple(frames[i] for i in stack)] += weight
    return sums


def sum_pprof(profile):
    """|profile| is a message of profile_proto.Profile."""
    text = profile.string_table
    names = {f.id: text[f.name] for f in profile.function}
    locations = {location.id: names[location.line[0].function_id] for location in profile.location}
    types = [text[t.type] for t in profile.sample_type]
    sums = collections.Counter()
    for sample in profile.sample:
        labels = {text[label.key]: text[label.str] for label in sample.label}
        values = dict(zip(types, sample.value))
        for kind, name in (("cpu", "cpu"), ("waiting", "offcpu")):
            if values.get(name):
                sums[labels["thread"], kind, tuple(locations[i] for i in reversed(sample.location_id))] += values[name]
    return sums


def from_xspace(data):
    """The samples of an XSpace, by Google's decoder."""
    from fixture import schema
    from profile_proto import Profile as Decoded  # run() has checked that google.protobuf is installed
    for plane in schema("xplane").XSpace.FromString(data).planes:
        stats = {plane.stat_metadata[s.metadata_id].name: s for s in plane.stats}
        if "ptap_stacks" in stats:
            stacks = list(read_stacks(Decoded.FromString(stats["ptap_stacks"].bytes_value)))
            yield from read_plane(plane, stacks, stats["process_id"].int64_value, stats["ptap_sample_period_ns"])


def read_stacks(profile):
    names = {f.id: profile.string_table[f.name] for f in profile.function}
    locations = {location.id: names[location.line[0].function_id] for location in profile.location}
    for sample in profile.sample:
        yield tuple(locations[i] for i in reversed(sample.location_id))


def read_plane(plane, stacks, pid, period):
    for line in plane.lines:
        for event in line.events:
            numbers = {plane.stat_metadata[s.metadata_id].name: s.uint64_value or s.int64_value for s in event.stats}
            weight_ns = event.duration_ps // 1000 * numbers.get("waits", 1) or period.uint64_value or period.int64_value
            yield Sample(pid, line.name, "waiting" if event.duration_ps else "cpu",
                         line.timestamp_ns + (event.offset_ps + 500) // 1000, weight_ns, stacks[numbers["stack"]])


# --- states of threads -----------------------------------------------------------------------------------------------

# |reason| is what a blocked thread waits for, or None; |cpu| that of a running one, or None.
State = collections.namedtuple("State", "pid thread state start_ns duration_ns cpu reason")


def states_from_xspace(data):
    """The states in an XSpace, by Google's decoder."""
    from fixture import schema
    for plane in schema("xplane").XSpace.FromString(data).planes:
        if not plane.name.endswith(" thread states"):
            continue
        names = {i: m.name for i, m in plane.stat_metadata.items()}
        pid = next(s.int64_value for s in plane.stats if names[s.metadata_id] == "process_id")
        for line in plane.lines:
            for event in line.events:
                stats = {names[s.metadata_id]: names[s.ref_value] if s.HasField("ref_value") else s.uint64_value for s in event.stats}
                yield State(pid, line.name, plane.event_metadata[event.metadata_id].name, line.timestamp_ns + event.offset_ps // 1000,
                            event.duration_ps // 1000, stats.get("cpu"), stats.get("in"))


def states_from_ndjson(data):
    for row in map(json.loads, data.splitlines()):
        if row["type"] == "state":
            args = row.get("args", {})
            yield State(row["pid"], row["thread"], row["name"], row["start_ns"], row["duration_ns"], args.get("cpu"), args.get("in"))


def states_from_csv(data):
    for row in csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True):
        if row["type"] == "state":
            args = json.loads(row["args"] or "{}")
            yield State(int(row["pid"]), row["thread"], row["name"], int(row["start_ns"]), int(row["duration_ns"]), args.get("cpu"),
                        args.get("in"))


def states_from_sqlite(path):
    rows = sqlite3.connect(path).execute("""SELECT p.pid, t.name, state, start_ns, duration_ns, cpu, reason FROM states
        JOIN threads t ON t.id = thread_id JOIN processes p ON p.id = t.process_id""")
    return (State(*row) for row in rows)
