#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests recordings of programs through the host daemon, with one port for all programs."""
import contextlib
import json
import os
import re
import signal
import socket
import time

from checks import contains
from fixture import NOBODY, SANITIZERS, check, equal, find_proftapd, need_readable_tree, need_root, run, test, wait_until
from hosts import Host, runtime, start_target
from http2 import OK
from memory_watch import MemoryWatch, read_memory_kib
from processes import PROFTAP, Process, Target
from profiler import WAITING, Profiler
from spools import read_spools
from trace_file import Trace

LONG_MS = 60000
# The largest message that the daemon passes on while it has many streams, and a number of spans that needs several.
PASSED_BYTES = 128 << 10
N_LONG = 40000
# The size of a recording, the memory that the daemon may use for it, the bytes that its slow reader takes (a window of
# HTTP/2), the size of the ring, and the number of spans that are emitted at a time.
UNTAKEN_BYTES = 64 << 20
UNTAKEN_KIB = 16 << 10
WINDOW_BYTES = 65535
RING_BYTES = 16 << 20
N_HEAVY = 50000


def serve(t, n):
    """A daemon, and |n| programs that it knows."""
    host = Host(t)
    targets = [start_target(t) for _ in range(n)]
    host.await_pids(*(target.pid for target in targets))
    return host, targets


def proftap(t, *words, code=0, user=None):
    process = t.keep(Process("proftap", [t.public_proftap() if user else PROFTAP, *words], user=user))
    equal(process.wait(), code, f"proftap {words}: {process.err}")
    for thread in process.threads:
        thread.join()
    return process


def names_of(capture):
    return sorted(os.path.basename(line.strip()) for line in capture.out)


@test
def all_programs_make_one_run(t):
    host, targets = serve(t, 3)
    start = time.time_ns() + 500_000_000
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", "all", "--start_timestamp_ns", start)
    for target in targets:
        target.ask("await 1")
    wait_until(lambda: time.time_ns() > start, "the instant")
    for target in targets:
        target.ask("burst 7")
    capture.signal(signal.SIGINT)
    capture.finish()
    prefix = socket.gethostname()
    equal(names_of(capture), sorted(f"{prefix}_target_{target.pid}.xplane.pb" for target in targets), "files")
    for line in capture.out:
        equal(Trace(line.strip()).count("burst"), 7, f"spans in {line}")
    contains(capture.stderr, f"127.0.0.1:{host.port}", "the summary")


@test
def a_pid_or_a_name_selects_one_program(t):
    host, (target, _) = serve(t, 2)
    for word in (str(target.pid), f"pid={target.pid}"):
        capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", word)
        target.ask("await 1", "burst 7")
        capture.signal(signal.SIGINT)
        equal(capture.finish().trace.count("burst"), 7, "spans")
    capture = t.capture(f"127.0.0.1:{host.port}", 100, "--target", "nobody", code=1)
    contains(capture.stderr, "--target nobody: no such program there", "the reason")
    capture = t.capture(f"127.0.0.1:{host.port}", 100, "--target", f"{target.pid},foo=bar", code=1)
    contains(capture.stderr, "--target foo=bar: no program has the label foo; the labels are pid, uid, name, container, pod",
             "the reason")


@test
def the_host_name_selects_one_program(t):
    """Every name that ends in .localhost is this machine, and no name server is asked."""
    host, targets = serve(t, 2)
    for target in targets:
        capture = t.start_capture(f"{target.pid}.localhost:{host.port}", LONG_MS)
        target.ask("await 1", "burst 7")
        capture.signal(signal.SIGINT)
        capture.finish()
        equal(capture.trace.count("burst"), 7, "spans")
        contains(capture.stderr, f"(pid {target.pid}) at {target.pid}.localhost:{host.port}", "the program")
    capture = t.capture(f"nobody.localhost:{host.port}", 100, code=1)
    contains(capture.stderr, "nobody: no such program here; there are target (", "another name")


@test
def the_only_program_needs_no_name(t):
    host, (target,) = serve(t, 1)
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS)
    target.ask("await 1", "burst 7")
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), 7, "spans")


@test
def ambiguous_target_is_refused(t):
    host = Host(t)
    capture = t.capture(f"127.0.0.1:{host.port}", 100, code=1)
    contains(capture.stderr, "no program that you may record has announced itself to this host daemon", "the message when the list is empty")
    targets = [start_target(t) for _ in range(2)]
    host.await_pids(*(target.pid for target in targets))
    capture = t.capture(f"127.0.0.1:{host.port}", 100, code=1)
    contains(capture.stderr, "2 programs are meant: target (", "the message with two programs")
    contains(capture.stderr, "name one by --target PID, or in a capture all by --target all", "the message with two programs")
    check("the server answered" not in capture.stderr, capture.stderr)
    refused = proftap(t, "start", f"127.0.0.1:{host.port}", "--target", "nobody", code=1)
    contains("".join(refused.err), "nobody: no such program here; there are target (", "a session of nobody")


@test
def sessions_work_through_the_daemon(t):
    host, targets = serve(t, 2)
    target = targets[1]
    words = [f"127.0.0.1:{host.port}", "--target", str(target.pid)]
    proftap(t, "start", *words)
    target.ask("await 1", "burst 5")
    snapshot = proftap(t, "snapshot", *words, "--log_dir", t.dir / "a")
    equal(Trace(snapshot.out[-1].strip()).count("burst"), 5, "spans in the snapshot")
    target.ask("burst 3")
    rest = proftap(t, "stop", *words, "--log_dir", t.dir / "b")
    equal(Trace(rest.out[-1].strip()).count("burst"), 3, "spans in the rest")
    equal(host.list()[target.pid]["state"], "idle", "afterwards")


