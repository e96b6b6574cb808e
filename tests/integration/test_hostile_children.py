#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests strangers and hostile children at the socket for forked children: no other process is affected."""
import errno
import os
import re
import signal
import socket
import subprocess
import sys

from fixture import (NOBODY, check, equal, find_proftapd, is_alive, need_readable_tree, need_root, read_fds,
                     read_status, run, test, wait_until)
from processes import SUPPORT, await_rounds, count_connections, find_children

INTRUDER = SUPPORT / "intruder.py"
HEAD_BYTES = 16384
SECRET_AT = 40
GROWTH_KIB = 32 << 10


class Door:
    """A target whose children are followed, with one good child, and the facts that an intruder can learn."""

    def __init__(self, t):
        self.t = t
        self.target = t.target(PROFTAP_FOLLOW_FORK="1").serve()
        self.good = int(self.target.ask("prefork steady"))
        t.at_end.append(lambda: end(self.good))
        self.server = find_proftapd(self.target.pid)
        self.head = self.read_head()
        self.head_path, self.out = t.dir / "head", t.dir / "out"
        self.head_path.write_bytes(self.head)
        self.out.touch()
        self.out.chmod(0o666)
        found = re.search(rb"proftap[0-9a-f]{32}\0", self.head)
        self.name = found[0][:-1].decode()
        self.secret = self.head[found.start() + SECRET_AT:][:16].hex()

    def read_head(self):
        with open(f"/proc/{self.target.pid}/maps") as f:
            start = int(next(line for line in f if "memfd:proftap" in line).split("-")[0], 16)
        with open(f"/proc/{self.target.pid}/mem", "rb", 0) as f:
            f.seek(start)
            return f.read(HEAD_BYTES)

    def words(self, how):
        return [sys.executable, INTRUDER, how, self.name, self.secret, self.out, self.head_path]

    def answer(self):
        """Waits for the next answer to an intruder, and returns it."""
        wait_until(lambda: self.out.read_text().endswith("\n"), "the server's answer")
        text = self.out.read_text().strip()
        self.out.write_text("")
        return text

    def intrude(self, how):
        """Starts an intruder as a child of the target. Returns the answer to it, and its pid."""
        pid = int(self.target.ask("spawn exec " + " ".join(map(str, self.words(how)))))
        self.t.at_end.append(lambda: end(pid, signal.SIGTERM))
        return self.answer(), pid

    def settled_fds(self):
        """Returns the server's descriptors, after the connection of a capture has gone."""
        wait_until(lambda: not count_connections(self.server), "the connections to go")
        return read_fds(self.server)

    def check_good(self):
        capture = self.t.emit(self.target, 300, "burst 5")
        trace = capture.trace
        equal(trace.count("burst"), 5, "spans of the program")
        samples = [e.stats["value"].value for e in trace.process(self.good).counters[0].events]
        check(len(samples) > 20, f"{len(samples)} samples of the good child")
        equal(samples, list(range(samples[0], samples[0] + len(samples))), "samples of the good child")
        return capture


def end(pid, how=signal.SIGKILL):
    if is_alive(pid):
        os.kill(pid, how)


def takes(s, name):
    try:
        s.bind("\0" + name)
    except OSError:
        return False
    return True


def check_refused(t, how, *errors):
    door = Door(t)
    door.check_good()
    before = door.settled_fds()
    for _ in range(3):
        answer, _ = door.intrude(how)
        check(answer in [str(-e) for e in errors], f"{how}: answer {answer}")
    wait_until(lambda: read_fds(door.server) == before, "the server's descriptors to be as before")
    equal(door.check_good().warnings, [], "warnings")


@test
def processes_that_are_no_descendants_are_refused(t):
    need_readable_tree()
    door = Door(t)
    door.check_good()
    before = door.settled_fds()
    for prefix in ([],) if os.geteuid() else ([], ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                                   "--clear-groups"]):
        subprocess.run([*prefix, *map(str, door.words("ask"))], check=True, timeout=20)
        equal(door.answer(), str(-errno.ESRCH), "the answer")
    wait_until(lambda: read_fds(door.server) == before, "the server's descriptors to be as before")
    equal(door.check_good().warnings, [], "warnings")


@test
def squatter_on_the_name_of_an_ended_server_gets_nothing(t):
    """The stranger finds the name in /proc/net/unix, and could write to the memory of a child that joined."""
    door = Door(t)
    sign = t.dir / "sign"
    door.target.send(f"confine later {sign}")
    child, = wait_until(lambda: set(find_children(door.target.pid)) - {door.good}, "the child")
    await_rounds([child])  # the child checks for the sign after all steps of a fork
    os.kill(door.server, signal.SIGKILL)
    wait_until(lambda: not is_alive(door.server), "the server's end")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
        wait_until(lambda: takes(stranger, door.name), "the server's name")
        stranger.listen()
        stranger.settimeout(10)
        sign.touch()
        visit, _ = stranger.accept()
        with visit:
            equal(socket.recv_fds(visit, 100, 4)[:2], (b"", []), "answer to the stranger")
    equal(int(door.target.read_line()), child, "the child's pid")
    t.at_end.append(lambda: end(child))
    equal(read_status(child)["Threads"], "1", "threads of the child")


@test
def a_wrong_secret_is_refused(t):
    check_refused(t, "secret", errno.EACCES)


@test
def many_descriptors_are_refused(t):
    check_refused(t, "descriptors", errno.EBADMSG)


@test
def a_huge_sparse_memory_is_refused(t):
    check_refused(t, "huge-memfd", errno.ENOMEM, errno.EPROTO)


@test
def larger_rings_than_the_programs_are_refused(t):
    check_refused(t, "huge-rings", errno.EPROTO)


@test
def memory_of_huge_pages_is_refused(t):
    check_refused(t, "huge-pages", errno.EPROTO)


@test
def a_flood_of_silent_children_keeps_nobody_out(t):
    door = Door(t)
    door.check_good()
    before = door.settled_fds()
    _, flooder = door.intrude("flood")
    wait_until(lambda: len(read_fds(door.server)) > len(before), "the flood")
    late = int(door.target.ask("prefork steady"))
    t.at_end.append(lambda: end(late))
    capture = door.check_good()
    check(capture.trace.process(late).count("job") > 20, "the late child is not there")
    equal(capture.warnings, [], "warnings")
    # The late child and one connection of the flood keep descriptors; the capture's connection takes a moment to go.
    wait_until(lambda: len(read_fds(door.server)) < len(before) + 8, "all but a few descriptors to go")
    end(flooder, signal.SIGTERM)


@test
def a_child_that_overwrites_its_memory_harms_nobody(t):
    door = Door(t)
    door.check_good()
    before_kib = int(read_status(door.server)["RssAnon"].split()[0])
    answer, intruder = door.intrude("overwrite")
    equal(answer, "0", "the answer to a good arena")
    for _ in range(2):
        door.check_good()
    end(intruder, signal.SIGTERM)
    door.check_good()
    grown_kib = int(read_status(door.server)["RssAnon"].split()[0]) - before_kib
    check(grown_kib < GROWTH_KIB, f"the server grew by {grown_kib} KiB")


run()
