#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the flight recorder's commands: proftap start --recorder, snapshot, stop and list, their messages, and
the options of programs."""
import errno
import json
import os
import re
import subprocess
from pathlib import Path

from calls import PROFILER
from fake_server import FakeServer, field
from fixture import check, contains, equal, free_port, run, test, wait_until
from http2 import INVALID_ARGUMENT, NOT_FOUND, OK
from processes import PROFTAP
from profiler import V1, Profiler, set_options
from running import finish, make_environment, need_preload, start
from trace_file import Trace, find_traces, own_schema, schema

RING_BYTES = 65536
RING_SPANS = RING_BYTES // 16
NONE_RUNS = "no flight recorder runs there; start one with proftap start"
NOTHING_RUNS = "neither a continuous session nor a flight recorder runs there; begin one with proftap start"


def call(t, *words, code=0):
    done = subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **make_environment(t)}, check=False)
    equal(done.returncode, code, f"exit status of {words}; {done.stderr!r}")
    return done


def fetch(t, command, target, *options, code=0):
    """Runs snapshot or stop with the test's log directory; .trace is the trace that it wrote."""
    done = call(t, command, getattr(target, "port", target), "--log_dir", t.dir / "logs", *options, code=code)
    if code == 0:
        done.trace = Trace(Path(done.stdout.rstrip("\n")))
    return done


def files(t):
    return sorted((t.dir / "logs").rglob("*.*"))


def target(t, **env):
    return t.target(**make_environment(t), **env)


def serve(t, log_dir=None, options="", recorder=1, **env):
    """Starts a target with a recorder. Its last moments go to a directory; without one its server would
    hold them for a client."""
    where = (0, "127.0.0.1", 0, 0, log_dir or t.dir / "last")
    return target(t, **env).serve(0, RING_BYTES, *where, 0, recorder, options)


def listed(t, program):
    rows = {row["pid"]: row for row in json.loads(call(t, "list", "--json").stdout)["targets"]}
    return rows[program.pid]["state"], rows[program.pid]["recorder"]


# Commands.

@test
def a_recorder_is_switched_on_read_and_switched_off(t):
    program = target(t).serve(0, RING_BYTES)
    equal(listed(t, program), ("idle", False), "state at first")
    started = call(t, "start", program.port, "--recorder")
    equal(started.stdout, "recorder\n", "the recorder's name")
    contains(started.stderr, f"proftap snapshot 127.0.0.1:{program.port}", "the next command")
    equal(listed(t, program), ("recorder", True), "state with a recorder")
    program.ask("burst 100")
    for look in range(2):
        done = fetch(t, "snapshot", program)
        equal(done.trace.count("burst"), 100, f"spans of snapshot {look}")
        contains(done.stderr, "nothing was overwritten before the snapshot", f"snapshot {look}")
    program.ask("burst 50")
    equal(fetch(t, "stop", program).trace.count("burst"), 150, "spans at the recorder's end")
    equal(listed(t, program), ("idle", False), "state at last")
    wait_until(lambda: program.ask("enabled 1") == "0", "the recording to be off")
    contains(fetch(t, "stop", program, code=1).stderr, NOTHING_RUNS, "a second stop")



@test
def looks_that_overlap_have_each_span_once(t):
    """A run of snapshots counts each span once, even if some were overwritten before the next snapshot."""
    program = serve(t)
    n = 0
    for look in range(6):
        program.ask(f"burst {RING_SPANS // 3}")
        n += RING_SPANS // 3
        fetch(t, "snapshot", program, "--run", "mine", "--host_name", f"look{look}")
    paths = files(t)
    check(sum(Trace(path).count("burst") for path in paths) > n, "the snapshots do not overlap: the test is void")
    result = json.loads(call(t, "report", "--json", paths[0].parent).stdout)
    call(t, "convert", paths[0].parent, "-t", "ndjson", "-o", t.dir / "out.ndjson")
    rows = [json.loads(line) for line in (t.dir / "out.ndjson").read_text().splitlines()]
    equal(len([row for row in rows if row.get("name") == "burst"]), n, "spans")
    equal([p["process_id"] for p in result["planes"] if p["name"] == "/host:CPU"], [program.pid], "processes")
    equal(result["totals"]["dropped"], Trace(paths[-1]).host_stat("dropped_traces"), "losses")


