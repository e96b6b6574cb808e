#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ptap_trace_start() and ptap_trace_stop(), by which the program records itself, with and without a server."""
import errno
import os
import resource
import signal
import socket
import subprocess
import time

from checks import in_time
from fixture import (NOBODY, SANITIZERS, check, contains, equal, find_proftapd, find_proftapds, need_root,
                     read_status, run, test, timed, wait_until)
from processes import PROFTAP
from trace_file import Trace


def find_files(log_dir):
    return sorted(log_dir.rglob("*.xplane.pb"))


def only_file(log_dir):
    found = find_files(log_dir)
    equal(len(found), 1, f"files in {sorted(log_dir.rglob('*'))}")
    return found[0]


def start_trace(target, log_dir, *options):
    equal(target.ask(" ".join(map(str, ("trace_start", log_dir, *options)))), "0",
          "ptap_trace_start")


def stop_trace(target):
    answer = target.ask("trace_stop")
    equal(answer, "0", f"ptap_trace_stop: {target.ask('error')}")


def refuse(target, code, log_dir, *options):
    """Checks that a start fails, and returns the reason."""
    equal(target.ask(" ".join(map(str, ("trace_start", log_dir, *options)))), str(-code),
          "ptap_trace_start")
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1)")
    return target.ask("error")


def wait_without_server(target):
    wait_until(lambda: not find_proftapds(target.pid), "the server to end", 5)


def read_fds(pid):
    return sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd"))


@test
def a_trace_needs_no_server(t):
    target = t.target()
    log_dir = t.dir / "logs"
    start_trace(target, log_dir)
    equal((target.ask("port"), target.ask("enabled 2")), ("0", "1"), "port and level")
    listed = subprocess.run([PROFTAP, "list"], capture_output=True, text=True, timeout=20).stdout
    check(f" {target.pid} " not in f" {listed} ", f"the program is listed, but nobody can connect to it: {listed}")
    target.ask("burst 100")
    stop_trace(target)
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1) after the stop")
    target.ask("burst 7")
    path = only_file(log_dir)
    equal(path.name, f"{socket.gethostname()}_target_{target.pid}.xplane.pb", "the file's name")
    equal(path.parent.parent, log_dir / "plugins/profile", "the directory of runs")
    trace = Trace(path)
    equal(trace.count("burst"), 100, "spans")
    check("process cpu %" in trace.usage, f"counters {sorted(trace.usage)}")
    equal(list(trace.space.warnings), [], "warnings")
    report = subprocess.run([PROFTAP, "report", path], capture_output=True, text=True, timeout=20)
    equal(report.returncode, 0, "proftap report")
    contains(report.stdout, "spans 100 on 1 thread", "the report")
    wait_without_server(target)
    if SANITIZERS == "no":
        equal(list(target.thread_names().values()), ["target"], "threads")
        equal(read_fds(target.pid), [0, 1, 2], "descriptors")


@test
def a_relative_directory_is_the_programs_at_the_start(t):
    target = t.target()
    t.public_dir("work")
    equal(target.ask(f"chdir {t.dir / 'work'}"), "0", "chdir")
    start_trace(target, "my/logs")
    target.ask("chdir /", "burst 3")
    stop_trace(target)
    equal(Trace(only_file(t.dir / "work/my/logs")).count("burst"), 3, "spans")


