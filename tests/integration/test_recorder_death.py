#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the flight recorder leaves of a program that has died, in whatever way, and of one that asks for it."""
import errno
import json
import os
import re
import signal
import socket
import subprocess

from checks import SLOWNESS
from fixture import Skip, check, contains, equal, find_proftapd, is_alive, run, test, wait_until
from http2 import UNAVAILABLE
from numbered import check_numbers, numbers_in
from processes import PROFTAP, TARGET, read_status
from profiler import Profiler
from running import make_environment
from trace_file import Trace

RING_BYTES = 65536
N = 20000
GONE_S = 2 * SLOWNESS
ENDINGS = {"abort": "killed by SIGABRT", "crash": "killed by SIGSEGV", "exit": "with exit status 3",
           "kill": "killed by SIGKILL"}


def record(t, log_dir="-", ring_bytes=RING_BYTES):
    env = {"PROFTAP_RECORDER": "1", **make_environment(t)}
    return t.target(**env).serve(0, ring_bytes, 0, "127.0.0.1", 0, 0, log_dir)


def end(target, how="kill"):
    """Returns its server's pid; the target has ended."""
    server = find_proftapd(target.pid)
    if how == "kill":
        target.signal(signal.SIGKILL)
    else:
        target.send(how)
    target.wait()
    return server


def await_gone(server):
    wait_until(lambda: not is_alive(server), "the server's end", GONE_S)


def files(log_dir):
    return sorted(log_dir.glob("plugins/profile/*/*.xplane.pb"))


def only_run(log_dir):
    equal(len(files(log_dir)), 1, f"files in {log_dir}")
    return Trace(files(log_dir)[0])


def private_socket(t, target):
    return f"unix:{t.dir}/runtime/proftap/{target.pid}.sock"


