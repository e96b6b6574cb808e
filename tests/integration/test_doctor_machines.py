#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap doctor on other machines, as far as namespaces and filters of system calls can imitate them, and that
the commands that it prints help."""
import os
import subprocess
import sys

from doctors import as_nobody, expect, findings
from fixture import (Skip, check, contains, need_namespaces, need_no_sanitizer, need_readable_tree, need_root, run, test,
                     wait_until)
from hosts import Host, runtime
from processes import PROFTAPD, Process, free_port

# The system calls that a filter refuses: numbers of perf_event_open and memfd_create.
CALLS = {"x86_64": (298, 319), "aarch64": (241, 279)}
# Replaces itself by the program in its arguments, under a filter that lets the calls of |CALLS| fail with EPERM.
FILTER = """
import ctypes, os, struct, sys
calls = [int(n) for n in sys.argv[1].split(",")]
code = [struct.pack("HBBI", 0x20, 0, 0, 0)]
code += [struct.pack("HBBI", 0x15, len(calls) - i, 0, n) for i, n in enumerate(calls)]
code += [struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000), struct.pack("HBBI", 0x06, 0, 0, 0x00050001)]
text = ctypes.create_string_buffer(b"".join(code))
program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.create_string_buffer(program)) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


@test
def a_filter_of_system_calls_is_reported_as_such(t):
    need_no_sanitizer("do not run under a filter")
    calls = CALLS.get(os.uname().machine)
    if not calls:
        raise Skip("the test does not know the system calls' numbers on this machine")
    if findings(t)["seccomp"]["state"] != "yes":
        raise Skip("a seccomp filter is in effect already")
    prefix = [sys.executable, "-c", FILTER, ",".join(map(str, calls))]
    found = findings(t, code=1, prefix=prefix)
    expect(found, "perf_call", "no")
    contains(found["perf_call"]["reason"], "--cap-add PERFMON", "reason")
    expect(found, "perf_own", "no")
    contains(found["memory"]["reason"], "seccomp", "reason for the missing shared memory")
    expect(found, "seccomp", "no")
    expect(found, "no_new_privs", "no")
    expect(found, "pidfd", "yes")
    for key in ("memory", "perf_call", "seccomp", "no_new_privs"):
        check(findings(t, code=0)[key]["state"] == "yes", f"{key} without the filter")


class Space(Process):
    """A process that waits in namespaces of its own."""

    def __init__(self, t, *options, first="true"):
        need_namespaces(*options)
        super().__init__("unshare", ["unshare", *options, "sh", "-c", f"{first} && echo ready && exec sleep 300"])
        t.keep(self)
        self.read_line()

    def enter(self, *kinds):
        """Returns the command that enters these namespaces. With a mount namespace it takes the root directory there, too,
        because it would otherwise leave a chroot."""
        kinds = (*kinds, "root") if "mount" in kinds else kinds
        return ["nsenter", f"--target={self.pid}", *(f"--{kind}" for kind in kinds), "--"]

    def do(self, command, *kinds):
        subprocess.run([*self.enter(*kinds), "sh", "-c", command], check=True, timeout=20)


@test
def loopback_is_switched_on_by_its_command(t):
    space = Space(t, "--net")
    found = findings(t, code=1, prefix=space.enter("net"))
    expect(found, "loopback", "no", "ip link set lo up")
    space.do(found["loopback"]["command"], "net")
    expect(findings(t, code=0, prefix=space.enter("net")), "loopback", "yes")


LISTEN = """
import socket
s = socket.create_server(("127.0.0.1", 9022))
print("ready", flush=True)
while True:
    c = s.accept()[0]
    c.recv(1000)
    c.sendall(b"SSH-2.0-none\\r\\n")
    c.shutdown(socket.SHUT_WR)
    while c.recv(1000):
        pass
    c.close()
"""