@timed
def a_capture_and_a_trace_exclude_each_other(t):
    target = t.target().serve()
    log_dir = t.dir / "logs"
    capture = t.begin(target)
    target.ask("burst 10")
    begin = time.monotonic()
    equal(target.ask(f"trace_start {log_dir}"), str(-errno.EBUSY), "ptap_trace_start")
    in_time(time.monotonic() - begin, 1, "the refusal")
    contains(target.ask("error"), "a capture is being recorded", "ptap_last_error")
    target.ask("burst 5")
    equal(t.stop(target, capture).trace.count("burst"), 15, "spans of the capture")
    check(not log_dir.exists(), "a refused trace has left a directory")

    start_trace(target, log_dir)
    target.ask("burst 20")
    busy = t.capture(target, 100, code=4)
    contains(busy.stderr, "busy", "standard error")
    contains(busy.stderr, "a trace of the program's own, begun ", "standard error")
    target.ask("burst 3")
    stop_trace(target)
    path = only_file(log_dir)
    equal(path.name, f"{socket.gethostname()}_{target.port}.xplane.pb", "the file's name")
    equal(Trace(path).count("burst"), 23, "spans of the trace")
    equal(t.emit(target, 200, "burst 4").trace.count("burst"), 4, "spans of the next capture")


@test
def recording_of_a_dying_program_is_written(t):
    for has_server in (False, True):
        for command in ("kill", "crash", "exec"):
            target = t.target()
            log_dir = t.dir / f"logs-{has_server}-{command}"
            if has_server:
                target.serve()
            start_trace(target, log_dir)
            target.ask("burst 50")
            if command == "kill":
                target.signal(signal.SIGKILL)
            else:
                target.send(command)
            path = wait_until(lambda d=log_dir: find_files(d), "the file", 10)[0]
            trace = Trace(path)
            equal(trace.count("burst"), 50, "spans")
            words = "became another program (execve)" if command == "exec" else "ended"
            check(any(f"(pid {target.pid}) {words}" in w for w in trace.space.warnings), f"warnings {list(trace.space.warnings)}")


@test
def a_bad_directory_fails_at_the_start(t):
    target = t.target()
    (t.dir / "file").write_text("")
    contains(refuse(target, errno.EINVAL, t.dir / "file"), "not a directory", "the error")
    contains(refuse(target, errno.EACCES, "/sys/nowhere"), "not permitted", "the error")
    contains(refuse(target, errno.EIO, "/proc/nowhere"), "/proc/nowhere: cannot make", "the error")
    contains(refuse(target, errno.EINVAL, "x" * 400), "file name too long", "the error")
    wait_without_server(target)
    equal(sorted(p.name for p in t.dir.iterdir()), ["file"], "remaining files")
    start_trace(target, t.dir / "logs")
    target.ask("burst 1")
    stop_trace(target)


