#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests followed children that are confined, or that do odd things before their first annotation."""
import os
import signal

from cgroup import MemoryCgroup, ProcessorCgroup
from fixture import (check, contains, equal, find_proftapd, is_alive, need_no_sanitizer, need_root,
                     read_status, run, test, wait_until)
from trace_file import read_flows

FOLLOW = {"PROFTAP_FOLLOW_FORK": "1"}


def end(pid):
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)


def confine(t, target, kind, argument=""):
    """The pid of a child that has made its first annotation."""
    answer = target.ask(f"confine {kind} {argument}")
    check(answer.isdigit(), f"a child confined by {kind}: {answer}")
    t.at_end.append(lambda: end(int(answer)))
    return int(answer)


def check_joins(t, kind, argument=""):
    target = t.target(**FOLLOW).serve()
    pid = confine(t, target, kind, argument)
    capture = t.emit(target, 300, "burst 5")
    equal(capture.warnings, [], "warnings")
    child = capture.trace.process(pid)
    check(child.count("job") > 20, f"{child.count('job')} jobs in 300 ms")
    return child


def check_stays_out(t, kind, words):
    """Checks that the child goes on and is not recorded, that the others are, and that a warning gives the reason."""
    target = t.target(**FOLLOW).serve()
    pid = confine(t, target, kind)
    good = int(target.ask("prefork steady"))
    t.at_end.append(lambda: end(good))
    capture = t.emit(target, 300, "burst 5")
    equal(capture.warnings, [f"forked children that could not be followed: 1 ({words})"], "warnings")
    equal(capture.trace.children, [f"/host:CPU target [{good}]"],
          "planes of children")
    check(is_alive(pid), "the child ended")
    equal(read_status(pid)["Threads"], "1", "threads of the child")


@test
def a_worker_in_an_empty_chroot_with_another_uid_joins(t):
    need_root()
    check_joins(t, "chroot", t.public_dir("empty"))


@test
def a_worker_with_no_new_privs_joins(t):
    check_joins(t, "no_new_privs")


@test
def a_worker_in_another_pid_namespace_joins(t):
    need_root()
    check_joins(t, "pids")


@test
def a_worker_with_a_full_descriptor_table_joins(t):
    check_joins(t, "descriptors")


@test
def a_worker_that_annotates_in_a_signal_handler_joins(t):
    check_joins(t, "handler")


@test
def a_worker_that_annotates_in_vfork_first_joins(t):
    equal(check_joins(t, "vfork").host_stat("dropped_traces"), 0, "dropped")


@test
def forks_beside_annotating_threads_lose_nothing(t):
    counts = t.dir / "counts"
    counts.write_bytes(bytes(24))
    target = t.target(**FOLLOW).serve()
    capture = t.begin(target)
    target.ask(f"steady {counts}")
    pids = [int(target.ask("prefork steady")) for _ in range(5)]
    for pid in pids:
        t.at_end.append(lambda pid=pid: end(pid))
    trace = t.stop(target, capture).trace
    equal(capture.warnings, [], "warnings")
    for pid in pids:
        child = trace.process(pid)
        equal([line.id for line in child.threads], [pid], "threads of a child")
        samples = [e.stats["value"].value for e in child.counters[0].events]
        equal(samples, list(range(len(samples))), "samples of a child")


@test
def another_network_namespace_is_reported(t):
    need_root()
    check_stays_out(t, "network", "they are in another network namespace than the program's server")


@test
def a_sandbox_without_sockets_is_reported(t):
    for kind in ("seccomp-errno", "seccomp-kill"):
        check_stays_out(t, kind, "a system call that joining needs is forbidden to them, by seccomp?")


@test
def a_limit_on_processes_is_reported(t):
    need_root()
    check_stays_out(t, "processes",
                    "they could not start a process or a thread: the limit on processes")


@test
def a_double_fork_is_reported(t):
    check_stays_out(t, "twice",
                    "their parents had ended before their first annotation, as in a double fork")


@test
def an_unshared_pid_namespace_is_left_alone(t):
    """The first process of the namespace must be one that the program itself forks. A process that the library cloned
    would be PID 1 there, and the namespace would end with it."""
    need_root()
    check_stays_out(t, "unshared", "they called unshare(CLONE_NEWPID), and their next child becomes "
                    "PID 1 there")


