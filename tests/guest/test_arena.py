#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared memory as the kernel shows it: its seals, its flags, and data that must not be in it."""
import ctypes
import fcntl
import os
import platform
import re
from pathlib import Path

from host import (Skip, check, contains, equal, find_proftapd, need_root, run,
                  test)

ARENA = "memfd:proftap"
FD_ARENA = 4
# <linux/fcntl.h>. FUTURE_WRITE would make it impossible to give pages back.
SEAL, SHRINK, GROW, WRITE, FUTURE_WRITE, EXEC = 1, 2, 4, 8, 16, 32
GET_ROBUST_LIST = {"x86_64": 274, "aarch64": 100}
FLAGS = re.compile(r"^VmFlags: (.*)$", re.M)


def read_mappings(pid):
    """[(permissions, flags, start, end)] of the arena."""
    found = []
    for block in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(),
                          flags=re.M):
        if ARENA in block:
            start, end = (int(n, 16) for n in block.split(" ", 1)[0].split("-"))
            found.append((block.split()[1], FLAGS.search(block)[1].split(), start, end))
    return found


@test
def size_and_seals_cannot_be_changed(t):
    need_root()
    server = find_proftapd(t.target().serve().pid)
    fd = os.open(f"/proc/{server}/fd/{FD_ARENA}", os.O_RDWR)
    try:
        seals = fcntl.fcntl(fd, fcntl.F_GET_SEALS)
        equal(seals & ~EXEC, SEAL | SHRINK | GROW, "seals")
        # The kernel's version decides: a seal by hand on a plain memfd, without the flag, shows nothing.
        with open("/proc/sys/kernel/osrelease") as release:
            if tuple(map(int, re.findall(r"\d+", release.read())[:2])) >= (6, 3):
                equal(seals & EXEC, EXEC, "the seal against execution")
        try:
            os.ftruncate(fd, 4096)
            check(False, "the arena could be cut")
        except PermissionError:
            pass
    finally:
        os.close(fd)


@test
def the_host_maps_the_arena_without_access_or_core_dumps(t):
    target = t.target().serve()
    for moment in ("before a capture", "after it"):
        mappings = read_mappings(target.pid)
        sizes = {access: sum(end - start for p, _, start, end in mappings if p == access)
                 for access in ("---s", "rw-s")}
        check(mappings and sizes["---s"] > 50 * sizes["rw-s"], f"reserved and used {moment}: {sizes}")
        for permissions, flags, *_ in mappings:
            contains(("---s", "rw-s"), permissions, f"permissions {moment}")
            contains(flags, "dd", f"VmFlags {moment}")
            contains(flags, "nh", f"VmFlags {moment}")
            check("lo" not in flags, f"locked {moment}: {flags}")
        t.emit(target, 100, "burst 10")


def read_robust_list(tid):
    nr = GET_ROBUST_LIST.get(platform.machine())
    if nr is None:
        raise Skip(f"get_robust_list has no known number on {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    head, size = ctypes.c_void_p(), ctypes.c_size_t()
    if libc.syscall(nr, tid, ctypes.byref(head), ctypes.byref(size)):
        raise Skip(f"get_robust_list: {os.strerror(ctypes.get_errno())}")
    return head.value


def check_robust_list(pid, name):
    """Checks that the list is ours (its first node leads back to it), and that list and node are in private memory."""
    for task in os.listdir(f"/proc/{pid}/task"):
        if Path(f"/proc/{pid}/task/{task}/comm").read_text().strip() == name:
            break
    else:
        check(False, f"no thread {name}")
    head = read_robust_list(int(task))
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(head)
        node = int.from_bytes(memory.read(8), "little")
    check(node != head, f"{name} holds no robust word")
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        start, end = (int(n, 16) for n in line.split(" ", 1)[0].split("-"))
        for what, address in (("head", head), ("node", node)):
            if start <= address < end:
                equal(line.split()[1][3], "p", f"the {what} of {name} is in {line}: private")


@test
def robust_lists_are_in_private_memory(t):
    """If the list were in the arena, a peer could steer the kernel's writes."""
    need_root()
    target = t.target().serve()
    check_robust_list(target.pid, "ptap-control")
    check_robust_list(find_proftapd(target.pid), "ptap-worker")


run()
