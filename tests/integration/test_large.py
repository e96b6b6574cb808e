#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that a gigabyte arrives as a valid file, and that proftap and its server need no more memory for it."""
import shutil
import signal

from fixture import SANITIZERS, Skip, check, equal, find_proftapd, run, test
from memory_watch import MemoryWatch
from spools import count_spans, read_spools, report

# Under a sanitizer time and memory differ from those of users, so only the counts are checked.
WANTED_BYTES = 1_000_000_000 if SANITIZERS == "no" else 60_000_000
MAX_CLIENT_KIB = 64 << 10
MAX_SERVER_KIB = 128 << 10
RING_BYTES = 16 << 20
BATCH = 200_000
# Even on a busy machine, the server gets WANTED_BYTES from this many batches.
MAX_BATCHES = 500
PATIENCE_S = 100


def need_room(t):
    free = min(shutil.disk_usage(path).free for path in (t.dir, "/var/tmp"))
    if free < 5 * WANTED_BYTES:
        raise Skip(f"less free space than 2.5 times the {2 * WANTED_BYTES / 1e9:.1f} GB of files")


def fill_spool(target, server):
    """Emits spans until the server has WANTED_BYTES of them, and returns their number."""
    for n in range(MAX_BATCHES):
        if sum(read_spools(server).values()) >= WANTED_BYTES:
            return n * BATCH
        equal(target.ask(f"heavy {BATCH}"), str(BATCH), "the target")
    raise AssertionError(f"{MAX_BATCHES * BATCH} spans, and the file has only {read_spools(server)} bytes")


@test
def a_gigabyte_arrives_in_little_memory(t):
    need_room(t)
    target = t.target().serve(0, RING_BYTES)
    server = find_proftapd(target.pid)
    capture = t.record(target, 100_000, "--max_bytes", 8 * WANTED_BYTES)
    watches = {name: MemoryWatch(pid) for name, pid in (("proftap", capture.pid), ("proftapd", server))}
    n = fill_spool(target, server)
    capture.signal(signal.SIGINT)
    capture.finish(patience_s=PATIENCE_S)
    kib = {name: watch.end().whole_kib for name, watch in watches.items()}
    size = capture.path.stat().st_size
    check(size >= WANTED_BYTES, f"the file has only {size} bytes")
    trace = report(capture.path)
    equal(count_spans(trace)["heavy"] + trace["totals"]["dropped"], n, "arrived + dropped")
    if SANITIZERS != "no":
        return
    check(0 < kib["proftap"] < MAX_CLIENT_KIB, f"proftap took {kib['proftap']} KiB")
    # The server maps its target's rings, which count as its memory.
    check(RING_BYTES >> 10 < kib["proftapd"] < MAX_SERVER_KIB, f"proftapd took {kib['proftapd']} KiB")


run()
