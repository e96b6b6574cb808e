#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap run with programs that need not start a server: they are recorded, or get one."""
import errno
import json
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

from checks import in_time, not_void
from fixture import check, contains, equal, find_proftapds, free_port, is_alive, run, staged, test, timed, wait_until
from processes import LIBRARY, PROFTAP, TARGET, Process
from running import SHELL, find_files, finish, make_environment, need_preload, obey, record, start
from trace_file import Trace


@test
def annotations_at_the_start_are_recorded(t):
    process = record(t, TARGET, stdin=obey(t, "burst 1000"))
    equal(process.trace.count("burst"), 1000, "spans")
    pid = re.search(r"of target \(pid (\d+)\)", process.stderr)[1]
    equal(process.path.name, f"{socket.gethostname()}_target_{pid}.xplane.pb", "the file")


@test
def options_of_run_apply_to_the_recording(t):
    for options, n in ((("-o", "host_tracer_level=0"), 0), (("--host_tracer_level", "1", "-p", "0"), 1000)):
        process = record(t, TARGET, stdin=obey(t, "burst 1000"), options=options)
        equal(process.trace.count("burst"), n, f"spans with {options}")
        process.path.unlink()


@timed
def a_program_waits_for_a_recording_without_annotations_no_longer_than_for_others(t):
    """Otherwise it would wait for 5 s, all of which would be recorded."""
    process = record(t, "/bin/true", options=("--host_tracer_level", "0"))
    in_time(process.trace.duration_ms / 1000, 4, "the recording")


@timed
def a_program_does_not_wait_for_an_unwritable_recording(t):
    need_preload()
    (t.dir / "file").write_text("")
    started = time.monotonic()
    process = finish(start(t, "--log_dir", t.dir / "file", "--", SHELL, "-c", "exit 3"), 3)
    in_time(time.monotonic() - started, 4, "the program")
    equal(process.stderr, f"{t.dir}/file: cannot be used: not a directory; choose another log directory\n", "the message")


@test
def an_option_requests_a_recording(t):
    need_preload()
    process = finish(start(t, "-p", 0, "-o", "nobodys_key=1", "--", "/bin/true", env={"PROFTAP_LOG_DIR": str(t.dir / "logs")}))
    file, = find_files(t)
    contains(process.stderr, f"{file}\n", "place of the file")
    contains(process.stderr, "nobodys_key: ", "message about an unknown option")


@test
def python_calls_that_nobody_records_are_reported(t):
    need_preload()
    code = "sum(len(str(i)) for i in range(10000))"
    process = record(t, sys.executable, "-c", code, options=("--python_tracer_level", "1"))
    words = "python_tracer_level: ignored: proftap's servers record no Python calls"
    equal(len([w for w in process.trace.space.warnings if w.startswith(words)]), 1, "warnings in the trace")
    contains(process.stderr, words, "standard error")


@test
def a_program_without_annotations_is_recorded_too(t):
    process = record(t, "/bin/sleep", "0.3")
    host = process.trace.host_stats
    equal(host["ptap_process_name"].value, "sleep", "the process")
    equal([w for w in process.trace.space.warnings if "ended" in w], [], "warnings of the end")
    check("into the recording" not in process.stderr, f"a remark on an expected end: {process.stderr}")
    check(process.trace.usage, "no usage counters")
    contains(process.stderr, "records (levels 1 and 2) while the recording ran; host_tracer_level 3 records all\n", "the advice")


PROGRAM = """
import os, sys
print(sys.argv[1:], sys.stdin.read())
print(sorted((k, v) for k, v in os.environ.items()
      if k != "LD_PRELOAD" and not k.startswith(("PROFTAP_", "NVTX_", "CUDA_"))), os.getcwd(), file=sys.stderr)
print(sorted(os.listdir("/proc/self/fd")))
sys.exit(7)
"""


@test
def run_changes_neither_output_nor_environment(t):
    words = [sys.executable, "-c", PROGRAM, "--json", "-p", "a b", ""]
    env = make_environment(t)
    plain = finish(t.keep(Process("plain", words, env, stdin=obey(t, "typed"))), 7)
    process = record(t, *words, code=7, stdin=obey(t, "typed"))
    equal(process.stdout, plain.stdout, "standard output")
    equal(process.err[0], plain.err[0], "environment and folder")


@test
def signals_are_left_as_they_were(t):
    # A shell would reset the signals.
    words = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    need_preload()
    plain = finish(t.keep(Process("plain", words)))
    equal(record(t, *words).stdout, plain.stdout, "signals")


@test
def the_status_of_a_killed_program_says_so(t):
    record(t, SHELL, "-c", "kill -9 $$", code=128 + signal.SIGKILL)


