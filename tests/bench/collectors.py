# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of devices' collectors for a program."""
from common import Failure, run_lines


def bench_collectors(out, _):
    out.method("A call into a device's library is recorded as a span with its correlation, and compared, in turns, "
               "with a span that has two arguments. A record is a kernel's, of 96 bytes: one thread writes it to a "
               "ring of 1 MiB, and another one reads it into memory that is then reused, like the spooler's. There "
               "is no server.")
    found = {}
    for line in run_lines("bench_collect"):
        name, _, value = line.partition(" ")
        if name == "error" or not value:
            raise Failure(f"bench_collect: {line}")
        found[name] = float(value)
    out.figure("call into a device's library, off", f"{found['off']:.2f}", "ns")
    out.figure("call into a device's library, recording", f"{found['call']:.2f}", "ns", "<= 1.1 x a span with two args",
               f"span with two args {found['args']:.2f} ns", (f"{found['call'] / found['args']:.2f}",
                                                              "a span with two args"))
    out.figure("record of a device, handed on", f"{found['record']:.1f}", "ns", "",
               "processor time of the thread that writes it")
    out.figure("records of a device, handed on", f"{found['records'] / 1e6:.1f}", "M/s", ">= 10 M/s")
