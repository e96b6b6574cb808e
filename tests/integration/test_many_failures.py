#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests captures of many targets of which some or all fail: the targets, the reasons, the
exit status, and the waits."""
import json

from clocked_server import ClockedServer
from fake_server import FakeServer
from fixture import check, contains, equal, free_port, run, test, wait_until

REFUSED = "connection refused: no profiler server there"


def fail(c):
    c.fail(13, "no")


@test
def the_others_data_is_written(t):
    server, nobody = ClockedServer(t, 0), free_port()
    capture = t.capture(f"{nobody},{server.port}", 20, code=7)
    lines = capture.stderr.splitlines()
    equal(lines[0], "captured 1 of 2 targets", "the headline")
    contains(lines[1], f"127.0.0.1:{nobody}: {REFUSED}", "the one that failed")
    contains(lines[2], f"127.0.0.1:{server.port}: 20 ms", "the other one")
    path, = capture.stdout.splitlines()
    check(path.endswith(f"fake_{server.port}.xplane.pb"), f"the file: {path}")


@test
def json_tells_which_target_failed(t):
    server, nobody = ClockedServer(t, 0), free_port()
    capture = t.capture(f"{nobody},{server.port}", 20, "--json", code=7)
    result = json.loads(capture.stdout)
    equal((result["exit"], result["captured"], result["failed"]), (7, 1, 1), "counts")
    failed, done = result["targets"]
    equal(set(failed), {"target", "error", "exit"}, "keys of the failed one")
    equal((failed["target"], failed["exit"]), (f"127.0.0.1:{nobody}", 5), "the failed one")
    contains(failed["error"], REFUSED, "its reason")
    equal(capture.stderr.splitlines().count(failed["error"]), 1, "its sentence on standard error")
    equal((done["target"], done["exit"], [done["file"]]),
          (f"127.0.0.1:{server.port}", 0, result["files"]), "the other one")


@test
def targets_that_all_fail_alike_give_that_exit_status(t):
    capture = t.capture(f"{free_port()},{free_port()}", 20, code=5)
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")
    equal(capture.stderr.count(REFUSED), 2, "sentences")
    contains(capture.stderr, "captured 0 of 2 targets", "the headline")


@test
def targets_that_all_fail_in_different_ways_exit_with_1(t):
    capture = t.capture(f"{free_port()},{FakeServer(t, fail).port}", 20, code=1)
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")


@test
def a_busy_target_is_not_waited_for_without_the_option(t):
    targets = [t.target().serve() for _ in range(2)]
    busy = t.record(targets[0], 60000)
    capture = t.capture(f"{targets[0].port},{targets[1].port}", 20, code=7)
    contains(capture.stderr, f"127.0.0.1:{targets[0].port}: busy: ", "standard error")
    busy.kill()


@test
def after_the_wait_the_targets_that_answer_are_captured(t):
    server, nobody = ClockedServer(t, 0), free_port()
    capture = t.capture(f"{nobody},{server.port}", 20, "--wait=1", code=7)
    equal(capture.stderr.count("(waiting)"), 1, "number of messages about waiting")
    check(capture.elapsed_s >= 1, f"waited {capture.elapsed_s} s")
    # Only the last try recorded anything.
    equal(len(server.requests), 1, "recordings")


@test
def a_program_that_is_still_starting_is_waited_for(t):
    port = free_port()
    capture = t.start_capture(port, 20, "--wait=60")
    wait_until(lambda: any("(waiting)" in line for line in capture.err), "the client to wait")
    t.target().serve(port)
    capture.finish()
    contains(capture.stderr, " ms of target (pid ", "standard error")


@test
def permanent_failure_is_not_waited_for(t):
    capture = t.capture("no-such-host.invalid:1", 20, "--wait", code=5)
    check("(waiting)" not in capture.stderr, f"standard error: {capture.stderr!r}")
    capture = t.capture(FakeServer(t, fail), 20, "--wait", code=1)
    check("(waiting)" not in capture.stderr, f"standard error: {capture.stderr!r}")


run()
