#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests how long, and for whom, the recorder's data of a dead program is held if no log directory was given."""
import contextlib
import os
import re
import socket
import subprocess
import threading

from checks import PATIENCE_S
from fixture import Skip, check, contains, equal, find_proftapd, run, test, wait_until
from http2 import UNAVAILABLE
from numbered import check_numbers, numbers_in
from processes import PROFTAP, TARGET
from profiler import Profiler
from recorded import GONE_S, await_gone, end, files, is_closed, listed_state, only_run, private_socket, record
from running import make_environment, need_preload

N = 20000
N_HELD = 4  # programs of one name


@test
def without_a_directory_the_server_holds_the_trace(t):
    target = record(t)
    with Profiler(target) as by_port:
        target.ask(f"count {N}")
        equal(len(by_port.look_back().threads), 1, "threads, by the port")
        server = end(target)
        wait_until(lambda: is_closed(target.port), "the port to be closed", GONE_S)
        equal(listed_state(t, target), "ended", "the state in the list")
        with Profiler(private_socket(t, target)) as calls:
            trace = calls.look_back(keep=True)
            found = numbers_in(trace)
            check_numbers(found, N - len(found), N)
            contains("\n".join(trace.space.warnings), "ended, killed by SIGKILL", "the warnings")
            equal(by_port.end(by_port.snapshot("recorder"))[0], UNAVAILABLE,
                  "a snapshot by a connection to the port")
            equal(numbers_in(calls.look_back()), found, "numbers of a second snapshot")
    await_gone(server)
    equal(listed_state(t, target), None, "the state in the list afterwards")


@test
def client_that_disconnects_leaves_the_held_trace_to_the_next(t):
    n = 60000
    target = record(t, ring_bytes=2 << 20)
    target.ask(f"count {n}")
    server = end(target)
    wait_until(lambda: is_closed(target.port), "the port to be closed", GONE_S)
    with Profiler(private_socket(t, target)) as calls:
        with Profiler(private_socket(t, target), window=1000) as slow:
            slow.connection.polite = False
            slow.snapshot("recorder")
            equal(numbers_in(calls.look_back(keep=True)), list(range(n)), "numbers while another client reads slowly")
        equal(numbers_in(calls.look_back(keep=True)), list(range(n)), "numbers after the slow client has disconnected")
        calls.deliver(calls.end_session("recorder"))
    await_gone(server)


class Tap:
    """A socket in front of a server's socket that lets |n_bytes| of the answer through, and no more."""

    def __init__(self, t, server, n_bytes):
        self.path = t.dir / "tap"
        self.server, self.n_bytes = server, n_bytes
        self.ends = []
        self.is_full = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.server)
        self.ends = [client, server]
        threading.Thread(target=self.forward, args=(client, server, None), daemon=True).start()
        self.forward(server, client, self.n_bytes)

    def forward(self, source, to, limit):
        with contextlib.suppress(OSError):
            while limit is None or limit > 0:
                data = source.recv(4096 if limit is None else min(limit, 4096))
                if not data:
                    return
                to.sendall(data)
                limit = limit and limit - len(data)
            self.is_full.set()

    def close(self):
        for end in [*self.ends, self.listener]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@test
def a_killed_client_leaves_the_held_trace_to_the_next(t):
    n, log_dir = 60000, t.dir / "client"
    target = record(t, ring_bytes=2 << 20)
    target.ask(f"count {n}")
    server = end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the state in the list", GONE_S)
    tap = Tap(t, private_socket(t, target).removeprefix("unix:"), 100000)
    words = [PROFTAP, "snapshot", f"unix:{tap.path}", "--log_dir", log_dir]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        check(tap.is_full.wait(PATIENCE_S), "the client has not got 100,000 bytes of the answer")
        client.kill()
    tap.close()
    env = {**os.environ, **make_environment(t)}
    subprocess.run([PROFTAP, "snapshot", str(target.pid), "--log_dir", log_dir], env=env, check=True, capture_output=True)
    equal(numbers_in(only_run(log_dir)), list(range(n)), "numbers")
    await_gone(server)


def need_late_statuses():
    """Skips the test on older kernels: only since Linux 6.15 is an exit status known after the parent has waited."""
    if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 15):
        raise Skip("before Linux 6.15 a program's exit status is unknown after its parent has waited")


