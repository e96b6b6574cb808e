#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the death of the server: the program goes on, records nothing, and may start another server."""
import os
import signal

from cgroup import MemoryCgroup
from checks import wait_in_time
from fixture import (SANITIZERS, check, contains, equal, find_proftapd, find_proftapds, free_port, is_alive, read_fds,
                     read_shared_kib, run, timed, wait_until)

N_DEATHS = 20
# The kernel wakes the control thread within 0.1 ms; a busy machine adds the rest.
NOTICE_S = 1


def kill_server(target):
    server = find_proftapd(target.pid)
    os.kill(server, signal.SIGKILL)
    return server


def check_is_off(target):
    """The recording is off before the port becomes 0, because a program that reads 0 may start a server again."""
    wait_in_time(lambda: target.ask("port") == "0", "ptap_server_port() to be 0", NOTICE_S)
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1)")


@timed
def start_works_again_on_the_same_port_20_times(t):
    port = free_port()
    target = t.target().serve(port)
    fds = read_fds(target.pid)
    for _ in range(N_DEATHS):
        kill_server(target)
        check_is_off(target)
        target.serve(port)
    equal(target.port, port, "ptap_server_port()")
    equal(t.emit(target, 200, "burst 10").trace.count("burst"), 10, "spans")
    equal(read_fds(target.pid), fds, "descriptors")
    if SANITIZERS == "no":
        equal(sorted(target.thread_names().values()), ["ptap-control", "target"], "threads")


@timed
def every_capture_that_was_cut_leaves_a_program_that_can_record(t):
    target = t.target().serve(free_port())
    shared_kib = []
    for n in range(4):
        capture = t.record(target, 15000)
        target.ask("burst 1000")
        kill_server(target)
        check_is_off(target)
        equal(target.ask("burst 1000"), "1000", "the program's answer")
        capture.finish(1)
        contains(capture.stderr, "the connection broke after", "standard error")
        equal(capture.left(), [], "remaining files")
        shared_kib.append(read_shared_kib(target.pid))
        target.serve(target.port)
        equal(t.emit(target, 200, f"burst {n + 1}").trace.count("burst"), n + 1, "spans")
    check(shared_kib[-1] - shared_kib[0] < 1024, f"KiB of shared memory kept: {shared_kib}")


@timed
def an_oom_kill_of_the_server_is_one_of_its_deaths(t):
    """The kernel kills the server first, because its data is charged to a cgroup without room."""
    cgroup = MemoryCgroup(t)
    target = t.target().serve(free_port(), 16 << 20)
    server = find_proftapd(target.pid)
    capture = t.record(target, 15000)
    cgroup.add(server)
    cgroup.limit(1 << 20)
    target.ask("burst 500000")
    wait_until(lambda: not is_alive(server), "the server to be killed for its memory")
    check(cgroup.n_oom_kills > 0, "the server was not killed by the kernel")
    check_is_off(target)
    capture.finish(1)
    contains(capture.stderr, "the connection broke after", "standard error")
    target.serve(target.port)
    equal(t.emit(target, 200, "burst 10").trace.count("burst"), 10, "spans of the next server")


@timed
def the_oom_killer_is_offered_the_server_first(t):
    target = t.target()
    for own, expected in ((0, 500), (300, 800), (900, 1000)):
        with open(f"/proc/{target.pid}/oom_score_adj", "w") as f:
            f.write(str(own))
        target.serve()
        path = f"/proc/{find_proftapd(target.pid)}/oom_score_adj"
        wait_in_time(lambda: int(open(path).read()) == expected,
                     f"the server's oom_score_adj to be {expected}", NOTICE_S)
        target.ask("stop")
        wait_until(lambda: not find_proftapds(target.pid), "the server to end")


run()
