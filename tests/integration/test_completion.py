#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests completion in a real bash, zsh and fish, as in a user's shell, without packages of other completions."""
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import threading
import time

from checks import in_time, not_void
from fixture import Skip, check, contains, equal, find_proftapd, is_alive, run, staged, test, timed
from processes import PATIENCE_S, PROFTAP, TARGET, TOP_SRC, Target, halt

CLIENT = TOP_SRC / "client"

BASH = """
source "$1"; shift
complete -p proftap >/dev/null || exit 9
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_proftap proftap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
for word in "${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
"""
# zsh completes only in its line editor. compadd gets the words; words with which it fills an array come again.
ZSH = """
fpath=($CLIENT $fpath)
LISTMAX=1000
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a shown
	[[ " $* " == *" "-[ADO]" "* ]] || { builtin compadd -O shown "$@"; print -rl -- $shown >> shown }
	builtin compadd "$@"
}
finish() { print -l "" END >> shown; BUFFER= }
zle -N finish
bindkey '^X^F' finish
PS1='RE''ADY> '
"""


def need(shell):
    path = shutil.which(shell)
    if not path:
        raise Skip(f"there is no {shell}")
    return path


def ask(t, command, **env):
    done = subprocess.run(command, cwd=t.dir, env={"PATH": f"{PROFTAP.parent}:/usr/bin:/bin", **env}, capture_output=True,
                          text=True, timeout=20)
    equal((done.returncode, done.stderr), (0, ""), command[0])
    return done.stdout.splitlines()


def complete_in_bash(t, *words, **env):
    """Returns the completions that bash offers for the last of |words|."""
    return sorted(ask(t, [need("bash"), "--norc", "-c", BASH, "bash", CLIENT / "proftap.bash", "proftap", *words], **env))


def join(words):
    """Returns the line that bash splits into |words|."""
    return re.sub(" = ?", "=", " ".join(["proftap", *words]))


def complete_in_fish(t, *words, **env):
    line = join(words)
    found = ask(t, [need("fish"), "--no-config", "-c", f"source {CLIENT}/proftap.fish; complete -C '{line}'"],
                **{"HOME": str(t.dir), "XDG_RUNTIME_DIR": str(t.dir), **env})
    # fish puts the option in front of its value, and a description behind a tab.
    front = re.match(r"(--[\w-]+=)?", line.split(" ")[-1])[0]
    check(all(word.startswith(front) for word in found), f"without {front!r}: {found}")
    return sorted(word.removeprefix(front).split("\t")[0].removesuffix("/") for word in found)


class Zsh:
    """A zsh on a terminal. One serves all completions of a test, because its start takes most of the time."""

    def __init__(self, t, env):
        self.env = env
        self.shown = t.dir / "shown"
        self.screen = ""
        zsh = need("zsh")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(t.dir)
            os.execve(zsh, [zsh, "-f", "-i"], {"PATH": f"{PROFTAP.parent}:/usr/bin:/bin", "HOME": str(t.dir), "TERM": "xterm",
                                               "CLIENT": str(CLIENT), **env})
        t.at_end.append(self.close)
        os.write(self.fd, ZSH.encode())
        self.read_until(lambda: "READY> " in self.screen)

    def read_until(self, question):
        deadline = time.monotonic() + PATIENCE_S
        while not question():
            check(time.monotonic() < deadline, f"zsh: {self.screen!r}")
            if select.select([self.fd], [], [], 0.02)[0]:
                self.screen += os.read(self.fd, 65536).decode(errors="replace")

    def complete(self, words):
        self.screen = ""
        os.write(self.fd, f"{join(words)}\t\x18\x06".encode())
        self.read_until(lambda: self.shown.exists() and self.shown.read_text().endswith("\nEND\n"))
        found = self.shown.read_text().splitlines()[:-1]
        self.shown.unlink()
        return sorted({word.replace("\\", "") for word in found if word})

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def complete_in_zsh(t, *words, **env):
    if not hasattr(t, "zsh") or t.zsh.env != env:
        t.zsh = Zsh(t, env)
    return t.zsh.complete(words)


def in_each_shell(check_one):
    """Makes a test for each shell of one that takes the function that completes there."""
    for complete in (complete_in_bash, complete_in_fish, complete_in_zsh):
        def check_there(t, complete=complete):
            check_one(t, lambda *words, **env: complete(t, *words, **env))
        check_there.__name__ = check_one.__name__ + complete.__name__.removeprefix("complete")
        test(check_there)
    return check_one


