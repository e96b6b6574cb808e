# SPDX-License-Identifier: Apache-2.0
"""Targets that cannot start a server, and what a host daemon lends them."""
import os
import signal
from pathlib import Path

from checks import contains, equal, wait_until
from hosts import Host, registry_path, runtime
from processes import Target, find_children, find_proftapd, read_status
from roots import make_root

LONG_MS = 60000
REMEDY = ", or start proftapd --host"


def find_starter(host):
    """The daemon's process that starts servers."""
    return next(pid for pid in find_children(host.pid) if read_status(pid)["Name"] == "proftapd-start")


def find_lent(pid):
    """Returns the server of the program |pid|, which a daemon started."""
    server = find_proftapd(pid)
    contains(Path(f"/proc/{server}/cmdline").read_bytes(), b"\0--lent\0", "its server's command line")
    return server


def sandboxed(t, *kind, user=None, **env):
    """Starts a target in this test's runtime directory, confined by |kind|."""
    target = t.keep(Target({**runtime(t), **env}, user=user))
    equal(target.ask(f"sandbox {' '.join(kind)}"), "0", "the sandbox")
    return target


def check_by_daemon(t, host, target, word, n=7):
    """Checks that spans arrive by the daemon's port."""
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", word)
    target.ask("await 1", f"burst {n}")
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), n, f"spans of {word} by the daemon")


def check_by_port(t, target, n=5):
    """Checks that spans arrive by the program's own port."""
    capture = t.start_capture(target, LONG_MS)
    target.ask("await 1", f"burst {n}")
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), n, "spans by its port")


def check_served(t, host, target, pid=None):
    """Checks that the daemon lent the program a server, and that both ports record the program. Returns the server."""
    pid = pid or target.pid
    host.await_pids(pid)
    server = find_lent(pid)
    equal(int(read_status(server)["PPid"]), find_starter(host), "parent of the lent server")
    check_by_daemon(t, host, target, str(pid))
    check_by_port(t, target)
    return server


def enter_root(t):
    """A target in a root without proftapd, which sees the daemon's socket."""
    root = make_root(t, proftapd=False)
    folder = root / "runtime" / "proftap"
    folder.mkdir(parents=True, mode=0o755)
    os.link(registry_path(t), folder / "registry.sock")
    return t.keep(Target({"XDG_RUNTIME_DIR": "/runtime", "PROFTAPD": ""}, program="/usr/bin/train", prefix=("chroot", root)))


def refused(target, *options):
    """Returns the reason why the target's server does not start."""
    equal(target.start(*options) < 0, True, "a failure of ptap_server_start")
    return target.ask("error")


def await_gone(pid):
    wait_until(lambda: read_status(pid).get("State", "Z")[0] in "ZX", f"process {pid} to end")


def served(t, *kind, **env):
    """A daemon, and a target that it serves."""
    host = Host(t)
    target = sandboxed(t, *(kind or ("errno", "execve", "execveat")), **env).serve()
    host.await_pids(target.pid)
    return host, target
