#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The target ends in mid-capture: by SIGKILL, by a crash, by exec. What there is is delivered."""
import collections
import signal
import socket
import struct
import time

from fixture import check, equal, find_proftapds, run, test, wait_until

N_THREADS = 3
GONE_S = 4


def make_counts(t):
    path = t.dir / "counts"
    path.write_bytes(bytes(8 * N_THREADS))
    return path


def read_counts(path):
    return struct.unpack(f"{N_THREADS}Q", path.read_bytes())


def check_thread(line, n_counted):
    """Everything up to the count, at most the round that was not yet counted, every name right."""
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


@test
def after_sigkill_the_port_is_free_at_once_and_the_server_gone(t):
    counts = make_counts(t)
    target = t.target().serve()
    heir = t.target()
    target.ask(f"steady {counts}")
    capture = t.start_capture(target, 15000)
    wait_until(lambda: min(read_counts(counts)) >= 100, "100 rounds on each thread")
    equal(len(find_proftapds(target.pid)), 1, "servers")
    target.signal(signal.SIGKILL)
    target.wait()
    equal(heir.start(target.port), 0, f"start on the same port: {heir.ask('error')}")
    equal(heir.port, target.port, "port")
    capture.finish()
    wait_until(lambda: not find_proftapds(target.pid), "the server to end", 3)


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


@test
def an_exec_ends_the_recording_and_frees_the_port(t):
    target = t.target().serve()
    port = target.port
    capture = t.record(target, 15000)
    target.ask("burst 10")
    equal(target.ask("exec"), "ready", "the new program")
    equal(target.start(port), 0, f"start on the same port: {target.ask('error')}")
    capture.finish()
    check(capture.elapsed_s < 10, f"the answer took {capture.elapsed_s} s")
    equal(capture.trace.count("burst"), 10, "spans")
    check(capture.warnings, "no warning says that the recording ended early")
    wait_until(lambda: len(find_proftapds(target.pid)) == 1, "the first server to end", 3)
    second = t.emit(target, 200, "burst 5")
    equal(second.trace.count("burst"), 5, "spans of the new program")


@test
def an_idle_server_ends_with_its_target(t):
    target = t.target().serve()
    equal(len(find_proftapds(target.pid)), 1, "servers")
    started = time.monotonic()
    target.signal(signal.SIGKILL)
    target.wait()
    wait_until(lambda: not find_proftapds(target.pid), "the server to end", 3)
    check(time.monotonic() - started < 3, "the server lived on")


@test
def an_end_that_the_robust_word_does_not_tell_is_seen_too(t):
    """The list in the target's memory was overwritten: the pidfd is left."""
    target = t.target().serve()
    control = [tid for tid, name in target.thread_names().items() if name == "ptap-control"]
    equal(target.ask(f"forget {control[0]}"), "0", "get_robust_list")
    target.kill()
    wait_until(lambda: not find_proftapds(target.pid), "the server to end", GONE_S)
    t.target().start(str(target.port))


@test
def a_silent_connection_does_not_hold_the_server(t):
    target = t.target().serve()
    with socket.create_connection(("127.0.0.1", target.port)):
        t.emit(target, 100, "burst 10")
        target.kill()
        wait_until(lambda: not find_proftapds(target.pid), "the server to end", GONE_S)


run()