@test
def a_wrapper_that_becomes_the_program_leaves_no_trace(t):
    process = record(t, "env", "A=1", SHELL, "-c", f"exec {TARGET}", stdin=obey(t, "burst 10"))
    equal(process.trace.count("burst"), 10, "spans")
    contains(process.path.name, "_target_", "the file")


def list_within(t, *options):
    """Returns the names of the targets that a child of the program sees in proftap list."""
    listing = f"{shlex.quote(str(PROFTAP))} list --json; true"
    process = record(t, SHELL, "-c", listing, options=options)
    rows = json.loads(process.stdout)["targets"]
    return sorted(row["name"] for row in rows if row["socket"].startswith(str(t.dir)))


@test
def children_have_no_server(t):
    equal(list_within(t), ["sh"], "targets")


@test
def children_have_servers_when_asked_for(t):
    equal(list_within(t, "--follow"), ["proftap", "sh"], "targets")


@test
def children_are_part_of_the_recording_when_they_have_servers(t):
    """The children end during the recording, and record spans as soon as they start."""
    child = f"printf 'burst 10\\n' | {shlex.quote(str(TARGET))} >/dev/null"
    script = f"echo $$; {child}; {child} & {child}; wait"
    process = record(t, SHELL, "-c", script, options=["--follow"])
    trace = process.trace
    bursts = {}
    for plane in trace.space.planes:
        names = {metadata.id for metadata in plane.event_metadata.values() if metadata.name == "burst"}
        n = sum(event.metadata_id in names for line in plane.lines for event in line.events)
        if n:
            bursts[plane.name] = n
    equal(list(bursts.values()), [10, 10, 10], f"spans of the children, in {sorted(bursts)}, {process.stderr}")
    shutil.rmtree(t.dir / "logs")
    process = record(t, SHELL, "-c", script)
    check("burst" not in process.stderr, "without --follow")


@test
def other_formats_are_written_beside_the_trace(t):
    record(t, SHELL, "-c", "true", options=["--format", "csv,ndjson"])
    equal(sorted(path.suffix for path in (t.dir / "logs").glob("plugins/profile/*/*")), [".csv", ".ndjson", ".pb"],
          "the files")


@test
def an_existing_preload_is_kept(t):
    process = record(t, SHELL, "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": "/lib/libnone.so"})
    equal(process.stdout, f"/lib/libnone.so:{LIBRARY.resolve()}\n", "LD_PRELOAD")


@test
def a_recorder_is_asked_for_in_the_environment(t):
    need_preload()
    for before, options, inside in (("", ["--recorder"], "1"), ("0", ["--recorder"], "1"), ("", [], ""),
                                    ("host_tracer_level=3", ["--recorder"], "host_tracer_level=3")):
        process = finish(start(t, "-p", 0, *options, "--", SHELL, "-c", "echo $PROFTAP_RECORDER",
                               env={"PROFTAP_RECORDER": before}))
        equal(process.stdout, f"{inside}\n", f"PROFTAP_RECORDER, before: {before!r}, {options}")


@test
def run_with_a_port_allows_captures_at_any_time(t):
    need_preload()
    port = free_port()
    target = start(t, "-p", port, TARGET, stdin=subprocess.PIPE)
    equal(target.read_line(), "ready", "the first line")
    capture = t.start_capture(port, 15000)
    target.popen.stdin.write("await 1\nburst 10\n")
    target.popen.stdin.flush()
    equal(target.read_line(), "recording", "the target")
    target.read_line()
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), 10, "spans")
    equal(find_files(t), [], "recordings that nobody asked for")
    contains(capture.stderr, f"(pid {target.pid})", "the process is the one that was started")


def ask(process, *commands):
    process.popen.stdin.write("".join(f"{command}\n" for command in commands))
    process.popen.stdin.flush()
    return [process.read_line() for _ in commands]


@staged
def a_program_that_becomes_itself_again_keeps_its_port(t):
    need_preload()
    port = free_port()
    target = start(t, "-p", port, TARGET, stdin=subprocess.PIPE)
    equal(target.read_line(), "ready", "the first line")
    sockets = t.dir / "runtime" / "proftap"
    for _ in range(5):
        used, ready = ask(target, "port", "exec")
        not_void(used != "0", "the port was in use for as long as a start tries")
        equal((used, ready), (str(port), "ready"), "port, and a new beginning")
        equal(sorted(os.listdir(sockets)), [f"{target.pid}.sock", f"{target.pid}.status"], "sockets")
        wait_until(lambda: len(find_proftapds(target.pid)) == 1, "the old server to end")
        equal(sorted(os.listdir(sockets)), [f"{target.pid}.sock", f"{target.pid}.status"], "sockets")


