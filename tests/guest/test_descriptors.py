#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that close, count and use up their descriptors."""
from host import NO_LEAK_CHECK, contains, equal, free_port, host, run, run_host, timed

host("daemon", "late", spans={"daemon": 1}, title="daemon that starts late")
# The first server ends with the process that started it; the daemon's server takes over its port.
host("leave", title="daemon whose first process ends", modes=("off", "armed"),
     GUEST_PORT=str(free_port()))
host("leave", title="daemon whose first process ends and that was to be followed",
     modes=("off", "armed"), GUEST_PORT=str(free_port()), PROFTAP_FOLLOW_FORK="1")
host("daemon", "early", spans={"daemon": 1}, title="daemon that starts early and again")
# 100 starts: one of our descriptors may be visible for only microseconds.
host("numbers", "100", modes=("off", "armed"))
host("numbers", "3", modes=("recording",), spans={"numbers": 2})
host("emulated", spans={"numbers": 1})
host("full", "0", spans={"full": 1}, **NO_LEAK_CHECK)
# The free entries suffice for some of the descriptors that the server needs, but not for all.
for n in range(1, 5):
    host("full", str(n), modes=("armed",), title=f"{n} left", **NO_LEAK_CHECK)
host("full", "0", "low", modes=("armed",), title="only 0 left", **NO_LEAK_CHECK)


@timed
def followed_child_with_a_full_descriptor_table_is_recorded(t):
    for n in (0, 1, 2):
        process, seen, captures = run_host(t, "full", "recording", (str(n), "fork"),
                                           dict(NO_LEAK_CHECK))
        contains(seen[1], "the child: 0\n", "its output")
        trace = captures[0].trace
        pids = [name.split("[")[1].rstrip("]") for name in trace.planes if "[" in name]
        equal([trace.process(pid).count("child") for pid in pids], [3], f"spans with {n} left")


run()
