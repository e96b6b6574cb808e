# SPDX-License-Identifier: Apache-2.0
"""
Runs Google's trace_processor on our files: it answers SQL. Found and Expected have a trace's contents in one form, as
trace_processor reads them from a .pftrace and as NDJSON has them.

A span is (host, pid, thread, category, name, start_ns, duration_ns, args); an unfinished one has the duration -1, an instant 0,
as trace_processor has it. A sample is (host, pid, name, at_ns, value); an arrow ((host, pid, thread, name, start_ns) twice, id).
"""
import collections
import json
import os
import pathlib
import re
import sys

from processes import HERE, PROFTAP, run

NODE = pathlib.Path(sys.executable).with_name("node")

# Statistics that a good trace does not have: loss and errors, and events that trace_processor skips quietly.
TROUBLE = """select name, idx, severity, value from stats where value > 0 and (severity in ('error', 'data_loss') or name in (
    'track_event_parser_errors', 'track_event_tokenizer_errors', 'packet_skipped_seq_needs_incremental_state_invalid',
    'interned_data_skipped_incremental_state_invalid', 'tokenizer_skipped_packets', 'track_hierarchy_missing_uuid'))"""
HOSTS = """select cast(substr(name, 30) as int), str_value, coalesce((
        select m.int_value from metadata as m where m.name = replace(metadata.name, '.name', '.machine')), 0)
    from metadata where name glob 'trace_attribute.proftap.host.*.name' order by 1"""
# A slice belongs to a thread, or to a track of its own in a process.
SLICES = """
    select slice.id, coalesce(machine.raw_id, 0), process.pid, coalesce(thread.name, track.name), slice.category, slice.name,
        slice.ts, slice.dur, slice.arg_set_id
    from slice join track on slice.track_id = track.id
        left join thread_track on thread_track.id = track.id left join thread using (utid)
        left join process_track on process_track.id = track.id
        left join process on process.upid = coalesce(thread.upid, process_track.upid)
        left join machine on machine.id = process.machine_id"""
ARGS = """select arg_set_id, key, value_type, int_value, string_value, real_value from args where key glob 'debug.*'"""
SAMPLES = """
    select coalesce(machine.raw_id, 0), process.pid, track.name, counter.ts, counter.value
    from counter join process_counter_track as track on counter.track_id = track.id
        join process using (upid) left join machine on machine.id = process.machine_id"""
FLOWS = "select slice_out, slice_in, trace_id from flow"


def query(trace, *queries, **options):
    """The rows of each query. |options| are run()'s."""
    done = run(NODE, "--no-warnings", HERE / "trace_processor.mjs", trace, *queries,
               env={**os.environ, "NODE_MODULES": str(NODE.parent.parent / "node_modules")}, **options)
    return [json.loads(line) for line in done.stdout.splitlines()]


def signed(value):
    """Returns an unsigned number as SQL holds it."""
    return (value + 2**63) % 2**64 - 2**63


def until_nul(value):
    """Cuts a text at its first NUL, where texts of SQL end."""
    return value.split("\0")[0] if isinstance(value, str) else value


def shown_key(key):
    """Replaces dots and brackets, because they would mark nested values."""
    return re.sub(r"[.\[\]]", "_", key)


def freeze(args):
    return tuple(sorted(args.items()))


class Found:
    """Spans, samples and arrows as Counters, the complaints of trace_processor, and the units of the tracks."""

    def __init__(self, trace):
        trouble, hosts, slices, args, samples, flows = query(trace, TROUBLE, HOSTS, SLICES, ARGS, SAMPLES, FLOWS)
        self.trouble = {name: value for name, _, _, value in trouble}
        self.hosts = [name for _, name, _ in hosts]
        names = {machine: name for _, name, machine in hosts}
        values = collections.defaultdict(dict)
        for arg_set, key, kind, integer, text, real in args:
            real = "nan" if kind == "real" and real is None else real
            values[arg_set][key.removeprefix("debug.")] = {"string": text, "real": real}.get(kind, integer)
        self.spans = collections.Counter()
        places = {}
        for id_, host, pid, thread, category, name, start, duration, arg_set in slices:
            host = names[host]
            self.spans[host, pid, thread, category, name, start, duration, freeze(values.get(arg_set, {}))] += 1
            places[id_] = (host, pid, thread, name, start)
        self.samples = collections.Counter((names[row[0]], *row[1:]) for row in samples)
        self.arrows = collections.Counter((places[a], places[b], signed(id_)) for a, b, id_ in flows)