@test
def a_late_end_of_the_old_server_takes_nothing_from_the_new(t):
    need_preload()
    target = start(t, "-p", "0", TARGET, stdin=subprocess.PIPE)
    equal(target.read_line(), "ready", "the first line")
    old = find_proftapds(target.pid)[0]
    os.kill(old, signal.SIGSTOP)
    t.at_end.append(lambda: is_alive(old) and os.kill(old, signal.SIGCONT))
    equal(ask(target, "exec"), ["ready"], "a new beginning")
    os.kill(old, signal.SIGCONT)
    wait_until(lambda: not is_alive(old), "the old server to end")
    equal(sorted(os.listdir(t.dir / "runtime" / "proftap")),
          [f"{target.pid}.sock", f"{target.pid}.status"], "sockets")


@test
def a_program_with_a_server_of_its_own_does_not_fail(t):
    process = record(t, TARGET, stdin=obey(t, f"start {free_port()}", "start 0", "burst 10"))
    first, second = (int(line.split()[0]) for line in process.out[1:3])
    equal((first, second), (0, -errno.EALREADY), "the first and the second start")
    equal(process.trace.count("burst"), 10, "spans")


@staged
def a_duration_ends_the_recording_before_the_program(t):
    need_preload()
    process = start(t, "--duration", "200", "--log_dir", t.dir / "logs", SHELL, "-c",
                    "read line; exit 3", stdin=subprocess.PIPE)
    wait_until(lambda: [p for p in find_files(t) if p.suffix == ".pb"], "the file")
    check(process.popen.poll() is None, "the program ended with its recording")
    process.popen.stdin.write("go\n")
    process.popen.stdin.flush()
    trace = Trace(find_files(t)[0])
    contains(finish(process, 3).stderr, f"captured {trace.duration_ms} ms of sh", "the summary")
    # The recording begins with the program, whose server may not listen yet at the first try.
    not_void(trace.duration_ms >= 200, f"{trace.duration_ms} ms were recorded")


@test
def an_end_that_was_not_asked_for_is_a_warning(t):
    process = record(t, "/bin/sleep", "0.2", options=("--duration", "60000"))
    check(any("ended" in w for w in process.trace.space.warnings), f"{process.trace.space.warnings}")
    contains(process.stderr, "ms into the recording", "the summary")


COUNTER = """
import signal, sys, time
seen = []
signal.signal(getattr(signal, sys.argv[1]), lambda *_: seen.append(1))
print("ready", flush=True)
while not seen:
    time.sleep(0.01)
time.sleep(0.2)
print(len(seen), flush=True)
sys.exit(5)
"""


@test
def signals_to_us_reach_the_program(t):
    need_preload()
    for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1"):
        process = start(t, "--log_dir", t.dir / "logs", sys.executable, "-c", COUNTER, name)
        equal(process.read_line(), "ready", "the first line")
        process.signal(getattr(signal, name))
        equal(process.read_line(), "1", f"{name} that came")
        finish(process, 5)
    equal(len(find_files(t)), 4, "recordings")


EACH = """
import os, signal, sys
out, into = os.pipe()
os.set_blocking(into, False)
signal.set_wakeup_fd(into)  # a byte for each, as it comes
for number in (signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, lambda *_: None)
print("ready", flush=True)
while os.read(out, 1)[0] == signal.SIGINT:
    print("one", flush=True)
sys.exit(5)
"""


def read_until(terminal, seen, word, n):
    """Returns what the terminal has shown when |word| has come |n| times."""
    while seen.count(word) < n:
        seen += os.read(terminal, 1000)
    return seen


@test
def an_interrupt_from_the_terminal_comes_once(t):
    need_preload()
    words = [PROFTAP, "run", "--log_dir", t.dir / "logs", sys.executable, "-c", EACH]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(make_environment(t))
        os.execv(PROFTAP, [str(word) for word in words])
    seen = read_until(terminal, b"", b"ready", 1)
    # A second SIGINT, from proftap, might merge with the terminal's; hardly all 20 times.
    for n in range(1, 21):
        os.write(terminal, b"\x03")
        seen = read_until(terminal, seen, b"one", n)
    os.write(terminal, b"\x1c")
    try:
        while True:
            seen += os.read(terminal, 1000)
    except OSError:
        os.close(terminal)  # the program ended
    equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5, f"exit status; {seen}")
    equal(seen.count(b"one"), 20, "interrupts that came")
    equal(len(find_files(t)), 1, "recordings")
    check(b"\x1b" not in seen, "a progress line in the program's terminal")


run()
