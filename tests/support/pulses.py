# SPDX-License-Identifier: Apache-2.0
"""A target's command pulse shows where a recording begins: the program notes the time of each
annotation, recorded or not."""
import struct

from checks import check, equal
from numbered import check_numbers

# Room for the pulses of a minute.
N_PULSES = 1 << 19
# The greatest difference of the trace's times and the program's own.
CLOCKS_NS = 50000


class Pulses:
    def __init__(self, t, target):
        self.path = t.dir / f"pulses-{target.pid}"
        self.path.write_bytes(bytes(8 * N_PULSES))
        equal(target.ask(f"pulse {self.path}"), str(N_PULSES), "the program's answer")

    def read(self):
        """Returns the begin of each pulse that has begun, in Unix ns."""
        times = struct.unpack(f"={N_PULSES}q", self.path.read_bytes())
        return times[:times.index(0)]

    def check_start(self, trace, at):
        """Checks a capture agreed for |at|: no event is earlier, and none is missing after the time from which, by the
        trace, the program could record. Returns that time and the first event's begin, in ns since |at|.
        """
        late, start, stop = (trace.environment[name].value for name in (
            "ptap_start_late_ns", "profile_start_time", "profile_stop_time"))
        events = [e for line in trace.threads for e in line.named("pulse")]
        due = [i for i, time in enumerate(self.read()) if at + late + CLOCKS_NS <= time < stop - CLOCKS_NS]
        if not events:
            # On a busy machine the program may not have run in all that time.
            check(len(due) <= 1, f"no pulse of {len(due)} was recorded, {late} ns late")
            return late, stop - at
        numbers = [e.stats["n"].value for e in events]
        first = start + events[0].start_ps // 1000 - at
        check(first >= -CLOCKS_NS, f"the first event began {-first} ns before the instant")
        check(not due or numbers[0] <= due[0], f"pulse {numbers[0]} is the first, not {due[:1]}; {late} ns late")
        check_numbers(numbers, numbers[0], numbers[-1] + 1)
        return late, first
