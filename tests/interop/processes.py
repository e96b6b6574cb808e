# SPDX-License-Identifier: Apache-2.0
"""The processes of the tests: the pipeline that is recorded, proftap, and the peers.

Every wait here is for an event, with a limit that only a broken program reaches.
"""
import collections
import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(os.environ["top_builddir"])
SOURCE = pathlib.Path(os.environ["top_srcdir"])
HERE = pathlib.Path(__file__).parent
PROFTAP = BUILD / "client/proftap"
PIPELINE = BUILD / "docs/examples/pipeline"
PREFORK = BUILD / "docs/examples/prefork"
TARGET = BUILD / "tests/programs/target"
PATIENCE_S = 60


def wait_until(condition, what):
    """Returns the first true value of condition(); fails after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise AssertionError(f"waited {PATIENCE_S} s for {what}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def folder(where=None):
    with tempfile.TemporaryDirectory(prefix="proftap-interop-", dir=where) as path:
        yield pathlib.Path(path)


def run(*command, check=True, patience_s=2 * PATIENCE_S, **kwargs):
    """Returns the finished process. If it failed, the error has its output."""
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=patience_s, **kwargs)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def peer(script, *arguments, **kwargs):
    """Runs a script of this folder in a process of its own, so that a peer can break nothing here."""
    return run(sys.executable, HERE / script, *arguments, **kwargs)


def stop(process, what):
    """Sends SIGTERM, which the process must obey."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"{what} does not end") from None


def make_files(directory, n_files, n_bytes):
    """Makes texts that cost zlib some work, and are always the same."""
    rng = random.Random(7)
    directory.mkdir()
    for i in range(n_files):
        data = bytes(rng.choices(b"abcdefgh \n", k=n_bytes))
        (directory / f"file-{i:03}.txt").write_bytes(data)
    return directory


class Target:
    """tests/programs/target, which follows its forked children; one command, one answer."""

    def __init__(self, *options):
        """|options| are those of its command "start". Without options it takes any port, and the library's defaults."""
        self.process = subprocess.Popen(
            [TARGET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PROFTAP_FOLLOW_FORK": "1"})
        self.process.stdout.readline()  # the line "ready"
        result, self.port, _ = map(int, self.ask(f"start {' '.join(map(str, options or (0,)))}").split())
        assert result == 0, f"ptap_server_start: {result}"

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        stop(self.process, "target")
        self.process.stdout.close()


class Prefork:
    """docs/examples/prefork, each of whose workers is kept busy by a connection of its own."""

    def __init__(self, n):
        self.process = subprocess.Popen([PREFORK, str(n)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, text=True)
        numbers = [int(word) for word in re.findall(r"\d+", self.process.stdout.readline())]
        _, self.port, port, *self.workers = numbers
        self.connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.keep_busy, daemon=True)

    def keep_busy(self):
        while not self.is_over.wait(0.005):
            for connection in self.connections:
                connection.sendall(b"a line\n")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.is_over.set()
        self.thread.join(PATIENCE_S)
        for connection in self.connections:
            connection.close()
        stop(self.process, "prefork")
        self.process.stdout.close()


class Pipeline:
    """docs/examples/pipeline on files of our own, with its own count of what it annotated."""

    def __init__(self, work, *options, n_files=64, n_bytes=4000):
        self.count_path = work / "count"
        self.errors = open(work / "pipeline.err", "w+")
        files = make_files(work / "files", n_files, n_bytes)
        self.process = subprocess.Popen(
            [PIPELINE, "--count", self.count_path, *options, files],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.port = self.read_port(self.process.stdout.readline())

    def read_port(self, line):
        words = line.replace(",", "").split()
        if "port" not in words:
            self.errors.seek(0)
            raise AssertionError(f"pipeline said {line!r}, and {self.errors.read()!r}")
        return int(words[words.index("port") + 1])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        stop(self.process, "pipeline")
        self.process.stdout.close()
        self.errors.close()

    def read_counts(self):
        """{(thread, name): count}; the groups (steps) and (counters) count as threads."""
        counts = collections.Counter()
        for line in self.count_path.read_text().splitlines():
            group, name, count = line.split("\t")
            counts[group, name] = int(count)
        return counts

    def ask_counts(self):
        """Returns the current counts."""
        self.count_path.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        wait_until(self.count_path.exists, "the pipeline's count")
        return self.read_counts()

    def final_counts(self):
        self.count_path.unlink(missing_ok=True)
        code = stop(self.process, "pipeline")
        assert code == 0, f"pipeline: exit {code}"
        return self.read_counts()

    def count_done(self):
        """Returns the number of batches begun, and of files that have been written."""
        counts = self.ask_counts()
        return counts["(steps)", "batch"], counts["writer", "write"]

    def wait_for_batches(self, n_batches, n_files):
        """Waits until each file of |n_batches| batches has been written, for as long as there is progress."""
        while (done := self.count_done()) != (n_batches, n_batches * n_files):
            wait_until(lambda: self.count_done() != done, f"more than {done} of {n_batches} batches")


def one_file(log_dir):
    """Returns the only trace below a log directory."""
    files = list(log_dir.rglob("*.xplane.pb"))
    assert len(files) == 1, f"expected one trace, found {files}"
    return files[0]


def capture(target, duration_ms, log_dir, *options):
    """Runs proftap capture, and returns the path that it printed, which is the only trace there."""
    done = run(PROFTAP, "capture", target, duration_ms, "--log_dir", log_dir, *options)
    path = one_file(log_dir)
    assert done.stdout.splitlines()[-1:] == [str(path)], done.stdout
    return path


@contextlib.contextmanager
def capture_of_block(port, log_dir, *options):
    """Captures while the block runs; Ctrl-C ends the capture after it."""
    client = subprocess.Popen(
        [PROFTAP, "capture", str(port), str(1000 * PATIENCE_S), "--log_dir", log_dir, *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield
        client.send_signal(signal.SIGINT)
        _, errors = client.communicate(timeout=PATIENCE_S)
    finally:
        client.kill()
        client.wait()
    assert client.returncode == 0, f"exit {client.returncode}: {errors}"