@test
def a_full_disk_is_reported_at_the_stop_and_leaves_nothing(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    log_dir = t.dir / "logs"
    start_trace(target, log_dir)
    target.ask("burst 30000")
    _, hard = resource.prlimit(server, resource.RLIMIT_FSIZE)
    resource.prlimit(server, resource.RLIMIT_FSIZE, (4096, hard))
    equal(target.ask("trace_stop"), str(-errno.ENOSPC), "ptap_trace_stop")
    contains(target.ask("error"), "cannot write the trace", "ptap_last_error")
    check(not log_dir.exists(), f"left: {sorted(log_dir.rglob('*'))}")
    resource.prlimit(server, resource.RLIMIT_FSIZE, (hard, hard))
    start_trace(target, log_dir)
    target.ask("burst 2")
    stop_trace(target)
    equal(Trace(only_file(log_dir)).count("burst"), 2, "spans of the next trace")


@test
def options_are_checked_by_the_server(t):
    target = t.target()
    log_dir = t.dir / "logs"
    for option, parts in (
            ("ptap_usage_intervall_ms=5", ("ptap_usage_intervall_ms", "ptap_usage_interval_ms")),
            ("ptap_usage_interval_ms=fast", ("ptap_usage_interval_ms", "fast", "0 to 60000")),
            ("host_tracer_level=4", ("host_tracer_level", "4", "0 to 3")),
            ("session_id=../../etc", ("session_id", "../../etc")),
            ("gpu_" + "x" * 60 + "=1", ("gpu_xxx",))):
        why = refuse(target, errno.EINVAL, log_dir, option)
        for part in parts:
            contains(why, part, "ptap_last_error")
    equal(target.ask("trace_start"), str(-errno.EINVAL), "a trace without a directory")
    check(not log_dir.exists(), "a refused trace has left a directory")
    start_trace(target, log_dir, "host_tracer_level=1", "ptap_usage_interval_ms=0", "ptap_sample_hz=0",
                "session_id=mine", "unheard_of=1")
    equal((target.ask("enabled 1"), target.ask("enabled 2")), ("1", "0"), "levels")
    target.ask("burst 1")
    stop_trace(target)
    path = only_file(log_dir)
    equal(path.parent.name, "mine", "the run")
    trace = Trace(path)
    equal(trace.usage, {}, "counters of usage")
    check(any("unheard_of" in w for w in trace.space.warnings), f"{list(trace.space.warnings)}")
    contains(refuse(target, errno.EEXIST, log_dir, "session_id=mine"), "exists already",
             "ptap_last_error")
    equal(Trace(path).count("burst"), 1, "spans of the file that was there")


@test
def a_duration_ends_the_trace_and_a_delay_begins_it(t):
    target = t.target()
    log_dir = t.dir / "logs"
    start_trace(target, log_dir, "duration_ms=200", "delay_ms=300")
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1) before its time")
    target.ask("await 1", "burst 5")
    path = wait_until(lambda: find_files(log_dir), "the file", 10)[0]
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1) after its time")
    contains(refuse(target, errno.EALREADY, log_dir), "ptap_trace_stop() first", "the error")
    stop_trace(target)
    trace = Trace(path)
    equal(trace.count("burst"), 5, "spans")
    env = trace.environment
    length_ns = env["profile_stop_time"].value - env["profile_start_time"].value
    check(200e6 <= length_ns < 2e9, f"it recorded {length_ns} ns")


@timed
def a_trace_can_be_ended_before_its_time(t):
    target = t.target()
    log_dir = t.dir / "logs"
    for delay_ms in (3600 * 1000, 2**63 - 1):
        start_trace(target, log_dir, f"delay_ms={delay_ms}", "ptap_usage_interval_ms=0", "ptap_sample_hz=0")
        begin = time.monotonic()
        equal(target.ask("enabled 1"), "0", "ptap_enabled(1) before its time")
        equal(target.ask("trace_stop"), str(-errno.ENODATA), "ptap_trace_stop")
        in_time(time.monotonic() - begin, 2, "the stop")
        check(not log_dir.exists(), "an empty trace has left a directory")


@test
def nothing_recorded_is_an_error_and_no_file(t):
    target = t.target()
    start_trace(target, t.dir / "logs", "ptap_usage_interval_ms=0", "ptap_sample_hz=0")
    equal(target.ask("trace_stop"), str(-errno.ENODATA), "ptap_trace_stop")
    contains(target.ask("error"), "empty", "ptap_last_error")
    check(not (t.dir / "logs").exists(), "an empty trace has left a directory")
    start_trace(target, t.dir / "logs")
    stop_trace(target)
    contains(str(list(Trace(only_file(t.dir / "logs")).space.warnings)),
             "no annotation was recorded", "warnings of a trace of usage only")


@test
def start_and_stop_come_in_pairs(t):
    target = t.target()
    equal(target.ask("trace_stop"), str(-errno.EINVAL), "stop without start")
    contains(target.ask("error"), "no trace was started", "ptap_last_error")
    start_trace(target, t.dir / "logs", "-")
    equal(target.ask(f"trace_start {t.dir}"), str(-errno.EALREADY), "second start")
    target.ask("burst 1")
    stop_trace(target)
    equal(target.ask("trace_stop"), str(-errno.EINVAL), "second stop")


@test
def a_server_may_be_started_after_a_trace_of_its_own(t):
    target = t.target()
    start_trace(target, t.dir / "logs")
    equal(target.start(), -errno.EBUSY, "ptap_server_start in a trace without a server")
    contains(target.ask("error"), "ptap_trace_stop() first", "ptap_last_error")
    target.ask("burst 1")
    stop_trace(target)
    target.serve()
    equal(t.emit(target, 200, "burst 4").trace.count("burst"), 4, "spans of a capture")