@test
def a_capture_beside_the_recorder_has_each_record_once(t):
    """The capture and the recorder have clock readings of their own, so one span has two times,
    some nanoseconds apart."""
    program = serve(t)
    program.ask("burst 100")
    # The list calls a capture "recording" before its start, which samples would put off by some milliseconds.
    capture = t.begin(program, "--run", "mine", "--host_name", "capture", "-o", "ptap_sample_hz=0", log_dir=t.dir / "logs")
    wait_until(lambda: listed(t, program) == ("recording", True), "the capture to record")
    program.ask("burst 300")
    program.ask("requests 20 0 3 2")
    t.stop(program, capture)
    program.ask("burst 50")
    look = fetch(t, "snapshot", program, "--run", "mine", "--host_name", "look")
    counts = [Trace(path).count("burst") for path in files(t)]
    equal(counts, [300, 450], "spans of the capture, and of the recorder")
    result = json.loads(call(t, "report", "--json", Path(look.stdout.strip()).parent).stdout)
    call(t, "convert", files(t)[0].parent, "-t", "ndjson", "-o", t.dir / "out.ndjson")
    rows = [json.loads(line) for line in (t.dir / "out.ndjson").read_text().splitlines()]
    found = [len([row for row in rows if row.get("name") == name]) for name in ("burst", "noise", "request")]
    equal(found, [450, 60, 20], "spans")
    equal([p["process_id"] for p in result["planes"] if p["name"] == "/host:CPU"], [program.pid], "processes")
    equal(result["warnings"], [], "warnings")


