# SPDX-License-Identifier: Apache-2.0
"""A host daemon, and programs that announce themselves to it."""
import contextlib
import os
import pathlib
import subprocess

from processes import BUILD, PROFTAP, Pipeline, free_port, run, stop, wait_until

PROFTAPD = BUILD / "daemon/proftapd"


@contextlib.contextmanager
def own_runtime(work):
    """A runtime directory of this test's own, for all that it starts."""
    old = os.environ.get("XDG_RUNTIME_DIR")
    path = work / "runtime"
    path.mkdir(mode=0o755)
    os.environ["XDG_RUNTIME_DIR"] = str(path)
    try:
        yield path / "proftap"
    finally:
        del os.environ["XDG_RUNTIME_DIR"]
        if old is not None:
            os.environ["XDG_RUNTIME_DIR"] = old


class HostDaemon:
    """proftapd --host, serving."""

    def __init__(self, directory):
        directory.mkdir(mode=0o755, exist_ok=True)
        self.port = free_port()
        self.process = subprocess.Popen(
            [PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{self.port}",
             "--web", "none", "--registry", directory / "registry.sock", "--stock_servers", "no"],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while "serving on" not in (line := self.process.stderr.readline()):
            assert line, "the host daemon has ended"

    def knows(self, *pids):
        listing = run(PROFTAP, "list", f"127.0.0.1:{self.port}", check=False).stdout
        return all(str(pid) in listing.split() for pid in pids)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        stop(self.process, "the host daemon")
        self.process.stderr.close()


@contextlib.contextmanager
def hosted(work, n):
    """Yields (the daemon, |n| pipelines that it knows)."""
    with own_runtime(work) as directory, HostDaemon(directory) as host, contextlib.ExitStack() as stack:
        pipelines = []
        for i in range(n):
            place = pathlib.Path(work, f"pipeline-{i}")
            place.mkdir()
            pipelines.append(stack.enter_context(Pipeline(place)))
        wait_until(lambda: host.knows(*(p.process.pid for p in pipelines)), "all to be known")
        yield host, pipelines