@test
def flows_lead_from_the_program_to_its_children(t):
    target = t.target(**FOLLOW).serve()
    capture = t.record(target, 600)
    target.ask("crowd 3")
    trace = capture.finish().trace
    pids = [int(name.split("[")[1].rstrip("]")) for name in trace.children]
    equal(len(pids), 3, "children")
    outs, _ = read_flows(trace, "baton")
    equal(len(outs), 3, "flows that leave the program")
    entered = {}
    for pid in pids:
        _, ins = read_flows(trace.process(pid), "baton")
        equal(len(ins), 1, f"flows into child {pid}")
        entered.update(ins)
    equal(set(outs), set(entered), "keys of the flows")


@test
def children_have_usage_counters_of_their_own(t):
    target = t.target(**FOLLOW).serve()
    pid = confine(t, target, "name", "worker-7")
    trace = t.emit(target, 400, "burst 5").trace
    child = trace.process(pid)
    for process in (trace, child):
        check("process cpu %" in process.usage, f"usage: {sorted(process.usage)}")
    contains(" ".join(child.usage), f"thread cpu % worker-7 ({pid})", "the child's usage")
    check(f"({target.pid})" not in " ".join(child.usage), "threads of the program in the child's plane")
    check(f"({pid})" not in " ".join(trace.usage), "threads of the child in the program's plane")
    equal(child.thread(pid).name, "worker-7", "the thread's name")


def capture_crowd(t, ring_bytes, is_complete):
    """Captures 256 children that all start at once in a cgroup of 256 MiB. If |is_complete|, the capture lasts until
    each has recorded a span "turn"."""
    need_no_sanitizer("take more memory than that themselves")
    cgroup = MemoryCgroup(t)
    cgroup.limit(256 << 20)
    target = t.target(**FOLLOW)
    cgroup.add(target.pid)
    target.serve(0, ring_bytes)
    server = find_proftapd(target.pid)
    target.ask("crowd 256")
    if is_complete:
        capture = t.begin(target)
        target.ask("burst 5")
        # On a busy machine some children get a processor only after seconds.
        wait_until(lambda: target.ask("crowd_count") == "256", "a span \"turn\" of each child", 60)
        capture = t.stop(target, capture)
    else:
        capture = t.emit(target, 600, "burst 5")
    equal(cgroup.n_oom_kills, 0, "processes that ran into the limit")
    check(is_alive(server), "the server was killed")
    equal(capture.trace.count("burst"), 5, "spans of the program")
    return capture


@test
def a_crowd_takes_the_memory_that_there_is(t):
    capture_crowd(t, 1 << 20, False).find_warning("no ring for another thread (too little memory")


@test
def a_crowd_with_small_rings_is_recorded_completely(t):
    capture = capture_crowd(t, 64 << 10, True)
    equal(capture.warnings, [], "warnings")
    equal(len(capture.trace.children), 256, "planes of children")


@test
def children_wait_longer_for_a_slow_server_that_progresses(t):
    """The server has so little processor time that it takes longer for all children than one child
    waits for an idle server."""
    need_no_sanitizer("take more of the processor than that themselves")
    slow = ProcessorCgroup(t, 10000)
    target = t.target(**FOLLOW).serve(0, 64 << 10)
    # Samples of 256 programs would take most of that time.
    capture = t.begin(target, "-o", "ptap_sample_hz=0")
    slow.add(find_proftapd(target.pid))
    equal(target.ask("crowd 256"), "256", "children")
    wait_until(lambda: target.ask("crowd_count") == "256", "a span \"turn\" of each child", 50)
    slow.lift()
    capture = t.stop(target, capture)
    equal([w for w in capture.warnings if "could not be followed" in w], [], "warnings")
    equal(len(capture.trace.children), 256, "planes of children")


@test
def a_child_that_is_not_followed_knows_that_it_is_not_recorded(t):
    target = t.target(**FOLLOW).serve(0, 64 << 10)
    capture = t.begin(target)
    server = find_proftapd(target.pid)
    os.kill(server, signal.SIGSTOP)
    wait_until(lambda: read_status(server)["State"].startswith("T"), "the server to stand still")
    equal(target.ask("crowd 3"), "3", "children")
    wait_until(lambda: target.ask("crowd_out") == "3", "the children to go on", 30)
    equal(target.ask("crowd_count"), "0", "children for which ptap_enabled() is true")
    os.kill(server, signal.SIGCONT)
    t.stop(target, capture).find_warning("forked children that could not be followed: 3")


run()
