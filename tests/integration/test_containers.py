#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/containers.md as printed, in a root directory of copied files, with
namespaces that unshare makes.
"""
import json
import os
import re
import subprocess
from pathlib import Path

from checks import contains
from fixture import (NOBODY, check, equal, find_proftapd, find_proftapds, free_port, need_namespaces, need_no_sanitizer,
                     need_readable_tree, read_status, run, test, wait_until)
from hosts import Host, registry_path, runtime
from processes import PROFTAP, PROFTAPD, TOP_SRC, Process, Target
from roots import make_root
from trace_file import Trace

RECIPES = (TOP_SRC / "docs/containers.md").read_text()
MS = 60000


def recipe(name):
    """Returns the block of the document with this name."""
    found = re.findall(rf"^```sh {name}\n(.*?)^```$", RECIPES, re.M | re.S)
    equal(len(found), 1, f"recipes called {name}")
    return found[0]


class Container(Target):
    """The program of a container by the first recipe; it executes commands like other targets."""

    def __init__(self, t, run, proftapd=True):
        need_namespaces("--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net")
        need_no_sanitizer("need more than what is copied")
        env = {"ROOT": str(make_root(t, proftapd)), "RUN": str(run), "PROGRAM": "/usr/bin/train",
               "PROFTAPD": "/usr/bin/proftapd" if proftapd else ""}
        super().__init__(env, program=recipe("mounted"), prefix=("sh", "-c"))
        t.keep(self)
        self.outside = wait_until(self.find, "the program in its container")

    def find(self):
        """Returns the program's pid outside of the container: the child of sh."""
        for status in Path("/proc").glob("[0-9]*/status"):
            pid = int(status.parent.name)
            if (read_status(pid).get("Name") == "train" and self.holds(pid)):
                return pid
        return None

    def holds(self, pid):
        """Returns whether |pid| descends from this process."""
        while pid > 1 and pid != self.pid:
            pid = int(read_status(pid).get("PPid", "0"))
        return pid == self.pid

    @property
    def inside(self):
        return int(read_status(self.outside)["NSpid"].split()[-1])


def follow(t, name, **env):
    """Starts a recipe, which writes its trace to |LOGS|."""
    logs = t.dir / "logs"
    path = f"{PROFTAP.parent}:{os.environ['PATH']}"
    return t.keep(Process(name, ["sh", "-c", recipe(name)], {"PATH": path, "MS": str(MS), "LOGS": str(logs), **env}))


def check_spans(container, capture):
    """Emits spans while the recipe records, ends it by Ctrl-C, and checks the file that it names.
    """
    container.ask("await 1", "burst 7")
    capture.signal(2)
    equal(capture.wait(), 0, "exit status of the capture")
    equal(Trace(Path(capture.read_line())).count("burst"), 7, "spans")


@test
def the_socket_directory_is_mounted_in(t):
    host = Host(t)
    container = Container(t, registry_path(t).parent)
    container.serve()
    host.await_pids(container.outside)
    row = host.list()[container.outside]
    equal((row["name"], row["pid_inside"]), ("train", container.inside), "the daemon's knowledge")
    capture = t.start_capture(f"127.0.0.1:{host.port}", MS, "--target", "train")
    container.ask("await 1", "burst 7")
    capture.signal(2)
    equal(capture.finish().trace.count("burst"), 7, "spans")
    # The directory of the daemon's socket has no file of the program, and the program could not
    # make one.
    equal([p.name for p in registry_path(t).parent.iterdir()], ["registry.sock"], "files in the daemon's directory")
    check(any((t.dir / "root/tmp").glob("proftap-0/*.sock")), "its private socket is in the container")


@test
def without_proftapd_in_the_image_the_daemon_lends_a_server(t):
    host = Host(t)
    container = Container(t, registry_path(t).parent, proftapd=False)
    for _ in range(2):
        container.serve()
        host.await_pids(container.outside)
        contains(Path(f"/proc/{find_proftapd(container.outside)}/cmdline").read_bytes(), b"--lent", "its server")
        capture = t.start_capture(f"127.0.0.1:{host.port}", MS, "--target", "train")
        container.ask("await 1", "burst 7")
        capture.signal(2)
        equal(capture.finish().trace.count("burst"), 7, "spans")
        equal(container.ask("stop"), "0", "ptap_server_stop")
        wait_until(lambda: not find_proftapds(container.outside), "its server to end")


@test
def a_daemon_that_restarts_finds_the_container(t):
    runtime(t)
    container = Container(t, registry_path(t).parent)
    container.serve()
    for _ in range(2):
        host = Host(t)
        host.await_pids(container.outside)
        host.end()


@test
def root_reaches_the_private_socket_of_a_container(t):
    runtime(t)
    container = Container(t, registry_path(t).parent)
    container.serve()
    check_spans(container, follow(t, "socket", PID=str(container.outside), INSIDE=str(container.inside)))


@test
def root_reaches_the_port_of_a_container(t):
    runtime(t)
    container = Container(t, registry_path(t).parent)
    subprocess.run(["nsenter", f"--target={container.outside}", "--net", "ip", "link", "set", "lo", "up"], check=True)
    container.serve()
    check_spans(container, follow(t, "network", PID=str(container.outside), PORT=str(container.port)))


def run_daemon(t, env, user):
    """Starts a daemon as |user|, and returns its port."""
    port = free_port()
    daemon = t.keep(Process("proftapd --host", [
        PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{port}", "--web", "none", "--registry",
        Path(env["XDG_RUNTIME_DIR"]) / "proftap" / "registry.sock", "--stock_servers", "no"], env, user=user))
    wait_until(lambda: any("serving on" in line for line in daemon.err), "the host daemon to serve")
    return port


@test
def a_user_namespace_has_its_users_own_daemon(t):
    kinds = ("--user", "--map-root-user", "--pid", "--fork", "--mount-proc")
    need_namespaces(*kinds)
    need_readable_tree()
    env = runtime(t)
    for folder in (t.dir / "runtime", t.dir / "runtime" / "proftap"):
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o700)
    port = run_daemon(t, env, NOBODY)
    inside = ("unshare", *kinds, "--kill-child", "sh", "-c", '"$@"; exit', "sh")
    t.keep(Target(env, prefix=inside, user=NOBODY)).serve()

    def listed():
        done = subprocess.run([PROFTAP, "list", f"127.0.0.1:{port}", "--json"], capture_output=True, text=True, check=True)
        return [(row["name"], row["uid"]) for row in json.loads(done.stdout)["targets"]]

    equal(wait_until(listed, "it to be listed"), [("target", NOBODY)], "the daemon's knowledge of it")


run()