@timed
def stopping_the_server_ends_its_trace_with_the_data(t):
    for has_server in (True, False):
        target = t.target()
        log_dir = t.dir / f"logs-{has_server}"
        if has_server:
            target.serve()
        start_trace(target, log_dir)
        target.ask("burst 9")
        begin = time.monotonic()
        equal(target.ask("stop"), "0", "ptap_server_stop")
        in_time(time.monotonic() - begin, 1.5, "the stop")
        stop_trace(target)
        trace = Trace(only_file(log_dir))
        equal(trace.count("burst"), 9, "spans")
        check(any("stopped its server" in w for w in trace.space.warnings), "no warning")
        check(len(trace.usage["process cpu %"].events) >= 2, "no sample at the end")
        wait_without_server(target)


@test
def a_server_that_dies_is_reported_and_replaced(t):
    target = t.target()
    start_trace(target, t.dir / "logs")
    target.ask("burst 9")
    os.kill(find_proftapd(target.pid), signal.SIGKILL)
    equal(target.ask("trace_stop"), str(-errno.ECHILD), "ptap_trace_stop")
    contains(target.ask("error"), "ended before the trace was written", "ptap_last_error")
    start_trace(target, t.dir / "more")
    target.ask("burst 2")
    stop_trace(target)
    equal(Trace(only_file(t.dir / "more")).count("burst"), 2, "spans")


@test
def a_program_that_gave_up_its_rights_gets_no_files(t):
    need_root()
    target = t.target().serve()
    log_dir = t.public_dir("logs")
    equal(target.ask(f"setuid {NOBODY}"), "0", "setresuid")
    why = refuse(target, errno.EACCES, log_dir)
    contains(why, "changed its user", "ptap_last_error")
    equal(list(log_dir.iterdir()), [], "files that root's server wrote for another user")


@test
def disabled_proftap_makes_no_trace_and_no_error(t):
    target = t.target(PROFTAP_DISABLE="1")
    start_trace(target, t.dir / "logs")
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1)")
    stop_trace(target)
    check(not (t.dir / "logs").exists(), "a trace that is switched off has made a directory")


def read_standing(pid):
    status = read_status(pid)
    return len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])


def read_rss_kib(pid):
    return int(read_status(pid)["RssAnon"].split()[0])


def cycle(target, log_dir, n):
    for _ in range(n):
        target.send(f"trace_start {log_dir}", "burst 10", "trace_stop")
        equal([target.read_line() for _ in range(3)], ["0", "10", "0"], "start, burst, stop")


@test
def a_hundred_traces_leak_nothing(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    log_dir = t.dir / "logs"
    cycle(target, log_dir, 10)
    standing = read_standing(server), read_standing(target.pid)
    rss_kib = read_rss_kib(server), read_rss_kib(target.pid)
    cycle(target, log_dir, 90)
    equal((read_standing(server), read_standing(target.pid)), standing,
          "descriptors and threads of server and target")
    after_kib = read_rss_kib(server), read_rss_kib(target.pid)
    if SANITIZERS == "no":
        check(after_kib[0] - rss_kib[0] < 512 and after_kib[1] - rss_kib[1] < 128,
              f"KiB of server and target: {rss_kib}, then {after_kib}")
    equal(len(find_files(log_dir)), 100, "files")
    equal([p for p in log_dir.rglob(".proftap*")], [], "temporary files")


@test
def traces_without_a_server_leave_no_server(t):
    target = t.target()
    cycle(target, t.dir / "logs", 10)
    wait_without_server(target)
    if SANITIZERS == "no":
        equal(read_standing(target.pid), (3, 1), "descriptors and threads of the target")
    equal(len(find_files(t.dir / "logs")), 10, "files")


run()
