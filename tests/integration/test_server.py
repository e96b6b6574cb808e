#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests stops and starts of the server: in a capture, twice, again and again."""
from fixture import check, equal, find_proftapds, read_status, run, test, wait_until


@test
def a_stop_in_mid_capture_delivers_with_a_warning(t):
    target = t.target().serve()
    capture = t.record(target, 15000)
    target.ask("burst 100")
    equal(target.ask("stop"), "0", "ptap_server_stop")
    capture.finish()
    check(capture.elapsed_s < 10, f"the answer took {capture.elapsed_s} s")
    capture.find_warning("stopped its server")
    equal(capture.trace.count("burst"), 100, "spans")


@test
def after_a_stop_nothing_is_recorded_and_the_port_is_free(t):
    target = t.target().serve()
    capture = t.record(target, 15000)
    port = target.port
    target.send("stop", f"bind {port}", "port", "enabled 1", "stop")
    equal([target.read_line() for _ in range(5)], ["0"] * 5,
          "stop, bind at the port, ptap_server_port, ptap_enabled, second stop")
    target.ask("burst 100")
    equal(capture.finish().trace.threads, [], "threads with spans")
    wait_until(lambda: not find_proftapds(target.pid), "the server to end", 3)


@test
def a_stop_without_a_start_is_fine(t):
    equal(t.target().ask("stop"), "0", "ptap_server_stop")


@test
def failed_starts_keep_no_address_space(t):
    target = t.target(PROFTAPD="/bin/true")
    before = read_status(target.pid)["VmSize"]
    for _ in range(3):
        check(target.start() < 0, "ptap_server_start succeeded")
    grown_kib = int(read_status(target.pid)["VmSize"].split()[0]) - int(before.split()[0])
    check(grown_kib < 100 << 10, f"{grown_kib} KiB more are mapped")


@test
def names_stay_right_over_stops_and_starts(t):
    target = t.target()
    for n in (3, 5, 7):
        target.serve()
        trace = t.emit(target, 200, f"paced {n} 1", f"cycle {n}", f"burst {n}").trace
        equal(dict(trace.thread(target.pid).count()),
              {"paced": n, "cycle": n, "turn": n, "burst": n},
              f"events of the capture with {n} rounds")
        equal([e.stats for e in trace.thread(target.pid).named("turn")],
              [{"number": ("int64_value", i)} for i in range(n)], "arguments")
        equal(target.ask("stop"), "0", "ptap_server_stop")


@test
def captures_do_not_mix(t):
    target = t.target().serve()
    for n in (11, 7):
        target.ask("burst 1000")
        capture = t.emit(target, 150, f"burst {n}")
        equal(capture.trace.count("burst"), n, "spans")
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")


@test
def a_port_can_be_used_again_and_again(t):
    target = t.target().serve()
    port = target.port
    for _ in range(5):
        target.send("stop", f"start {port}")
        equal(target.read_line(), "0", "ptap_server_stop")
        equal(target.read_line().split()[:2], ["0", str(port)], "ptap_server_start")
    wait_until(lambda: len(find_proftapds(target.pid)) == 1, "the old servers to end", 3)


run()
