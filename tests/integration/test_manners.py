#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what the library may change in its target and what not, and who may connect."""
import errno
import os
import signal
import subprocess
import sys
import time

from fixture import (NOBODY, SANITIZERS, check, contains, equal, find_proftapd,
                     find_proftapds, free_port, is_alive, need_namespaces, need_no_sanitizer, need_root,
                     read_fds, read_shared_kib, read_status, run, test, wait_until)
from processes import LIBRARY, TARGET, Process, find_children
from profiler import Profiler

IDLE_S = 2
# Signals that a program may use; 9 and 19 cannot be blocked. 32 and 33 are the C library's: it
# handles one of them from its first thread on.
USABLE = [n for n in range(1, 65) if n not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]


def read_signals(pid, task=None):
    """The usable signals in each of the masks."""
    status = read_status(pid, task)
    masks = {key: int(status[key], 16) for key in ("SigBlk", "SigIgn", "SigCgt")}
    return {key: [n for n in USABLE if mask >> (n - 1) & 1] for key, mask in masks.items()}


def find_control(target):
    found = [tid for tid, name in target.thread_names().items() if name == "ptap-control"]
    equal(len(found), 1, f"threads named ptap-control among {target.thread_names()}")
    return found[0]


def read_switches(pid, task):
    status = read_status(pid, task)
    return [int(status[key]) for key in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")]


def read_static_tls_bytes(library):
    headers = subprocess.run(["readelf", "--program-headers", "--wide", library],
                             check=True, capture_output=True, text=True).stdout
    return sum(int(line.split()[5], 16) for line in headers.splitlines()
               if line.split()[:1] == ["TLS"])


@test
def thread_local_storage_takes_64_bytes_of_each_thread(t):
    """These bytes come out of the few hundred bytes that glibc keeps spare for all libraries that dlopen loads."""
    need_no_sanitizer()
    equal(read_static_tls_bytes(LIBRARY), 64, "static thread-local storage")


@test
def nothing_happens_at_load(t):
    target = t.target()
    contains(open(f"/proc/{target.pid}/maps").read(), "libproftap.so", "maps of the target")
    equal(list(target.thread_names().values()), ["target"], "threads")
    equal(read_fds(target.pid), [0, 1, 2], "descriptors")
    equal(find_children(target.pid), [], "children")
    equal(target.ask("port"), "0", "port")


@test
def a_server_costs_the_target_one_thread_and_nothing_else(t):
    need_no_sanitizer()
    target = t.target()
    signals = read_signals(target.pid)
    target.serve()
    for moment in ("after the start", "after a capture"):
        names = sorted(target.thread_names().values())
        equal(names, ["ptap-control", "target"], f"threads {moment}")
        equal(read_fds(target.pid), [0, 1, 2], f"descriptors {moment}")
        equal(find_children(target.pid), [], f"children {moment}")
        equal(read_signals(target.pid), signals, f"signals {moment}")
        t.emit(target, 100, "burst 10")
    equal(target.ask("stop"), "0", "ptap_server_stop")
    equal(list(target.thread_names().values()), ["target"], "threads after the stop")
    equal(read_fds(target.pid), [0, 1, 2], "descriptors after the stop")
    equal(read_signals(target.pid), signals, "signals after the stop")


@test
def no_sigchld_reaches_the_target(t):
    target = t.target().serve()
    server = find_proftapd(target.pid)
    equal(target.ask("stop"), "0", "ptap_server_stop")
    wait_until(lambda: not read_status(server) or read_status(server)["State"][0] == "Z",
               "the server to end")
    equal(target.ask("signals"), "0", "SIGCHLDs that the target got")


@test
def the_control_thread_takes_no_signal(t):
    target = t.target().serve()
    equal(read_signals(target.pid, find_control(target))["SigBlk"], USABLE, "signals that the control thread blocks")


@test
def an_idle_server_does_not_wake_the_target(t):
    target = t.target().serve()
    # A client connects first, so that gRPC runs in the server.
    t.emit(target, 300, "burst 1")
    control = find_control(target)
    wait_until(lambda: read_status(target.pid, control)["State"][0] == "S", "the thread to sleep")
    before = read_switches(target.pid, control)
    time.sleep(IDLE_S)
    equal(read_switches(target.pid, control), before, f"context switches within {IDLE_S} s")


@test
def another_user_is_refused(t):
    need_root()
    target = t.target().serve()
    capture = t.capture(target, 200, code=5, log_dir=t.public_dir("logs"), user=NOBODY,
                        program=t.public_proftap())
    contains(capture.stderr, "only the user that runs the target, or root, may connect",
             "standard error")
    equal(capture.left(), [], "remaining files")


@test
def another_user_is_let_in_when_asked_for(t):
    need_root()
    target = t.target().serve(0, 0, 1)
    capture = t.emit(target, 200, "burst 10", log_dir=t.public_dir("logs"), user=NOBODY,
                     program=t.public_proftap())
    equal(capture.trace.count("burst"), 10, "spans")


@test
def a_server_that_is_not_there_is_reported(t):
    target = t.target(PROFTAPD="/nowhere/proftapd")
    equal(target.start(), -errno.ENOENT, "ptap_server_start")
    equal(target.ask("error"), "proftapd: PROFTAPD=/nowhere/proftapd is not an executable file; "
          "correct or unset it", "ptap_last_error")
    equal(target.port, 0, "ptap_server_port")
    equal(find_children(target.pid), [], "children")


INIT_THAT_NEVER_REAPS = """
import os, subprocess, sys
target = subprocess.Popen(sys.argv[1], env={**os.environ, "PROFTAPD": "/bin/false"}, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
target.stdin.write("start 0\\nerror\\nport\\n")
target.stdin.flush()
for _ in range(4):
    print(target.stdout.readline(), end="", flush=True)
os._exit(0)
"""


@test
def a_server_that_ends_at_once_is_reported_at_once(t):
    """The ended server stays a zombie, as in a container whose first process reaps no children."""
    namespace = ("--pid", "--fork", "--mount-proc")
    need_namespaces(*namespace)
    init = t.keep(Process("init", ["unshare", *namespace, sys.executable, "-c",
                                   INIT_THAT_NEVER_REAPS, TARGET]))
    equal(init.read_line(), "ready", "the target's first line")
    code, port, took_us = map(int, init.read_line().split())
    equal((code, port), (-errno.ECHILD, 0), "ptap_server_start and ptap_server_port")
    check(took_us < 5000000, f"ptap_server_start() took {took_us} us to fail")
    contains(init.read_line(), "ended before it was ready", "ptap_last_error")
    equal(init.read_line(), "0", "ptap_server_port")


@test
def disabled_by_the_environment_is_no_server_and_no_error(t):
    target = t.target(PROFTAP_DISABLE="1")
    equal((target.start(), target.port), (0, 0), "ptap_server_start and ptap_server_port")
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1)")
    if SANITIZERS == "no":
        equal(list(target.thread_names().values()), ["target"], "threads")


