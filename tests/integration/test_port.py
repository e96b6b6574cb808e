#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ports that are in use, or on which nobody listens: the reason is exact and comes at once."""
import errno
import socket

from fixture import check, contains, equal, free_port, run, test

# ptap_server_start() retries for 200 ms, because a program that executes itself anew may find its old port in use.
AT_ONCE_US = 1_000_000


def check_in_use(target, port):
    equal(target.start(port), -errno.EADDRINUSE, "ptap_server_start")
    check(target.start_us < AT_ONCE_US, f"the refusal took {target.start_us} us")
    contains(target.ask("error"), f"port {port}: in use", "ptap_last_error")
    equal(target.ask("port"), "0", "ptap_server_port")


@test
def a_port_in_use_by_a_stranger_is_reported_at_once(t):
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        check_in_use(t.target(), stranger.getsockname()[1])


@test
def a_port_in_use_by_another_target_is_reported_and_then_free(t):
    first = t.target().serve()
    second = t.target()
    check_in_use(second, first.port)
    equal(first.ask("stop"), "0", "ptap_server_stop")
    equal(second.start(first.port), 0, "ptap_server_start when the first has stopped")


@test
def a_second_start_is_refused_and_the_first_goes_on(t):
    target = t.target().serve()
    port = target.port
    equal(target.start(), -errno.EALREADY, "second ptap_server_start")
    equal(target.port, port, "ptap_server_port")
    contains(target.ask("error"), f"already started on port {port}", "ptap_last_error")
    capture = t.emit(target, 200, "burst 10")
    equal(capture.trace.count("burst"), 10, "spans")


@test
def a_refused_connection_says_how_to_start_a_server(t):
    port = free_port()
    capture = t.capture(port, 200, code=5)
    equal(capture.stderr, f"127.0.0.1:{port}: connection refused: no profiler server there; start "
          f"one with ptap_server_start({port}) or proftap run -p {port} -- PROGRAM\n",
          "standard error")
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")


@test
def refused_daemon_port_says_how_to_start_the_daemon(t):
    # No daemon listens on this address of loopback.
    capture = t.capture("127.0.77.9:9021", 200, code=5)
    equal(capture.stderr, "127.0.77.9:9021: connection refused: no profiler server there; this is the host daemon's "
          "port, start it with proftapd --host\n", "standard error")


@test
def swapped_port_and_milliseconds_are_recognised(t):
    """The error asks whether target and milliseconds were exchanged. Nobody listens on port 1 (tcpmux)."""
    port = t.target().serve().port
    nobody = free_port()
    for words, likely in (((1, 1500), "capture 1500 1?"), ((nobody, port), f"capture {port} {nobody}?")):
        said = t.capture(*words, code=5).stderr
        check(said.endswith(f"; the target comes first: did you mean proftap {likely}\n"), said)


@test
def localhost_and_the_address_are_the_same_target(t):
    target = t.target().serve()
    for name in ("localhost", "127.0.0.1"):
        target.send("await 1", "burst 3")
        capture = t.start_capture(f"{name}:{target.port}", 200)
        target.obeyed(2)
        capture.finish()
        contains(capture.stderr, f"at 127.0.0.1:{target.port}\n", f"summary for {name}")
        equal(capture.trace.count("burst"), 3, "spans")


run()
