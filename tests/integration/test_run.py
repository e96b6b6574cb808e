#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proftap run: programs that know nothing of it, recorded or with a server; and PROFTAP_SERVER by hand."""
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
from pathlib import Path

from fixture import (NOBODY, Skip, check, contains, equal, find_proftapds, free_port, is_alive,
                     need_no_sanitizer, need_readable_tree, need_root, run, test, wait_until)
from processes import LIBRARY, PROFTAP, PROFTAPD, TARGET, Process
from trace_file import Trace

SHELL = "/bin/sh"


def need_preload():
    need_no_sanitizer("cannot be preloaded into other programs")


def make_environment(t):
    """An own runtime directory, so that only this test's targets are in the list."""
    path = t.dir / "runtime"
    path.mkdir(mode=0o700, exist_ok=True)
    return {"XDG_RUNTIME_DIR": str(path), "PROFTAPD": str(PROFTAPD)}


def start(t, *words, env=None, **how):
    command = [PROFTAP, "run", *words]
    return t.keep(Process("run", command, {**make_environment(t), **(env or {})}, **how))


def finish(process, code=0):
    equal(process.wait(), code, f"exit status of {process.name}")
    for thread in process.threads:
        thread.join()
    process.stdout, process.stderr = "".join(process.out), "".join(process.err)
    return process


def find_files(t):
    return sorted((t.dir / "logs").glob("plugins/profile/*/*"))


def record(t, *words, code=0, options=(), **how):
    """Runs a program to its end; its one trace is .trace."""
    need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", *options, "--", *words, **how), code)
    files = find_files(t)
    equal(len(files), 1, f"files; {process.stderr}")
    contains(process.stderr, f"{files[0]}\n", "standard error")
    process.path, process.trace = files[0], Trace(files[0])
    return process


def obey(t, *commands):
    path = t.dir / "commands"
    path.write_text("".join(f"{command}\n" for command in commands))
    return path.open()


def preload(t, *words, **env):
    env = {**make_environment(t), "LD_PRELOAD": str(LIBRARY), **env}
    need_preload()
    return finish(t.keep(Process("program", words, env)))


@test
def nothing_at_the_start_is_missed(t):
    process = record(t, TARGET, stdin=obey(t, "burst 1000"))
    equal(process.trace.count("burst"), 1000, "spans")
    pid = re.search(r"of target \(pid (\d+)\)", process.stderr)[1]
    equal(process.path.name, f"{socket.gethostname()}_target_{pid}.xplane.pb", "the file")


@test
def a_program_without_annotations_is_recorded_too(t):
    process = record(t, "/bin/sleep", "0.3")
    host = process.trace.host_stats
    equal(host["ptap_process_name"].value, "sleep", "the process")
    equal([w for w in process.trace.space.warnings if "ended" in w], [], "warnings of the end")
    check("into the recording" not in process.stderr, f"the end was asked for: {process.stderr}")
    check(process.trace.usage, "no usage counters")


PROGRAM = """
import os, sys
print(sys.argv[1:], sys.stdin.read())
print(sorted((k, v) for k, v in os.environ.items()
      if k != "LD_PRELOAD" and not k.startswith("PROFTAP_")), os.getcwd(), file=sys.stderr)
print(sorted(os.listdir("/proc/self/fd")))
sys.exit(7)
"""


@test
def the_program_is_as_without_us(t):
    words = [sys.executable, "-c", PROGRAM, "--json", "-p", "a b", ""]
    env = make_environment(t)
    plain = finish(t.keep(Process("plain", words, env, stdin=obey(t, "typed"))), 7)
    process = record(t, *words, code=7, stdin=obey(t, "typed"))
    equal(process.stdout, plain.stdout, "standard output")
    equal(process.err[0], plain.err[0], "environment and folder")


@test
def signals_are_left_as_they_were(t):
    # Not by a shell, which tidies up.
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
    """The names of the targets that a child of the program sees."""
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
def what_becomes_of_children_is_said_when_they_have_servers(t):
    sentence = "what it started is not in its recording"
    contains(record(t, SHELL, "-c", "sleep 0; true", options=["--follow"]).stderr, sentence, "--follow")
    shutil.rmtree(t.dir / "logs")
    check(sentence not in record(t, SHELL, "-c", "sleep 0; true").stderr, "said without --follow")


