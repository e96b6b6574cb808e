# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that are measured with and without a tracer (peers/peer.h)."""
import collections
import contextlib
import os
import subprocess

from common import BENCH, Failure, Target

# Nanoseconds of one annotation, of its clock reads, and of the loop without it.
Row = collections.namedtuple("Row", "emit_ns reads_ns none_ns n")

BATCH, ROUNDS, PAUSE_US = 2000, 61, 2000
PACED = f"{ROUNDS} batches of {BATCH:,} (perf: 21 of 100), after as many that are not counted, with pauses of " \
        f"{PAUSE_US // 1000} ms."


class Refused(Exception):
    """A tracer cannot work here, for this reason."""


class Traced(Target):
    """One of those programs, started by |command| if the tracer needs that."""

    def __init__(self, name, pace=(BATCH, ROUNDS, PAUSE_US), command=()):
        self.name = name
        self.process = subprocess.Popen(
            [*command, os.path.join(BENCH, "peers", name), *map(str, pace)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.port = self.read("ready")[0]
        except Failure as failure:
            self.__exit__()
            raise Refused(str(failure)) from failure

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()

    def wait_until_recorded(self):
        self.ask("wait")
        self.read("recording")

    def measure(self, kind):
        self.ask(kind)
        emit, reads, none, n = self.read(kind)
        return Row(float(emit), float(reads), float(none), int(n))

    def measure_warm(self, kind):
        """Measures twice, because the first one does not count. Returns the second row, and the number of annotations in both."""
        first = self.measure(kind)
        row = self.measure(kind)
        return row, first.n + row.n


class Peer(contextlib.AbstractContextManager):
    """A tracer. None stands for what it cannot do."""

    name = tag = program = None
    packages = ()
    kinds = ("span", "instant")
    measure_snapshot = None

    def __exit__(self, *unused):
        pass

    def measure_off(self, kind):
        with Traced(self.program) as target:
            row, _ = target.measure_warm(kind)
            target.end()
        return row


def run_tool(*command, **more):
    """Runs a tool, and returns its output. If the tool fails, the tracer cannot work here."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)
    except FileNotFoundError:
        raise Refused(f"{command[0]} is not installed") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Refused(f"{' '.join(command[:8])}: {said[0] if said else f'ended with {done.returncode}'}")
    return done.stdout


def count_bytes(directory, is_counted=lambda name: True):
    return sum(os.path.getsize(os.path.join(place, name))
               for place, _, names in os.walk(directory) for name in names if is_counted(name))
