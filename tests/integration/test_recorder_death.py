#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the flight recorder's runs of programs that die in any way, and of one that requests a run."""
import os
import signal
import socket
import time

from cgroup import MemoryCgroup
from fixture import SANITIZERS, check, contains, equal, find_proftapd, is_alive, need_no_tsan, run, test, wait_until
from numbered import check_numbers, numbers_in
from processes import read_status
from profiler import Profiler
from recorded import await_gone, end, files, listed_state, only_run, private_socket, record
from trace_file import Trace

N = 20000
N_SHARED = 4
STARVED_S = 60  # a thread of the idle class gets three thousandths of a busy processor
STOP_S = 10  # ten times as long as the server waits for an answer
ENDINGS = {"abort": "killed by SIGABRT", "crash": "killed by SIGSEGV", "exit": "with exit status 3",
           "kill": "killed by SIGKILL"}


@test
def a_dying_program_leaves_a_run_with_the_reason(t):
    for how, words in ENDINGS.items():
        log_dir = t.dir / how
        target = record(t, log_dir)
        target.ask(f"count {N}")
        await_gone(end(target, how))
        trace = only_run(log_dir)
        found = numbers_in(trace)
        check_numbers(found, N - len(found), N)
        equal(trace.host_stat("ptap_overwritten"), N - len(found), f"overwritten ({how})")
        reason = f"the program (pid {target.pid}) ended, {words}"
        equal(trace.environment["ptap_reason"].value, reason, "the reason")
        contains("\n".join(trace.space.warnings), f"{reason}; these are its last moments", "warnings")


