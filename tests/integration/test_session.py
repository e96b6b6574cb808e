#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that one capture runs at a time, and captures that end early, are given up, are too long, or are empty,
with their exit statuses."""
import os
import re
import signal
import time

from checks import SLOWNESS, not_void, wait_in_time
from fake_server import FakeServer, field, space
from fixture import LONG_MS as BEGUN_MS
from fixture import SESSION, check, contains, equal, find_proftapd, run, staged, test, timed, wait_until
from processes import halt
from profiler import Profiler
from trace_file import Trace

LONG_MS = 15000
TO_THE_END_MS = (2**63 - 1) // 4000000  # the longest duration, which proftap run asks for
FREE_S = 0.1 if SLOWNESS == 1 else 2  # the time in which longer work must be given up
NO_USAGE = ("-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0")


def stop_server(target):
    server = find_proftapd(target.pid)
    halt(server)
    return server


def check_nothing_left(capture):
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")


def check_serves(t, target):
    """Checks that the target soon serves the next capture."""
    capture = t.record(target, 200, "--attempts", "5", commands=("burst 10",))
    equal(capture.finish().trace.count("burst"), 10, "spans of the next capture")


@test
def a_second_capture_is_refused_and_the_first_unharmed(t):
    target = t.target().serve()
    first = t.begin(target)
    target.ask("burst 100")
    second = t.capture(target, 200, code=4)
    contains(second.stderr, f"127.0.0.1:{target.port}: busy: another profiling session is active "
             f"there (session {SESSION}: {BEGUN_MS / 1000} s, begun ", "standard error")
    check_nothing_left(second)
    check(first.popen.poll() is None, "the first had ended")
    target.ask("burst 23")
    t.stop(target, first)
    equal(first.trace.count("burst"), 123, "spans of the first")
    equal(first.warnings, [], "warnings of the first")


@test
def a_recording_to_the_end_of_the_program_has_no_length(t):
    target = t.target().serve()
    first = t.record(target, TO_THE_END_MS, "-o", f"session_id={SESSION}")
    told = t.capture(target, 20, code=4).stderr
    contains(told, f"session {SESSION}: to the end of the program, begun ", "how long")
    contains(told, "; it ends with the program, and the client that started it gets its data\n", "the hint")
    t.stop(target, first)


@test
def a_waiting_capture_gets_no_hint_to_wait(t):
    target = t.target().serve()
    first = t.begin(target)
    told = t.capture(target, 20, code=4).stderr
    contains(told, "; wait for it to end, as --wait does\n", "without --wait")
    waited = t.capture(target, 20, "--wait=1", code=4)
    check("--wait" not in waited.stderr, f"standard error: {waited.stderr!r}")
    lines = waited.stderr.splitlines()
    check(lines[0].endswith(") (waiting)") and lines[-1].endswith("); waited for 1 s"), f"lines: {lines}")
    t.stop(target, first)


@test
def two_captures_of_two_targets_do_not_interfere(t):
    targets = [t.target().serve() for _ in range(2)]
    captures = [t.begin(target) for target in targets]
    for n, target in enumerate(targets, 1):
        target.ask(f"burst {n}")
    for n, (target, capture) in enumerate(zip(targets, captures), 1):
        equal(t.stop(target, capture).trace.count("burst"), n, f"spans of target {n}")


@staged
def captures_in_one_second_get_runs_of_their_own(t):
    log_dir = t.dir / "logs"
    server = FakeServer(t, lambda c: c.reply(field(8, space(3))))
    captures = [t.start_capture(server, 1, log_dir=log_dir) for _ in range(3)]
    paths = {capture.finish().path for capture in captures}
    equal(len(paths), 3, "files")
    runs = sorted(path.parent.name for path in paths)
    equal(len(set(runs)), 3, f"runs: {runs}")
    equal([Trace(path).count("span") for path in paths], [3, 3, 3], "spans")
    # Three captures fit into two seconds, unless the machine is slow.
    not_void(any(run_name.endswith("_2") for run_name in runs), f"no two in one second: {runs}")


@test
def one_interrupt_ends_early_and_keeps_the_data(t):
    for number in (signal.SIGINT, signal.SIGTERM):
        target = t.target().serve()
        capture = t.record(target, LONG_MS)
        target.ask("burst 100")
        capture.signal(number)
        capture.finish()
        check(capture.elapsed_s < LONG_MS / 2000, f"ended only after {capture.elapsed_s} s")
        capture.find_warning("interrupted", "ended early")
        equal(capture.trace.count("burst"), 100, "spans")
        wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off", 3)
        check_serves(t, target)


def interrupt_until_it_ends(capture, pause_s):
    def interrupt():
        capture.signal(signal.SIGINT)
        time.sleep(pause_s)
        return capture.popen.poll() is not None
    wait_until(interrupt, "proftap to give up", 5)


@test
def two_interrupts_give_up_and_free_the_target(t):
    target = t.target().serve()
    capture = t.record(target, LONG_MS)
    target.ask("burst 100")
    # The server cannot answer the first interrupt before the second.
    server = stop_server(target)
    interrupt_until_it_ends(capture, 0.3)
    capture.finish(130)
    contains(capture.stderr, "interrupted twice: nothing was written", "standard error")
    check_nothing_left(capture)
    os.kill(server, signal.SIGCONT)
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off", 5)
    check_serves(t, target)


@test
def a_key_held_down_gives_up_too(t):
    target = t.target().serve()
    capture = t.record(target, LONG_MS)
    server = stop_server(target)
    # The interval is that of a repeating key.
    interrupt_until_it_ends(capture, 0.03)
    capture.finish(130)
    os.kill(server, signal.SIGCONT)


@timed
def a_client_that_dies_frees_the_target_within_100_ms(t):
    target = t.target().serve()
    capture = t.record(target, LONG_MS)
    capture.signal(signal.SIGKILL)
    wait_in_time(lambda: target.ask("enabled 1") == "0", "the recording to be off", FREE_S)
    capture.wait()
    check_serves(t, target)


def end_a_large_recording(t, target):
    """Returns the capture, and the time at which the server began to build its answer."""
    capture = t.record(target, LONG_MS)
    target.ask("burst 4000000")
    capture.signal(signal.SIGINT)
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off", 5)
    return capture, time.monotonic()


@timed
def a_client_that_dies_frees_the_target_while_much_is_put_together(t):
    target = t.target().serve(0, 64 << 20)
    with Profiler(target) as calls:
        capture, began = end_a_large_recording(t, target)
        wait_until(lambda: not calls.ask("Status").session, "the session to be free")
        whole_s = time.monotonic() - began
        capture.finish()
        capture, began = end_a_large_recording(t, target)
        # This is in the middle of the work, which takes about as long as it took above.
        time.sleep(whole_s / 8)
        capture.signal(signal.SIGKILL)
        wait_in_time(lambda: not calls.ask("Status").session, f"the session of a work of {whole_s} s to be free",
                     FREE_S)
        capture.wait()
    check_serves(t, target)


@test
def a_timeout_is_reported_and_leaves_nothing(t):
    target = t.target().serve()
    capture = t.record(target, LONG_MS, "--timeout", "700")
    target.ask("burst 100")
    capture.finish(6)
    check(0.7 <= capture.elapsed_s < LONG_MS / 2000, f"ended after {capture.elapsed_s} s")
    contains(capture.stderr, "timed out: no whole answer within 700 ms", "standard error")
    check_nothing_left(capture)
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off", 5)
    check_serves(t, target)


@test
def a_stopped_target_is_reported_and_keeps_its_data(t):
    target = t.target().serve()
    capture = t.begin(target)
    target.ask("burst 10")
    halt(target.pid)
    t.stop(target, capture)
    capture.find_warning("the program was stopped (SIGSTOP or a debugger) when the recording ended")
    equal(capture.trace.count("burst"), 10, "spans")
    second = t.capture(target, LONG_MS, code=1)
    contains(second.stderr, f"the program (pid {target.pid}) is stopped (SIGSTOP or a debugger) and "
             "cannot record", "standard error")
    check(second.elapsed_s < LONG_MS / 2000, f"said only after {second.elapsed_s} s")
    check_nothing_left(second)
    os.kill(target.pid, signal.SIGCONT)
    wait_until(lambda: target.ask("enabled 1") == "0", "the first recording to be off")
    check_serves(t, target)


@test
def a_stop_within_a_recording_is_reported(t):
    target = t.target().serve()
    capture = t.begin(target)
    target.ask("burst 10")
    began = time.monotonic()
    halt(target.pid)
    time.sleep(0.6)
    os.kill(target.pid, signal.SIGCONT)
    stopped_ms = (time.monotonic() - began) * 1000
    target.ask("burst 10")
    t.stop(target, capture)
    equal(capture.trace.count("burst"), 20, "spans")
    said, = [w for w in capture.warnings if "SIGSTOP" in w]
    words = re.fullmatch(r"the program was stopped \(SIGSTOP or a debugger\) for about (\d+) ms of the recording's (\d+) ms", said)
    check(words, said)
    check(abs(int(words[1]) - stopped_ms) < stopped_ms / 4, f"{said}, and it was for {stopped_ms} ms")
    check(int(words[2]) > int(words[1]), said)


@test
def an_empty_capture_says_why(t):
    target = t.target().serve()
    words = "reached no annotation that host_tracer_level {} records ({}) while the recording ran; record for longer{}\n"
    for level, reason in (("1", words.format(1, "level 1", ", or with host_tracer_level 3")),
                          ("2", words.format(2, "levels 1 and 2", ", or with host_tracer_level 3")),
                          ("3", words.format(3, "levels 1 to 3", "")),
                          ("0", "host_tracer_level is 0, which records no annotation; use 1 to 3\n")):
        capture = t.capture(target, 100, "-o", f"host_tracer_level={level}", *NO_USAGE, code=3)
        contains(capture.stderr, "the recording worked and was empty", "standard error")
        contains(capture.stderr, reason, "standard error")
        check_nothing_left(capture)


@test
def a_delay_is_kept(t):
    target = t.target().serve()
    capture = t.record(target, 200, "--delay", "600", commands=("burst 10",))
    waited_s = time.monotonic() - capture.started
    equal(capture.finish().trace.count("burst"), 10, "spans")
    check(0.6 <= waited_s < 5, f"the recording began after {waited_s} s")


@test
def a_step_that_begins_at_the_agreed_start_is_recorded(t):
    """Threads record before an agreed start, and ptap_enabled() becomes true at the start."""
    target = t.target().serve()
    for _ in range(5):
        target.send("step 1 10")  # shorter than the time by which they record early
        capture = t.capture(target, 300, "--delay", "200")
        target.read_line()
        steps = [(e.stats["step_num"].value, set(e.stats) & {"unfinished", "started_before"})
                 for line in capture.trace.threads for e in line.named("slow")]
        equal(steps, [(7, set())], "steps")


@test
def usage_errors_are_reported_before_anything_else(t):
    for words in ((), ("9999",), ("9999", "soon"), ("9999", "0"), ("no port", "100"),
                  ("9999", "100", "extra"), ("9999", "100", "--no_such_option"),
                  ("9999", "100", "-o", "host_tracer_level=4"),
                  ("9999", "100", "-o", "ptap_nonsense=1")):
        # The first two words are the target and the duration.
        capture = t.capture(*(words + (None, None))[:2], *words[2:], code=2)
        check(capture.stderr and not capture.stdout, f"{words}: said {capture.stderr!r}")
        equal(capture.left(), [], f"{words}: remaining files")


run()
