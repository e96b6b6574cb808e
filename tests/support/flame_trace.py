# SPDX-License-Identifier: Apache-2.0
"""Traces with samples of threads, made by hand; docs/internals/samples.md describes their form."""
from conversions import make_space
from fixture import schema
from profile_proto import Profile

PERIOD_NS = 10_000_000


class Stacks:
    """The table of a plane with samples: the number of a stack is that of a Profile's sample."""

    def __init__(self):
        self.profile = Profile(string_table=[""])
        self.frames = {}
        self.numbers = {}

    def take_frame(self, function):
        if function not in self.frames:
            number = self.frames[function] = len(self.frames) + 1
            self.profile.string_table.append(function)
            text = len(self.profile.string_table) - 1
            self.profile.function.add(id=number, name=text, system_name=text)
            self.profile.location.add(id=number, address=number).line.add(function_id=number)
        return self.frames[function]

    def take(self, functions):
        """Returns the number of the stack of |functions|, the outermost first."""
        functions = tuple(functions)
        if functions not in self.numbers:
            self.numbers[functions] = len(self.numbers)
            self.profile.sample.add(location_id=[self.take_frame(f) for f in reversed(functions)])
        return self.numbers[functions]


def make_samples(lines, pid, process):
    """An XSpace, as bytes, with samples of {thread: [([functions from the outermost], at_ns, ns of waiting)]}. 0 ns: it ran."""
    stacks = Stacks()
    events = {thread: [(functions[-1], at_ns, waiting_ns, {"stack": stacks.take(functions)}) for functions, at_ns, waiting_ns in samples]
              for thread, samples in lines.items()}
    space = schema("xplane").XSpace.FromString(make_space(events, "/host:CPU samples", pid=pid, stats={
        "ptap_process_name": process, "ptap_sample_period_ns": PERIOD_NS}))
    space.ClearField("hostnames")
    plane = space.planes[0]
    number = max(plane.stat_metadata) + 1
    plane.stat_metadata[number].id = number
    plane.stat_metadata[number].name = "ptap_stacks"
    plane.stats.add(metadata_id=number, bytes_value=stacks.profile.SerializeToString())
    return space.SerializeToString()


def make_sampled(spans, samples, host="fake", pid=7, process="train"):
    """An XSpace, as bytes, with the spans and samples of one program. A thread has the same name in both."""
    threads = list(dict.fromkeys([*spans, *samples]))
    parts = (make_space({name: spans.get(name, []) for name in threads}, host=host, pid=pid, stats={"ptap_process_name": process}),
             make_samples({name: samples.get(name, []) for name in threads}, pid, process))
    return b"".join(parts)