def is_closed(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED


def listed_state(t, target):
    words = [PROFTAP, "list", "--json"]
    text = subprocess.run(words, env={**os.environ, **make_environment(t)}, check=True,
                          capture_output=True).stdout
    return {row["pid"]: row["state"] for row in json.loads(text)["targets"]}.get(target.pid)


@test
def its_last_moments_become_a_run_that_says_why(t):
    for how, words in ENDINGS.items():
        log_dir = t.dir / how
        target = record(t, log_dir)
        target.ask(f"count {N}")
        await_gone(end(target, how))
        trace = only_run(log_dir)
        found = numbers_in(trace)
        check_numbers(found, N - len(found), N)
        equal(trace.host_stat("ptap_overwritten"), N - len(found), f"overwritten ({how})")
        reason = f"the program (pid {target.pid}) ended, {words}"
        equal(trace.environment["ptap_reason"].value, reason, "the reason")
        contains("\n".join(trace.space.warnings), f"{reason}; these are its last moments", "warnings")


@test
def what_it_asked_for_last_is_not_lost(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    target.ask("burst 5")
    os.kill(server, signal.SIGSTOP)
    wait_until(lambda: read_status(server)["State"].startswith("T"), "the server to stand still")
    equal(target.ask("snapshot no memory left"), "0", "ptap_snapshot")
    end(target, "abort")
    os.kill(server, signal.SIGCONT)
    await_gone(server)
    reasons = [Trace(path).environment["ptap_reason"].value for path in files(log_dir)]
    check([r for r in reasons if r.endswith("no memory left")], f"what it asked for is in none of {reasons}")


@test
def open_spans_tell_what_it_was_at(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.send("step 1 60000")
    with Profiler(target) as calls:
        wait_until(lambda: calls.look_back().count("slow"), "the span to begin")
    await_gone(end(target))
    spans = [e for line in only_run(log_dir).threads for e in line.named("slow")]
    equal(["unfinished" in e.stats for e in spans], [True], "whether it is cut")


@test
def a_capture_and_the_recorder_both_have_the_end(t):
    log_dir = t.dir / "logs"
    # Its server empties that in time also on a busy machine.
    target = record(t, log_dir, 1 << 20)
    with Profiler(target) as calls:
        stream = calls.capture(60000)
        calls.await_phase(stream, 1)
        target.ask(f"count {N} 1")
        server = end(target)
        check_numbers(numbers_in(calls.deliver(stream).trace), 0, N)
    await_gone(server)
    found = numbers_in(only_run(log_dir))
    check_numbers(found, N - len(found), N)


@test
def without_a_place_they_are_held_for_the_same_user(t):
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
            equal(numbers_in(calls.look_back()), found, "numbers of a second one")
    await_gone(server)
    equal(listed_state(t, target), None, "the state in the list afterwards")


@test
def who_asked_and_went_away_leaves_it_to_the_next(t):
    n = 60000
    target = record(t, ring_bytes=2 << 20)
    target.ask(f"count {n}")
    server = end(target)
    wait_until(lambda: is_closed(target.port), "the port to be closed", GONE_S)
    with Profiler(private_socket(t, target)) as calls:
        with Profiler(private_socket(t, target), window=1000) as slow:
            slow.connection.polite = False
            slow.snapshot("recorder")
            equal(numbers_in(calls.look_back(keep=True)), list(range(n)), "numbers while somebody takes them slowly")
        equal(numbers_in(calls.look_back(keep=True)), list(range(n)), "numbers when that one has gone")
        calls.deliver(calls.end_session("recorder"))
    await_gone(server)


def need_late_statuses():
    """Since Linux 6.15 an exit status of 0 is known also when the parent has asked for it."""
    if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 15):
        raise Skip("this kernel forgets a status when the parent has asked for it")


@test
def a_program_that_exits_with_0_leaves_nothing(t):
    """Its parent has not asked yet: before Linux 6.15 the status is known that long."""
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
    equal(target.ask("exec"), "ready", "what it has become")
    await_gone(server)
    equal(target.ask("port"), "0", "the port of what it has become")
    equal(listed_state(t, target), None, "the state in the list")


@test
def commands_that_succeed_leave_no_servers(t):
    need_late_statuses()
    env = {key: value for key, value in {**os.environ, **make_environment(t)}.items() if key != "PROFTAP_LOG_DIR"}
    script = f"for i in 1 2 3 4; do {TARGET} </dev/null; done; exec {TARGET}"
    words = [PROFTAP, "run", "-p", "0", "--recorder", "--follow", "--", "sh", "-c", script]
    subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    places = t.dir / "runtime" / "proftap"
    check(places.is_dir(), "there was no server")
    wait_until(lambda: not list(places.iterdir()), "their servers to be gone", GONE_S)


def hold(t):
    """A target that was killed, whose recorder's data is held, and its server."""
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
        check(os.path.exists(path), "the later one's socket is gone")


@test
def what_could_not_be_written_is_held(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("burst 5")
    log_dir.write_text("a file")
    server = end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the state in the list", GONE_S)
    with Profiler(private_socket(t, target)) as calls:
        equal(calls.look_back().count("burst"), 5, "spans")
    await_gone(server)


@test
def a_program_that_stops_its_server_leaves_nothing(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    target.ask("burst 5", "stop")
    await_gone(server)
    equal(files(log_dir), [], "files")


@test
def the_program_asks_for_a_run_and_goes_on(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("burst 5")
    equal(target.ask("snapshot queue is full"), "0", "ptap_snapshot")
    wait_until(lambda: files(log_dir), "the run")
    trace = only_run(log_dir)
    equal(trace.environment["ptap_reason"].value, "queue is full", "the reason")
    equal(trace.count("burst"), 5, "spans")
    wait_until(lambda: target.ask("snapshot again") == "0", "the next one to be taken")
    wait_until(lambda: len(files(log_dir)) == 2, "the second run")
    with Profiler(target) as calls:
        equal(calls.look_back().count("burst"), 5, "spans that are still there")


run()
