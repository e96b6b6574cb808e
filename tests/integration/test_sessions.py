#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap start, snapshot and stop: no data is lost between snapshots, each server gets the method names that it
knows, and all messages."""
import json
import os
import re
import resource
import signal
import struct
import subprocess
import threading
import time
from pathlib import Path

import small_disk
from checks import SLOWNESS
from fake_server import FakeServer, field, space
from fixture import (SANITIZERS, check, contains, equal, find_proftapd, free_port, run, test,
                     wait_until)
from memory_watch import MemoryWatch, read_memory_kib
from numbered import check_numbers, numbers_in
from processes import PROFTAP, halt, is_recording
from recorded import GONE_S, await_gone, end, is_closed, listed_state, private_socket, record
from recorded import files as files_of_runs
from spools import count_spans, read_spools, report
from trace_file import Trace

N = 60000
WAVES = 1_200_000  # 58 MB of records
MAX_KIB = 128 << 10  # the limit that the manual promises
RING_BYTES = 64 << 20  # a busy machine may run the server only after the program has made all waves
FILED_BYTES = 40_000_000
MAX_HELD_KIB = 32 << 10
NEW_NAMES = (b"/proftap.v1.", b"/tensorflow.ProfilerService/StartContinuousProfiling",
             b"/tensorflow.ProfilerService/GetSnapshot")


def call(*words, code=0):
    done = subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True, timeout=60)
    equal(done.returncode, code, f"exit status of {words}; {done.stderr!r}")
    return done


def fetch(t, command, target, *options, code=0):
    """Runs snapshot or stop with the test's log directory; .trace is the trace that it wrote."""
    done = call(command, getattr(target, "port", target), "--log_dir", t.dir / "logs", *options, code=code)
    if code == 0:
        check(done.stdout.endswith(".xplane.pb\n") and done.stdout.count("\n") == 1,
              f"standard output: {done.stdout!r}")
        done.trace = Trace(Path(done.stdout.rstrip("\n")))
    return done


def files(t):
    return sorted((t.dir / "logs").rglob("*.*"))


@test
def every_instant_is_in_one_of_the_files(t):
    target = t.target().serve(0, 4 << 20)
    started = call("start", target.port)
    check(re.fullmatch(r"\d{4}(_\d\d){5}\n", started.stdout), f"session: {started.stdout!r}")
    contains(started.stderr, f"proftap stop 127.0.0.1:{target.port}", "how to stop")
    check(re.search(r"the newest [\d.]+ .B of records are kept", started.stderr), f"bounds: {started.stderr!r}")
    target.send(f"count {N} {10 * SLOWNESS}")
    traces = [fetch(t, "snapshot", target).trace for _ in range(2)]
    target.read_line()
    traces.append(fetch(t, "stop", target, "--session", started.stdout.strip()).trace)
    found = [numbers_in(trace) for trace in traces]
    lost = sum(trace.host_stat("dropped_traces") for trace in traces)
    equal(lost, 0, "records that the rings had no room for: the test is void")
    check(found[-1], f"instants in each: {list(map(len, found))}")
    check_numbers(sum(found, []), 0, N)
    equal(len(files(t)), 3, "files")
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")


@test
def snapshots_in_one_run_are_reported_as_one_process(t):
    """A span that is open at a snapshot is in two files, cut in the first one. The report counts it once."""
    target = t.target().serve(0, 4 << 20)
    call("start", target.port)
    run_dir = t.dir / "looks/plugins/profile/mine"

    def look(command, name):
        return Trace(Path(call(command, target.port, "--log_dir", t.dir / "looks", "--run", "mine", "--host_name", name).stdout.strip()))

    # New spans begin before each snapshot, so that even a late one has some.
    for _ in range(2):
        target.send("paced 1000 1000")
        wait_until(lambda: look("snapshot", f"look{len(list(run_dir.glob('*.pb')))}").count("paced") > 0,
                   "spans in a snapshot")
    target.obeyed(2)
    look("stop", "last")
    result = json.loads(call("report", "--json", run_dir).stdout)
    equal(count_spans(result), {"paced": 2000}, "spans")
    hosts = [p for p in result["planes"] if p["name"] == "/host:CPU"]
    equal([p["process_id"] for p in hosts], [target.pid], "processes")
    equal([len(p["threads"]) for p in hosts], [1], "threads")
    names = [c["name"] for p in result["planes"] for c in p["counters"]]
    equal(len(names), len(set(names)), f"counters: {names}")
    call("convert", run_dir, "-t", "chrome", "-o", t.dir / "out.json")
    events = json.loads((t.dir / "out.json").read_text())["traceEvents"]
    equal(len([e for e in events if e.get("name") == "process_name"]), 1, "processes in the viewer")
    equal(len([e for e in events if e["ph"] == "X" and e["name"] == "paced"]), 2000, "spans in the viewer")


