# SPDX-License-Identifier: Apache-2.0
"""Hosts: the programs of this folder, and checks that hold for them in every mode.

host("NAME") registers one test for each mode of guest.h. In each, standard output and exit status must
equal those of NAME.plain, every server must be gone within 2 s of the end of its target, and the pipe
to the caller must be closed when the program ends. A recording must contain |spans|.
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from checks import SLOWNESS, Failure, wait_in_time  # noqa: E402
from fixture import (NOBODY, SANITIZERS, Skip, check, contains, equal, find_proftapd, find_proftapds,  # noqa: E402
                     free_port, need_namespaces, need_no_sanitizer, need_no_tsan, need_readable_tree, need_root,
                     read_status, run, test, timed, wait_until)
from processes import PROFTAPD, TOP_BUILD, Process, Target  # noqa: E402

__all__ = ["CAPTURE_MS", "HOSTS", "NOBODY", "NO_LEAK_CHECK", "PROFTAPD", "SANITIZERS", "Failure", "Host", "Skip", "Target", "check",
           "check_mode", "contains", "equal", "find_program", "find_proftapd", "find_proftapds",
           "free_port", "host", "need_namespaces", "need_no_sanitizer", "need_no_tsan",
           "need_readable_tree", "need_root", "read_status", "run", "run_host", "test", "timed", "wait_until"]

MODES = ("off", "armed", "recording")
HOSTS = TOP_BUILD / "tests" / "guest"
# Longer than any host runs: a capture ends when its host ends.
CAPTURE_MS = 30000
GONE_S = 2 * SLOWNESS
# The layout of the report; see guest.h.
N_SLOTS = 64
SLOT_BYTES = 1024


# For a host in which the leak check at the end cannot work: it lacks clone, /proc or a free descriptor.
NO_LEAK_CHECK = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}


class Start:
    """One call of ptap_server_start, as the host reports it."""

    def __init__(self, line):
        words = line.split(" ", 3)
        self.pid, self.result, self.port = map(int, words[:3])
        self.sentence = words[3]


def find_program(name, mode, folder=HOSTS):
    return folder / f"{name}.{'plain' if mode == 'plain' else 'host'}"


class Host(Process):
    """One run of a host, in an empty directory of its own."""

    def __init__(self, t, name, mode, *args, command=(), user=None, program=None,
                 folder=HOSTS, **env):
        self.dir = t.public_dir(f"{name}-{mode}-{len(t.processes)}")
        self.report = self.dir.with_suffix(".report")
        self.report.write_bytes(bytes(N_SLOTS * SLOT_BYTES))
        self.report.chmod(0o666)
        program = program or find_program(name, mode, folder)
        super().__init__(
            f"{name} {mode}", ["env", f"--chdir={self.dir}", *command, program, *args],
            {"PROFTAPD": str(PROFTAPD), "GUEST_MODE": mode, "GUEST_REPORT": str(self.report),
             **env}, user=user)
        t.keep(self)

    @property
    def starts(self):
        slots = self.report.read_bytes()
        lines = (slots[at:at + SLOT_BYTES].partition(b"\n")
                 for at in range(SLOT_BYTES, len(slots), SLOT_BYTES))
        return [Start(line.decode()) for line, end, _ in lines if end]

    def await_start(self, number=0):
        """Returns the |number|th start. Fails if the host ends before it."""
        wait_until(lambda: len(self.starts) > number or self.popen.poll() is not None,
                   f"start {number} of {self.name}")
        check(len(self.starts) > number, f"{self.name} ended, exit {self.popen.poll()}, before start "
              f"{number}")
        return self.starts[number]

    def await_output(self, text):
        wait_until(lambda: text in "".join(self.out), f"{text!r} from {self.name}")

    def behaviour(self):
        """Returns (exit status, standard output) after the program and its output have ended. Fails if another
        process keeps the pipe open."""
        status = self.wait()
        for thread in self.threads:
            thread.join(GONE_S)
            check(not thread.is_alive(), f"{self.name}: its output is still open after its end")
        return status, "".join(self.out)

    def end(self):
        """Ends a host that runs until its directory has a file "end"."""
        (self.dir / "end").touch()
        return self.behaviour()

    def check_servers_are_gone(self):
        for pid in {start.pid for start in self.starts}:
            wait_in_time(lambda: not find_proftapds(pid), f"the server of {pid} to end", GONE_S)


def run_host(t, name, mode, args, how):
    """Returns the host, its behaviour, and the captures of its starts."""
    process = Host(t, name, mode, *args, **how)
    captures = []
    while process.popen.poll() is None and mode == "recording":
        for start in process.starts[len(captures):]:
            captures.append(t.start_capture(start, CAPTURE_MS) if start.port else None)
        wait_until(lambda: process.popen.poll() is not None or
                   len(process.starts) > len(captures), f"the end of {process.name}")
    seen = process.behaviour()
    process.check_servers_are_gone()
    return process, seen, [capture.finish() for capture in captures if capture]


def check_starts(process, fails):
    check(process.starts, "the host never started its server")
    for start in process.starts:
        if fails is None:
            equal((start.result, start.sentence), (0, ""), "ptap_server_start")
        else:
            check(start.result < 0, f"ptap_server_start: expected a failure, got {start.result}")
            contains(start.sentence, fails, "ptap_last_error")


def check_mode(t, mode, name, args, spans, fails, code, how):
    plain = Host(t, name, "plain", *args, **how).behaviour()
    equal(plain[0], code, f"exit status without proftap (output {plain[1]!r})")
    process, seen, captures = run_host(t, name, mode, args, how)
    equal(seen, plain, f"(exit status, output) {mode}")
    if mode == "off":
        equal(process.starts, [], "starts")
        return
    check_starts(process, fails)
    for span, count in (spans or {}).items() if mode == "recording" and not fails else ():
        equal(sum(c.trace.count(span) for c in captures), count, f"spans named {span}")


def host(name, *args, spans=None, fails=None, code=0, title=None, modes=MODES, needs=(), **how):
    """Registers NAME's tests.

    args   arguments of the program
    spans  {name: count} that the recordings must contain in total
    fails  a part of the sentence with which every start fails (None: every start succeeds)
    code   exit status of the plain program
    title  title of the tests, if it is not NAME
    modes  modes that make sense for the program
    needs  functions that raise Skip where the test cannot run
    how    arguments of Host: command=[...] in front of the program, user=UID, and environment variables
    """
    for mode in modes:
        def one(t, mode=mode):
            for need in needs:
                need()
            check_mode(t, mode, name, args, spans, fails, code, how)
        one.__name__ = f"{title or name} {mode}"
        timed(one)
