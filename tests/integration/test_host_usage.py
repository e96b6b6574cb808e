#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the host daemon reads the usage of the machine and its programs each second, and keeps no
files of ended programs open."""
import os
from pathlib import Path

from fixture import check, run, test, wait_until
from hosts import Host, start_target


def open_files(pid):
    """Returns the paths of the daemon's descriptors."""
    paths = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            paths.add(os.readlink(link))
        except FileNotFoundError:
            pass  # closed meanwhile
    return paths


def read_bytes(pid):
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


@test
def the_daemon_samples_each_second(t):
    host = Host(t)
    wait_until(lambda: {"/proc/stat", "/proc/meminfo"} <= open_files(host.pid), "the machine's files to be open")
    # No client is connected. A sample reads some 3 KiB.
    begin = read_bytes(host.pid)
    wait_until(lambda: read_bytes(host.pid) - begin > 2000, "a sample")
    begin = read_bytes(host.pid)
    wait_until(lambda: read_bytes(host.pid) - begin > 2000, "another one")


@test
def a_program_is_measured_while_it_lives(t):
    host = Host(t)
    target = start_target(t)
    mine = f"/proc/{target.pid}/stat"
    wait_until(lambda: mine in open_files(host.pid), "the program's file to be open")
    target.kill()
    wait_until(lambda: not any(f"/proc/{target.pid}" in path for path in open_files(host.pid)),
               "the ended program's files to be closed")
    check("/proc/stat" in open_files(host.pid), "the machine's are not open any more")


if __name__ == "__main__":
    run()