@test
def long_session_lies_in_files(t):
    target = t.target().serve(0, RING_BYTES)
    server = find_proftapd(target.pid)
    call("start", target.port, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0")
    target.ask(f"flood {WAVES}")
    wait_until(lambda: sum(read_spools(server).values()) >= FILED_BYTES, "the files")
    if SANITIZERS == "no":
        wait_until(lambda: read_memory_kib(server)[0] < MAX_HELD_KIB, "the server's memory to be freed")
    path = call("snapshot", target.port, "--log_dir", t.dir / "logs").stdout.strip()
    equal(count_spans(report(path)), {"wave": WAVES, "flood": WAVES}, "spans")
    wait_until(lambda: not read_spools(server), "the files to be gone")


def check_newest(done):
    """Checks that the oldest of WAVES are not in the snapshot, and are counted as lost."""
    counts = count_spans(report(done.stdout.strip()))
    lost = int(re.search(r"warning: (\d+) records dropped: the oldest", done.stderr)[1])
    equal(counts["wave"] + counts["flood"] + lost, 2 * WAVES, "records in all")
    check(0 <= counts["wave"] - counts["flood"] <= 1, f"the newest: {counts}")
    check(0 < lost < WAVES, f"{lost} records were lost")


@test
def the_oldest_files_go_first_and_are_counted(t):
    target = t.target().serve(0, RING_BYTES)
    call("start", target.port, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0", "--max_bytes", 300 << 20)
    target.ask(f"flood {WAVES}")
    check_newest(call("snapshot", target.port, "--log_dir", t.dir / "logs"))


@test
def without_files_the_newest_that_memory_has_room_for_is_kept(t):
    target = t.target().serve(0, RING_BYTES)
    call("start", target.port, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0")
    server = find_proftapd(target.pid)
    limits = resource.prlimit(server, resource.RLIMIT_NOFILE)
    resource.prlimit(server, resource.RLIMIT_NOFILE, (3, limits[1]))
    target.ask(f"flood {WAVES}")
    resource.prlimit(server, resource.RLIMIT_NOFILE, limits)
    check_newest(call("snapshot", target.port, "--log_dir", t.dir / "logs"))


@test
def a_large_snapshot_takes_little_memory(t):
    # The ring is part of the memory, so it is small, and may be full on a busy machine.
    target = t.target().serve(0, RING_BYTES // 4)
    call("start", target.port, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0")
    target.ask(f"flood {WAVES}")
    watch = MemoryWatch(find_proftapd(target.pid))
    path = call("snapshot", target.port, "--log_dir", t.dir / "logs").stdout.strip()
    watch.end()
    said = report(path)
    n_spans, n_lost = sum(count_spans(said).values()), said["totals"]["dropped"]
    equal(n_spans + n_lost, 2 * WAVES, "spans and losses")
    check(n_spans > WAVES, f"only {n_spans} spans are in the snapshot")
    if SANITIZERS == "no":
        check(watch.whole_kib < MAX_KIB, f"{watch.whole_kib} KiB of memory")


@test
def the_files_can_be_split(t):
    target = t.target().serve(0, 4 << 20)
    call("start", target.port, "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0")
    target.ask(f"count {N} 10")
    found = []
    for command in ("snapshot", "stop"):
        options = ("--log_dir", t.dir / "logs", "--host_name", command, "--split=100000")
        paths = call(command, target.port, *options).stdout.splitlines()
        check(command == "stop" or len(paths) > 3, f"files: {paths}")
        found += [numbers_in(Trace(Path(path))) for path in paths]
        target.ask("burst 20000")
    equal(sum(map(len, found)), N, "instants")
    check_numbers(sum(found, []), 0, N)


@test
def options_are_those_of_a_capture(t):
    target = t.target().serve()
    call("start", target.port, "--session", "mine", "--host_tracer_level", 1)
    target.ask("await 1")
    equal(target.ask("enabled 2"), "0", "level 2")
    said = call("capture", target.port, 10, code=4).stderr
    contains(said, f"; if it is yours, proftap stop 127.0.0.1:{target.port} ends it\n", "the message to a capture")
    said = call("start", target.port, code=4).stderr
    contains(said, "session mine: until it is stopped", "owner of the session")
    contains(said, f"ends by proftap stop 127.0.0.1:{target.port}", "the remedy")
    contains(call("start", target.port, "-o", "ptap_max_capture_byte=1", code=2).stderr,
             "ptap_max_capture_bytes", "the nearest key")
    contains(call("start", target.port, "--delay_ms", 10, code=2).stderr, "for proftap capture", "delay")
    contains(call("start", f"{target.port},1", code=2).stderr, "2 targets given; only one is allowed",
             "message about two targets")
    contains(fetch(t, "snapshot", target, "--session", "other", code=1).stderr,
             "no continuous session other runs there", "another session")
    target.ask("burst 3")
    equal(fetch(t, "stop", target, "--session", "mine").trace.count("burst"), 3, "spans")


@test
def snapshot_without_a_session_says_how_to_begin_one(t):
    target = t.target().serve()
    for command in ("snapshot", "stop"):
        for options in ((), ("--discard",))[:1 + (command == "stop")]:
            contains(fetch(t, command, target, *options, code=1).stderr,
                     "neither a continuous session nor a flight recorder runs there; begin one with proftap "
                     f"start 127.0.0.1:{target.port}, or with --recorder", command)
        fetch(t, command, free_port(), code=5)
    call("start", free_port(), code=5)
    equal(files(t), [], "written files")


@test
def a_stopped_program_is_reported_at_the_end(t):
    target = t.target().serve()
    call("start", target.port)
    target.ask("burst 10")
    halt(target.pid)
    for command, n, is_last in (("snapshot", 10, False), ("stop", 0, True)):
        done = fetch(t, command, target)
        equal(done.trace.count("burst"), n, f"spans of the {command}")
        equal("(SIGSTOP or a debugger) when the recording ended" in done.stderr, is_last, f"said by {command}")
    os.kill(target.pid, signal.SIGCONT)


@test
def a_stop_is_reported_by_the_snapshot_that_it_was_in(t):
    target = t.target().serve()
    call("start", target.port)
    target.ask("burst 10")
    halt(target.pid)
    time.sleep(0.6)
    os.kill(target.pid, signal.SIGCONT)
    target.ask("burst 10")
    said = [fetch(t, "snapshot", target).stderr]
    target.ask("burst 10")
    said.append(fetch(t, "snapshot", target).stderr)
    target.ask("burst 10")
    said.append(fetch(t, "stop", target).stderr)
    equal([bool(re.search(r"stopped \(SIGSTOP or a debugger\) for about ([5-9]\d\d|\d{4,}) ms", s)) for s in said], [True, False, False],
          f"which outputs report the length of the stop: {said}")
    equal(["SIGSTOP" in s for s in said], [True, False, False], f"which outputs report the stop: {said}")


@test
def discarded_session_is_not_written(t):
    target = t.target().serve()
    call("start", target.port)
    target.ask("await 1", "burst 3")
    result = json.loads(fetch_json(t, "stop", target, "--discard"))
    equal((result["exit"], result["file"]), (0, None), "the result")
    wait_until(lambda: target.ask("enabled 1") == "0", "the recording to be off")
    equal(files(t), [], "written files")
    fetch(t, "stop", target, code=1)


def fetch_json(t, command, target, *options):
    return call(command, target.port, "--log_dir", t.dir / "logs", "--json", *options).stdout


@test
def a_capture_that_is_stopped_keeps_its_data(t):
    target = t.target().serve()
    capture = t.record(target, 60000)
    target.ask("burst 3")
    contains(fetch(t, "stop", target, code=3).stderr, "this command ended a capture, whose data goes to the client that started it", "the sentence")
    equal(capture.finish().trace.count("burst"), 3, "spans of the capture")
    check(re.search(r"warning: ended after \d+ of 60,?000 ms by somebody else", capture.stderr),
          f"message for the client that began it: {capture.stderr!r}")
    equal(files(t), [], "file that stop wrote")


@test
def a_run_that_is_named_is_joined_and_not_overwritten(t):
    target = t.target().serve()
    call("start", target.port)
    path = Path(fetch(t, "snapshot", target, "--run", "one").stdout.strip())
    equal(path.parent.name, "one", "the run")
    fetch(t, "snapshot", target, "--run", "one", code=1)
    check(is_recording(target.pid), "the session ended")
    other = Path(fetch(t, "stop", target, "--run", "one", "--host_name", "b").stdout.strip())
    equal(sorted(p.name for p in path.parent.iterdir()), sorted([path.name, other.name]), "files")


def answer_as_stock(c, calls, fail_stop=False):
    calls.append(c.method())
    if "Snap" in calls[-1]:
        c.reply(field(8, space(3, warnings=["of the server"])))
    elif fail_stop and calls[-1].startswith("Stop"):
        c.fail(13, "not today")
    else:
        c.reply(b"")


def check_stock(t, names, unknown):
    calls = []
    port = FakeServer(t, lambda c: answer_as_stock(c, calls), unknown=unknown, repeats=True).port
    started = call("start", port)
    contains(started.stderr, "keeps all data until a snapshot is taken", "the limit")
    equal(started.stdout, "", "the name of a session that has none")
    shown = fetch(t, "snapshot", port)
    contains(shown.stderr, "starts a new recording with each snapshot", "the gap")
    equal(len(shown.trace.threads), 1, "threads")
    fetch(t, "stop", port, "--session", "x")
    call("stop", port, "--discard")
    equal(calls, [names[0], names[1], names[1], "StopContinuousProfiling", "StopContinuousProfiling"],
          "the methods called")


@test
def stock_servers_get_requests_by_their_names(t):
    check_stock(t, ("StartContinuousProfiling", "GetSnapshot"), b"/proftap.v1.")


@test
def a_snapshot_that_a_stock_server_keeps_is_reported_without_a_path(t):
    port = FakeServer(t, lambda c: c.reply(b""), unknown=b"/proftap.v1.").port
    done = fetch(t, "snapshot", port, code=1)
    contains(done.stderr, "the server kept the trace: it sent none", "standard error")
    check(str(t.dir) not in done.stderr, f"a path that the server did not get: {done.stderr!r}")
    equal(files(t), [], "files")


@test
def older_stock_servers_get_requests_by_older_names(t):
    check_stock(t, ("ContinuousProfiling", "GetSnapShot"), NEW_NAMES)


@test
def oldest_stock_servers_have_no_sessions(t):
    port = FakeServer(t, None, unknown=b"/").port
    for command in ("start", "snapshot", "stop"):
        contains(call(command, port, code=1).stderr, "no continuous profiling there", command)


def check_refused_early(t, **where):
    sent = []

    def script(c):
        c.headers()
        c.data(b"\0" + struct.pack(">I", 0xffffffff))
        for _ in range(4096):
            c.data(bytes(1 << 20))
            sent.append(1)
    port = FakeServer(t, script, unknown=None, **where).port
    contains(call("start", port, code=1).stderr, "the answer is refused: it is larger than 65536 bytes", "start")
    check(len(sent) < 64, f"{len(sent)} MiB were taken")


@test
def an_answer_without_end_is_refused_early(t):
    check_refused_early(t)
    check_refused_early(t, path=t.dir / "s.sock")


@test
def the_data_is_written_though_the_end_fails(t):
    calls = []
    port = FakeServer(t, lambda c: answer_as_stock(c, calls, fail_stop=True), repeats=True).port
    done = call("stop", port, "--log_dir", t.dir / "logs", code=1)
    contains(done.stderr, "INTERNAL: not today; the session goes on: proftap stop ", "the sentence")
    check(Path(done.stdout.strip()).is_file(), f"no file: {done.stdout!r}")


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 10, 20 << 10))


def stop_with(t, target, code, log_dir=None, **how):
    words = [PROFTAP, "stop", str(target), "--log_dir", log_dir or t.dir / "logs"]
    how.setdefault("stderr", subprocess.PIPE)
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60, **how)
    equal(done.returncode, code, f"exit status; {done.stderr!r}")
    return done


def serve_stock(t, calls, n_spans=20000, before_data=None):
    def script(c):
        method = c.method()
        calls.append(method)
        if "Snap" in method and before_data:
            before_data(c)
        c.reply(field(8, space(n_spans)) if "Snap" in method else b"")
    return FakeServer(t, script, unknown=b"/proftap.v1.", repeats=True).port


def begin_large(t):
    """Begins a session of proftap's own server that has 20,000 spans, and returns its port."""
    target = t.target().serve(0, 4 << 20)
    call("start", target.port)
    target.ask("await 1", "burst 20000")
    return target.port


def check_kept(t, done):
    check(".broken" in done.stderr, f"standard error: {done.stderr!r}")
    kept, = (t.dir / "logs").rglob("*.broken")
    check(kept.stat().st_size > 0, "kept file is empty")
    contains(done.stderr, f"the data received so far is in {kept}; the session has ended", "the sentence")
    check(sum(count_spans(report(kept)).values()) > 0, "no span can be read back")


@test
def trace_that_cannot_be_written_is_kept_as_far_as_possible(t):
    calls = []
    for port in (serve_stock(t, calls), begin_large(t)):
        check_kept(t, stop_with(t, port, 1, preexec_fn=limit_files))
        for kept in (t.dir / "logs").rglob("*.broken"):
            kept.unlink()
    equal(calls, ["GetSnapshot", "StopContinuousProfiling"], "the methods called")


@test
def full_log_directory_is_replaced_by_another(t):
    log_dir = small_disk.mount(t)
    calls = []
    for port, name in ((serve_stock(t, calls), "span"), (begin_large(t), "burst")):
        done = stop_with(t, port, 0, log_dir=log_dir, env={**os.environ, "TMPDIR": str(t.dir)})
        contains(done.stderr, "no space left on device; free some space or choose another log directory; "
                 "the trace is in another directory instead", "standard error")
        path = Path(done.stdout.strip())
        check(path.is_relative_to(t.dir) and not path.is_relative_to(log_dir), f"the place: {path}")
        equal(count_spans(report(path)), {name: 20000}, "spans")
        equal([p.name for p in log_dir.iterdir()], [], "remaining files in the log directory")
    equal(calls, ["GetSnapshot", "StopContinuousProfiling"], "the methods called")


@test
def a_summary_that_nobody_reads_leaves_no_session_running(t):
    calls = []
    read_end, write_end = os.pipe()
    os.close(read_end)
    stop_with(t, serve_stock(t, calls, 3), -signal.SIGPIPE, stderr=write_end,
              preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    os.close(write_end)
    equal(calls, ["GetSnapshot", "StopContinuousProfiling"], "the methods called")
    equal(len(list((t.dir / "logs").rglob("*.xplane.pb"))), 1, "files")


def signal_is_pending(pid, number):
    pending = re.search(r"^ShdPnd:\t(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    return bool(int(pending, 16) & 1 << number - 1)


def begin_stop_that_waits(t, calls):
    """Begins a stop whose server keeps the data back until .go_on is set; .port is the server's."""
    asked, go_on = threading.Event(), threading.Event()

    def hold(_c):
        asked.set()
        go_on.wait(60)
    port = serve_stock(t, calls, 3, before_data=hold)
    child = subprocess.Popen([PROFTAP, "stop", str(port), "--log_dir", t.dir / "logs"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.port, child.go_on = port, go_on
    check(asked.wait(60), "the server was not asked")
    return child


def interrupt(child):
    child.send_signal(signal.SIGINT)
    wait_until(lambda: not signal_is_pending(child.pid, signal.SIGINT), "the interrupt to be taken")


@test
def an_interrupt_does_not_leave_a_session_running(t):
    calls = []
    child = begin_stop_that_waits(t, calls)
    interrupt(child)
    child.go_on.set()
    out, said = child.communicate(timeout=60)
    equal(child.returncode, 0, f"exit status; {said!r}")
    check(Path(out.strip()).is_file(), f"no file: {out!r}")
    contains(said, "captured", "the summary")
    equal(calls, ["GetSnapshot", "StopContinuousProfiling"], "the methods called")


@test
def interrupted_stop_says_that_the_session_goes_on(t):
    child = begin_stop_that_waits(t, [])
    interrupt(child)
    interrupt(child)
    _, said = child.communicate(timeout=60)
    child.go_on.set()
    equal(child.returncode, 130, f"exit status; {said!r}")
    contains(said, f"the session goes on: proftap stop 127.0.0.1:{child.port} --discard ends it", "the sentence")


def begin_and_die(t):
    """Returns a program that was killed in a session with 1,000 spans, and the process that holds them."""
    target = t.target().serve(0, 1 << 20)
    contains(call("start", target.pid).stderr, "if the program dies, the session's data is kept for five minutes", "start")
    target.ask("await 1", "burst 1000")
    return target, end(target)


@test
def session_outlives_its_program(t):
    for command in ("snapshot", "stop"):
        target, server = begin_and_die(t)
        wait_until(lambda: is_closed(target.port), "the port to be closed", GONE_S)
        equal(listed_state(t, target), "ended", "the state in the list")
        kept = call("snapshot", target.pid, "--keep", "--log_dir", t.dir / "logs")
        done = call(command, target.pid, "--log_dir", t.dir / "logs")
        for path in (kept.stdout.strip(), done.stdout.strip()):
            equal(Trace(Path(path)).count("burst"), 1000, "spans")
        contains(done.stderr, "killed by SIGKILL", "state of the program")
        await_gone(server)
        said = call(command, target.pid, code=5).stderr
        check(re.search(rf"(no process|pid) {target.pid}\b", said) and "five minutes" in said and
              "ptap_server_start" not in said, f"message afterwards: {said!r}")


@test
def a_dead_programs_session_can_be_dropped(t):
    target, server = begin_and_die(t)
    call("stop", target.pid, "--discard")
    await_gone(server)


@test
def a_program_that_ended_well_leaves_nothing_held(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    call("start", target.port)
    target.ask("await 1", "burst 3")
    target.popen.stdin.close()
    equal(target.wait(), 0, "exit status")
    await_gone(server)


@test
def a_recorder_beside_the_session_is_written_all_the_same(t):
    log_dir = t.dir / "runs"
    log_dir.mkdir()
    target = record(t, log_dir)
    call("start", target.port)
    target.ask("await 1", "burst 10")
    server = end(target)
    wait_until(lambda: files_of_runs(log_dir), "the recorder's run", GONE_S)
    path = call("stop", private_socket(t, target), "--log_dir", t.dir / "logs").stdout.strip()
    equal(Trace(Path(path)).count("burst"), 10, "spans of the session")
    await_gone(server)


@test
def a_number_above_ports_is_a_pid(t):
    unused = 65536
    while Path(f"/proc/{unused}").exists():
        unused += 1
    for command in ("ps", "stop", "snapshot"):
        said = call(command, unused, code=5).stderr
        contains(said, f"pid {unused}: no such process", command)
        check("port" not in said, f"a port in {said!r}")


run()
