# SPDX-License-Identifier: Apache-2.0
"""A CLOCK_REALTIME that a test may set: for single programs by faked_clock.c, or, if the machine belongs to the test
(tests/systemd), for the whole machine."""
import mmap
import os
import shlex
import struct
import subprocess
import time

from fixture import check, need_no_sanitizer
from processes import PROFTAPD, TOP_BUILD

LIBRARY = TOP_BUILD / "tests" / "programs" / "faked_clock.so"


class FakedClock:
    """|prefix| goes in front of a command. |env| is for a target: its server becomes a script with
    |prefix|, because a server does not inherit its target's environment."""

    def __init__(self, t):
        need_no_sanitizer("want to be loaded first")
        path = t.dir / "clock"
        path.write_bytes(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.prefix = ("env", f"LD_PRELOAD={LIBRARY}", f"FAKED_CLOCK={path}")
        server = t.dir / "proftapd"
        server.write_text(f"#!/bin/sh\nexec {shlex.join([*self.prefix, str(PROFTAPD)])} \"$@\"\n")
        server.chmod(0o755)
        self.env = {"PROFTAPD": str(server)}
        self.check()

    def check(self):
        self.set(10**6)
        seen = subprocess.run([*self.prefix, "date", "+%s"], capture_output=True, text=True, check=True).stdout
        check(int(seen) > time.time() + 10**5, f"programs do not see it: {seen}")
        self.set(0)

    def set(self, seconds):
        """Sets the distance from the machine's clock."""
        self.memory[:8] = struct.pack("q", int(seconds * 10**9))


class SetClock:
    """Sets the machine's own clock, with the same functions."""
    prefix, env = (), {}

    def __init__(self, t):
        self.offset = time.time() - time.monotonic()
        t.at_end.append(lambda: self.set(0))

    def set(self, seconds):
        time.clock_settime(time.CLOCK_REALTIME, time.monotonic() + self.offset + seconds)


def open_clock(t):
    return SetClock(t) if os.environ.get("PROFTAP_SET_CLOCK") else FakedClock(t)
