#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the flight recorder's triggers: which runs they write, for which reasons, and how many."""
import errno
import glob
import os
import re
import subprocess
from pathlib import Path

from fixture import check, contains, equal, free_port, run, test, wait_until
from http2 import INVALID_ARGUMENT
from processes import PROFTAP, TARGET
from profiler import V1, Profiler, set_options
from running import finish, make_environment, need_preload, start
from trace_file import Trace, own_schema

SPAN = "ptap_trigger_span=number:20ms"
SPAN_TEXT = r"span number took [\d.]+ m?s, more than 20 ms"
# No test lasts until the end of this interval.
LONG = "ptap_trigger_interval_ms=3600000"


def serve(t, *options, log_dir="runs", recorder=1, follow_fork=0, **env):
    place = t.dir / log_dir if log_dir else "-"
    program = t.target(**make_environment(t), **env)
    program.serve(0, 1 << 20, 0, "127.0.0.1", 0, follow_fork, place, 0, recorder, ",".join(options))
    return program


def files(t):
    # Unlike rglob(), glob() goes on if a directory has just vanished.
    found = glob.glob(str(t.dir / "runs" / "**" / "*.xplane.pb"), recursive=True)
    return sorted(map(Path, found), key=lambda path: path.stat().st_mtime_ns)


def await_runs(t, n=1):
    wait_until(lambda: len(files(t)) == n, f"{n} runs")
    return [Trace(path) for path in files(t)]


def reason(trace):
    return trace.environment["ptap_reason"].value


def matches(trace, pattern):
    check(re.fullmatch(pattern, reason(trace)), f"the reason: {reason(trace)!r}")


@test
def trigger_fires_on_a_slow_span(t):
    program = serve(t, SPAN + ";other:1us", LONG)
    program.ask("burst 100", "count 1 0", "count 1 40")
    trace, = await_runs(t)
    matches(trace, SPAN_TEXT)
    durations = [e.duration_ps for line in trace.threads for e in line.named("number")]
    check(len(durations) == 2 and max(durations) > 20e9, f"spans in the run: {durations}")


@test
def trigger_fires_on_a_slow_step(t):
    program = serve(t, "ptap_trigger_step=3", LONG)
    program.ask("step 1 500", *["step 1 5"] * 8, "step 1 1000")
    trace, = await_runs(t)
    matches(trace, r"step 7 took 1(\.\d+)? s, [\d.]+ times the usual [\d.]+ ms")
    equal(trace.count("slow"), 10, "steps in the run")


@test
def trigger_fires_on_a_counter_beyond_its_bound(t):
    for name, option, gauges, text in (
            ("above", "queue>1000", "1000 1042 -5", "counter queue was 1042, more than 1000"),
            ("below", "queue<-1.5", "1000 -1 -2", "counter queue was -2, less than -1.5")):
        program = serve(t, f"ptap_trigger_counter=queued>0;{option}", LONG, log_dir=f"runs/{name}")
        before = len(files(t))
        program.ask(f"gauge {gauges}")
        trace = await_runs(t, before + 1)[-1]
        equal(reason(trace), text, "the reason")


@test
def one_run_in_an_interval_counts_further_triggers(t):
    program = serve(t, "ptap_trigger_counter=queue>10", "ptap_trigger_interval_ms=1000")
    program.ask("gauge 11 12 13")
    equal(reason(await_runs(t)[0]), "counter queue was 11, more than 10", "the first reason")
    n_asked = 0

    def comes_another():
        nonlocal n_asked
        program.ask("gauge 20")
        n_asked += 1
        return len(files(t)) == 2
    wait_until(comes_another, "the second run")
    said = re.fullmatch(r"counter queue was 20, more than 10; (\d+) more since the last run", reason(await_runs(t, 2)[1]))
    check(said and 2 <= int(said[1]) <= 2 + n_asked, f"the second reason, after {n_asked}: {said}")


UNWRITTEN = "triggers that have no run of their own, since the last run: "


def check_unwritten(trace, n):
    counts = [int(w.rsplit(UNWRITTEN, 1)[1]) for w in trace.space.warnings if UNWRITTEN in w]
    equal(counts, [n] if n else [], "triggers that are counted in the last run")


@test
def triggers_without_a_run_are_counted_when_the_program_dies(t):
    """The count includes values that the server had not read before the death."""
    for n in (0, 3):
        program = serve(t, "ptap_trigger_counter=queue>10", LONG, log_dir=f"runs/{n}")
        program.ask("gauge 11")
        before = len(await_runs(t, len(files(t)) + 1))
        program.ask("gauge 12 13 14" if n else "gauge 1 2 3")
        program.kill()
        check_unwritten(await_runs(t, before + 1)[-1], n)


@test
def triggers_without_a_run_are_counted_when_the_recorder_is_stopped(t):
    program = serve(t, "ptap_trigger_counter=queue>10", LONG)
    with Profiler(program) as calls:
        program.ask("gauge 11")
        await_runs(t)
        program.ask("gauge 12 13")
        check_unwritten(calls.deliver(calls.end_session("recorder")).trace, 2)
        calls.begin_recorder()
        program.ask("gauge 12")
        check_unwritten(calls.deliver(calls.end_session("recorder")).trace, 0)


