# SPDX-License-Identifier: Apache-2.0
"""Reads the events that XProf's trace viewer shows of a trace, in the pipeline's terms."""
import collections
import json

from processes import folder, peer
from spaces import is_usage


def convert(path, tool):
    with folder() as work:
        peer("convert.py", path, tool, work / "out")
        return (work / "out").read_text()


def show(path, tool):
    return json.loads(convert(path, tool))


def trace_events(path, tool):
    return [event for event in show(path, tool)["traceEvents"] if event]


def run_events(paths):
    """The events of all files of a run together."""
    with folder() as work:
        peer("convert.py", *paths, "trace_viewer@", work / "out")
        return [event for event in json.loads((work / "out").read_text())["traceEvents"] if event]


def thread_names(events):
    """{(pid, tid): name}"""
    return {(e["pid"], e["tid"]): e["args"]["name"]
            for e in events if e["ph"] == "M" and e["name"] == "thread_name"}


def process_names(events):
    """{pid: name}"""
    return {e["pid"]: e["args"]["name"]
            for e in events if e["ph"] == "M" and e["name"] == "process_name"}


def step_number(event):
    """Returns the number of a step, whose title in the viewer is its name and number, or None."""
    name, _, number = event["name"].rpartition(" ")
    return int(number) if name and number.isdigit() else None


def complete(events):
    """(thread, event) of each span, without samples and states of threads, which are in processes of their own."""
    names = thread_names(events)
    processes = process_names(events)
    for event in events:
        if event["ph"] == "X" and not processes.get(event["pid"], "").endswith((" samples", " thread states")):
            yield names[event["pid"], event["tid"]], event


def all_counter_samples(events):
    """Returns {name: values}. trace_viewer@ has one C event for each name, trace_viewer has instants."""
    samples = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "C":
            samples[event["name"]] += [value for _, value in event["entries"]]
        elif event["ph"] == "i":
            samples[event["name"]].append(float(event["args"]["value"]))
    return samples


def counter_samples(events):
    """Returns the samples that the program made."""
    return {name: values for name, values in all_counter_samples(events).items()
            if not is_usage(name)}


def usage_samples(events):
    return {name: values for name, values in all_counter_samples(events).items()
            if is_usage(name)}


def counts(events):
    """Counts events by thread or group and name, as the pipeline does."""
    result = collections.Counter()
    for thread, event in complete(events):
        name = event["name"]
        if step_number(event) is not None:
            name = name.rpartition(" ")[0]
            result["(steps)", name] += 1
        result[thread, name] += 1
    for name, values in counter_samples(events).items():
        result["(counters)", name] += len(values)
    return result
