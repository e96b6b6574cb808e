# SPDX-License-Identifier: Apache-2.0
"""Real processes under test: targets, captures, the trace that comes out, and TAP.

A test is a function with @test that takes a Case. The case starts targets and captures, waits for what
they say (never for time), ends everything at its end, and shows their output when the test failed.
Traces are read with Google's decoder, which shares no code with the encoder.
"""
import collections
import glob
import importlib
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

TOP_SRC = Path(os.environ.get("top_srcdir", Path(__file__).resolve().parents[2]))
TOP_BUILD = Path(os.environ.get("top_builddir", TOP_SRC / "build"))
PROFTAP = TOP_BUILD / "client" / "proftap"
PROFTAPD = TOP_BUILD / "daemon" / "proftapd"
TARGET = TOP_BUILD / "tests" / "integration" / "target"
SANITIZERS = os.environ.get("SANITIZERS", "no")
NOBODY = 65534

# Anything that takes longer hangs.
PATIENCE_S = 20
PROTOS = ("xplane", "profiler_options")


class Failure(Exception):
    """What is not as it should be."""


class Skip(Exception):
    """Why the test cannot run here."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def equal(actual, expected, what):
    check(actual == expected, f"{what}: expected {expected!r}, got {actual!r}")


def contains(text, part, what):
    check(part in text, f"{what}: expected {part!r} in {text!r}")


def wait_until(question, what, patience_s=PATIENCE_S):
    """The first true answer to |question|."""
    deadline = time.monotonic() + patience_s
    while True:
        answer = question()
        if answer:
            return answer
        check(time.monotonic() < deadline, f"waited {patience_s} s in vain: {what}")
        time.sleep(0.005)


def need_root():
    if os.geteuid() != 0:
        raise Skip("needs root")


# ---- Processes


def read_status(pid, task=None):
    """The fields of a process's (or thread's) status; {} when it is gone."""
    path = f"/proc/{pid}/task/{task}/status" if task else f"/proc/{pid}/status"
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def is_alive(pid):
    """Whether it runs; where nobody reaps orphans, a zombie may stay for ever."""
    return read_status(pid).get("State", "Z")[0] not in "ZX"


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


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Process:
    """A child whose output is kept, line by line."""

    def __init__(self, name, command, env=None, user=None, stdin=subprocess.DEVNULL):
        if user is not None:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        self.name = name
        self.started = time.monotonic()
        self.popen = subprocess.Popen(
            [str(word) for word in command], env={**os.environ, **(env or {})}, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
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
    """tests/integration/target: one command, one answer."""

    def __init__(self, env=None):
        super().__init__("target", [TARGET], {"PROFTAPD": str(PROFTAPD), **(env or {})},
                         stdin=subprocess.PIPE)
        self.port = 0
        equal(self.read_line(), "ready", "the target's first line")

    def send(self, *commands):
        self.popen.stdin.write("".join(f"{command}\n" for command in commands))
        self.popen.stdin.flush()

    def ask(self, *commands):
        """The answer to the last command; all go at once."""
        self.send(*commands)
        return [self.read_line() for _ in commands][-1]

    def start(self, *options):
        """Starts the server; the result, and self.port."""
        words = self.ask("start " + " ".join(map(str, options or (0,)))).split()
        self.port, self.start_us = int(words[1]), int(words[2])
        return int(words[0])

    def serve(self, *options):
        equal(self.start(*options), 0, "ptap_server_start")
        check(self.port > 0, f"ptap_server_port: {self.port}")
        return self

    def thread_names(self):
        """{tid: name}"""
        return {int(task): Path(f"/proc/{self.pid}/task/{task}/comm").read_text().strip()
                for task in os.listdir(f"/proc/{self.pid}/task")}


class Capture(Process):
    """proftap capture, under way."""

    def __init__(self, case, port, ms, *options, log_dir=None, user=None, program=PROFTAP):
        self.log_dir = Path(log_dir or tempfile.mkdtemp(dir=case.dir))
        words = [word for word in (port, ms) if word is not None]
        super().__init__("proftap", [program, "capture", *words, "--log_dir", self.log_dir, *options],
                         user=user)

    def finish(self, code=0, patience_s=PATIENCE_S):
        """Waits for its end; checks its exit status."""
        actual = self.wait(patience_s)
        for thread in self.threads:
            thread.join(PATIENCE_S)
        self.elapsed_s = time.monotonic() - self.started
        self.stdout, self.stderr = "".join(self.out), "".join(self.err)
        check(actual == code, f"proftap: expected exit {code}, got {actual}: {self.stderr!r}")
        return self

    @property
    def warnings(self):
        return re.findall(r"^  warning: (.*)$", self.stderr, re.M)

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


# ---- Traces

Event = collections.namedtuple("Event", "name start_ps duration_ps stats")
Stat = collections.namedtuple("Stat", "kind value")


class Line:
    def __init__(self, plane, line):
        self.id, self.name, self.timestamp_ns = line.id, line.display_name or line.name, line.timestamp_ns
        self.events = [
            Event(plane.event_metadata[e.metadata_id].name, e.offset_ps, e.duration_ps,
                  read_stats(plane, e.stats)) for e in line.events]

    def named(self, name):
        return [e for e in self.events if e.name == name]

    def count(self):
        return collections.Counter(e.name for e in self.events)


def read_stats(plane, stats):
    """{name: (member of the oneof, value)}; references are followed."""
    found = {}
    for stat in stats:
        kind = stat.WhichOneof("value")
        value = getattr(stat, kind)
        if kind == "ref_value":
            value = plane.stat_metadata[value].name
        found[plane.stat_metadata[stat.metadata_id].name] = Stat(kind, value)
    return found


class Trace:
    def __init__(self, path):
        self.bytes = Path(path).read_bytes()
        self.space = schema("xplane").XSpace.FromString(self.bytes)
        self.planes = {plane.name: plane for plane in self.space.planes}
        host = self.planes["/host:CPU"]
        self.host_stats = read_stats(host, host.stats)
        self.lines = [Line(host, line) for line in host.lines]
        self.threads = [line for line in self.lines if line.name != "_counters_"]
        self.counters = [line for line in self.lines if line.name == "_counters_"]

    @property
    def environment(self):
        plane = self.planes["Task Environment"]
        return read_stats(plane, plane.stats)

    def thread(self, key):
        """The line of a thread, by its name or id."""
        found = [line for line in self.threads if key in (line.name, line.id)]
        equal(len(found), 1, f"number of lines of thread {key} among "
              f"{[(line.id, line.name) for line in self.threads]}")
        return found[0]

    def count(self, name):
        """Events of that name on all threads, and samples of that counter."""
        return sum(line.count()[name] for line in self.lines)

    def host_stat(self, name):
        stat = self.host_stats.get(name)
        return stat.value if stat else 0


schema_dir = tempfile.TemporaryDirectory(prefix="proftap-schema-")


def schema(name):
    return importlib.import_module(f"tsl.profiler.protobuf.{name}_pb2")


def load_schemas():
    """Makes Python modules of our .proto files. A reason when that cannot be done."""
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        return "python3-protobuf is not installed"
    if not shutil.which("protoc"):
        return "protoc is not installed"
    subprocess.run(["protoc", f"-I{TOP_SRC}/proto", f"--python_out={schema_dir.name}",
                    *(f"tsl/profiler/protobuf/{name}.proto" for name in PROTOS)], check=True)
    sys.path.insert(0, schema_dir.name)
    return None


# ---- Tests


class Case:
    """What one test started, and its directory."""

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="proftap-test-"))
        self.dir.chmod(0o755)
        self.processes = []
        self.at_end = []

    def target(self, **env):
        self.processes.append(Target(env))
        return self.processes[-1]

    def start_capture(self, target, ms, *options, **how):
        self.processes.append(Capture(self, getattr(target, "port", target), ms, *options, **how))
        return self.processes[-1]

    def capture(self, target, ms, *options, code=0, **how):
        return self.start_capture(target, ms, *options, **how).finish(code)

    def record(self, target, ms, *options, **how):
        """A capture that has begun to record."""
        capture = self.start_capture(target, ms, *options, **how)
        equal(target.ask("await 1"), "recording", "the target")
        return capture

    def emit(self, target, ms, *commands, options=(), **how):
        """A capture, ended, in which the target obeyed |commands| as soon as it recorded."""
        capture = self.start_capture(target, ms, *options, **how)
        target.ask("await 1", *commands)
        return capture.finish()

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

    def end(self):
        """Ends everything. Servers must go by themselves, soon after their targets."""
        for action in reversed(self.at_end):
            action()
        servers = {}
        for process in self.processes:
            if isinstance(process, Target):
                servers.update(dict.fromkeys(find_proftapds(process.pid), process.pid))
        for server in servers:
            os.kill(server, signal.SIGCONT)
        for process in self.processes:
            process.kill()
        try:
            wait_until(lambda: not any(map(is_alive, servers)), f"servers {servers} to end", 5)
        finally:
            for server in filter(is_alive, servers):
                os.kill(server, signal.SIGKILL)

    def forget(self):
        shutil.rmtree(self.dir, ignore_errors=True)


tests = []


def test(function):
    tests.append(function)
    return function


def run_one(function):
    """None, or why it failed. Ends what it started in any case."""
    case = Case()
    reason = None
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
    case.forget()
    return reason


def run():
    """Runs the tests (those whose names hold an argument, if there are any) and prints TAP."""
    wanted = [t for t in tests if not sys.argv[1:] or any(a in t.__name__ for a in sys.argv[1:])]
    reason = load_schemas()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return
    print(f"1..{len(wanted)}", flush=True)
    for number, function in enumerate(wanted, 1):
        name = function.__name__.replace("_", " ")
        started = time.monotonic()
        reason = run_one(function)
        if isinstance(reason, Failure):
            for line in str(reason).splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {name}", flush=True)
        elif reason:
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        else:
            print(f"# {time.monotonic() - started:.1f} s")
            print(f"ok {number} - {name}", flush=True)