class Expected:
    """The same facts from `proftap convert -t ndjson`."""

    def __init__(self, paths, options):
        self.spans, self.samples, self.arrows = (collections.Counter() for _ in range(3))
        self.hosts = []
        self.shift_ns = 0
        chains = collections.defaultdict(list)
        done = run(PROFTAP, "convert", "-t", "ndjson", "-o", "-", *options, *paths)
        for line in done.stdout.splitlines():
            self.add(json.loads(line), chains)
        for (_, id_), ends in chains.items():
            ends.sort(key=lambda place: place[-1])
            for pair in zip(ends, ends[1:]):
                self.arrows[(*pair, id_)] += 1

    def find_machine(self, item):
        """Returns the machine of an item. Arrows stay within a machine; each name of a host is one machine."""
        return item["host"]

    def add(self, item, chains):
        kind = item["type"]
        if kind == "trace":
            self.hosts = [host["name"] for host in item["hosts"]]
            self.shift_ns = max(-item["first_ns"], 0)
            return
        if kind in ("sample", "waiting", "state"):  # see check_samples()
            return
        args = item.get("args", {})
        start = item["start_ns"] + self.shift_ns
        name = until_nul(item["name"])
        if kind == "counter":
            self.samples[item["host"], item["pid"], name, start, float(next(iter(args.values())))] += 1
            return
        duration = -1 if args.get("unfinished") else item.get("duration_ns", 0)
        args = {shown_key(key): signed(v) if isinstance(v, int) else until_nul(v) for key, v in args.items()}
        thread = until_nul(item["thread"])
        category = "step" if kind == "step" else None
        self.spans[item["host"], item["pid"], thread, category, name, start, duration, freeze(args)] += 1
        for id_ in {item[way] for way in ("flow_out", "flow_in") if way in item}:
            chains[self.find_machine(item), id_].append((item["host"], item["pid"], thread, name, start))


# Each CPU sample, with the frames of its stack from the innermost one (depth 0).
STACKS = """
    with recursive stack(id, at, parent_id, frame_id, up) as (
        select perf_sample.id, perf_sample.callsite_id, parent_id, frame_id, 0
            from perf_sample join stack_profile_callsite as c on c.id = perf_sample.callsite_id
        union all
        select stack.id, c.id, c.parent_id, c.frame_id, stack.up + 1
            from stack join stack_profile_callsite as c on c.id = stack.parent_id)
    select stack.id, coalesce(machine.raw_id, 0), process.pid, thread.name, perf_sample.ts, perf_sample.cpu,
        frame.name, mapping.name, mapping.build_id
    from stack join perf_sample using (id) join thread using (utid) join process using (upid)
        left join machine on machine.id = process.machine_id
        join stack_profile_frame as frame on frame.id = stack.frame_id
        join stack_profile_mapping as mapping on mapping.id = frame.mapping
    order by stack.id, stack.up desc"""


def read_stacks(trace):
    """Returns [(machine, pid, thread, time, processor, ((function, file, build-id), ...))] of the CPU samples, the outermost
    function first."""
    n, rows = query(trace, "select count(*) from perf_sample", STACKS)
    samples = {}
    for id_, *place, function, path, build_id in rows:
        samples.setdefault(id_, [place, []])[1].append((function, path, build_id))
    assert n == [[len(samples)]], f"{n} samples, {len(samples)} with a stack"
    return [(*place, tuple(stack)) for place, stack in samples.values()]


def assert_same(found, expected, what):
    extra, missing = found - expected, expected - found
    assert not extra and not missing, (
        f"{what}: {extra.total()} only in trace_processor, e.g. {list(extra)[:3]}; "
        f"{missing.total()} only in NDJSON, e.g. {list(missing)[:3]}")


def check(paths, work, trouble=None, options=()):
    """Converts, and compares trace_processor's view with NDJSON. |trouble| has the complaints that are expected.
    Returns what trace_processor found."""
    out = pathlib.Path(work) / "out.pftrace"
    run(PROFTAP, "convert", "-o", out, *options, *paths)
    found, expected = Found(out), Expected(paths, options)
    assert found.trouble == (trouble or {}), found.trouble
    assert found.hosts == expected.hosts, (found.hosts, expected.hosts)
    for what in ("spans", "samples", "arrows"):
        assert_same(getattr(found, what), getattr(expected, what), what)
    return found
