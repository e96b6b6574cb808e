# SPDX-License-Identifier: Apache-2.0
"""Real processes: targets, captures, and their facts in /proc."""
import contextlib
import glob
import json
import os
import queue
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from checks import PATIENCE_S, Failure, check, equal, wait_until
from trace_file import Trace

TOP_SRC = Path(os.environ.get("top_srcdir", Path(__file__).resolve().parents[2]))
TOP_BUILD = Path(os.environ.get("top_builddir", TOP_SRC / "build"))
SUPPORT = Path(__file__).resolve().parent
PROFTAP = TOP_BUILD / "client" / "proftap"
PROFTAPD = TOP_BUILD / "daemon" / "proftapd"
LIBRARY = TOP_BUILD / "lib" / ".libs" / "libproftap.so.1"
TARGET = TOP_BUILD / "tests" / "programs" / "target"


def read_status(pid, task=None):
    """Returns the fields of the status of a process or thread, or {} if it is gone."""
    path = f"/proc/{pid}/task/{task}/status" if task else f"/proc/{pid}/status"
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def read_shared_kib(pid):
    """The shared memory that the process has touched, in KiB."""
    return int(read_status(pid)["RssShmem"].split()[0])


def read_fds(pid):
    return sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd"))


def read_rows(table):
    return [line.split() for line in Path("/proc/net", table).read_text().splitlines()[1:]]


def count_connections(pid):
    """Counts descriptors of TCP connections, also of closed ones: all sockets but listeners and the private ones."""
    stay = {row[9] for table in ("tcp", "tcp6") for row in read_rows(table) if row[3] == "0A"}
    stay |= {row[6] for row in read_rows("unix")}
    links = []
    for fd in read_fds(pid):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return sum(link.startswith("socket:") and link[8:-1] not in stay for link in links)


def is_alive(pid):
    """Returns whether the process runs. A zombie counts as ended, because nobody may reap it."""
    return read_status(pid).get("State", "Z")[0] not in "ZX"


def is_halted(pid):
    return read_status(pid).get("State", "?")[0] == "T"


