#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the beginning of the report on a program that died: the signal, its receiver, and the open
spans of each thread.
"""
import json
import os
import re
import signal
import subprocess
import time

from checks import contains, wait_until
from fixture import Skip, check, equal, run, test
from processes import PROFTAP
from recorded import end, files, listed_state, record
from running import make_environment

STACK = ["serve", "lock"]


def need_process_events():
    """Since Linux 6.6 the kernel reports to every user which thread crashed, but only in the
    initial namespaces.
    """
    if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 6):
        raise Skip("this kernel does not tell which thread crashed")
    if os.readlink("/proc/self/ns/pid") != "pid:[4026531836]" or os.readlink("/proc/self/ns/net") != "net:[4026531833]":
        raise Skip("in a container the kernel does not tell which thread crashed")


def report(path):
    text = subprocess.run([PROFTAP, "report", path], check=True, capture_output=True, text=True).stdout
    (death,) = json.loads(subprocess.run([PROFTAP, "report", "--json", path], check=True, capture_output=True,
                                         text=True).stdout)["deaths"]
    return text, death


def spans_of(death, name):
    (thread,) = [thread for thread in death["threads"] if thread["name"] == name]
    return thread["spans"]


def run_of(target, log_dir):
    target.wait()
    return wait_until(lambda: files(log_dir), "the run of its death")[0]


def check_stack(spans):
    equal([span["name"] for span in spans], STACK, "the open spans")
    equal([span["depth"] for span in spans], [0, 1], "their depths")
    equal(spans[0]["arguments"], [{"name": "id", "value": -77}, {"name": "path", "value": "/v1/x"}], "arguments")
    check(spans[0]["age_ns"] >= spans[1]["age_ns"] > 0, f"ages: {spans}")


def crash_in_thread(t, number, name):
    need_process_events()
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("hang other")
    target.send(f"end_in_thread culprit {int(number)}")
    text, death = report(run_of(target, log_dir))
    culprit = death["threads"][0]
    equal((death["pid"], death["ending"]), (target.pid, f"killed by {name}"), "how it ended")
    equal((culprit["name"], culprit["tid"]), ("culprit", death["signal_tid"]), "the thread that received the signal")
    check(death["signal_tid"] != target.pid, "it is not the main thread")
    check_stack(culprit["spans"])
    check_stack(spans_of(death, "other"))
    check(text.startswith(f"at death: target ({target.pid}) was killed by {name} in the thread culprit "
                          f"({culprit['tid']})\n"), text)
    contains(text, "serve id=-77 path=/v1/x\n", "the spans")


@test
def a_fault_names_its_thread(t):
    crash_in_thread(t, signal.SIGSEGV, "SIGSEGV")


@test
def an_abort_names_its_thread(t):
    crash_in_thread(t, signal.SIGABRT, "SIGABRT")


@test
def a_fault_names_the_main_thread(t):
    """Without process events the thread's flags still show that it received the signal."""
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("hang other")
    target.send("crash")
    text, death = report(run_of(target, log_dir))
    equal((death["ending"], death["signal_tid"]), ("killed by SIGSEGV", target.pid), "how it ended")
    equal([span["name"] for span in death["threads"][0]["spans"]], ["doomed"], "spans of the main thread")
    check_stack(spans_of(death, "other"))
    contains(text.splitlines()[0], f"killed by SIGSEGV in the thread target ({target.pid})", "the first line")


@test
def a_fault_names_the_thread_of_a_followed_child(t):
    need_process_events()
    target = record(t, t.dir / "logs", PROFTAP_FOLLOW_FORK="1")
    child = int(target.ask("prefork crashing"))

    def find():
        snapshot(t, target)
        for path in files(t.dir / "logs"):
            told = subprocess.run([PROFTAP, "report", "--json", path], check=True, capture_output=True, text=True).stdout
            deaths = json.loads(told)["deaths"]
            if deaths:
                return deaths[0]
        return None

    death = wait_until(find, "a snapshot with its end")
    culprit = death["threads"][0]
    equal((death["pid"], death["ending"]), (child, "killed by SIGSEGV"), "how it ended")
    equal((culprit["name"], culprit["tid"]), ("culprit", death["signal_tid"]), "the thread that received the signal")
    check(death["signal_tid"] != child, "it is not the main thread")
    check_stack(culprit["spans"])


@test
def a_signal_to_all_threads_names_no_thread(t):
    """The report names no thread, because none is known to have received the signal."""
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.ask("hang stuck")
    end(target)
    text, death = report(run_of(target, log_dir))
    equal((death["ending"], death["signal_tid"]), ("killed by SIGKILL", None), "how it ended")
    contains(death["signal_thread"], "ends all threads at once", "reason for the unknown thread")
    contains(text, "not known: the kernel does not report", "the text")
    check_stack(spans_of(death, "stuck"))


@test
def an_exit_status_is_reported(t):
    log_dir = t.dir / "logs"
    target = record(t, log_dir)
    target.send("exit")
    text, death = report(run_of(target, log_dir))
    equal((death["ending"], death["signal_tid"], death["signal_thread"]), ("with exit status 3", None, None), "its end")
    contains(text.splitlines()[0], "ended with exit status 3", "the first line")
    equal([span["name"] for span in death["threads"][0]["spans"]], ["doomed"], "its spans")