@test
def last_moments_have_no_false_async_span(t):
    """The threads' rings reach back to different times."""
    for how in ("SIGTERM", "crash"):
        log_dir = t.dir / how
        target = record(t, log_dir)
        longest_ns = int(target.ask("requests 1500 20 0 1500"))
        server = find_proftapd(target.pid)
        if how == "SIGTERM":
            target.signal(signal.SIGTERM)
            target.wait()
        else:
            end(target, how)
        await_gone(server)
        trace = only_run(log_dir)
        events = [e for line in trace.lines if line.name == "request" for e in line.events]
        check(0 < len(events) < 1500, f"{len(events)} requests: the test is void")
        equal(len(events) + trace.host_stat("ptap_async_ends_without_begin"), 1500, f"requests, and ends ({how})")
        longest = max(e.duration_ps // 1000 for e in events)
        check(longest <= longest_ns, f"one took {longest} ns; the program's longest {longest_ns} ns ({how})")


@test
def a_stopped_program_is_read_before_its_death(t):
    """A capture that runs meanwhile also has all spans."""
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    with Profiler(target) as calls:
        stream = calls.capture(60000)
        calls.await_phase(stream, 1)
        target.ask(f"count {N}")
        target.ask("burst 50")
        target.signal(signal.SIGSTOP)
        wait_until(lambda: read_status(target.pid)["State"].startswith("T"), "the target to stand still")
        found = numbers_in(calls.look_back())
        check_numbers(found, N - len(found), N)
        time.sleep(STOP_S)
        equal(numbers_in(calls.look_back()), found, "numbers of a later snapshot")
        target.signal(signal.SIGKILL)
        target.wait()
        equal(calls.deliver(stream).trace.count("burst"), 50, "spans of the capture")
    await_gone(server)
    equal(numbers_in(only_run(log_dir)), found, "numbers of its last moments")


@test
def an_exec_writes_the_last_moments(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    target.ask(f"count {N}")
    equal(target.ask("exec"), "ready", "the new program")
    await_gone(server)
    trace = only_run(log_dir)
    check_numbers(numbers_in(trace), N - len(numbers_in(trace)), N)
    reason = f"the program (pid {target.pid}) became another program (execve)"
    equal(trace.environment["ptap_reason"].value, reason, "the reason")
    contains("\n".join(trace.space.warnings), f"{reason}; these are its last moments", "warnings")


@test
def a_program_without_memory_leaves_its_last_moments(t):
    """A capture that runs meanwhile has all spans, too. The program is alone in the cgroup."""
    cgroup = MemoryCgroup(t)
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    cgroup.limit(64 << 20)
    cgroup.add(target.pid)
    with Profiler(target) as calls:
        stream = calls.capture(60000)
        calls.await_phase(stream, 1)
        target.ask("burst 50")
        target.send("touch 256")
        target.wait()
        check(cgroup.n_oom_kills > 0, "the program was not killed by the kernel")
        equal(calls.deliver(stream).trace.count("burst"), 50, "spans of the capture")
    await_gone(server)
    trace = only_run(log_dir)
    equal(trace.count("burst"), 50, "spans of the recorder")
    contains(trace.environment["ptap_reason"].value, "killed by SIGKILL", "the reason")


def make_slow_to_end(target, server):
    """Makes the control thread free its memory last, and only when the server is idle. Its end reports the death."""
    control = next(tid for tid, name in target.thread_names().items() if name == "ptap-control")
    os.sched_setscheduler(control, os.SCHED_IDLE, os.sched_param(0))
    cpu = {min(os.sched_getaffinity(0))}
    for pid in (target.pid, server):
        for tid in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(tid), cpu)


def leave_registry(t):
    """Leaves the socket of a host daemon that was killed: servers try to reach it for some seconds."""
    place = t.dir / "runtime" / "proftap"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as gone:
        gone.bind(str(place / "registry.sock"))


def leave_moments_beside_server(t, cgroup):
    """Lets the kernel kill a program for its memory. Returns False if the server was killed, too."""
    target = record(t)
    server = find_proftapd(target.pid)
    make_slow_to_end(target, server)
    for pid in (target.pid, server):
        cgroup.add(pid)
    target.ask("burst 50")
    target.send("touch 256")
    equal(target.wait(), -signal.SIGKILL, "exit status of the program")
    wait_until(lambda: listed_state(t, target) == "ended" or not is_alive(server),
               "the list to show the program's end, or the server to die", STARVED_S)
    if not is_alive(server):
        return False
    with Profiler(private_socket(t, target)) as calls:
        trace = calls.look_back()
        equal(trace.count("burst"), 50, "spans")
        contains("\n".join(trace.space.warnings), "killed by SIGKILL", "warnings")
    await_gone(server)
    return True


@test
def a_memory_limit_shared_with_the_server_leaves_a_trace(t):
    """Programs in a container share such a limit with their servers. The server checks the program before it calls
    the host daemon again. If the kernel kills the program between this check and socket(), it kills the server next;
    the test allows this for one program."""
    need_no_tsan("makes the server larger than the limit")
    cgroup = MemoryCgroup(t)
    cgroup.limit(64 << 20)
    leave_registry(t)
    n_left = sum(leave_moments_beside_server(t, cgroup) for _ in range(N_SHARED))
    check(n_left >= N_SHARED - 1, f"{n_left} of {N_SHARED} left their last moments")


@test
def last_request_of_a_dying_program_is_not_lost(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    target.ask("burst 5")
    os.kill(server, signal.SIGSTOP)
    wait_until(lambda: read_status(server)["State"].startswith("T"), "the server to stand still")
    equal(target.ask("snapshot no memory left"), "0", "ptap_snapshot")
    end(target, "abort")
    os.kill(server, signal.SIGCONT)
    await_gone(server)
    reasons = [Trace(path).environment["ptap_reason"].value for path in files(log_dir)]
    check([r for r in reasons if r.endswith("no memory left")], f"the program's request is in none of {reasons}")


@test
def the_last_moments_have_the_open_spans(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.send("step 1 60000")
    with Profiler(target) as calls:
        wait_until(lambda: calls.look_back().count("slow"), "the span to begin")
    await_gone(end(target))
    spans = [e for line in only_run(log_dir).threads for e in line.named("slow")]
    equal(["unfinished" in e.stats for e in spans], [True], "whether the open span is cut")


@test
def a_capture_and_the_recorder_both_have_the_end(t):
    log_dir = t.dir / "logs"
    # The server empties a ring of this size in time, even on a busy machine.
    target = record(t, log_dir, 1 << 20)
    with Profiler(target) as calls:
        stream = calls.capture(60000)
        calls.await_phase(stream, 1)
        target.ask(f"count {N} 1")
        server = end(target)
        check_numbers(numbers_in(calls.deliver(stream).trace), 0, N)
    await_gone(server)
    found = numbers_in(only_run(log_dir))
    check_numbers(found, N - len(found), N)


@test
def a_program_that_stops_its_server_leaves_nothing(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    server = find_proftapd(target.pid)
    target.ask("burst 5", "stop")
    await_gone(server)
    equal(files(log_dir), [], "files")


@test
def the_program_asks_for_a_run_and_goes_on(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("burst 5")
    equal(target.ask("snapshot queue is full"), "0", "ptap_snapshot")
    wait_until(lambda: files(log_dir), "the run")
    trace = only_run(log_dir)
    equal(trace.environment["ptap_reason"].value, "queue is full", "the reason")
    equal(trace.count("burst"), 5, "spans")
    wait_until(lambda: target.ask("snapshot again") == "0", "the next request to be accepted")
    wait_until(lambda: len(files(log_dir)) == 2, "the second run")
    with Profiler(target) as calls:
        equal(calls.look_back().count("burst"), 5, "spans that are still there")


def follow(t, log_dir):
    return record(t, log_dir, PROFTAP_FOLLOW_FORK="1")


def end_child(target, number):
    """Ends a followed child by that signal after it has recorded, and returns its pid."""
    pid = int(target.ask("prefork steady"))
    os.kill(pid, number)
    return pid


@test
def a_followed_child_leaves_its_last_moments_while_the_program_lives(t):
    for number in signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL:
        words = number.name
        if number == signal.SIGSEGV and SANITIZERS != "no":  # sanitizers exit with a status then
            continue
        log_dir = t.dir / words
        target = follow(t, log_dir)
        pid = end_child(target, number)
        wait_until(lambda: files(log_dir), f"the run of the child that {words} ended")
        trace = only_run(log_dir)
        reason = f"the forked child (pid {pid}) of the program (pid {target.pid}) ended, killed by {words}"
        equal(trace.environment["ptap_reason"].value, reason, "the reason")
        contains("\n".join(trace.space.warnings), f"{reason}; these are its last moments", "warnings")
        check(trace.process(pid).count("job"), "the child's spans")
        # Later snapshots, by a client or by the program, do not have that run's warning.
        with Profiler(target) as calls:
            seen = calls.look_back().space.warnings
        equal([text for text in seen if "last moments" in text], [], "warnings of a snapshot")
        wait_until(lambda: target.ask("snapshot later") == "0", "a run that the program asks for")
        wait_until(lambda: len(files(log_dir)) == 2, "its run")
        later = [trace for trace in map(Trace, files(log_dir)) if trace.environment["ptap_reason"].value == "later"]
        check("last moments" not in "\n".join(later[0].space.warnings), f"{later[0].space.warnings}")


@test
def a_followed_child_that_was_asked_to_end_leaves_no_run(t):
    log_dir = t.dir / "logs"
    target = follow(t, log_dir)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        end_child(target, number)
    pid = end_child(target, signal.SIGABRT)
    wait_until(lambda: files(log_dir), "the run of the child that crashed")
    contains(only_run(log_dir).environment["ptap_reason"].value, f"(pid {pid})", "the reason")


@test
def first_four_of_many_crashing_children_leave_a_run(t):
    log_dir = t.dir / "logs"
    target = follow(t, log_dir)
    for n in range(1, 5):
        end_child(target, signal.SIGABRT)
        wait_until(lambda n=n: len(files(log_dir)) == n, f"run {n}")
    for _ in range(6):
        end_child(target, signal.SIGABRT)
    wait_until(lambda: target.ask("snapshot now") == "0", "a run that the program asks for")
    wait_until(lambda: len(files(log_dir)) == 5, "its run")
    await_gone(end(target, "abort"))
    reasons = [Trace(path).environment["ptap_reason"].value for path in files(log_dir)]
    equal(len([reason for reason in reasons if reason.startswith("the forked child")]), 4, f"runs: {reasons}")


run()