@test
def a_program_that_exits_with_0_leaves_nothing(t):
    """The parent has not waited for the program yet; before Linux 6.15 the status is known only until it does."""
    target = record(t)
    server = find_proftapd(target.pid)
    target.ask("burst 5")
    target.popen.stdin.close()
    await_gone(server)
    equal(target.wait(), 0, "the exit status")


@test
def a_status_that_its_parent_has_asked_for_is_known(t):
    need_late_statuses()
    target = record(t)
    target.ask("burst 5")
    server = find_proftapd(target.pid)
    target.popen.stdin.close()
    equal(target.wait(), 0, "the exit status")
    await_gone(server)


@test
def a_program_that_becomes_another_leaves_nothing(t):
    target = record(t)
    server = find_proftapd(target.pid)
    target.ask("burst 5")
    equal(target.ask("exec"), "ready", "answer of the new program")
    await_gone(server)
    equal(target.ask("port"), "0", "the new program's port")
    equal(listed_state(t, target), None, "the state in the list")


def follow(t, script):
    """Runs |script| without a log directory, and returns its exit status when the servers of
    all its commands are gone."""
    need_preload()
    env = {key: value for key, value in {**os.environ, **make_environment(t)}.items() if key != "PROFTAP_LOG_DIR"}
    words = [PROFTAP, "run", "-p", "0", "--recorder", "--follow", "--", "sh", "-c", script]
    status = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
    places = t.dir / "runtime" / "proftap"
    check(places.is_dir(), "there was no server")
    wait_until(lambda: not list(places.iterdir()), "the commands' servers to be gone", GONE_S)
    return status


@test
def commands_that_succeed_leave_no_servers(t):
    need_late_statuses()
    (t.dir / "commands").write_text("burst 5\n")
    run_target = f"{TARGET} <{t.dir}/commands"
    equal(follow(t, f"for i in 1 2 3 4; do {run_target}; done; exec {run_target}"), 0, "the exit status")


@test
def commands_that_annotate_nothing_leave_no_servers(t):
    equal(follow(t, "for i in 1 2 3 4; do grep -q x /dev/null; done; exec false"), 1, "the exit status")


@test
def program_without_annotations_leaves_nothing(t):
    for log_dir in ("-", t.dir / "logs"):
        target = record(t, log_dir)
        await_gone(end(target))
        equal(listed_state(t, target), None, "the state in the list")
    equal(files(t.dir / "logs"), [], "files")


@test
def annotations_of_an_ended_thread_are_held(t):
    target = record(t)
    target.ask("threads a=5")
    server = end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the state in the list", GONE_S)
    with Profiler(private_socket(t, target)) as calls:
        check(sum(len(line.events) for line in calls.look_back().threads), "the held trace has no event")
    await_gone(server)


def hold(t):
    """Returns a target that was killed and whose recorder's data is held, and its server."""
    target = record(t)
    target.ask("burst 5")
    server = end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the state in the list", GONE_S)
    return target, server


@test
def a_hold_ends_with_the_way_to_it(t):
    target, server = hold(t)
    path = private_socket(t, target).removeprefix("unix:")
    os.unlink(path)
    await_gone(server)


@test
def a_later_server_of_the_same_pid_ends_a_hold(t):
    target, server = hold(t)
    path = private_socket(t, target).removeprefix("unix:")
    with socket.socket(socket.AF_UNIX) as later:
        later.bind(path + ".later")
        os.rename(path + ".later", path)
        await_gone(server)
        check(os.path.exists(path), "the later server's socket is gone")


@test
def last_crashes_of_a_program_are_held(t):
    crashes = [hold(t) for _ in range(N_HELD + 2)]
    for _, server in crashes[:2]:
        await_gone(server)
    held = crashes[2:]
    equal([listed_state(t, target) for target, _ in held], ["ended"] * N_HELD, "the states of the last")
    for target, server in held:
        with Profiler(private_socket(t, target)) as calls:
            equal(calls.look_back().count("burst"), 5, "spans")
        await_gone(server)
    equal(sorted((t.dir / "runtime" / "proftap").iterdir()), [], "remaining sockets")


@test
def trace_that_could_not_be_written_is_held(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("burst 5")
    log_dir.write_text("a file")
    server = end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the state in the list", GONE_S)
    with Profiler(private_socket(t, target)) as calls:
        equal(calls.look_back().count("burst"), 5, "spans")
    await_gone(server)


run()
