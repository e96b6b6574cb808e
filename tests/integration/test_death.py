#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests all kinds of ends of the target: what was recorded is delivered, the port is free, and the server ends."""
import collections
import errno
import os
import re
import signal
import socket
import struct
import subprocess
import time

from fixture import check, equal, find_proftapd, find_proftapds, is_alive, read_status, run, test, timed, wait_until
from checks import SLOWNESS, Late, in_time, wait_in_time
from processes import TARGET, Process, free_port

N_THREADS = 3
GONE_S = 2 * SLOWNESS
PORT_FREE_S = 0.1 * SLOWNESS
PIPE_S = 2
# This is longer than a server waits for idle peers.
UNREAD_S = 1
# Commands that end the target, and what its parent sees.
ENDINGS = {"abort": -signal.SIGABRT, "crash": -signal.SIGSEGV, "exit": 3, "kill": -signal.SIGKILL}


def make_counts(t):
    path = t.dir / "counts"
    path.write_bytes(bytes(8 * N_THREADS))
    return path


def read_counts(path):
    return struct.unpack(f"{N_THREADS}Q", path.read_bytes())


def check_thread(line, n_counted):
    """Checks that the line has all counted rounds, at most one that was not counted yet, and the right names."""
    done = [e for e in line.events if "unfinished" not in e.stats]
    cut = [e for e in line.events if "unfinished" in e.stats]
    rounds = [e.name for e in done if e.name.startswith("round ")]
    n = len(rounds)
    check(n_counted <= n <= n_counted + 1, f"{line.name}: counted {n_counted} rounds, {n} arrived")
    equal(rounds, [f"round {i}" for i in range(n)], f"rounds of {line.name}")
    names = collections.Counter(e.name for e in done)
    for name in ("inner", "tick"):
        check(n <= names[name] <= n + 1, f"{line.name}: {names[name]} {name} in {n} rounds")
    equal(set(names) - set(rounds), {"inner", "tick"}, f"other names on {line.name}")
    check(len(cut) <= 3 and {e.name for e in cut} <= {"life", f"round {n}", "inner"},
          f"{line.name}: unfinished are {[e.name for e in cut]} after {n} rounds")
    equal(cut[0].name, "life", f"the outermost unfinished span of {line.name}")


@test
def sigkill_delivers_everything_until_then(t):
    counts = make_counts(t)
    target = t.target().serve()
    tids = [int(word) for word in target.ask(f"steady {counts}").split()]
    capture = t.start_capture(target, 15000)
    wait_until(lambda: min(read_counts(counts)) >= 500, "500 rounds on each thread")
    target.signal(signal.SIGKILL)
    target.wait()
    counted = read_counts(counts)
    capture.finish()
    check(capture.elapsed_s < 10, f"the answer took {capture.elapsed_s} s")
    capture.find_warning(f"pid {target.pid}", "ended")
    trace = capture.trace
    equal({line.id: line.name for line in trace.threads},
          {tid: f"steady-{i}" for i, tid in enumerate(tids)}, "the threads")
    equal(trace.host_stat("dropped_traces"), 0, "dropped")
    for i, tid in enumerate(tids):
        check_thread(trace.thread(tid), counted[i])


def end(target, how):
    if how == "kill":
        target.signal(signal.SIGKILL)
    else:
        target.send(how)
    # A wait with a timeout would poll, and notice the end late.
    equal(target.popen.wait(), ENDINGS[how], f"end of the target by {how}")


def check_port_is_free_soon(port):
    """Checks that a program, such as the restarted target, can soon listen on the port."""
    started = time.monotonic()
    while True:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                s.listen()
                break
            except OSError as e:
                equal(e.errno, errno.EADDRINUSE, f"bind to port {port}")
        check(time.monotonic() - started < 10, f"port {port} is still in use after 10 s")
        time.sleep(0.001)
    in_time(time.monotonic() - started, PORT_FREE_S, "the port to be free")


def check_server_ends(server):
    wait_in_time(lambda: not is_alive(server), "the server to end", GONE_S)


def by_each_ending(what):
    """Adds a timed test "<ending>_<what>" for each of ENDINGS."""
    def add(function):
        for ending in ENDINGS:
            def one(t, how=ending):
                function(t, how)
            one.__name__ = f"{ending}_{what}"
            timed(one)
        return function
    return add


