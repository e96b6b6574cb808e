#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a target that writes at random all over the memory that it shares with its server: the server neither crashes
nor hangs nor grows, and each client gets a valid trace or one error message."""
import os
import time

from fixture import SANITIZERS, Case, check, contains, equal, read_status, run, test
from processes import PROFTAPD, TOP_BUILD, Process

HOSTILE = TOP_BUILD / "tests" / "programs" / "hostile"
# The duration of each test. The memory limits below hold on a machine without other work.
SECONDS = float(os.environ.get("HOSTILE_SECONDS", 3))
MAX_BYTES = 8 << 20
# The largest resident memory of a server during a capture of MAX_BYTES.
LIMIT_KIB = 64 << 10
# The size of a small capture, and a server's memory limit during it.
SMALL_BYTES = 1 << 20
SMALL_LIMIT_KIB = 24 << 10


def start_hostile(t: Case, seed, what):
    process = t.keep(Process("hostile", [HOSTILE, seed, what], {"PROFTAPD": str(PROFTAPD)}))
    process.port, process.server = map(int, process.read_line().split())
    return process


def start_capture(t, target, ms, max_bytes):
    return t.start_capture(target, ms, "-o", f"ptap_max_capture_bytes={max_bytes}",
                           "--timeout", "10000")


def capture(t, target):
    """Checks that a success published a trace, and that a failure printed a reason and left no file.
    Returns the exit status."""
    asked = start_capture(t, target, 100, MAX_BYTES)
    code = asked.wait(15)
    asked.finish(code)
    check(code in (0, 1, 3, 5), f"exit status {code}: {asked.stderr!r}")
    if code == 0:
        check(asked.trace.planes, "a trace without planes")
    else:
        equal((asked.stdout, asked.left()), ("", []), "standard output and what is left")
        contains(asked.stderr.splitlines()[-1], f"127.0.0.1:{target.port}: ", "the reason")
    return code


def check_lives_or_ended_well(target):
    for line in target.out[1:]:
        equal(line.strip(), "ended with 0", "the server's end")


@test
def random_records_harm_nobody(t):
    started = time.monotonic()
    target = start_hostile(t, 1, "records")
    codes = []
    while time.monotonic() - started < SECONDS:
        codes.append(capture(t, target))
    check(0 in codes, f"no capture was answered with a trace: {codes}")
    equal(target.out[1:], [], "the server's end")
    check_size(target)


def check_size(target, limit_kib=LIMIT_KIB):
    if SANITIZERS == "no":
        peak_kib = int(read_status(target.server)["VmHWM"].split()[0])
        check(peak_kib < limit_kib, f"the server grew to {peak_kib} KiB")


@test
def a_flood_of_records_ends_at_the_memory_of_the_capture(t):
    target = start_hostile(t, 1, "records")
    asked = start_capture(t, target, 2000, SMALL_BYTES).finish()
    asked.find_warning("the capture's memory was full")
    check_size(target, SMALL_LIMIT_KIB)


@test
def random_control_words_harm_nobody(t):
    """The server may take the target for dead or stopped, and end."""
    started = time.monotonic()
    seed = 1
    while time.monotonic() - started < SECONDS or seed == 1:
        seed += 1
        target = start_hostile(t, seed, "all")
        capture(t, target)
        check_lives_or_ended_well(target)
        target.kill()


run()
