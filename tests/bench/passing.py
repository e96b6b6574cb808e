# SPDX-License-Identifier: Apache-2.0
"""Measures how fast a host daemon passes traces on, and its memory meanwhile."""
import os
import subprocess
import time

from common import BENCH, BUILD, PROFTAP, Failure
from large import show_memory
from memory_watch import MemoryWatch
from processes import free_port

PROFTAPD = os.path.join(BUILD, "daemon", "proftapd")
# (programs, MiB of each)
STREAMS = ((1, 4096), (64, 100))
PATIENCE_S = 20


class Host:
    """A running proftapd --host."""

    def __init__(self, directory):
        self.registry = os.path.join(directory, "registry.sock")
        self.port = free_port()
        self.process = subprocess.Popen(
            [PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{self.port}", "--web", "none", "--registry",
             self.registry, "--stock_servers", "no", "--log_level", "warn"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.await_programs(0)

    def count(self):
        listing = subprocess.run([PROFTAP, "list", f"127.0.0.1:{self.port}", "--json"], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, check=False)
        return listing.stdout.count('"pid"') if listing.stdout else None

    def await_programs(self, n):
        end = time.monotonic() + PATIENCE_S
        while self.count() != n:
            if time.monotonic() > end:
                raise Failure(f"the host daemon does not know {n} programs")
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()


def stream(port, registry, n, mib, begin):
    """Returns (seconds, bytes) of the received data. |begin| is called when all programs run."""
    with subprocess.Popen([os.path.join(BENCH, "bench_passing"), str(port), registry, str(n), str(mib)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        begin()
        said = process.communicate("\n")[0].split()
    if process.returncode != 0:
        raise Failure(f"bench_passing ended with {process.returncode}: {said}")
    return float(said[0]), int(said[1])


def bench_one(out, n, mib, directory):
    name = f"passing: {n} x {mib} MiB"
    with Host(directory) as host:
        watch = MemoryWatch(host.process.pid)
        seconds, n_bytes = stream(host.port, host.registry, n, mib, lambda: host.await_programs(n))
        show_memory(out, f"{name}: proftapd --host", watch, "<= 64 MiB")
    out.figure(name, f"{n_bytes / 1e9 / seconds:.2f}", "GB/s", ">= 1 GB/s" if n == 1 else "")


def bench_passing(out, directory):
    out.method("passing: Capture of programs that are nothing but their servers, through a host daemon on loopback, into "
               "readers that throw the data away, all on this machine; direct: without the daemon, by a socket pair; memory: "
               "anonymous and shared")
    seconds, n_bytes = stream(0, "", *STREAMS[0], lambda: None)
    out.figure("passing: direct", f"{n_bytes / 1e9 / seconds:.2f}", "GB/s")
    for n, mib in STREAMS:
        bench_one(out, n, mib, directory)
