# SPDX-License-Identifier: Apache-2.0
"""Paths and targets, shared by all groups of figures."""
import contextlib
import glob
import json
import os
import subprocess

from spools import count_spans

BUILD = os.environ["top_builddir"]
BENCH = os.path.join(BUILD, "tests", "bench")
PROFTAP = os.path.join(BUILD, "client", "proftap")
EMIT = os.path.join(BENCH, "emit")

N_BURST = 1_000_000

# A server that gets no processor time loses records, and reports that.
BUSY = "" if os.getloadavg()[0] < os.cpu_count() / 2 else "; the machine is busy: run it again"


class Failure(Exception):
    """A failure with a sentence for the reader; the run ends with 1."""


class Target:
    """A program with a server. It reads and writes lines, and ends when its standard input does."""

    def __init__(self, name, *arguments):
        self.name = name
        self.process = subprocess.Popen(
            [os.path.join(BENCH, name), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, *words):
        """Returns the rest of the next line, which must begin with |words|."""
        line = self.process.stdout.readline().split()
        if line[:len(words)] != list(words) or not line:
            raise Failure(f"{self.name}: wrote {line} where {words} should be")
        return line[len(words):]

    def write_line(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        """Closes the program's input, and returns all its further lines."""
        self.process.stdin.close()
        rest = self.process.stdout.read().splitlines()
        if self.process.wait() != 0:
            raise Failure(f"{self.name}: ended with {self.process.returncode}")
        return rest

    def find_server(self):
        return find_server(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def find_server(target_pid):
    """Returns the proftapd of a target, which is not its child, but has its pid on the command line."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as f:
            words = f.read().split(b"\0")
            if words[1:3] == [b"--attached", str(target_pid).encode()]:
                return int(path.split("/")[2])
    raise Failure(f"no proftapd found for pid {target_pid}")


def read_text(path):
    with open(path, encoding="utf-8") as f:
        return f.read().strip()


def read_fields(path):
    """Returns the fields of `Name: value` lines, as in /proc."""
    fields = {}
    for line in read_text(path).splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip()] = value.strip()
    return fields


def kilobytes(fields, *names):
    return sum(int(fields[name].split()[0]) for name in names)


def run_lines(program, *arguments):
    done = subprocess.run([os.path.join(BENCH, program), *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{program} {' '.join(map(str, arguments))}: ended with {done.returncode}")
    return done.stdout.splitlines()


def report(files):
    done = subprocess.run([PROFTAP, "report", "--json", *files],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"proftap report ended with {done.returncode}")
    return json.loads(done.stdout)


def count_in_file(trace):
    """Returns how often each name is in the file: spans and instants of all threads, and counters' samples."""
    counts = count_spans(trace)
    for plane in trace["planes"]:
        for counter in plane["counters"]:
            counts[counter["name"]] = counts.get(counter["name"], 0) + counter["n"]
    return counts
