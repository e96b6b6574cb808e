#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests programs in containers, as far as /proc shows them: their pids inside and outside, and the
names of their cgroups."""
import os
import signal

from calls import PROFILER, Calls, profile_request, trace_of
from cgroup import NamedCgroup
from checks import contains
from fixture import check, equal, need_namespaces, need_root, read_status, run, test, wait_until
from hosts import Host, runtime, start_target
from http2 import NOT_FOUND
from processes import PROFTAP, Process, Target

# The shell is process 1 of the namespace, as a container's init would be.
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", '"$@"; exit', "sh")
LONG_MS = 60000
NAME = f"test-{os.getpid()}"


def only_row(host):
    return wait_until(lambda: list(host.list().values()), "a program to be listed")[0]


def table(t, host):
    """The lines of `proftap list HOST`."""
    listing = t.keep(Process("proftap list", [PROFTAP, "list", f"127.0.0.1:{host.port}"]))
    equal(listing.wait(), 0, "proftap list HOST")
    for thread in listing.threads:
        thread.join()
    return [line.rstrip("\n") for line in listing.out]


def check_capture(t, host, target, word):
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "--target", word)
    target.ask("await 1", "burst 7")
    capture.signal(signal.SIGINT)
    equal(capture.finish().trace.count("burst"), 7, f"spans of {word}")


@test
def program_outside_containers_is_listed_without_one(t):
    host, target = Host(t), start_target(t)
    row = only_row(host)
    equal((row["pid_inside"], row["container"]), (target.pid, None), "its place")
    header, line = table(t, host)
    equal((header.split()[-1], line.split()[-1]), ("STATE", "idle"), "the last column")


@test
def a_pid_namespace_has_pids_of_its_own(t):
    need_namespaces(*NAMESPACE[1:5])
    host = Host(t)
    target = t.keep(Target(runtime(t), prefix=NAMESPACE)).serve()
    row = only_row(host)
    inside = read_status(row["pid"])["NSpid"].split()[-1]
    check(inside != str(row["pid"]), f"the program has the same pid inside of its namespace: {inside}")
    equal((row["pid_inside"], row["container"]), (int(inside), None), "its place")
    header, line = table(t, host)
    equal((header.split()[-1], line.split()[-2:]), ("CONTAINER", ["pid", inside]), "the last column")
    check_capture(t, host, target, str(row["pid"]))
    # Programs of other containers may have the same pid inside.
    refused = t.capture(f"127.0.0.1:{host.port}", 50, "--target", inside, code=1)
    contains(refused.stderr, f"--target {inside}: no such program there", "the pid inside")


@test
def a_cgroup_tells_the_containers_name(t):
    need_root()
    host, other = Host(t), start_target(t)
    target = t.keep(Target(runtime(t)))
    NamedCgroup(t, f"lxc.payload.{NAME}").add(target.pid)
    target.serve()
    host.await_pids(other.pid, target.pid)
    row = host.list()[target.pid]
    equal(row["container"], {"id": None, "name": NAME, "pod": None}, "the container")
    equal(row["cgroup"].rsplit("/", 1)[-1], f"lxc.payload.{NAME}", "its cgroup")
    equal({line.split()[0]: line.split()[-1] for line in table(t, host)},
          {"PID": "CONTAINER", str(other.pid): "-", str(target.pid): NAME}, "the last column")
    check_capture(t, host, target, f"container={NAME}")
    with Calls(host.port) as calls:
        request = profile_request(50)
        request.opts.advanced_configuration["ptap_target"].string_value = f"container={NAME}"
        trace = trace_of(calls.expect(PROFILER + "Profile", request))
        equal(trace.host_stat("process_id"), target.pid, "program for a stock client")
        request.opts.advanced_configuration["ptap_target"].string_value = "container=none"
        equal(calls.call(PROFILER + "Profile", request).status, NOT_FOUND, "status for an absent container")


@test
def a_cgroup_tells_the_containers_id(t):
    need_root()
    host, number = Host(t), f"{os.getpid():064x}"
    target = t.keep(Target(runtime(t)))
    NamedCgroup(t, f"docker-{number}.scope").add(target.pid)
    target.serve()
    row = only_row(host)
    equal(row["container"], {"id": number, "name": None, "pod": None}, "the container")
    check_capture(t, host, target, f"container={number}")
    equal(table(t, host)[1].split()[-1], number[:12], "the last column")


if __name__ == "__main__":
    run()
