# SPDX-License-Identifier: Apache-2.0
"""The one fixture: a Case starts targets and captures and ends them; run() prints TAP.

A test is a function with @test that takes a Case. It waits for what processes say, never for time;
when it failed, the output of everything that it started is shown. A failed test never runs again, unless
it has the mark @timed or @staged, which gives the reason.
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from calls import Calls
from checks import Failure, Late, Skip, Void, check, contains, equal, wait_until
from processes import (PROFTAP, Capture, Target, describe_threads, find_proftapd, find_proftapds,
                       free_port, is_alive, is_halted, read_fds, read_shared_kib, read_status)
from trace_file import load_schemas, schema

__all__ = ["NOBODY", "SANITIZERS", "SESSION", "Skip", "check", "contains", "equal", "find_proftapd",
           "find_proftapds", "free_port", "is_alive", "need_namespaces", "need_no_sanitizer",
           "need_no_tsan", "need_readable_tree", "need_root", "read_fds",
           "read_shared_kib", "read_status", "run", "schema", "staged", "test", "timed", "wait_until"]

SANITIZERS = os.environ.get("SANITIZERS", "no")
NOBODY = 65534
# The duration of captures that the test itself ends.
SESSION = "until-stopped"
LONG_MS = 60000
# The number of runs that a test with @timed or @staged gets.
MAX_TRIES = 3


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


def need_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as e:
        raise Skip(f"no ::1 here: {e}") from None


def need_namespaces(*options):
    """Skips the test where unshare(1) cannot make the namespaces of these options."""
    need_root()
    tried = subprocess.run(["unshare", *options, "true"], capture_output=True, text=True)
    if tried.returncode:
        raise Skip(f"no such namespace here: {tried.stderr.strip()}")


def need_readable_tree():
    """Skips a test of another user who cannot read the tree. Root's checkout is often readable for root alone."""
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    for path in (__file__, PROFTAP):
        if os.geteuid() == 0 and subprocess.run([*as_nobody, "test", "-r", path]).returncode:
            raise Skip("the checkout or the build tree is not readable for other users")


def need_no_tsan(why):
    if SANITIZERS == "thread":
        raise Skip(f"ThreadSanitizer {why}")


def need_no_sanitizer(why="start threads and set handlers of their own"):
    if SANITIZERS != "no":
        raise Skip(f"sanitizers {why}")


def forget_way(pid):
    """Removes the private socket of a program's server. Only with it does the server hold a dead program's data."""
    for place in (os.environ.get("XDG_RUNTIME_DIR", "") + "/proftap", "/run/proftap",
                  f"/run/user/{os.geteuid()}/proftap", f"/tmp/proftap-{os.geteuid()}"):
        with contextlib.suppress(OSError):
            os.unlink(f"{place}/{pid}.sock")