@test
def the_memory_of_rings_is_given_back_when_nobody_asks_any_more(t):
    target, recorded = t.target().serve(), t.target().serve()
    before, recorded_before = read_shared_kib(target.pid), read_shared_kib(recorded.pid)
    threads = "threads " + " ".join(f"w{i}=10" for i in range(8))
    with Profiler(recorded) as calls:
        calls.begin_recorder()
        recorded.ask(threads)
        check(read_shared_kib(recorded.pid) - recorded_before > 4 << 10, "the recorder's rings took no memory")
        calls.stop("recorder", discard=True)
    t.emit(target, 200, threads)
    check(read_shared_kib(target.pid) - before > 4 << 10, "the rings took no memory")
    wait_until(lambda: read_shared_kib(target.pid) - before < 1 << 10, "the memory to be back", 15)
    wait_until(lambda: read_shared_kib(recorded.pid) - recorded_before < 1 << 10, "the recorder's, too", 15)
    capture = t.emit(target, 200, "burst 1000")
    equal(capture.trace.count("burst"), 1000, "spans of the next capture")


@test
def stopped_servers_keep_no_memory(t):
    target = t.target()
    seen = []
    for _ in range(4):
        target.serve()
        t.emit(target, 100, "burst 1000")
        equal(target.ask("stop"), "0", "ptap_server_stop")
        wait_until(lambda: not find_proftapds(target.pid), "the server to end", 3)
        seen.append(read_shared_kib(target.pid))
    check(seen[-1] - seen[0] < 512, f"KiB of shared memory after each stop: {seen}")


HOST_WITHOUT_US = """
import _ctypes, ctypes, sys
library = ctypes.CDLL(sys.argv[1])
assert library.ptap_server_start(int(sys.argv[2])) == 0
_ctypes.dlclose(library._handle)
print("closed", flush=True)
sys.stdin.read()
"""


@test
def dlclose_leaves_the_host_alive(t):
    need_no_sanitizer("cannot be loaded into an interpreter that is built without")
    port = free_port()
    host = t.keep(Process("host", [sys.executable, "-c", HOST_WITHOUT_US, LIBRARY, str(port)],
                          stdin=subprocess.PIPE))
    equal(host.read_line(), "closed", "the host's output")
    host.port = port
    t.capture(host, 100)
    check(is_alive(host.pid), "the host died of the capture")


run()
