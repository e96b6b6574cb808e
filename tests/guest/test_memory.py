#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts whose memory is limited or locked, or whose core file is searched."""
import os
import re
import signal
import subprocess
from pathlib import Path

from host import (NOBODY, Host, Skip, check, equal, find_proftapd, host, need_no_sanitizer, need_no_tsan, need_root,
                  run, run_host, test, timed, wait_until)

from cgroup import MemoryCgroup
from fixture import read_shared_kib

LIMIT_BYTES = 64 << 20
THREADS, SPANS = 60, 10
ENTER = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'
# The texts that core.c writes into rings and onto the heap.
IN_RINGS, ON_HEAP = b"only in rings ", b"only on heap "


@timed
def a_small_cgroup_is_not_filled(t):
    """The rings of 60 threads would need all of the cgroup's memory. The library checks the headroom first, and counts
    the records without a ring as lost."""
    need_no_tsan("has more memory of its own for 60 threads than the cgroup allows")
    cgroup = MemoryCgroup(t)
    cgroup.limit(LIMIT_BYTES)
    process, seen, captures = run_host(
        t, "crowd", "recording", (str(THREADS), str(THREADS)),
        {"command": ["sh", "-c", ENTER, "sh", str(cgroup.path)]})
    equal(seen, (0, f"{THREADS} threads\n"), "(exit status, output)")
    equal(cgroup.n_oom_kills, 0, "processes killed for their memory")
    trace = captures[0].trace
    received, lost = trace.count("short"), trace.host_stat("dropped_traces")
    equal(received + lost, THREADS * SPANS, f"received ({received}) and lost ({lost})")
    check(received > 0 and lost > 0, f"received {received}, lost {lost}")


def read_arena_flags(pid):
    """The kernel's flags of each mapping of the arena."""
    flags, is_arena = [], False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_arena = "memfd:proftap" in line
        elif is_arena and line.startswith("VmFlags:"):
            flags.append(line.split()[1:])
    return flags


@test
def the_arena_is_not_to_be_dumped(t):
    process = Host(t, "core", "recording", "stay")
    capture = t.start_capture(process.await_start(), 15000)
    process.await_output("full")
    flags = read_arena_flags(process.pid)
    check(len(flags) > 1, f"mappings of the arena: {flags}")
    equal([f for f in flags if "dd" not in f], [], "mappings without DONTDUMP")
    equal(process.end()[0], 0, "exit status")
    capture.finish()


def need_core_files():
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")):
        raise Skip(f"core files go elsewhere: core_pattern is {pattern}")


@test
def a_core_file_does_not_hold_the_arena(t):
    need_core_files()
    need_no_sanitizer("forbid core files")
    process = Host(t, "core", "recording", command=["prlimit", "--core=unlimited:unlimited"])
    capture = t.start_capture(process.await_start(), 15000)
    equal(process.wait(), -signal.SIGABRT, "end of the host")
    capture.finish()
    equal(sum(e.name.startswith(IN_RINGS.decode()) for line in capture.trace.threads
              for e in line.events), 20000, "spans")
    cores = list(process.dir.glob("core*"))
    if not cores:
        raise Skip("the kernel wrote no core file")
    core = cores[0].read_bytes()
    check(ON_HEAP in core, "the core file does not even hold the heap")
    # Each name's text is in a ring, and at most once in registers or on the stack.
    check(core.count(IN_RINGS) < 100, f"the core file holds {core.count(IN_RINGS)} names of rings")


def need_lock():
    need_no_sanitizer("make mlockall() do nothing")


@test
def locked_rings_of_a_dead_server_are_given_back(t):
    need_lock()
    target = t.target()
    target.serve()
    equal(target.ask("lock"), "0", "mlockall")
    capture = t.record(target, 15000)
    target.ask("threads " + " ".join(f"w{i}=10" for i in range(8)))
    before = read_shared_kib(target.pid)
    os.kill(find_proftapd(target.pid), signal.SIGKILL)
    wait_until(lambda: before - read_shared_kib(target.pid) > 8 << 10, "the memory to be back", 2)
    capture.finish(1)


def need_limit_of_locked_memory():
    command = ["prlimit", f"--memlock={LIMIT_BYTES}:{LIMIT_BYTES}", "true"]
    if subprocess.run(command, capture_output=True).returncode:
        raise Skip("the limit on locked memory cannot be raised")


for when in ("before", "after"):
    host("lock", when, spans={"locked": 2000}, title=f"lock {when}", needs=[need_lock])
host("lock", "before", spans={"locked": 2000}, needs=[need_lock, need_root, need_limit_of_locked_memory],
     title="lock before, up to 64 MiB",
     command=["prlimit", f"--memlock={LIMIT_BYTES}:{LIMIT_BYTES}", "setpriv", f"--reuid={NOBODY}",
              f"--regid={NOBODY}", "--clear-groups"])

run()