def halt(pid):
    """Stops the process until SIGCONT, and waits until it is stopped."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: is_halted(pid), f"process {pid} to stop")


def await_rounds(pids, n=3):
    """Waits until each process, which works and pauses in turns, has done so |n| times more."""
    def count(pid):
        return int(read_status(pid)["voluntary_ctxt_switches"])

    before = {pid: count(pid) for pid in pids}
    wait_until(lambda: all(count(pid) >= n + before[pid] for pid in pids), f"{n} rounds of {pids}")


def find_children(pid):
    """Returns the children, including zombies."""
    pids = (int(path.split("/")[2]) for path in glob.glob("/proc/[0-9]*/status"))
    return [p for p in pids if read_status(p).get("PPid") == str(pid)]


def find_proftapds(pid):
    """The servers of the target |pid|."""
    wanted = [b"--attached", str(pid).encode()]
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = Path(path).read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:3] == wanted and is_alive(int(path.split("/")[2])):
            found.append(int(path.split("/")[2]))
    return found


def find_proftapd(pid):
    found = find_proftapds(pid)
    equal(len(found), 1, f"number of servers of pid {pid}")
    return found[0]


def is_recording(pid):
    """Returns true if proftap list shows a session of the target |pid|."""
    text = subprocess.run([PROFTAP, "list", "--json"], check=True, capture_output=True).stdout
    return any(row["pid"] == pid and row["state"] == "recording"
               for row in json.loads(text)["targets"])


def is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port():
    """Returns a port outside of the range from which the kernel chooses ports, because tests beside
    this one use that range."""
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = [*range(1024, low), *range(high + 1, 65536)] or range(low, high + 1)
    return next(port for port in iter(lambda: random.choice(ports), None) if is_free(port))


def describe_threads(pid):
    """The place in which each thread of a process waits; of a process with very many threads, the first ones."""
    tasks = sorted(glob.glob(f"/proc/{pid}/task/[0-9]*"), key=lambda path: int(path.split("/")[-1]))
    for task in tasks[:40]:
        with contextlib.suppress(OSError):
            name, place, stat = (Path(task, file).read_text().strip() for file in ("comm", "wchan", "stat"))
            yield f"{task} ({name}): {stat.rpartition(')')[2].split()[0]} {place}"


class Process:
    """A child whose output is kept, line by line."""

    def __init__(self, name, command, env=None, user=None, stdin=subprocess.DEVNULL, fds=()):
        if user is not None:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        self.name = name
        self.started = time.monotonic()
        self.popen = subprocess.Popen(
            [str(word) for word in command], env={**os.environ, **(env or {})}, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, pass_fds=fds)
        self.pid = self.popen.pid
        self.out, self.err = [], []
        self.lines = queue.Queue()
        self.threads = [
            threading.Thread(target=self.read, args=(self.popen.stdout, self.out, self.lines)),
            threading.Thread(target=self.read, args=(self.popen.stderr, self.err, None))]
        for thread in self.threads:
            thread.daemon = True
            thread.start()

    @staticmethod
    def read(stream, kept, lines):
        for line in stream:
            kept.append(line)
            if lines:
                lines.put(line.rstrip("\n"))
        if lines:
            lines.put(None)

    def read_line(self):
        try:
            line = self.lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise Failure(f"{self.name}: no answer within {PATIENCE_S} s") from None
        check(line is not None, f"{self.name} ended: exit {self.popen.poll()}")
        return line

    def wait(self, patience_s=PATIENCE_S):
        try:
            self.popen.wait(patience_s)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} (pid {self.pid}) did not end in {patience_s} s") from None
        return self.popen.returncode

    def signal(self, number):
        if self.popen.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.popen.wait()

    def describe(self):
        yield f"{self.name} (pid {self.pid}), exit {self.popen.poll()}"
        for label, lines in (("out", self.out), ("err", self.err)):
            yield from (f"  {label}: {line.rstrip()}"[:300] for line in lines[-30:])


class Target(Process):
    """tests/programs/target: one command, one answer."""

    def __init__(self, env=None, program=TARGET, prefix=(), user=None):
        super().__init__("target", [*prefix, program], {"PROFTAPD": str(PROFTAPD), **(env or {})},
                         user=user, stdin=subprocess.PIPE)
        self.port = 0
        equal(self.read_line(), "ready", "the target's first line")

    def send(self, *commands):
        self.popen.stdin.write("".join(f"{command}\n" for command in commands))
        self.popen.stdin.flush()

    def ask(self, *commands):
        """Sends all commands at once, and returns the answer to the last one."""
        self.send(*commands)
        return self.obeyed(len(commands))

    def obeyed(self, n):
        """Returns the last answer to |n| commands that were sent."""
        return [self.read_line() for _ in range(n)][-1]

    def start(self, *options):
        """Starts the server. Returns the result, and sets self.port."""
        words = self.ask("start " + " ".join(map(str, options or (0,)))).split()
        self.port, self.start_us = int(words[1]), int(words[2])
        return int(words[0])

    def serve(self, *options):
        equal(self.start(*options), 0, "ptap_server_start")
        check(self.port > 0, f"ptap_server_port: {self.port}")
        return self

    def thread_names(self):
        """Returns {tid: name} of the threads."""
        names = {}
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
                names[int(task)] = Path(f"/proc/{self.pid}/task/{task}/comm").read_text().strip()
        return names


class Capture(Process):
    """proftap capture, under way."""

    def __init__(self, case, port, ms, *options, log_dir=None, user=None, program=PROFTAP,
                 prefix=()):
        self.log_dir = Path(log_dir or tempfile.mkdtemp(dir=case.dir))
        self.is_ended_here = False
        words = [word for word in (port, ms) if word is not None]
        command = [*prefix, program, "capture", *words, "--log_dir", self.log_dir, *options]
        super().__init__("proftap", command, user=user)

    def finish(self, code=0, patience_s=PATIENCE_S):
        """Waits for the capture's end, and checks its exit status."""
        actual = self.wait(patience_s)
        for thread in self.threads:
            thread.join(PATIENCE_S)
        self.elapsed_s = time.monotonic() - self.started
        self.stdout, self.stderr = "".join(self.out), "".join(self.err)
        check(actual == code, f"proftap: expected exit {code}, got {actual}: {self.stderr!r}")
        return self

    @property
    def warnings(self):
        """If the test ended the capture, the warning that somebody else ended it is left out. So is the one that this machine
        permits no perf events, which test_samples.py looks at."""
        found = re.findall(r"^  warning: (.*)$", self.stderr, re.M)
        return [w for w in found if not (self.is_ended_here and " by somebody else: " in w)
                and not w.startswith("samples: they are missing or not whole: CPU samples: ")]

    def find_warning(self, *parts):
        found = [w for w in self.warnings if all(str(part) in w for part in parts)]
        check(found, f"no warning with {parts}; there are {self.warnings}")
        return found[0]

    @property
    def path(self):
        return Path(self.stdout.rstrip("\n"))

    @property
    def trace(self):
        return Trace(self.path)

    def left(self):
        """Everything below the log directory."""
        return sorted(str(p.relative_to(self.log_dir)) for p in self.log_dir.rglob("*"))
