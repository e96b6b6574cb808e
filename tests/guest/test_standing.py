#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the attributes that the server inherits from its host, and those that the host gets from the server."""
import os
import signal
from pathlib import Path

from host import (PROFTAPD, Target, equal, find_proftapd, find_proftapds, need_no_sanitizer,
                  read_status, run, test, wait_until)
from processes import LIBRARY, Process

UNWANTED = {"LD_BIND_NOW": "1", "LD_PRELOAD_NOT": "x", "PROFTAP_LOG": "debug", "PROFTAP_LOG_DIR": "/x",
            "PROFTAP_ANYTHING": "x", "GRPC_VERBOSITY": "debug", "GRPC_TRACE": "all",
            "http_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "no_proxy": "x"}
WANTED = {"GUEST_WANTS": "this", "LDX": "2", "MY_PROXY_HOST": "3", "GRPC": "4"}


def read_link(pid, name):
    return os.readlink(f"/proc/{pid}/{name}")


def read_stat(pid):
    """The fields after the name: state, parent, group, session, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def serve(t, **env):
    target = t.target(**env).serve()
    return target, find_proftapd(target.pid)


@test
def the_environment_is_scrubbed(t):
    target, server = serve(t, **UNWANTED, **WANTED)
    entries = Path(f"/proc/{server}/environ").read_bytes().split(b"\0")
    seen = dict(entry.decode().split("=", 1) for entry in entries if entry)
    unwanted = [name for name in seen
                if name.startswith(("LD_", "PROFTAP", "GRPC_")) or name.lower().endswith("_proxy")]
    equal(unwanted, [], "variables of the server")
    equal({name: seen.get(name) for name in WANTED}, WANTED, "variables that it keeps")


@test
def the_server_has_its_own_session_and_directory(t):
    target, server = serve(t)
    state, parent, group, session, terminal = read_stat(server)[:5]
    equal((group, session, terminal), (str(server), str(server), "0"), "group, session, terminal")
    equal(parent == str(target.pid), False, "is the host's child")
    equal(read_link(server, "cwd"), "/", "working directory")
    equal(Path(f"/proc/{server}/oom_score_adj").read_text(), "500\n", "oom_score_adj")
    before = Path("/proc/self/oom_score_adj").read_text()
    equal(Path(f"/proc/{target.pid}/oom_score_adj").read_text(), before, "the host's oom_score_adj")
    equal(read_stat(server)[2:4] == read_stat(target.pid)[2:4], False, "shares the host's session")


IGNORES = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGRTMIN + 3, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN + 2])
os.execv(sys.argv[1], sys.argv[1:])
"""


@test
def the_servers_signals_are_the_defaults(t):
    target = t.keep(Target(prefix=("python3", "-c", IGNORES))).serve()
    kept = read_status(target.pid)
    server = read_status(find_proftapd(target.pid))
    for signals, key in (((signal.SIGUSR1, signal.SIGTERM, signal.SIGRTMIN + 2), "SigBlk"),
                         ((signal.SIGTERM, signal.SIGRTMIN + 3), "SigIgn")):
        mask = sum(1 << (number - 1) for number in signals)
        equal(int(kept[key], 16) & mask, mask, f"{key} of the host")
        equal(int(server[key], 16) & mask, 0, f"{key} of the server")
    equal(int(server["SigBlk"], 16), 0, "SigBlk of the server")


@test
def the_server_has_no_descriptor_of_the_host(t):
    target = t.keep(Target(prefix=("sh", "-c", 'exec 7</etc/passwd 9</etc; exec "$@"', "sh")))
    server = find_proftapd(target.serve().pid)
    links = {int(fd): read_link(server, f"fd/{fd}") for fd in os.listdir(f"/proc/{server}/fd")}
    equal([links[fd] for fd in range(3)], ["/dev/null"] * 3, "standard descriptors")
    hosts = {read_link(target.pid, f"fd/{fd}") for fd in (0, 1, 2, 7, 9)} - {"/dev/null"}
    equal(hosts & set(links.values()), set(), "descriptors of the host in the server")


@test
def the_server_of_a_host_without_standard_descriptors_has_them(t):
    need_no_sanitizer("have a runtime that cannot be preloaded")
    host = t.keep(Process("sleep", ["sh", "-c", 'exec env LD_PRELOAD="$0" PROFTAP_SERVER=0 '
                                    'PROFTAPD="$1" sleep 60 <&- >&- 2>&-', LIBRARY, PROFTAPD]))
    wait_until(lambda: find_proftapds(host.pid), "the server")
    server = find_proftapd(host.pid)
    links = [read_link(server, f"fd/{fd}") for fd in range(3)]
    equal(links, ["/dev/null"] * 3, "standard descriptors")


run()