@test
def a_snapshot_of_a_dead_program_begins_with_its_death(t):
    target = record(t)
    target.ask("hang stuck")
    target.send("abort")
    target.wait()
    wait_until(lambda: listed_state(t, target) == "ended", "the end to be noticed", 10)
    env = {**os.environ, **make_environment(t)}
    told = subprocess.run([PROFTAP, "ps", str(target.pid), "--json"], env=env, check=True, capture_output=True)
    process = json.loads(told.stdout)["targets"][0]["processes"][0]
    equal((process["ending"], process["signal_tid"]), ("killed by SIGABRT", target.pid), "output of ps")
    equal(process["threads"][0]["tid"], target.pid, "the thread that ps shows first")
    subprocess.run([PROFTAP, "snapshot", str(target.pid), "--log_dir", t.dir / "logs"], env=env, check=True,
                   capture_output=True)
    _, death = report(files(t.dir / "logs")[0])
    equal((death["ending"], death["signal_tid"]), ("killed by SIGABRT", target.pid), "how it ended")
    check_stack(spans_of(death, "stuck"))


@test
def a_capture_tells_that_the_program_died(t):
    target = t.target().serve()
    capture = t.begin(target)
    target.ask("hang stuck")
    target.send("crash")
    capture.finish()
    _, death = report(capture.path)
    equal((death["ending"], death["signal_tid"]), ("killed by SIGSEGV", target.pid), "how it ended")
    check_stack(spans_of(death, "stuck"))


def snapshot(t, target, *words):
    subprocess.run([PROFTAP, "snapshot", str(target.pid), "--log_dir", t.dir / "logs", *words], env={**os.environ, **make_environment(t)},
                   check=True, capture_output=True)
    path = files(t.dir / "logs")[-1]
    text = subprocess.run([PROFTAP, "report", path], check=True, capture_output=True, text=True).stdout
    told = json.loads(subprocess.run([PROFTAP, "report", "--json", path], check=True, capture_output=True, text=True).stdout)
    return text, told


@test
def a_snapshot_of_a_hanging_program_begins_with_open_spans(t):
    """The program still runs, so it has no death. The report begins with the open spans as for a
    dead one.
    """
    target = record(t, t.dir / "logs")
    opened_ns = time.monotonic_ns()
    tid = int(target.ask("hang stuck"))
    # Open spans remain known after the ring of another thread has wrapped.
    target.ask("burst 20000")
    for words in ((), ("--last", "1")):
        before_ns = time.monotonic_ns()
        text, told = snapshot(t, target, *words)
        equal(told["deaths"], [], "deaths")
        (program,) = told["open_at_snapshot"]
        equal((program["pid"], program["ending"], program["signal_tid"]), (target.pid, None, None), "the program")
        (thread,) = [thread for thread in program["threads"] if thread["tid"] == tid]
        check_stack(thread["spans"])
        age_ns = thread["spans"][0]["age_ns"]
        check(before_ns - opened_ns - 5 * 10**8 < age_ns < time.monotonic_ns() - opened_ns, f"an age of {age_ns}, {words}")
        check(text.startswith(f"at the snapshot: target ({target.pid}) went on\n  stuck ({tid})\n"), text)
        contains(text, "serve id=-77 path=/v1/x\n", "the spans")
        contains(text, "lock n=64 load=0.5\n", "the spans")


@test
def open_async_spans_are_reported(t):
    """Tests the async spans of a program that continued, and of one that died."""
    target = record(t, t.dir / "logs")
    for command in ("begin 7", "begin 8", "end 8"):
        target.ask(f"async {command}")
    text, told = snapshot(t, target)
    (program,) = told["open_at_snapshot"]
    equal([(span["name"], span["arguments"]) for span in program["async_spans"]], [("request", [{"name": "id", "value": 7}])], "async spans")
    check(program["async_spans"][0]["age_ns"] > 0, "its age")
    check(re.search(r"\A.*went on\n  async spans\n +[\d.]+ \w+  request id=7\n\n", text), text)
    target.send("crash")
    target.wait()
    wait_until(lambda: len(files(t.dir / "logs")) == 2, "the run of its death")
    _, death = report(files(t.dir / "logs")[-1])
    equal([span["name"] for span in death["async_spans"]], ["request"], "async spans at its death")


@test
def threads_that_hang_longest_are_shown(t):
    """The text shows the threads that have hung longest, and the number of the others."""
    target = record(t, t.dir / "logs")
    for i in range(12):
        target.ask(f"hang stuck{i}")
    text, told = snapshot(t, target)
    equal(len(told["open_at_snapshot"][0]["threads"]), 12, "threads in the JSON")
    equal(len(re.findall(r"(?m)^  stuck\d+ \(", text)), 8, "threads in the text")
    contains(text, "  4 more threads with open spans: --json has them\n", "the rest")


@test
def a_snapshot_with_nothing_open_begins_as_ever(t):
    target = record(t, t.dir / "logs")
    target.ask("burst 5")
    text, told = snapshot(t, target)
    equal(told["open_at_snapshot"], [], "open spans")
    check("at the snapshot" not in text, text)


@test
def a_program_that_goes_on_has_no_death(t):
    target = t.target().serve()
    capture = t.emit(target, 200, "burst 5")
    text = subprocess.run([PROFTAP, "report", capture.path], check=True, capture_output=True, text=True).stdout
    check("at death" not in text, text)
    told = subprocess.run([PROFTAP, "report", "--json", capture.path], check=True, capture_output=True).stdout
    equal(json.loads(told)["deaths"], [], "deaths")


if __name__ == "__main__":
    run()
