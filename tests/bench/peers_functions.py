# SPDX-License-Identifier: Apache-2.0
"""Tracers of functions: uftrace, for which the compiler adds calls, and perf, whose uprobes trap into the kernel."""
import contextlib
import os
import re
import subprocess

from common import BENCH
from traced import Peer, Refused, Traced, count_bytes, run_tool

PG, CYG, PATCHABLE = "pg", "cyg", "patchable"
TRACED = "peer_traced"


class Uftrace(Peer):
    packages = ("uftrace",)
    kinds = ("span",)

    def __init__(self, tag, flag):
        self.tag, self.name, self.program = f"uftrace-{tag}", f"uftrace {flag}", f"peer_uftrace_{tag}"
        self.options = ("-P", TRACED) if tag == PATCHABLE else ()

    def measure_on(self, kind, place):
        command = ("uftrace", "record", "-d", place, "--no-libcall", *self.options)
        try:
            target = Traced(self.program, command=command)
        except FileNotFoundError:
            raise Refused("uftrace is not installed") from None
        with target:
            row, n_emitted = target.measure_warm(kind)
            target.end()
        said = run_tool("uftrace", "report", "-d", place, "-f", "call", "--no-pager")
        calls = re.search(rf"(\d+)\s+{TRACED}\b", said)
        n_found = int(calls[1]) if calls else 0
        return row, n_emitted, n_found, self.count_lost(place), count_bytes(place, is_data)

    @staticmethod
    def count_lost(place):
        return sum(map(int, re.findall(r"LOST (\d+)", run_tool("uftrace", "replay", "-d", place, "--no-pager"))))


def is_data(name):
    return name.endswith(".dat")


# The probes are set by the kernel's tracing files, in a mount of our own if nobody has mounted them.
WITH_TRACEFS = ("unshare", "--mount", "sh", "-c",
                "test -e /sys/kernel/tracing/uprobe_events || mount -t tracefs tracefs /sys/kernel/tracing && "
                'exec "$@"', "sh")
PACE = (100, 21, 2000)


def run_perf(*arguments):
    return run_tool(*WITH_TRACEFS, "perf", *arguments)


class Perf(Peer):
    """Events have the names that perf gives them: it adds a word to the name of the probe at the return."""

    name, tag, program = "perf (uprobes)", "perf", "peer_perf"
    packages = ("linux-perf",)
    has_probes = False
    events = {"span": ("entry", "leave__return"), "instant": ("entry",)}

    def __enter__(self):
        self.group = f"proftap_bench_{os.getpid()}"
        self.stack = contextlib.ExitStack()
        return self

    def __exit__(self, *unused):
        self.stack.close()

    def add_probes(self):
        """Adds the probes, and their removal at the end. Errors are the kernel's."""
        binary = os.path.join(BENCH, "peers", self.program)
        for event, where in (("entry", TRACED), ("leave", f"{TRACED}%return")):
            run_perf("probe", "-q", "-x", binary, "--add", f"{self.group}:{event}={where}")
            self.stack.callback(run_perf, "probe", "-q", "--del", f"{self.group}:{event}*")
        self.has_probes = True

    def measure_on(self, kind, place):
        os.makedirs(place)
        if not self.has_probes:
            self.add_probes()
        file = os.path.join(place, "perf.data")
        with Traced(self.program, PACE) as target, Recording(self.group, self.events[kind], file, target.process.pid):
            row, n_emitted = target.measure_warm(kind)
        said = run_perf("script", "-i", file, "-F", "event")
        n_events = len(self.events[kind])
        return row, n_emitted, len(said.split()) / n_events, 0, os.path.getsize(file)


class Recording:
    """perf record of one process, from the moment when perf reports that it records to its end."""

    def __init__(self, group, events, file, pid):
        control, self.control = os.pipe()
        self.ack, ack = os.pipe()
        selected = [word for event in events for word in ("-e", f"{group}:{event}")]
        self.process = subprocess.Popen(
            [*WITH_TRACEFS, "perf", "record", "-q", "-m", "1024", "-D", "-1", f"--control=fd:{control},{ack}",
             *selected, "-o", file, "-p", str(pid)],
            pass_fds=(control, ack), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        os.close(control)
        os.close(ack)

    def ask(self, what):
        os.write(self.control, what)
        if not os.read(self.ack, 16).startswith(b"ack"):
            raise Refused(f"perf record: {self.process.communicate()[1].strip()}")

    def __enter__(self):
        self.ask(b"enable\n")
        return self

    def __exit__(self, *unused):
        self.ask(b"stop\n")
        os.close(self.control)
        os.close(self.ack)
        self.process.communicate()
