# SPDX-License-Identifier: Apache-2.0
"""A host daemon for one test, and its list of programs."""
import json
import signal

from checks import equal, wait_until
from processes import PROFTAP, PROFTAPD, Process, Target, free_port


def runtime(t):
    """Returns the environment with a runtime directory of this test's own."""
    path = t.dir / "runtime" / "proftap"
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.parent.chmod(0o755)
    return {"XDG_RUNTIME_DIR": str(path.parent)}


def registry_path(t):
    return t.dir / "runtime" / "proftap" / "registry.sock"


def list_programs(t, port, user=None):
    """Returns {pid: row} of the programs that |user| sees."""
    program = t.public_proftap() if user else PROFTAP
    listing = t.keep(Process("proftap list", [program, "list", f"127.0.0.1:{port}", "--json"], user=user))
    equal(listing.wait(), 0, f"proftap list HOST: {listing.err}")
    for thread in listing.threads:
        thread.join()
    return {row["pid"]: row for row in json.loads("".join(listing.out))["targets"]}


class Host(Process):
    """proftapd --host, serving."""

    def __init__(self, t, *options, port=None, web=None, prefix=()):
        self.case = t
        self.port = port or free_port()
        super().__init__("proftapd --host", [
            *prefix, PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{self.port}",
            "--web", f"127.0.0.1:{web}" if web else "none", "--registry", registry_path(t),
            # Programs of tests that run beside this one must not appear.
            "--stock_servers", "no", *options], runtime(t))
        t.keep(self)
        wait_until(lambda: any("serving on" in line for line in self.err), "the host daemon to serve")

    def list(self, user=None):
        return list_programs(self.case, self.port, user)

    def await_pids(self, *pids, patience_s=10):
        wait_until(lambda: sorted(self.list()) == sorted(pids), f"processes {pids} to be listed", patience_s)

    def end(self, number=signal.SIGTERM):
        self.signal(number)
        return self.wait()


def start_target(t, user=None, **env):
    """Starts a target with a server, in this test's runtime directory."""
    return t.keep(Target({**runtime(t), **env}, user=user)).serve()
