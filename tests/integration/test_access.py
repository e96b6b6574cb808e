#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which users may connect: users of this machine by their uid, other machines only on request. Other machines are network
namespaces of the test's own.
"""
import errno
import json
import os
import shutil
import stat
import subprocess

from fixture import (NOBODY, SANITIZERS, Skip, contains, equal, find_proftapd, need_ipv6, need_root, run,
                     test)
from processes import LIBRARY, PROFTAPD, TARGET, Process, Target

REFUSED = "only the user that runs the target, or root, may connect"
HERE, THERE = "10.99.0.1", "10.99.0.2"


def copy_for_all(t, path):
    """Returns a copy that any user may execute, because other users may lack access to the build
    tree.
    """
    copy = t.dir / path.name
    shutil.copy(path, copy)
    copy.chmod(0o755)
    return copy


def target_of(t, user, **env):
    copy_for_all(t, LIBRARY)
    program = copy_for_all(t, TARGET)
    server = copy_for_all(t, PROFTAPD)
    env |= {"LD_LIBRARY_PATH": str(t.dir), "PROFTAPD": str(server)}
    return t.keep(Target(env, program=program, user=user)).serve()


def capture_as_nobody(t, target, *options, code=0, **how):
    return t.capture(target, 200, *options, code=code, user=NOBODY, program=t.public_proftap(),
                     log_dir=t.public_dir(f"logs{len(t.processes)}"), **how)


def emit_as_nobody(t, target, **how):
    return t.emit(target, 200, "burst 10", user=NOBODY, program=t.public_proftap(),
                  log_dir=t.public_dir(f"logs{len(t.processes)}"), **how)


def check_works(capture):
    equal(capture.trace.count("burst"), 10, "spans")


@test
def root_is_let_in_everywhere_and_the_user_itself(t):
    need_root()
    target = target_of(t, NOBODY)
    check_works(t.emit(target, 200, "burst 10"))
    check_works(emit_as_nobody(t, target))


@test
def another_user_is_refused_before_it_can_say_anything(t):
    need_root()
    target = t.target().serve()
    server = find_proftapd(target.pid)
    capture = capture_as_nobody(t, target, code=5)
    contains(capture.stderr, REFUSED, "standard error")
    if SANITIZERS == "no":
        equal(len(os.listdir(f"/proc/{server}/task")), 2, "threads: gRPC was not even started")


def list_as(t, user, runtime):
    """Returns {pid: uid} of the servers in |runtime|."""
    process = t.keep(Process("list", [t.public_proftap(), "list", "--json"],
                             {"XDG_RUNTIME_DIR": str(runtime)}, user=user))
    equal(process.wait(), 0, "proftap list")
    for thread in process.threads:
        thread.join()
    rows = json.loads("".join(process.out))["targets"]
    return {row["pid"]: row["uid"] for row in rows if row["socket"].startswith(str(runtime))}


@test
def socket_of_a_program_that_gave_up_root_is_its_new_users(t):
    need_root()
    runtime = t.dir / "runtime"
    runtime.mkdir(mode=0o755)
    target = t.target(XDG_RUNTIME_DIR=str(runtime)).serve()
    path = f"unix:{runtime}/proftap/{target.pid}.sock"
    equal(list_as(t, NOBODY, runtime), {}, "programs that its later user sees before")
    contains(capture_as_nobody(t, path, code=5).stderr, REFUSED, "standard error")
    equal(target.ask(f"setuid {NOBODY}"), "0", "setuid")
    for user in (NOBODY, None):
        equal(list_as(t, user, runtime), {target.pid: NOBODY}, "the list")
    equal(list_as(t, NOBODY - 1, runtime), {}, "programs that another user sees")
    target.send("await 1", "burst 10")
    capture = t.start_capture(path, 200, user=NOBODY, program=t.public_proftap(),
                              log_dir=t.public_dir("logs"))
    target.obeyed(2)
    check_works(capture.finish())


@test
def a_users_own_sockets_are_closed_to_others(t):
    need_root()
    runtime = t.public_dir("runtime")
    os.chown(runtime, NOBODY, NOBODY)
    target = target_of(t, NOBODY, XDG_RUNTIME_DIR=str(runtime))
    for path, mode in (("proftap", 0o700), (f"proftap/{target.pid}.sock", 0o600),
                       (f"proftap/{target.pid}.status", 0o600)):
        equal(stat.S_IMODE((runtime / path).stat().st_mode), mode, f"mode of {path}")
    equal(list_as(t, NOBODY, runtime), {target.pid: NOBODY}, "the list")


@test
def users_are_told_apart_on_ipv6(t):
    need_root()
    need_ipv6()
    target = t.target()
    equal(target.start(0, 0, 0, "::1"), 0, "ptap_server_start_with")
    address = f"[::1]:{target.port}"
    contains(capture_as_nobody(t, address, code=5).stderr, REFUSED, "standard error")
    target.send("await 1", "burst 10")
    capture = t.start_capture(address, 200)
    target.obeyed(2)
    check_works(capture.finish())


@test
def other_users_are_let_in_over_ipv6_when_allowed(t):
    need_root()
    need_ipv6()
    target = t.target()
    equal(target.start(0, 0, 1, "[::1]"), 0, "ptap_server_start_with")
    target.send("await 1", "burst 10")
    capture = t.start_capture(f"[::1]:{target.port}", 200, user=NOBODY,
                              program=t.public_proftap(), log_dir=t.public_dir("logs"))
    target.obeyed(2)
    check_works(capture.finish())


@test
def other_addresses_need_insecure(t):
    target = t.target()
    for address in ("0.0.0.0", "::", "10.0.0.1"):
        equal(target.start(0, 0, 1, address), -errno.EINVAL, f"ptap_server_start_with {address}")
        contains(target.ask("error"), f"address {address}: reachable from other machines, without "
                 "encryption; use 127.0.0.1 and a tunnel, or set .insecure", "ptap_last_error")
        equal(target.port, 0, "ptap_server_port")


def inside(namespace):
    return ("nsenter", f"--net=/proc/{namespace.pid}/ns/net")


def make_namespace(t, name):
    """Returns a process in a network namespace of its own."""
    process = t.keep(Process(name, ["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
                             stdin=subprocess.PIPE))
    try:
        process.read_line()
    except Exception:
        raise Skip(f"no network namespace: {process.err}") from None
    return process


def ip(*words, prefix=()):
    done = subprocess.run([*prefix, "ip", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"ip {' '.join(map(str, words))}: {done.stderr}")


def join(here, there):
    """Joins two namespaces by a virtual cable, and sets up loopback in both."""
    ip("link", "add", "cable", "netns", here.pid, "type", "veth", "peer", "name", "cable", "netns",
       there.pid)
    for namespace, address in ((here, HERE), (there, THERE)):
        ip("link", "set", "lo", "up", prefix=inside(namespace))
        ip("address", "add", f"{address}/24", "dev", "cable", prefix=inside(namespace))
        ip("link", "set", "cable", "up", prefix=inside(namespace))


def two_machines(t):
    need_root()
    for program in ("unshare", "nsenter", "ip"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    here, there = make_namespace(t, "here"), make_namespace(t, "there")
    join(here, there)
    return here, there


@test
def another_machine_records_with_insecure(t):
    here, there = two_machines(t)
    target = t.keep(Target(prefix=inside(here)))
    for address in (HERE, "0.0.0.0", "::"):
        equal(target.start(0, 0, 0, address, 1), 0, f"ptap_server_start_with {address}")
        target.send("await 1", "burst 10")
        capture = t.start_capture(f"{HERE}:{target.port}", 200, prefix=inside(there))
        target.obeyed(2)
        check_works(capture.finish())
        equal(target.ask("stop"), "0", "ptap_server_stop")


@test
def another_machine_does_not_reach_loopback(t):
    here, there = two_machines(t)
    target = t.keep(Target(prefix=inside(here))).serve()
    capture = t.capture(f"{HERE}:{target.port}", 200, code=5, prefix=inside(there))
    contains(capture.stderr, "connection refused", "standard error")
    target.send("await 1", "burst 10")
    capture = t.start_capture(f"127.0.0.1:{target.port}", 200, prefix=inside(here))
    target.obeyed(2)
    check_works(capture.finish())


@test
def insecure_lets_in_no_other_user_of_this_machine(t):
    """The server refuses them at each of its addresses, though it accepts other machines."""
    here, _ = two_machines(t)
    target = t.keep(Target(prefix=inside(here)))
    equal(target.start(0, 0, 0, "0.0.0.0", 1), 0, "ptap_server_start_with")
    for address in (HERE, "127.0.0.1"):
        log_dir = t.public_dir(f"logs-{address}")
        # Process would put setpriv before nsenter, which needs the rights that setpriv drops.
        command = [*inside(here), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                   "--clear-groups"]
        capture = t.capture(f"{address}:{target.port}", 200, code=5, prefix=command,
                            program=t.public_proftap(), log_dir=log_dir)
        contains(capture.stderr, REFUSED, "standard error")


run()