@test
def an_existing_preload_is_kept(t):
    process = record(t, SHELL, "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": "/lib/libnone.so"})
    equal(process.stdout, f"/lib/libnone.so:{LIBRARY.resolve()}\n", "LD_PRELOAD")


@test
def with_a_port_it_can_be_recorded_at_any_time(t):
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


@test
def a_program_that_becomes_itself_again_keeps_its_port(t):
    need_preload()
    port = free_port()
    target = start(t, "-p", port, TARGET, stdin=subprocess.PIPE)
    equal(target.read_line(), "ready", "the first line")
    sockets = t.dir / "runtime" / "proftap"
    for _ in range(5):
        equal(ask(target, "port", "exec"), [str(port), "ready"], "port, and a new beginning")
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


@test
def the_first_milliseconds_alone(t):
    need_preload()
    process = start(t, "--duration", "200", "--log_dir", t.dir / "logs", SHELL, "-c",
                    "read line; exit 3", stdin=subprocess.PIPE)
    wait_until(lambda: [p for p in find_files(t) if p.suffix == ".pb"], "the file")
    check(process.popen.poll() is None, "the program ended with its recording")
    process.popen.stdin.write("go\n")
    process.popen.stdin.flush()
    trace = Trace(find_files(t)[0])
    check(200 <= trace.duration_ms, f"{trace.duration_ms} ms were recorded")
    contains(finish(process, 3).stderr, f"captured {trace.duration_ms} ms of sh", "the summary")


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
    """What the terminal shows until it has shown |word| |n| times."""
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
    # Two that come at the same moment are one: so try often.
    for n in range(1, 21):
        os.write(terminal, b"\x03")
        seen = read_until(terminal, seen, b"one", n)
    os.write(terminal, b"\x1c")
    try:
        while True:
            seen += os.read(terminal, 1000)
    except OSError:
        os.close(terminal)  # it ended
    equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5, f"exit status; {seen}")
    equal(seen.count(b"one"), 20, "interrupts that came")
    equal(len(find_files(t)), 1, "recordings")
    check(b"\x1b" not in seen, "a progress line in the program's terminal")


@test
def a_cleared_environment_is_said(t):
    need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", "env", "-i", SHELL, "-c", "sleep 0.2; exit 4"), 4)
    contains(process.stderr, "env: not recorded: it had no profiler server", "the reason")
    equal(find_files(t), [], "files")


@test
def switched_off_is_said(t):
    need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", "true", env={"PROFTAP_DISABLE": "1"}))
    contains(process.stderr, "true: not recorded: PROFTAP_DISABLE is set; unset it", "the reason")
    equal(find_files(t), [], "files")


def refuse(t, code, reason, *words, user=None, program=PROFTAP, env=None):
    env = {**make_environment(t), **(env or {})}
    process = t.keep(Process("run", [program, "run", "--", *words], env, user=user))
    process = finish(process, code)
    contains(process.stderr, reason, "the reason")
    equal(process.stdout, "", "standard output")
    equal(len(process.err), 1, "lines on standard error")


def build(t, name, *flags):
    source = t.dir / "program.c"
    source.write_text("#include <stdio.h>\nint main(void) { puts(\"hello\"); return 9; }\n")
    command = [*shlex.split(os.environ.get("CC", "cc")), *flags, source, "-o", t.dir / name]
    if subprocess.run(command, capture_output=True).returncode:
        raise Skip(f"the compiler cannot {' '.join(flags)}")
    return t.dir / name


@test
def what_is_no_program_is_said(t):
    refuse(t, 127, "nosuch: not found in PATH", "nosuch")
    refuse(t, 127, "/nosuch: not found", "/nosuch")
    refuse(t, 126, "/etc/passwd: not executable", "/etc/passwd")
    refuse(t, 126, "/tmp: not executable", "/tmp")
    text = t.dir / "text"
    text.write_text("hello\n")
    text.chmod(0o755)
    refuse(t, 126, "neither a program nor a script", text)
    refuse(t, 125, "PROFTAP_LIB=/none is not a file", "true", env={"PROFTAP_LIB": "/none"})