class Case:
    """The processes of one test, and its directory."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="proftap-test-"))
        self.dir.chmod(0o755)
        self.processes = []
        self.at_end = []
        self.after = []
        self.threads = []  # descriptions from the time of the failure

    def target(self, **env):
        self.processes.append(Target(env))
        return self.processes[-1]

    def keep(self, process):
        """Keeps the process, which ends with the test."""
        self.processes.append(process)
        return process

    def start_capture(self, target, ms, *options, **how):
        self.processes.append(Capture(self, getattr(target, "port", target), ms, *options, **how))
        return self.processes[-1]

    def capture(self, target, ms, *options, code=0, **how):
        return self.start_capture(target, ms, *options, **how).finish(code)

    def record(self, target, ms, *options, commands=(), **how):
        """Begins a capture, and returns it when it records and the target has obeyed |commands|."""
        # This is sent first, because on a busy machine a short capture may be over before this process continues.
        target.send("await 1", *commands)
        capture = self.start_capture(target, ms, *options, **how)
        equal(target.read_line(), "recording", "the target")
        for _ in commands:
            target.read_line()
        return capture

    def begin(self, target, *options, **how):
        """Begins a capture that records until stop(), however long that takes."""
        return self.record(target, LONG_MS, "-o", f"session_id={SESSION}", *options, **how)

    def stop(self, target, capture, code=0):
        with Calls(target) as calls:
            calls.terminate(SESSION)
        capture.is_ended_here = True
        return capture.finish(code)

    def emit(self, target, ms, *commands, options=(), **how):
        """Captures for |ms| or longer, while the target obeys |commands|, and returns the finished capture."""
        capture = self.begin(target, *options, **how)
        end = time.monotonic() + ms / 1000
        if commands:
            target.ask(*commands)
        time.sleep(max(0, end - time.monotonic()))
        return self.stop(target, capture)

    def public_proftap(self):
        """A copy of the client that any user may execute."""
        path = self.dir / "proftap"
        if not path.exists():
            shutil.copy(PROFTAP, path)
            path.chmod(0o755)
        return path

    def public_dir(self, name):
        path = self.dir / name
        path.mkdir()
        path.chmod(0o777)
        return path

    def note_threads(self):
        """Notes the threads of the test's processes and of their servers."""
        self.threads = []
        for process in self.processes:
            servers = find_proftapds(process.pid) if isinstance(process, Target) else []
            for pid in (process.pid, *servers):
                self.threads += describe_threads(pid)

    def end(self):
        """Ends everything. Servers must end by themselves, soon after their targets: none holds a
        session that nobody can fetch."""
        for action in reversed(self.at_end):
            action()
        servers = {}
        for process in self.processes:
            if isinstance(process, Target):
                servers.update(dict.fromkeys(find_proftapds(process.pid), process.pid))
        # Other servers get no SIGCONT, because it would undo the signal by which LeakSanitizer stops the
        # threads of an ending server.
        for server in filter(is_halted, servers):
            with contextlib.suppress(ProcessLookupError):
                os.kill(server, signal.SIGCONT)
        for process in self.processes:
            if isinstance(process, Target):
                forget_way(process.pid)
            process.kill()
        Failure.witness = lambda: self.threads.extend(line for pid in servers for line in describe_threads(pid))
        try:
            wait_until(lambda: not any(map(is_alive, servers)), f"servers {servers} to end", 5 if SANITIZERS == "no" else 20)
        finally:
            for server in filter(is_alive, servers):
                os.kill(server, signal.SIGKILL)
            for action in reversed(self.after):
                action()

    def forget(self):
        shutil.rmtree(self.dir, ignore_errors=True)


tests = []


def test(function):
    tests.append(function)
    return function


def timed(function):
    """Marks a test of a promised time, or of memory that grows until a thread runs. The machine exceeds such a limit when
    other work holds its processors, so the test runs again after a Late, which in_time() raises."""
    function.repeats_after = Late
    return test(function)


def staged(function):
    """Marks a test that must act before a process goes on, e.g. end a conversion before it is complete. When other work
    holds the processors, the test may come too late and shows nothing. So it runs again after a Void, which not_void()
    raises."""
    function.repeats_after = Void
    return test(function)


def quick(function):
    """Marks a staged test whose only time is the 20 ms between the arming of a recording and its start. A busy machine needs
    more tries for that."""
    function.max_tries = 20
    return staged(function)


def run_one(function):
    """Returns None, or the reason of the failure. Ends all that the test started, in any case."""
    case = Case()
    reason = None
    Failure.witness = case.note_threads
    try:
        function(case)
    except (Failure, Skip) as e:
        reason = e
    except Exception:
        reason = Failure(traceback.format_exc())
    try:
        case.end()
    except Exception as e:
        reason = reason or Failure(f"at the end: {e}")
    if isinstance(reason, Failure):
        for process in case.processes:
            for line in process.describe():
                print(f"# {line}")
        for line in case.threads:
            print(f"# {line}")
    case.forget()
    return reason


def run_repeatedly(function):
    """Runs a test, and again after the one kind of failure that its mark names. Returns the reason of the last failure."""
    repeats_after = getattr(function, "repeats_after", ())
    for n_left in reversed(range(getattr(function, "max_tries", MAX_TRIES))):
        reason = run_one(function)
        if not n_left or not isinstance(reason, repeats_after):
            return reason
        print(f"# runs again: {reason}", flush=True)


def restore_signals():
    """Undoes nohup and a shell's &: children would ignore the same signals."""
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run():
    """Runs the tests (those whose names hold an argument, if there are any) and prints TAP."""
    wanted = [t for t in tests if not sys.argv[1:] or any(a in t.__name__ for a in sys.argv[1:])]
    restore_signals()
    reason = load_schemas()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return
    print(f"1..{len(wanted)}", flush=True)
    for number, function in enumerate(wanted, 1):
        name = function.__name__.replace("_", " ")
        started = time.monotonic()
        reason = run_repeatedly(function)
        if isinstance(reason, Failure):
            for line in str(reason).splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {name}", flush=True)
        elif reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        else:
            print(f"# {time.monotonic() - started:.1f} s")
            print(f"ok {number} - {name}", flush=True)