def help_of(*words):
    return subprocess.run([PROFTAP, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


@in_each_shell
def commands_are_those_of_the_help(t, complete):
    commands = re.findall(r"^  (\w+) ", help_of(), re.M)
    contains(commands, "capture", "commands in the help")
    equal(complete(""), sorted([*commands, "--help", "--version"]), "commands")
    equal(complete("rep"), ["report"], "for rep")
    equal(complete("di"), ["diff"], "for di")
    equal(complete("no_such_command", ""), [], "for a command that is none")


@in_each_shell
def options_are_those_of_the_help(t, complete):
    for command in re.findall(r"^  (\w+) ", help_of(), re.M):
        text = help_of(command)
        options = set(re.findall(r"--([a-z]\w*)", text.split("\n\n")[1]))
        if "KEY" in text:
            options |= set(re.findall(r"^  (\w+)", text.split("-o KEY=VALUE")[-1], re.M))
        found = set(w[2:] for w in complete(command, "--"))
        check(options <= found, f"{command}: not offered: {options - found}")
        check(found <= options | {"help", "version"}, f"{command}: not in the help: "
              f"{found - options}")
    check(complete("capture", "--log-d") in (["--log_dir"], ["--log-dir"]), "for --log-d")


@in_each_shell
def values_are_offered_where_they_are_few(t, complete):
    equal(complete("report", "--sort", "p"), ["p50", "p99", "p999"], "for --sort p")
    equal(complete("report", "--sort", "=", "p"), ["p50", "p99", "p999"], "for --sort=p")
    equal(complete("capture", "-o", "ptap_max"), ["ptap_max_capture_bytes="], "for -o ptap_max")
    equal(complete("capture", "--timeout", ""), [], "for a number")
    formats = re.findall(r"^  (\w[\w-]*) +[._]\w", help_of("convert"), re.M)
    contains(formats, "chrome", "formats in the help")
    equal(complete("convert", "-t", ""), sorted(formats), "for -t")
    for command in ("capture", "snapshot", "stop"):
        equal(sorted(complete(command, "--format", "")), sorted(["xspace", *formats]), f"for --format of {command}")
    equal(complete("diff", "--fail_above", ""),
          [f"{metric}:" for metric in ("count", "max", "mean", "p50", "p90", "p999", "p99", "rate", "total")], "for --fail_above")
    equal(complete("diff", "--fail-above", "=", "p9"), ["p90:", "p999:", "p99:"], "for --fail-above=p9")
    equal(complete("convert", "--align", "e"), ["epoch"], "for --align e")


@in_each_shell
def file_arguments_complete_to_files_and_directories(t, complete):
    (t.dir / "a dir").mkdir()
    (t.dir / "a file").touch()
    equal(complete("report", "a"), ["a dir", "a file"], "files for report")
    equal(complete("diff", "a"), ["a dir", "a file"], "files for diff")
    equal(complete("capture", "--log_dir", "a"), ["a dir"], "directories for --log_dir")
    equal(complete("capture", "--log_dir", "="), ["a dir"], "directories for --log_dir=")


@in_each_shell
def programs_and_their_arguments_are_completed(t, complete):
    (t.dir / "a file").touch()
    contains(complete("run", "profta"), "proftap", "programs")
    contains(complete("run", "--log_dir", "logs", "--", "profta"), "proftap", "programs behind an option")
    equal(complete("run", "cat", "a"), ["a file"], "files for the program")
    equal(complete("run", "cat", "--lo"), [], "options of the program")


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


@in_each_shell
def targets_are_those_of_the_list(t, complete):
    env = {"XDG_RUNTIME_DIR": t.public_dir("runtime")}
    (t.dir / "runtime").chmod(0o700)
    first, _ = serve(t, env)
    words = complete("capture", "", **env)
    for word in (str(first.pid), str(first.port), NAME):
        contains(words, word, "the only target")
    equal(complete("capture", "--timeout", "5", NAME[:-1], **env), [NAME],
          "for the front of a name")
    equal(complete("capture", NAME, "", **env), [], "for the duration")
    equal(complete("list", "", **env), [], "for a command without a target")
    second, _ = serve(t, env)
    words = complete("capture", "", **env)
    check({str(first.pid), str(second.pid)} <= set(words), f"pids in {words}")
    check(NAME not in words, "a name that two have was offered")


def answer_late(t, source, path, delay_s):
    """Starts a server at |path| that answers what the one at |source| does, |delay_s| later, as a server on a busy machine."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(str(source))
        answer = asked.makefile("rb").read()
    path.parent.mkdir(parents=True, mode=0o700)
    path.parent.parent.chmod(0o700)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    t.at_end.append(listener.close)

    took_s = []

    def serve_one():
        connection, _ = listener.accept()
        asked = time.monotonic()
        time.sleep(delay_s)
        connection.sendall(answer)
        connection.close()
        took_s.append(time.monotonic() - asked)
    threading.Thread(target=serve_one, daemon=True).start()
    return took_s


@staged
def a_target_on_a_busy_machine_is_offered(t):
    first, _ = serve(t, {"XDG_RUNTIME_DIR": t.public_dir("runtime")})
    name = f"proftap/{first.pid}.status"
    took_s = answer_late(t, t.dir / "runtime" / name, t.dir / "slow" / name, 0.2)
    words = complete_in_bash(t, "capture", "", XDG_RUNTIME_DIR=str(t.dir / "slow"))
    not_void(took_s and took_s[0] < 0.4, f"the answer took {took_s} s")
    contains(words, str(first.pid), "the words")


@timed
def servers_that_do_not_answer_hold_up_nobody(t):
    env = {"XDG_RUNTIME_DIR": t.public_dir("runtime")}
    (t.dir / "runtime").chmod(0o700)
    stopped = [serve(t, env)[1] for _ in range(4)]
    last, _ = serve(t, env)
    for server in stopped:
        halt(server)
    started = time.monotonic()
    contains(complete_in_bash(t, "capture", "", **env), str(last.pid), "the one that answers")
    # proftap list waits one second for each stopped server.
    in_time(time.monotonic() - started, 3.5, "the words")


run()