@test
def overwritten_spans_are_in_the_summary(t):
    program = serve(t)
    n = 3 * RING_SPANS
    program.ask(f"burst {n}")
    shown = fetch(t, "snapshot", program)
    found = shown.trace.count("burst")
    check(RING_SPANS * 15 // 16 - 1 <= found <= RING_SPANS, f"{found} spans")
    said = re.search(r"  the snapshot has at least the last ([\d.]+) ms of each thread; ([\d,]+) older annotations were "
                     "overwritten\n", shown.stderr)
    check(said, f"standard error: {shown.stderr!r}")
    equal(int(said[2].replace(",", "")) + found, n, "overwritten and kept")
    row = json.loads(call(t, "snapshot", program.port, "--log_dir", t.dir / "logs", "--json").stdout)
    equal(row["overwritten"] + row["spans"], n, "overwritten and kept, for scripts")
    check(row["shortest_window_ns"] > 0, f"shortest window: {row}")
    warning = f"the flight recorder has less than was asked for in 1 thread: target ({program.pid}) has only the last"
    contains(fetch(t, "snapshot", program, "--last", 60000).stderr, warning, "warnings about a minute")


@test
def snapshot_of_a_millisecond_tells_of_that_millisecond(t):
    """The ring has overwritten older spans, and has an open span that began long before this millisecond."""
    program = serve(t)
    program.ask(f"burst {2 * RING_SPANS}")
    program.send("step 1 20000")
    wait_until(lambda: fetch(t, "snapshot", program).trace.count("slow"), "the span to begin")
    shown = fetch(t, "snapshot", program, "--last", 1)
    equal((shown.trace.count("slow"), shown.trace.count("burst")), (1, 0), "spans")
    contains(shown.stderr, f"the last 1 ms of target (pid {program.pid})", "the length")
    check(re.search("\n  the snapshot has the last 1 ms of each thread; [\\d,]+ annotations were overwritten, which were "
                    "older or of ended threads\n", shown.stderr), f"standard error: {shown.stderr!r}")


@test
def threads_that_live_are_named_before_those_that_ended(t):
    program = serve(t)
    program.ask("threads a=1 b=1", "burst 1")

    def name_threads():
        windows = fetch(t, "snapshot", program).trace.host_stat("ptap_recorder_windows")
        return [line.split()[0] for line in windows.splitlines()]
    # The server notices the end of threads within a second.
    wait_until(lambda: name_threads()[0] == "target", "the thread that lives to be the first")
    equal(sorted(name_threads()), ["a", "b", "target"], "threads")


@test
def a_capture_and_a_session_run_beside_the_recorder(t):
    program = serve(t)
    call(t, "start", program.port, "--session", "mine")
    program.ask("burst 10")
    equal(listed(t, program), ("recording", True), "state with both")
    equal(fetch(t, "snapshot", program).trace.count("burst"), 10, "spans of the session, which is read first")
    equal(fetch(t, "snapshot", program).trace.count("burst"), 0, "spans of the session since the first snapshot")
    for option in (("--session", "recorder"), ("--last", 60000), ("--session", "recorder", "--last", 60000)):
        equal(fetch(t, "snapshot", program, *option).trace.count("burst"), 10, f"spans by {option}")
    fetch(t, "stop", program)
    equal(listed(t, program), ("recorder", True), "state without the session")
    call(t, "capture", program.port, 10, "--log_dir", t.dir / "logs")
    equal(fetch(t, "stop", program, "--session", "recorder").trace.count("burst"), 10, "spans at the recorder's end")


@test
def a_second_recorder_is_refused(t):
    program = serve(t)
    said = call(t, "start", program.port, "--recorder", code=4).stderr
    address = f"127.0.0.1:{program.port}"
    contains(said, f"a flight recorder runs there already; proftap snapshot {address} --session recorder gets its "
             f"content, and proftap stop {address} --session recorder ends it", "message about a second recorder")
    call(t, "stop", program.port, "--discard")
    call(t, "start", program.port, "--recorder", "--host_tracer_level", 1)
    equal((program.ask("enabled 1"), program.ask("enabled 2")), ("1", "0"), "levels that are recorded")


@test
def missing_recorder_is_explained(t):
    program = target(t).serve()
    for command in ("snapshot", "stop"):
        contains(fetch(t, command, program, code=1).stderr, f"{NOTHING_RUNS} 127.0.0.1:{program.port}", command)
        contains(fetch(t, command, program, "--session", "recorder", code=1).stderr, NONE_RUNS, command)
    contains(fetch(t, "snapshot", program, "--last", 10, code=1).stderr, NONE_RUNS, "--last")
    contains(call(t, "stop", program.port, "--session", "recorder", "--discard", code=1).stderr, NONE_RUNS,
             "--discard")
    equal(program.ask("snapshot why"), str(-errno.ENODATA), "ptap_snapshot")
    contains(program.ask("error"), "PROFTAP_RECORDER=1", "messages for the program")
    equal(files(t), [], "written files")


@test
def last_is_refused_for_a_continuous_session(t):
    program = target(t).serve()
    call(t, "start", program.port)
    program.ask("await 1", "burst 5")
    said = fetch(t, "snapshot", program, "--last", 10, code=1).stderr
    contains(said, "no flight recorder runs there, only a continuous session, which --last cannot read", "the message")
    equal(fetch(t, "stop", program).trace.count("burst"), 5, "spans of the session")


@test
def a_wrong_line_is_reported(t):
    port = free_port()
    for words, sentence in {
            ("snapshot", "--last", 5, "--session", "x"): "--last reads the flight recorder, so it excludes --session, except --session recorder",
            ("snapshot", "--last", 0): '--last: bad value "0": must be a positive whole number',
            ("start", "--recorder", "-o", "delay_ms=5"): "delay_ms: not an option of a flight recorder; its options are host_",
            ("start", "--recorder", "--host_tracer_level", 0): "host_tracer_level: 0 records nothing; a flight recorder needs 1",
            ("start", "--recorder", "--session", "x"): "session_id: not an option of a flight recorder",
            ("start", "--session", "recorder"): "that is the flight recorder's name: use --recorder",
            ("start", "--recorder", "-o", "host_tracer_levl=3"): "the nearest known one is host_tracer_level",
    }.items():
        contains(call(t, words[0], port, *words[1:], code=2).stderr, sentence, f"{words}")


@test
def a_dead_programs_recorder_is_listed_and_kept(t):
    program = serve(t, "-")
    program.ask("burst 30")
    program.kill()
    wait_until(lambda: listed(t, program) == ("ended", True), "its end to be seen")
    socket = f"unix:{t.dir}/runtime/proftap/{program.pid}.sock"
    for words in (("capture", socket, 10), ("start", socket), ("monitor", socket, 10, "--count", 1)):
        contains(call(t, *words, code=1).stderr, "the program has ended; proftap snapshot gets its recorded data",
                 f"{words[0]} of one that died")
    for options in (["--keep"], []):
        done = fetch(t, "snapshot", socket, *options)
        equal(done.trace.count("burst"), 30, f"spans with {options}")
        contains(done.stderr, "killed by SIGKILL", f"the message with {options}")
    wait_until(lambda: not (t.dir / "runtime" / "proftap" / f"{program.pid}.sock").exists(), "the server to go")
    said = call(t, "snapshot", program.pid, code=5).stderr
    contains(said, "five minutes", "message about a program that is gone")


# Other servers.

def ask_stranger(t, *words, unknown=b"/proftap.v1.", answer=b"", code=1):
    """Returns the client's messages, and the methods that it called."""
    asked = []

    def script(c):
        asked.append(c.method())
        c.reply(answer)
    port = FakeServer(t, script, unknown=unknown).port
    return call(t, words[0], port, *words[1:], code=code).stderr, asked


@test
def stock_servers_are_not_asked_for_a_recorder(t):
    """GetSnapshot would take the data of somebody's session, and StartContinuousProfiling would begin one."""
    for words in (("start", "--recorder"), ("snapshot", "--last", 5), ("snapshot", "--session", "recorder"),
                  ("stop", "--session", "recorder"), ("stop", "--session", "recorder", "--discard")):
        said, asked = ask_stranger(t, *words)
        contains(said, "no flight recorder there: only proftap's servers can have one", f"{words}")
        equal(asked, [], f"methods that were called for {words}")


@test
def a_session_begun_by_an_older_server_is_reported(t):
    said, _ = ask_stranger(t, "start", "--recorder", unknown=None, answer=field(1, b"s17"))
    contains(said, "that server is older and has no flight recorder; it began a continuous session instead",
             "the message")


# Programs.

@test
def the_environment_starts_a_recorder(t):
    program = serve(t, recorder=0, PROFTAP_RECORDER="1")
    equal(listed(t, program), ("recorder", True), "state")
    program.ask("burst 3")
    equal(fetch(t, "snapshot", program).trace.count("burst"), 3, "spans")
    equal((program.ask("enabled 2"), program.ask("enabled 3")), ("1", "0"), "levels that are recorded")
    program = serve(t, recorder=0, PROFTAP_RECORDER="host_tracer_level=3")
    equal(program.ask("enabled 3"), "1", "level 3 by an option in the environment")
    equal(listed(t, serve(t, recorder=0, PROFTAP_RECORDER="0")), ("idle", False), "state with 0")


@test
def proftap_run_starts_a_recorder(t):
    need_preload()
    port = free_port()
    program = start(t, "-p", port, "--recorder", "--", "/bin/cat", stdin=subprocess.PIPE)
    wait_until(lambda: subprocess.run([PROFTAP, "snapshot", str(port), "--log_dir", t.dir / "logs"],
                                      capture_output=True, check=False).returncode in (0, 3), "a snapshot", 20)
    program.popen.stdin.close()
    finish(program)


@test
def the_environment_overrides_the_programs_options(t):
    program = serve(t, options="host_tracer_level=1", PROFTAP_RECORDER="host_tracer_level=3")
    equal(program.ask("enabled 3"), "1", "level 3")
    equal(serve(t, options="host_tracer_level=1").ask("enabled 2"), "0", "level 2 without the environment")


@test
def wrong_options_fail_the_start(t):
    for options, variable, sentence in (
            ("host_tracer_levl=1", "", "the nearest known one is host_tracer_level"),
            ("host_tracer_level=9", "", 'host_tracer_level: bad value "9": must be 0 to 3'),
            ("duration_ms=5", "", "duration_ms: not an option of a flight recorder; its options are host_tracer_level"),
            ("nothing", "", "nothing: not of the form key=value"),
            ("", "on", 'PROFTAP_RECORDER: bad value "on": must be 1, 0 or KEY=VALUE,...'),
            ("", "a=1", 'a: no such option (value "1")')):
        program = target(t, PROFTAP_RECORDER=variable)
        equal(program.start(0, RING_BYTES, 0, "127.0.0.1", 0, 0, "-", 0, 1, options), -errno.EINVAL,
              f"ptap_server_start_with: {options!r}, {variable!r}")
        contains(program.ask("error"), sentence, "ptap_last_error")


@test
def the_program_writes_runs_for_a_reason(t):
    program = serve(t, t.dir / "runs")
    program.ask("burst 4")
    equal(program.ask("snapshot a slow request"), "0", "ptap_snapshot")
    wait_until(lambda: find_traces(t.dir / "runs"), "the run")
    [path] = find_traces(t.dir / "runs")
    equal(Trace(path).count("burst"), 4, "spans")
    report = call(t, "report", path).stdout
    contains(report, "\nreason: a slow request\n", "the reason")
    contains(report, f"\nwindow: target ({program.pid}): everything\n", "the recorder's window")
    without = serve(t, "-")
    equal(without.ask("snapshot -"), str(-errno.EOPNOTSUPP), "ptap_snapshot without a log directory")
    contains(without.ask("error"), ".log_dir", "the message")
    equal(without.ask("stop"), "0", "ptap_server_stop")


@test
def a_place_that_cannot_be_written_is_reported_until_it_can(t):
    """While the log directory cannot be made, the program's request fails and a client's snapshot has a warning."""
    place = t.dir / "place"
    place.write_text("a file")
    program = serve(t, place / "runs")
    program.ask("burst 4")
    with Profiler(program) as calls:
        says = lambda: [w for w in calls.look_back().space.warnings if "cannot be written" in w]
        equal(len(says()), 1, "warnings before the program has requested a run")
        equal(program.ask("snapshot why"), str(-errno.EIO), "ptap_snapshot")
        contains(program.ask("error"), f"could not write to {place}/runs", "the message")
        place.unlink()
        wait_until(lambda: program.ask("snapshot why") == "0", "ptap_snapshot to succeed")
        equal(says(), [], "warnings afterwards")
    check(list((place / "runs").rglob("*.xplane.pb")), "there is no run")


@test
def a_followed_child_asks_its_ancestors_server(t):
    program = target(t).serve(0, RING_BYTES, 0, "127.0.0.1", 0, 1, t.dir / "runs", 0, 1)
    program.ask("burst 4")
    equal(program.ask("fork_snapshot of a child"), "0", "ptap_snapshot in a child that is followed")
    wait_until(lambda: find_traces(t.dir / "runs"), "the run")
    [path] = find_traces(t.dir / "runs")
    contains(call(t, "report", path).stdout, "\nreason: of a child\n", "the reason")
    equal(Trace(path).count("burst"), 4, "spans of the program")
    equal(serve(t).ask("fork_snapshot x"), str(-errno.ENODATA), "ptap_snapshot in a child that is not followed")


# Calls.

def ask_start(calls, recorder=True, **options):
    request = set_options(own_schema().StartRequest(recorder=recorder), **options)
    stream = calls.start(V1 + "Start", request)
    return calls.finish(stream, "StartReply", None)


@test
def requests_are_checked(t):
    with Profiler(target(t).serve()) as calls:
        request = set_options(own_schema().StartRequest(recorder=True))
        request.options.advanced_configuration["ptap_max_captur_bytes"].int64_value = 1
        for wrong, words in ((set_options(own_schema().StartRequest(recorder=True), duration_ms=5), "duration_ms"),
                             (set_options(own_schema().StartRequest(recorder=True), session_id="x"), '"recorder"'),
                             (set_options(own_schema().StartRequest(), session_id="recorder"), "flight recorder's name"),
                             (set_options(own_schema().StartRequest(recorder=True), host_tracer_level=0), "records nothing"),
                             (request, "ptap_max_capture_bytes")):
            status, text = calls.end(calls.start(V1 + "Start", wrong))
            equal(status, INVALID_ARGUMENT, f"status; {text!r}")
            contains(text, words, "text")
        named = own_schema().SnapshotRequest(session_id="x", last_ms=5)
        equal(calls.end(calls.start(V1 + "Snapshot", named))[0], INVALID_ARGUMENT, "last_ms of a session")


@test
def the_stock_snapshot_reads_the_recorder(t):
    program = serve(t)
    program.ask("burst 6")
    request = schema("profiler_service").GetSnapshotRequest()
    with Profiler(program) as calls:
        for look in range(2):
            answer = calls.finish(calls.start(PROFILER + "GetSnapshot", request))
            equal((answer.status, answer.text), (OK, ""), f"snapshot {look}")
            equal(Trace(data=answer.message.xspace.SerializeToString()).count("burst"), 6, f"spans of snapshot {look}")
    with Profiler(target(t).serve()) as calls:
        equal(calls.finish(calls.start(PROFILER + "GetSnapshot", request)).status, NOT_FOUND, "without a recorder")


run()
