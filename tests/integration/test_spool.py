#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests captures that are larger than the server's memory: their data goes through a file without a name."""
import collections
import resource
import shutil
import signal
import tempfile
from pathlib import Path

from checks import PATIENCE_S
from fixture import SANITIZERS, check, equal, find_proftapd, read_status, run, test, wait_until
from spools import count_spans, read_spools, report

RING_BYTES = 16 << 20
BIG = 2_800_000  # waves: 100 MB
SMALL = 400_000
MAX_ANON_KIB = 128 << 10


class Flood:
    """A capture of |n| waves, which is ended when all waves were emitted."""

    def __init__(self, t, n, *options, env=None, after=lambda server: None):
        self.n = n
        self.target = t.target(**(env or {})).serve(0, RING_BYTES)
        self.server = find_proftapd(self.target.pid)
        self.capture = t.record(self.target, 100_000, *options)
        after(self.server)
        self.target.send(f"flood {n}")
        self.spools = set()
        self.max_anon_kib = 0

    def look(self):
        self.spools.update(read_spools(self.server))
        anon = read_status(self.server).get("RssAnon", "0 kB")
        self.max_anon_kib = max(self.max_anon_kib, int(anon.split()[0]))

    def is_over(self):
        self.look()
        return not self.target.lines.empty()

    def finish(self):
        wait_until(self.is_over, "the flood", PATIENCE_S)
        equal(self.target.read_line(), str(self.n), "waves")
        self.capture.signal(signal.SIGINT)
        wait_until(lambda: self.look() or self.capture.popen.poll() is not None, "the file", PATIENCE_S)
        self.capture.finish(patience_s=PATIENCE_S)
        self.trace = report(self.capture.path)
        counts = count_spans(self.trace)
        self.arrived = counts.get("wave", 0) + counts.get("flood", 0)
        return self

    def check_counts(self):
        equal(self.arrived + self.trace["totals"]["dropped"], 2 * self.n, "arrived + dropped")


@test
def a_hundred_megabytes_need_no_memory(t):
    flood = Flood(t, BIG).finish()
    size = flood.capture.path.stat().st_size
    check(size > 90e6, f"the file has only {size} bytes")
    flood.check_counts()
    check(flood.arrived > BIG, f"only {flood.arrived} spans arrived")
    check(flood.spools, "there was no file: the test is void")
    equal(read_spools(flood.server), {}, "files that are left")
    if SANITIZERS == "no":
        check(flood.max_anon_kib < MAX_ANON_KIB, f"{flood.max_anon_kib} KiB of anonymous memory")


@test
def the_file_lies_where_tmpdir_says(t):
    # /tmp may lie in memory, where no such file is made.
    directory = Path(tempfile.mkdtemp(prefix="proftap-test-", dir="/var/tmp"))
    t.at_end.append(lambda: shutil.rmtree(directory))
    flood = Flood(t, SMALL, env={"TMPDIR": str(directory)}).finish()
    check(flood.spools, "there was no file")
    for path in flood.spools:
        check(path.startswith(f"{directory}/"), f"{path} is not in {directory}")
    equal(list(directory.iterdir()), [], "files in TMPDIR")
    flood.check_counts()


@test
def a_failing_disk_keeps_the_data_recorded_before(t):
    def limit(server):
        resource.prlimit(server, resource.RLIMIT_FSIZE, (3 << 20, -1))
    flood = Flood(t, SMALL, "-o", "ptap_spool_window_bytes=100000", after=limit).finish()
    check(flood.spools, "there was no file")
    check(0 < flood.arrived < 2 * SMALL, f"{flood.arrived} arrived")
    check(flood.trace["totals"]["dropped"] > 0, "nothing was dropped")
    flood.capture.find_warning("the capture's file in ", "what came later is missing")


@test
def without_a_spool_file_memory_is_used(t):
    def limit(server):
        resource.prlimit(server, resource.RLIMIT_NOFILE, (3, 1024))
    flood = Flood(t, SMALL, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0", after=limit).finish()
    equal(flood.spools, set(), "files")
    flood.check_counts()
    check(flood.arrived > SMALL, f"only {flood.arrived} spans arrived")
    flood.capture.find_warning("no file could be had", "set TMPDIR")


def record_texts(t, command, max_mib):
    """Returns the capture, and {name: number} of its spans."""
    target = t.target().serve(0, RING_BYTES)
    capture = t.record(target, 100_000, "-o", f"ptap_max_capture_bytes={max_mib << 20}",
                       "-o", "ptap_spool_window_bytes=1000000")
    target.ask(command)
    capture.signal(signal.SIGINT)
    capture.finish(patience_s=PATIENCE_S)
    counts = collections.Counter(e.name for line in capture.trace.threads for e in line.events)
    equal(capture.trace.host_stat("dropped_traces"), 0, f"dropped spans of {command}")
    return capture, counts


@test
def values_that_are_all_different_cost_no_span_and_are_all_there(t):
    n = 100_000
    capture, counts = record_texts(t, f"label {n}", 64)
    equal(counts["labelled"], n, "spans")
    events = [e for line in capture.trace.threads for e in line.named("labelled")]
    labels = [e.stats["label"].value for e in events]
    equal(labels, [f"label-0123456789-abcdefghijk-{i:07}" for i in range(n)], "labels")
    equal(list(capture.trace.space.warnings), [], "warnings")


@test
def names_that_are_too_many_cost_no_span_and_more_memory_helps(t):
    n = 60_000
    capture, counts = record_texts(t, f"name {n}", 64)
    equal(sum(counts.values()), n, "spans")
    left_out = capture.trace.host_stat("ptap_left_out_texts")
    equal(counts["…"], left_out, "spans without their name")
    check(n / 4 < left_out < n, f"{left_out} names were left out")
    capture.find_warning(f"{left_out} names or texts left out", "2.0 MiB", "raise max_capture_bytes")
    capture, counts = record_texts(t, f"name {n}", 256)
    equal((len(counts), sum(counts.values())), (n, n), "names, and spans")
    equal(list(capture.trace.space.warnings), [], "warnings")


@test
def the_capture_limit_holds_for_the_spool_file(t):
    max_bytes = 8_000_000
    flood = Flood(t, SMALL, "-o", f"ptap_max_capture_bytes={max_bytes}",
                  "-o", "ptap_spool_window_bytes=100000").finish()
    check(flood.spools, "there was no file")
    size = flood.capture.path.stat().st_size
    check(size < max_bytes, f"the file has {size} bytes")
    check(size > max_bytes / 2, f"the file has only {size} bytes")
    flood.capture.find_warning("max_capture_bytes")


run()