@by_each_ending("in_mid_capture_delivers_and_frees_the_port_at_once")
def end_in_mid_capture(t, how):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    capture = t.record(target, 15000)
    target.ask("burst 100")
    end(target, how)
    check_port_is_free_soon(target.port)
    capture.finish()
    check(capture.elapsed_s < 10, f"{how}: the answer took {capture.elapsed_s} s")
    capture.find_warning(f"pid {target.pid}", "ended")
    equal(capture.trace.count("burst"), 100, f"{how}: spans")
    check_server_ends(server)


@by_each_ending("of_an_idle_program_frees_the_port_at_once")
def end_idle(t, how):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    end(target, how)
    check_port_is_free_soon(target.port)
    check_server_ends(server)


@timed
def a_gigabyte_to_free_does_not_delay_the_port(t):
    """The kernel marks the robust word (a robust futex) before it frees the memory. The server waits until the memory
    is free, like the parent's wait(), and no longer."""
    target = t.target().serve()
    equal(target.ask("touch 1024"), "0", "touching 1 GiB")
    capture = t.record(target, 15000)
    target.ask("burst 100")
    end(target, "kill")
    check_port_is_free_soon(target.port)
    capture.finish()
    equal(capture.trace.count("burst"), 100, "spans")


@timed
def the_end_of_the_first_thread_does_not_end_a_capture(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    capture = t.begin(target)
    target.send("leave")
    equal(target.ask("burst 100"), "100", "the other thread's answer")
    wait_until(lambda: read_status(target.pid)["State"][0] == "Z", "the first thread to end")
    t.stop(target, capture)
    equal(capture.trace.count("burst"), 100, "spans")
    equal([w for w in capture.warnings if "ended" in w], [], "warnings of an end")
    second = t.emit(target, 200, "burst 10")
    equal(second.trace.count("burst"), 10, "spans of another capture")
    target.kill()
    check_port_is_free_soon(target.port)
    check_server_ends(server)


def check_started(target, result):
    """Checks a start on a port that another target had. The library retries for a while. On a busy machine
    the port may be in use for longer."""
    if result == -errno.EADDRINUSE:
        raise Late("the port was still in use")
    equal(result, 0, f"start on the same port: {target.ask('error')}")


@timed
def a_program_restarts_on_its_port(t):
    heir = t.target()
    target = t.target().serve(free_port())
    end(target, "kill")
    check_started(heir, heir.start(target.port))
    equal(t.emit(heir, 200, "burst 10").trace.count("burst"), 10, "spans of the new program")


def record_unread(t):
    """Returns a target with an answer too large for the sockets, its server, and a client that is stopped."""
    target = t.target().serve(0, 64 << 20)
    server = find_proftapd(target.pid)
    capture = t.record(target, 15000)
    target.ask("burst 1000000")
    capture.signal(signal.SIGSTOP)
    return target, server, capture


@timed
def a_client_that_reads_late_gets_everything(t):
    """The client is stopped while the answer comes. After it continues it gets all data, and the server ends."""
    target, server, capture = record_unread(t)
    end(target, "kill")
    check_port_is_free_soon(target.port)
    time.sleep(UNREAD_S)
    check(is_alive(server), "the server ended before its answer was read")
    capture.signal(signal.SIGCONT)
    capture.finish()
    equal(capture.trace.count("burst"), 1000000, "spans")
    check_server_ends(server)


@test
def the_callers_pipe_is_not_held_open(t):
    """No other process holds the target's standard output and error, not even while an answer is on its way."""
    target, server, capture = record_unread(t)
    end(target, "exit")
    for thread in target.threads:
        thread.join(PIPE_S)
        check(not thread.is_alive(), f"no end of file within {PIPE_S} s")
    check(is_alive(server), "the server did not live long enough to hold anything")
    capture.signal(signal.SIGCONT)
    capture.finish()


@test
def a_shells_substitution_returns_when_the_program_ends(t):
    shell = t.keep(Process("shell", ["sh", "-c", 'out=$("$0"); echo "$out"', TARGET],
                           stdin=subprocess.PIPE))
    shell.popen.stdin.write("start 0\nport\nexit\n")
    shell.popen.stdin.flush()
    equal(shell.read_line(), "ready", "the program's first output")
    equal(shell.read_line().split()[0], "0", "ptap_server_start")
    check(int(shell.read_line()) > 0, "no port")
    equal(shell.wait(), 0, "end of the shell")


@test
def a_crash_leaves_the_span_in_which_it_happened(t):
    target = t.target().serve()
    capture = t.record(target, 15000)
    target.ask("burst 10")
    target.send("crash")
    equal(target.wait(), -signal.SIGSEGV, "end of the target")
    capture.finish()
    capture.find_warning(f"pid {target.pid}", "ended")
    line = capture.trace.thread(target.pid)
    equal(dict(line.count()), {"burst": 10, "doomed": 1}, "events")
    equal(line.named("doomed")[0].stats, {"unfinished": ("int64_value", 1)}, "stats of doomed")


# The commands or signals that end the target, and the words of the trace about each.
SAID = {"abort": "killed by SIGABRT", "crash": "killed by SIGSEGV", "exit": "with exit status 3",
        "kill": "killed by SIGKILL", "stop and kill": "killed by SIGKILL", "terminate": "killed by SIGTERM"}


def end_unattended(target, how):
    """Ends the target, which stays a zombie because nobody waits for it, as if its parent were busy."""
    if how == "stop and kill":
        os.kill(target.pid, signal.SIGSTOP)
        wait_until(lambda: read_status(target.pid)["State"][0] == "T", "the target to stop")
    if how in ("abort", "crash", "exit"):
        target.send(how)
    else:
        os.kill(target.pid, signal.SIGTERM if how == "terminate" else signal.SIGKILL)


@test
def the_trace_says_how_the_program_ended(t):
    for how, words in SAID.items():
        target = t.target().serve()
        capture = t.record(target, 15000)
        target.ask("burst 10")
        end_unattended(target, how)
        capture.finish()
        capture.find_warning(f"pid {target.pid}", "ended", words)
        doomed = capture.trace.thread(target.pid).named("doomed")
        equal([set(e.stats) for e in doomed], [{"unfinished"}] * (how in ("abort", "crash", "exit")),
              f"{how}: stats of what was open")


@timed
def an_exec_ends_the_recording_and_frees_the_port(t):
    port = free_port()
    target = t.target().serve(port)
    capture = t.record(target, 15000)
    target.ask("burst 10")
    equal(target.ask("exec"), "ready", "the new program")
    check_started(target, target.start(port))
    capture.finish()
    check(capture.elapsed_s < 10, f"the answer took {capture.elapsed_s} s")
    equal(capture.trace.count("burst"), 10, "spans")
    warning = capture.find_warning("became another program (execve), ")
    check(re.fullmatch(rf"the program \(pid {target.pid}\) became another program \(execve\), {re.escape(str(TARGET.resolve()))} \d+ ms "
                       "into the recording; everything recorded until then is here", warning), warning)
    wait_in_time(lambda: len(find_proftapds(target.pid)) == 1, "the first server to end", GONE_S)
    second = t.emit(target, 200, "burst 5")
    equal(second.trace.count("burst"), 5, "spans of the new program")


@timed
def an_idle_server_ends_with_its_target(t):
    target = t.target().serve()
    equal(len(find_proftapds(target.pid)), 1, "servers")
    target.signal(signal.SIGKILL)
    target.wait()
    wait_in_time(lambda: not find_proftapds(target.pid), "the server to end", GONE_S)


@timed
def an_end_is_noticed_without_the_robust_word(t):
    """The robust list in the target's memory was overwritten, so only the pidfd reports the end."""
    target = t.target().serve()
    control = [tid for tid, name in target.thread_names().items() if name == "ptap-control"]
    equal(target.ask(f"forget {control[0]}"), "0", "get_robust_list")
    target.kill()
    wait_in_time(lambda: not find_proftapds(target.pid), "the server to end", GONE_S)
    t.target().start(str(target.port))


@timed
def a_silent_connection_does_not_hold_the_server(t):
    target = t.target().serve()
    with socket.create_connection(("127.0.0.1", target.port)):
        t.emit(target, 100, "burst 10")
        target.kill()
        wait_in_time(lambda: not find_proftapds(target.pid), "the server to end", GONE_S)


run()