@test
def servers_on_the_ports_are_named(t):
    space = Space(t, "--net", first="ip link set lo up")
    env = {"XDG_RUNTIME_DIR": str(t.public_dir("runtime"))}
    (t.dir / "runtime").chmod(0o700)
    found = findings(t, prefix=space.enter("net"), env=env)
    for key in ("port_grpc", "port_web"):
        expect(found, key, "no")
        contains(found[key]["text"], ": no server", key)
    (t.dir / "runtime" / "proftap").mkdir(mode=0o700)
    registry = t.dir / "runtime" / "proftap" / "registry.sock"
    host = t.keep(Process("proftapd --host", [
        *space.enter("net"), PROFTAPD, "--host", "--config", "/dev/null", "--registry", registry], env))
    wait_until(lambda: any("serving on" in line for line in host.err), "the host daemon to serve")
    found = findings(t, prefix=space.enter("net"), env=env)
    for key, port in (("port_grpc", 9021), ("port_web", 9022)):
        expect(found, key, "yes")
        contains(found[key]["text"], f"127.0.0.1:{port}: a ", key)
        contains(found[key]["text"], f"of uid {os.geteuid()}: proftapd, pid {host.pid}", key)
    expect(found, "registry", "yes")
    contains(found["registry"]["text"], f"{registry}, uid {os.geteuid()}, pid ", "the registry")
    host.kill()
    stranger = t.keep(Process("a stranger", [*space.enter("net"), sys.executable, "-c", LISTEN]))
    stranger.read_line()
    found = findings(t, prefix=space.enter("net"), env=env)
    expect(found, "port_grpc", "no")
    expect(found, "port_web", "no", "ss -ltnp sport = :9022")
    contains(found["port_web"]["text"], "another program, SSH-2.0-none", "the stranger")
    contains(found["port_web"]["text"], f"pid {stranger.pid}", "the stranger")
    expect(found, "registry", "no")


@test
def a_host_daemon_on_other_ports_is_found(t):
    web = free_port()
    host = Host(t, web=web)
    found = findings(t, env=runtime(t))
    for key, usual, port, what in (("port_grpc", 9021, host.port, "gRPC"), ("port_web", 9022, web, "web")):
        if f"127.0.0.1:{usual}: a {what} server" in found[key]["text"]:
            raise Skip(f"a host daemon listens on {usual}")
        expect(found, key, "yes")
        contains(found[key]["text"], f"127.0.0.1:{port}, not {usual}: a {what} server of uid {os.geteuid()}: proftapd, pid {host.pid}", key)


SYSTEMCTL = """#!/bin/sh
[ "$1 $2" = "show --property" ] || exit 9
case $4 in
proftapd.socket) echo LoadState=loaded; echo UnitFileState=enabled; echo ActiveState=active ;;
proftapd.service) echo LoadState=loaded; echo UnitFileState=enabled; echo ActiveState=failed ;;
*) echo LoadState=not-found; echo UnitFileState=; echo ActiveState=inactive ;;
esac
"""


@test
def units_are_as_systemctl_says(t):
    space = Space(t, "--mount", first="mount -t tmpfs none /run && mkdir -p /run/systemd/system")
    systemctl = t.dir / "systemctl"
    systemctl.write_text(SYSTEMCTL)
    systemctl.chmod(0o755)
    found = findings(t, prefix=space.enter("mount"), env={"PATH": f"{t.dir}:{os.environ['PATH']}"})
    expect(found, "unit_socket", "yes")
    expect(found, "unit_service", "no", "systemctl restart proftapd.service")
    expect(found, "unit_web", "no", "make install")


@test
def processes_that_are_hidden_are_reported(t):
    need_root()
    need_readable_tree()
    need_no_sanitizer("are not loaded by a copy of proftap")
    # A pid namespace has a /proc of its own. Options of the machine's /proc would affect all processes.
    need_namespaces("--pid", "--fork", "--mount")
    inside = ["unshare", "--pid", "--fork", "--mount", "sh", "-c",
              'mount -t proc -o "$0" proc /proc && exec "$@"']
    how = as_nobody(t)
    shown = findings(t, **{**how, "prefix": [*inside, "hidepid=0", *how["prefix"]]})
    expect(shown, "hidepid", "yes")
    hidden = findings(t, **{**how, "prefix": [*inside, "hidepid=2", *how["prefix"]]})
    expect(hidden, "hidepid", "no", "sudo mount -o remount,hidepid=0 /proc")


@test
def a_user_namespace_is_reported(t):
    need_namespaces("--user", "--map-root-user")
    found = findings(t, prefix=["unshare", "--user", "--map-root-user"])
    expect(found, "user_namespace", "no")
    expect(findings(t), "user_namespace", "yes")


@test
def a_machine_without_proc_is_reported(t):
    space = Space(t, "--mount", first="mount -t tmpfs none /proc")
    found = findings(t, code=1, prefix=["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"])
    expect(found, "proc", "no", "mount -t proc proc /proc")
    space.do(found["proc"]["command"] + " && test -d /proc/1", "mount")


run()