@test
def trigger_fires_while_a_capture_runs(t):
    program = serve(t, SPAN, LONG)
    with Profiler(program) as calls:
        stream = calls.capture(60000)
        calls.await_phase(stream, 1)
        program.ask("count 1 40")
        matches(await_runs(t)[0], SPAN_TEXT)
        equal(len(files(t)), 1, "runs")
        program.kill()
        equal(calls.deliver(stream).trace.count("number"), 1, "spans of the capture")


@test
def trigger_fires_in_a_child_of_the_program(t):
    program = serve(t, "ptap_trigger_counter=jobs>10", LONG, follow_fork=1)
    child = int(program.ask("prefork steady"))
    trace, = await_runs(t)
    equal(reason(trace), "counter jobs was 11, more than 10", "the reason")
    check(trace.process(child).count("jobs") > 10, "samples in the run")


@test
def trigger_fires_in_a_thread_that_has_ended(t):
    """The server usually reads the ended thread's ring before it is reused; unit/test_triggers.c tests a read that
    comes too late."""
    program = serve(t, "ptap_trigger_counter=queue>1000", LONG)
    program.ask("threads a=1 b=2")
    equal(reason(await_runs(t)[0]), "counter queue was 1001, more than 1000", "the reason")


def call(t, *words, code=0):
    done = subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **make_environment(t)}, check=False)
    equal(done.returncode, code, f"exit status of {words}; {done.stderr!r}")
    return done.stderr


@test
def a_client_sets_triggers(t):
    program = serve(t, recorder=0)
    call(t, "start", program.port, "--recorder", "-o", SPAN, "-o", LONG)
    program.ask("count 1 40")
    matches(await_runs(t)[0], SPAN_TEXT)
    call(t, "stop", program.port, "--discard")
    call(t, "start", program.port, "--recorder")
    program.ask("count 1 40", "snapshot why")
    equal([reason(trace) for trace in await_runs(t, 2)][1], "why", "the reason without triggers")


@test
def proftap_run_has_triggers_from_the_environment(t):
    need_preload()
    variables = {"PROFTAP_RECORDER": f"ptap_trigger_counter=queue>10,{LONG}", "PROFTAP_LOG_DIR": str(t.dir / "runs")}
    program = start(t, "-p", free_port(), "--recorder", "--", TARGET, env=variables, stdin=subprocess.PIPE)
    program.popen.stdin.write("await 1\ngauge 11\n")
    program.popen.stdin.flush()
    equal(reason(await_runs(t)[0]), "counter queue was 11, more than 10", "the reason")
    program.popen.stdin.close()
    finish(program)


@test
def only_a_recorder_has_triggers(t):
    said = "ptap_trigger_span: an option of a flight recorder only: proftap start --recorder"
    for command in (("capture", 1, 10), ("start", 1)):
        contains(call(t, *command, "-o", SPAN, code=2), said, f"proftap {command[0]}")
    with Profiler(serve(t, recorder=0)) as calls:
        request = set_options(own_schema().CaptureRequest(), duration_ms=10)
        request.options.advanced_configuration["ptap_trigger_span"].string_value = "number:20ms"
        equal(calls.end(calls.start(V1 + "Capture", request)), (INVALID_ARGUMENT, said), "the server's answer")


@test
def wrong_triggers_are_refused(t):
    form = "must be NAME:TIME with TIME in us, ms or s, as in decode:100ms; several with ';' between them"
    for option, sentence in (("ptap_trigger_span=a:100", f'ptap_trigger_span: bad value "a:100": {form}'),
                             ("ptap_trigger_step=1", 'bad value "1": must be a decimal number greater than 1'),
                             ("ptap_trigger_counter=a", "must be NAME>BOUND or NAME<BOUND"),
                             ("ptap_trigger_interval_ms=999", "must be 1000 to 86400000 ms")):
        program = t.target(**make_environment(t))
        equal(program.start(0, 65536, 0, "127.0.0.1", 0, 0, t.dir / "runs", 0, 1, option), -errno.EINVAL, option)
        contains(program.ask("error"), sentence, "ptap_last_error")
        contains(call(t, "start", 1, "--recorder", "-o", option, code=2), sentence, "proftap start")


@test
def without_a_place_there_is_no_recorder_with_triggers(t):
    program = t.target(**make_environment(t))
    equal(program.start(0, 65536, 0, "127.0.0.1", 0, 0, "-", 0, 1, SPAN), -errno.EINVAL, "ptap_server_start_with")
    contains(program.ask("error"), "the server has no log directory for a trigger's run; set .log_dir", "ptap_last_error")
    (t.dir / "file").write_text("a file")
    equal(program.start(0, 65536, 0, "127.0.0.1", 0, 0, t.dir / "file" / "runs", 0, 1, SPAN), -errno.EINVAL, "ptap_server_start_with")
    contains(program.ask("error"), f"no place for runs: {t.dir}/file", "ptap_last_error")
    program = serve(t, log_dir=None, recorder=0)
    contains(call(t, "start", program.port, "--recorder", "-o", SPAN, code=1), "set .log_dir", "proftap start")
    call(t, "start", program.port, "--recorder")
    call(t, "stop", program.port, "--discard")


run()