@test
def others_programs_cannot_be_recorded(t):
    need_root()
    need_readable_tree()
    host = Host(t, "--operators", "")
    target = start_target(t)
    host.await_pids(target.pid)
    out = t.public_dir("out")
    refused = t.capture(f"127.0.0.1:{host.port}", 100, "--target", target.pid, code=1, user=NOBODY, log_dir=out,
                        program=t.public_proftap())
    contains(refused.stderr, "no such program there", "programs that another user sees")
    refused = t.capture(f"127.0.0.1:{host.port}", 100, code=1, user=NOBODY, log_dir=out, program=t.public_proftap())
    contains(refused.stderr, "no program that you may record", "programs that another user sees")


@test
def a_client_that_goes_frees_the_program(t):
    host, (target,) = serve(t, 1)
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", target.pid)
    target.ask("await 1")
    capture.kill()
    wait_until(lambda: host.list()[target.pid]["state"] == "idle", "the program to be free")


@test
def daemon_holds_nothing_for_a_slow_reader(t):
    """The daemon applies the client's flow control to the program's server, so unread data waits there."""
    host = Host(t)
    target = t.keep(Target(runtime(t))).serve(0, RING_BYTES)
    host.await_pids(target.pid)
    server = find_proftapd(target.pid)
    with Profiler(host.port, window=WINDOW_BYTES) as reader, Profiler(host.port) as others:
        reader.connection.polite = False
        stream = reader.capture(LONG_MS, session_id="untaken", interval_ms=1000)
        target.ask("await 1")
        while sum(read_spools(server).values()) < UNTAKEN_BYTES:
            equal(target.ask(f"heavy {N_HEAVY}"), str(N_HEAVY), "the target")
        before_kib = read_memory_kib(host.pid)[0]
        watch = MemoryWatch(host.pid)
        equal(others.stop("untaken")[0], (OK, ""), "the answer to Stop")
        streamed = reader.connection.streams[stream]
        reader.connection.wait(lambda: len(streamed.data) == WINDOW_BYTES, "a full window of data")
        # A client that reads its trace is not delayed, and can take another one meanwhile.
        others.deliver(others.capture(500))
        grown_kib = watch.end().anonymous_kib - before_kib
        check(SANITIZERS != "no" or grown_kib < UNTAKEN_KIB, f"the daemon took {grown_kib} KiB of {UNTAKEN_BYTES} bytes")
        reader.open_window(stream)
        delivery = reader.deliver(stream)
        check(len(delivery.data) > UNTAKEN_BYTES, f"{len(delivery.data)} bytes came")


@test
def the_daemons_death_ends_a_capture_and_no_program(t):
    host, (target,) = serve(t, 1)
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", target.pid)
    target.ask("await 1")
    host.end(signal.SIGKILL)
    capture.finish(1)
    check(re.search(rf"127.0.0.1:{host.port} target {target.pid}: ", capture.stderr), capture.stderr)
    equal(target.ask("port"), str(target.port), "the program goes on")
    again = Host(t, port=host.port)
    again.await_pids(target.pid)
    wait_until(lambda: again.list()[target.pid]["state"] == "idle", "the program to be free")
    after = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", target.pid)
    target.ask("await 1", "burst 7")
    after.signal(signal.SIGINT)
    equal(after.finish().trace.count("burst"), 7, "spans afterwards")


@test
def a_program_that_dies_in_mid_capture_delivers(t):
    host, (target,) = serve(t, 1)
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", target.pid)
    target.ask("await 1", "burst 7")
    target.kill()
    equal(capture.finish().trace.count("burst"), 7, "spans")
    host.await_pids()


def sizes(port, target, n):
    """The sizes of the chunks of a trace with |n| spans."""
    with Profiler(port) as profiler:
        stream = profiler.capture(LONG_MS, session_id="sizes")
        target.ask("await 1", f"burst {n}")
        profiler.end_session("sizes")
        delivery = profiler.deliver(stream)
    equal(delivery.trace.count("burst"), n, "spans")
    return [len(chunk) for chunk in delivery.chunks]


@test
def parts_are_large_for_few_streams_and_small_for_many(t):
    """Each part costs the daemon the same work, whatever its size, and the daemon holds a part of each stream."""
    host, (target,) = serve(t, 1)
    alone = sizes(host.port, target, N_LONG)
    check(max(alone) > PASSED_BYTES, f"parts of the only stream: {alone}")
    with contextlib.ExitStack() as stack:
        # A connection may have sixteen streams at a time.
        for others in [stack.enter_context(Profiler(host.port)) for _ in range(2)]:
            waiting = [others.capture(50, start_timestamp_ns=time.time_ns() + 10**12) for _ in range(10)]
            equal([others.await_phase(stream, WAITING)[-1].progress.phase for stream in waiting], [WAITING] * 10, "others")
        crowded = sizes(host.port, target, N_LONG)
    check(max(crowded) <= PASSED_BYTES < sum(crowded), f"bytes that the daemon holds at a time: {max(crowded)}")


@test
def json_names_the_target(t):
    host, (target,) = serve(t, 1)
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", target.pid, "--json")
    target.ask("await 1", "burst 7")
    capture.signal(signal.SIGINT)
    told = json.loads(capture.finish().stdout)
    contains(json.dumps(told), f"127.0.0.1:{host.port} target {target.pid}", "the target")


if __name__ == "__main__":
    run()
