# SPDX-License-Identifier: Apache-2.0
"""Counts the contents of a trace as docs/examples/pipeline counts them: {(thread, name): count}."""
import collections

STEP = "step_num"
COUNTERS = "_counters_"


def plane_named(space, name):
    found = [plane for plane in space.planes if plane.name == name]
    assert len(found) == 1, f"{name}: {len(found)} planes"
    return found[0]


def stats_of(plane, holder):
    """{name: value} with references resolved."""
    result = {}
    for stat in holder.stats:
        value = getattr(stat, stat.WhichOneof("value"))
        if stat.WhichOneof("value") == "ref_value":
            value = plane.stat_metadata[value].name
        result[plane.stat_metadata[stat.metadata_id].name] = value
    return result


def is_usage(name):
    """A counter that the server itself measures, whatever the program does."""
    return name.startswith(("process ", "thread cpu % "))


def all_host_events(space):
    """(line's name, event's name, stats) of each event of /host:CPU."""
    plane = plane_named(space, "/host:CPU")
    for line in plane.lines:
        for event in line.events:
            yield line.name, plane.event_metadata[event.metadata_id].name, stats_of(plane, event)


def host_events(space):
    """Yields the events of the program, without the server's own counters."""
    return (event for event in all_host_events(space) if not is_usage(event[1]))


def usage_counts(space):
    return collections.Counter(name for _, name, _ in all_host_events(space) if is_usage(name))


def counts(events):
    """Counts (thread, name, stats) triples, without usage."""
    result = collections.Counter()
    for thread, name, stats in events:
        if is_usage(name):
            continue
        if thread == COUNTERS:
            result["(counters)", name] += 1
            continue
        result[thread, name] += 1
        if STEP in stats:
            result["(steps)", name] += 1
    return result


def assert_same(found, expected):
    assert found == expected, "\n".join(
        f"{key}: {found[key]} in the trace, {expected[key]} counted by the pipeline"
        for key in sorted({*found, *expected}) if found[key] != expected[key])


def assert_same_but_for_edges(found, expected, n_workers=2):
    """A pipeline that never stops may be between a span and its count at either end of the capture, once for each
    thread. So the counts may differ by one, and those of the workers' shared counter by |n_workers|.
    """
    assert set(found) == set(expected), (found, expected)
    off = {key: (found[key], expected[key]) for key in found
           if abs(found[key] - expected[key]) > (n_workers if key[0] == "(counters)" else 1)}
    assert not off, f"(in the trace, counted): {off}"