@test
def what_cannot_be_preloaded_is_said(t):
    static = build(t, "static", "-static")
    refuse(t, 125, "static: statically linked", static)
    script = t.dir / "script"
    script.write_text(f"#! {static} -x\n")
    script.chmod(0o755)
    refuse(t, 125, "static: statically linked", script)
    foreign = t.dir / "foreign"
    program = bytearray(Path("/bin/true").read_bytes())
    program[18] ^= 0xff  # e_machine
    foreign.write_bytes(program)
    foreign.chmod(0o755)
    refuse(t, 125, "foreign: built for another processor", foreign)


@test
def rights_that_switch_the_preload_off_are_said(t):
    need_root()
    program = t.dir / "rights"
    shutil.copy("/bin/true", program)
    as_nobody = {"user": NOBODY, "program": t.public_proftap()}
    program.chmod(0o4755)
    refuse(t, 125, "rights: set-user-ID", program, **as_nobody)
    program.chmod(0o755)
    try:  # CAP_CHOWN, effective; see <linux/capability.h>
        os.setxattr(program, "security.capability", bytes([1, 0, 0, 2, 1] + [0] * 15))
    except OSError as e:
        raise Skip(f"file capabilities: {e}") from None
    refuse(t, 125, "rights: has file capabilities", program, **as_nobody)


@test
def the_environment_of_a_set_uid_program_starts_nothing(t):
    need_root()
    need_preload()
    need_readable_tree()
    answers = []
    for mode in (0o755, 0o4755):
        path = t.dir / f"target{mode:o}"
        shutil.copy(TARGET, path)
        path.chmod(mode)
        env = {**make_environment(t), "PROFTAP_SERVER": "0"}
        target = t.keep(Process("target", [path], env, stdin=obey(t, "port"), user=NOBODY))
        answers.append(finish(target).out[-1])
    check(answers[0] != "0\n", "nothing was started in an ordinary program")
    equal(answers[1], "0\n", "the port of a set-uid program")


@test
def a_sanitized_program_works(t):
    program = build(t, "sanitized", "-fsanitize=address")
    equal(record(t, program, code=9).stdout, "hello\n", "standard output")


@test
def a_port_in_use_stops_no_program(t):
    need_preload()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = finish(start(t, "-p", taken.getsockname()[1], SHELL, "-c", "echo on; exit 6"), 6)
    equal(process.stdout, "on\n", "standard output")
    equal(len(process.err), 1, "lines on standard error")
    contains(process.stderr, "in use on 127.0.0.1", "the reason")


@test
def a_server_by_the_environment_alone(t):
    port = free_port()
    commands = [SHELL, "-c", f"{PROFTAP} list --json | head -n 1; true"]
    for value, address in ((port, "127.0.0.1"), (f"127.0.0.2:{port}", "127.0.0.2"),
                           (f"[::1]:{port}", "::1")):
        rows = json.loads(preload(t, *commands, PROFTAP_SERVER=str(value),
                                  PROFTAP_SERVER_PID="").stdout.splitlines()[0])["targets"]
        found = [(row["address"], row["port"]) for row in rows if row["name"] == "sh"
                 and row["socket"].startswith(str(t.dir))]
        equal(found, [(address, port)], f"PROFTAP_SERVER={value}")


@test
def a_bad_value_is_one_line_and_no_more(t):
    for value in ("x", "70000", "-1", "", "::1:9", "[::1]9", ":9", "1.2.3.4:", "8.8.8.8:0"):
        process = preload(t, "/bin/echo", "on", PROFTAP_SERVER=value)
        equal(process.stdout, "on\n", "standard output")
        equal(len(process.err), 1 if value else 0, f"lines of {value!r}: {process.err}")
        check(all(line.startswith("proftap: ") for line in process.err), process.stderr)


@test
def a_broken_pipe_as_standard_error_does_not_end_the_program(t):
    need_preload()
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "LD_PRELOAD": str(LIBRARY), "PROFTAP_SERVER": "x"}
    ended = subprocess.run(["/bin/sh", "-c", "exit 7"], stderr=writer, env=env)
    os.close(writer)
    equal(ended.returncode, 7, "exit status")


@test
def usage_is_said(t):
    for words, reason in (((), "no program given"), (("-p", "70000", "true"), "0 to 65535"),
                          (("--duration", "0", "true"), "--duration")):
        process = finish(start(t, *words), 2)
        contains(process.stderr, reason, f"run {words}")


if __name__ == "__main__":
    run()
