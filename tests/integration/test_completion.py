#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests completion in a real bash, as in a user's shell, without the package bash-completion."""
import os
import re
import shutil
import signal
import subprocess
import time

from checks import in_time
from fixture import Skip, check, contains, equal, find_proftapd, is_alive, run, test, timed
from processes import PROFTAP, TARGET, TOP_SRC, Target, halt

SCRIPT = """
source "$1"; shift
complete -p proftap >/dev/null || exit 9
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_proftap proftap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
for word in "${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
"""


def complete(t, *words, **env):
    """Returns the completions that bash offers for the last of |words|."""
    bash = shutil.which("bash")
    if not bash:
        raise Skip("there is no bash")
    done = subprocess.run(
        [bash, "--norc", "-c", SCRIPT, "bash", TOP_SRC / "client" / "proftap.bash", "proftap",
         *words], cwd=t.dir, env={"PATH": f"{PROFTAP.parent}:/usr/bin:/bin", **env},
        capture_output=True, text=True, timeout=20)
    equal((done.returncode, done.stderr), (0, ""), "bash")
    return sorted(done.stdout.splitlines())


def help_of(*words):
    return subprocess.run([PROFTAP, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


@test
def commands_are_those_of_the_help(t):
    commands = re.findall(r"^  (\w+) ", help_of(), re.M)
    contains(commands, "capture", "commands in the help")
    equal(complete(t, ""), sorted([*commands, "--help", "--version"]), "commands")
    equal(complete(t, "rep"), ["report"], "for rep")
    equal(complete(t, "di"), ["diff"], "for di")
    equal(complete(t, "no_such_command", ""), [], "for a command that is none")


@test
def options_are_those_of_the_help(t):
    for command in re.findall(r"^  (\w+) ", help_of(), re.M):
        text = help_of(command)
        options = set(re.findall(r"--([a-z]\w*)", text.split("\n\n")[1]))
        if "KEY" in text:
            options |= set(re.findall(r"^  (\w+)", text.split("-o KEY=VALUE")[-1], re.M))
        found = set(w[2:] for w in complete(t, command, "--"))
        check(options <= found, f"{command}: not offered: {options - found}")
        check(found <= options | {"help", "version"}, f"{command}: not in the help: "
              f"{found - options}")
    equal(complete(t, "capture", "--log-d"), ["--log_dir"], "for --log-d")


@test
def values_are_offered_where_they_are_few(t):
    equal(complete(t, "report", "--sort", "p"), ["p50", "p99", "p999"], "for --sort p")
    equal(complete(t, "report", "--sort", "=", "p"), ["p50", "p99", "p999"], "for --sort=p")
    equal(complete(t, "capture", "-o", "ptap_max"), ["ptap_max_capture_bytes="], "for -o ptap_max")
    equal(complete(t, "capture", "--timeout", ""), [], "for a number")
    formats = re.findall(r"^  (\w[\w-]*) +[._]\w", help_of("convert"), re.M)
    contains(formats, "chrome", "formats in the help")
    equal(complete(t, "convert", "-t", ""), sorted(formats), "for -t")
    for command in ("capture", "snapshot", "stop"):
        equal(sorted(complete(t, command, "--format", "")), sorted(["xspace", *formats]), f"for --format of {command}")
    equal(complete(t, "diff", "--fail_above", ""),
          [f"{metric}:" for metric in ("count", "max", "mean", "p50", "p90", "p999", "p99", "rate", "total")], "for --fail_above")
    equal(complete(t, "diff", "--fail-above", "=", "p9"), ["p90:", "p999:", "p99:"], "for --fail-above=p9")
    equal(complete(t, "convert", "--align", "e"), ["epoch"], "for --align e")


@test
def file_arguments_complete_to_files_and_directories(t):
    (t.dir / "a dir").mkdir()
    (t.dir / "a file").touch()
    equal(complete(t, "report", "a"), ["a dir", "a file"], "files for report")
    equal(complete(t, "diff", "a"), ["a dir", "a file"], "files for diff")
    equal(complete(t, "capture", "--log_dir", "a"), ["a dir"], "directories for --log_dir")
    equal(complete(t, "capture", "--log_dir", "="), ["a dir"], "directories for --log_dir=")


# Root's list contains the targets of all users.
NAME = f"complete{os.getpid()}"


def serve(t, env):
    program = t.dir / NAME
    if not program.exists():
        shutil.copy(TARGET, program)
    target = t.keep(Target(env, program))
    equal(target.start(0), 0, "start")
    server = find_proftapd(target.pid)
    t.at_end.append(lambda: is_alive(server) and os.kill(server, signal.SIGCONT))
    return target, server


@test
def targets_are_those_of_the_list(t):
    env = {"XDG_RUNTIME_DIR": t.public_dir("runtime")}
    (t.dir / "runtime").chmod(0o700)
    first, _ = serve(t, env)
    words = complete(t, "capture", "", **env)
    for word in (str(first.pid), str(first.port), NAME):
        contains(words, word, "the only target")
    equal(complete(t, "capture", "--timeout", "5", NAME[:-1], **env), [NAME],
          "for the front of a name")
    equal(complete(t, "capture", NAME, "", **env), [], "for the duration")
    equal(complete(t, "list", "", **env), [], "for a command without a target")
    second, _ = serve(t, env)
    words = complete(t, "capture", "", **env)
    check({str(first.pid), str(second.pid)} <= set(words), f"pids in {words}")
    check(NAME not in words, "a name that two have was offered")


@timed
def servers_that_do_not_answer_hold_up_nobody(t):
    env = {"XDG_RUNTIME_DIR": t.public_dir("runtime")}
    (t.dir / "runtime").chmod(0o700)
    stopped = [serve(t, env)[1] for _ in range(4)]
    last, _ = serve(t, env)
    for server in stopped:
        halt(server)
    started = time.monotonic()
    contains(complete(t, "capture", "", **env), str(last.pid), "the one that answers")
    # proftap list waits one second for each stopped server.
    in_time(time.monotonic() - started, 3.5, "the words")


run()
