#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap ps: the open spans of programs that run, are stopped, hang, or are dead."""
import json
import os
import re
import signal
import subprocess
import time

from checks import contains, wait_until
from fixture import check, equal, run, test
from hosts import Host
from processes import PROFTAP, free_port, halt
from recorded import end, listed_state, record
from running import make_environment

def recorded(t):
    """Starts a target with a flight recorder. Its data goes to a directory, so no server holds it after the test."""
    return record(t, t.dir / "logs")


def ps(t, *words, code=0):
    """Returns the output of proftap ps, followed by its messages."""
    done = subprocess.run([PROFTAP, "ps", *map(str, words)], env={**os.environ, **make_environment(t)},
                          capture_output=True, text=True, timeout=60)
    equal(done.returncode, code, f"the exit status of ps {words}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def look(t, target, *words, code=0):
    """Returns the program's entry in ps --json."""
    (answer,) = json.loads(ps(t, target, "--json", *words, code=code))["targets"]
    return answer["processes"][0]


def threads_of(process):
    return {thread["name"]: thread for thread in process["threads"]}


def check_hung(thread, tid, at_least_ns=0):
    equal(thread["tid"], tid, "the tid")
    serve, lock = thread["spans"]
    equal((serve["name"], serve["depth"]), ("serve", 0), "the outer span")
    equal((lock["name"], lock["depth"]), ("lock", 1), "the inner span")
    equal(serve["arguments"], [{"name": "id", "value": -77}, {"name": "path", "value": "/v1/x"}],
          "arguments of the outer span")
    equal(lock["arguments"], [{"name": "n", "value": 64}, {"name": "load", "value": 0.5}],
          "arguments of the inner span")
    check(serve["age_ns"] >= lock["age_ns"] >= at_least_ns, f"ages {serve['age_ns']}, {lock['age_ns']}")
    equal(thread["moving"], False, "moving")


@test
def a_thread_that_hangs_in_a_lock_is_shown_first(t):
    target = recorded(t)
    before_ns = time.time_ns()
    tid = int(target.ask("hang stuck"))
    opened_ns = time.time_ns()
    process = look(t, target.pid)
    equal((process["pid"], process["state"], process["recording"]), (target.pid, "running", "recorder"), "the program")
    equal(process["threads"][0]["name"], "stuck", "the thread that is shown first")
    stuck = process["threads"][0]
    check_hung(stuck, tid)
    check(before_ns - 10**7 <= stuck["spans"][0]["since_unix_ns"] <= opened_ns + 10**7, "another time of the begin")
    equal(stuck["state"], "S", "the state of a thread that waits")
    others = threads_of(process)
    equal(others["ptap-control"]["spans"], [], "spans of a thread without any")
    text = ps(t, target.pid)
    contains(text, f"stuck ({tid})  waiting", "the text")
    check(re.search(r"s  since \d\d:\d\d:\d\d\.\d{3} +serve id=-77 path=/v1/x\n.*lock n=64 load=0\.5\n", text), text)


@test
def running_capture_shows_open_spans_without_a_recorder(t):
    target = t.target().serve()
    capture = t.begin(target)
    tid = int(target.ask("hang stuck"))
    process = look(t, target.port)
    equal(process["recording"], "capture", "the recording")
    check_hung(process["threads"][0], tid)
    t.stop(target, capture)
    process = look(t, target.port, code=3)
    equal(process["recording"], None, "the recording after the capture's end")
    equal([thread["spans"] for thread in process["threads"] if thread["spans"]], [], "spans after the capture's end")


@test
def a_stopped_program_shows_its_open_spans(t):
    target = recorded(t)
    tid = int(target.ask("hang stuck"))
    halt(target.pid)
    try:
        process = look(t, target.pid)
        equal(process["state"], "stopped", "the state")
        check_hung(process["threads"][0], tid)
        equal({thread["state"] for thread in process["threads"]}, {"T"}, "states of the program's threads")
        contains(ps(t, target.pid), "stopped (SIGSTOP or a debugger)", "the text")
    finally:
        target.signal(signal.SIGCONT)


@test
def a_held_dead_program_shows_its_open_spans(t):
    target = record(t)
    tid = int(target.ask("hang stuck"))
    end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the end to be noticed", 10)
    for _ in range(2):  # reading does not remove the dead program
        process = look(t, target.pid)
        equal((process["state"], process["ending"]), ("ended", "killed by SIGKILL"), "the state")
        check_hung(threads_of(process)["stuck"], tid)
    ages = [look(t, target.pid)["threads"][0]["spans"][0]["age_ns"] for _ in range(2)]
    check(abs(ages[0] - ages[1]) < 10**6, f"ages of a dead program's span differ: {ages}")
    contains(ps(t, target.pid), "killed by SIGKILL; ages are those at the program's end", "the text")
    subprocess.run([PROFTAP, "snapshot", str(target.pid), "--log_dir", t.dir / "logs"],
                   env={**os.environ, **make_environment(t)}, check=True, capture_output=True)


@test
def the_remedy_for_an_unrecorded_program_works(t):
    target = t.target(**make_environment(t)).serve()
    text = ps(t, target.pid, code=3)
    contains(text, "nothing records the program", "the text")
    contains(text, "ptap-control", "the program's threads")
    remedy = re.search(r"proftap (start .* --recorder)", text)
    subprocess.run([PROFTAP, *remedy[1].split()], env={**os.environ, **make_environment(t)}, check=True,
                   capture_output=True)
    tid = int(target.ask("hang stuck"))
    check_hung(look(t, target.pid)["threads"][0], tid)
    subprocess.run([PROFTAP, "stop", str(target.pid), "--discard"], env={**os.environ, **make_environment(t)},
                   check=True, capture_output=True)


@test
def followed_children_are_shown_too(t):
    target = record(t, t.dir / "logs", PROFTAP_FOLLOW_FORK="1")
    child = int(target.ask("prefork steady"))
    t.at_end.append(lambda: os.kill(child, signal.SIGKILL))

    def find():
        (answer,) = json.loads(ps(t, target.port, "--json"))["targets"]
        return {process["pid"]: process for process in answer["processes"]}.get(child)

    process = wait_until(find, "the child")
    equal(process["recording"], "recorder", "the recording")
    check(child in [thread["tid"] for thread in process["threads"]], "the child's main thread is not listed")


def asyncs_of(process):
    return [(span["name"], span["id"], span["may_have_ended"]) for span in process["async_spans"]]


@test
def open_async_spans_are_shown_and_ended_ones_are_not(t):
    """Ended spans are not listed, and a span that begins again is not taken for the one before."""
    target = recorded(t)
    before_ns = time.time_ns()
    for command in ("begin 7", "begin 8", "end 8", "begin 9", "end 9", "begin 9", "begin 18446744073709551615"):
        target.ask(f"async {command}")
    after_ns = time.time_ns()
    process = look(t, target.pid)
    equal(asyncs_of(process), [("request", 7, False), ("request", 9, False), ("request", 2**64 - 1, False)], "async spans")
    equal((process["async_left_out"], process["async_known_since_unix_ns"]), (0, None), "missing values")
    first = process["async_spans"][0]
    equal((first["tid"], first["arguments"]), (target.pid, []), "thread that began the span, and arguments")
    check(before_ns - 10**7 <= first["since_unix_ns"] <= after_ns + 10**7, "another time of the begin")
    check(abs(first["age_ns"] - (time.time_ns() - first["since_unix_ns"])) < 10**10, "the async span has a wrong age")
    text = ps(t, target.pid)
    check(re.search(r"async spans\n +[\d.]+ \w+  since [\d:.]+ +request id 7, begun by [\w ]+\(%d\)\n" % target.pid, text), text)
    halt(target.pid)
    try:
        equal(asyncs_of(look(t, target.pid))[0], ("request", 7, False), "async spans while the program is stopped")
    finally:
        target.signal(signal.SIGCONT)


@test
def captures_and_dead_programs_show_open_async_spans(t):
    target = record(t)
    target.ask("async begin 7")
    end(target)
    wait_until(lambda: listed_state(t, target) == "ended", "the end to be noticed", 10)
    equal(asyncs_of(look(t, target.pid)), [("request", 7, False)], "async spans of a dead program")
    subprocess.run([PROFTAP, "snapshot", str(target.pid), "--log_dir", t.dir / "logs"],
                   env={**os.environ, **make_environment(t)}, check=True, capture_output=True)
    target = t.target().serve()
    capture = t.begin(target)
    target.ask("async begin 7")
    equal(asyncs_of(look(t, target.port)), [("request", 7, False)], "async spans while a capture runs")
    t.stop(target, capture)
    equal(asyncs_of(look(t, target.port, code=3)), [], "async spans after the capture's end")


@test
def overwritten_marks_make_no_false_async_span(t):
    target = recorded(t)
    target.ask("async begin 7")
    target.ask("burst 20000")
    process = look(t, target.pid)
    equal(asyncs_of(process), [], "a begin that is overwritten")
    check(process["async_known_since_unix_ns"] is not None, "there is no time from which async spans are known")
    contains(ps(t, target.pid), "async spans are known from ", "the text")
    # Now the ring has the new span's begin, but ends from another thread may be missing.
    path = t.dir / "rounds"
    path.write_bytes(bytes(24))
    target.ask("async begin 8")
    equal(asyncs_of(look(t, target.pid)), [("request", 8, False)], "the async span that has just begun")
    target.ask(f"steady {path}")
    wait_until(lambda: asyncs_of(look(t, target.pid)) == [("request", 8, True)], "other threads to overwrite their records", 30)
    contains(ps(t, target.pid), "; it may have ended", "the text")


@test
def async_spans_of_a_thread_that_is_gone_may_have_ended(t):
    target = recorded(t)
    target.ask("async begin 7")
    target.ask("requests 1 1 1 9")
    wait_until(lambda: look(t, target.pid)["async_known_since_unix_ns"], "the threads to be noticed as gone", 30)
    equal(asyncs_of(look(t, target.pid)), [("request", 7, True)], "the async span that began before the threads ended")


@test
def an_absent_target_does_not_hide_the_others(t):
    first, second = recorded(t), recorded(t)
    first.ask("hang one")
    second.ask("hang two")
    text = ps(t, f"{first.port},{second.port}")
    contains(text, "one (", "the first")
    contains(text, "two (", "the second")
    port = free_port()
    text = ps(t, f"{first.port},{port}", "--json", code=7)
    good, bad = json.loads(text.splitlines()[0])["targets"]
    equal((good["exit"], good["error"]), (0, None), "the one")
    equal(bad["exit"], 5, "the other")
    ps(t, port, code=5)


@test
def host_daemon_shows_open_spans(t):
    host = Host(t)
    target = recorded(t)
    host.await_pids(target.pid)
    tid = int(target.ask("hang stuck"))
    process = look(t, f"127.0.0.1:{host.port}", "--target", target.pid)
    check_hung(process["threads"][0], tid)
    both = recorded(t)
    host.await_pids(target.pid, both.pid)
    answers = json.loads(ps(t, f"127.0.0.1:{host.port}", "--target", f"{target.pid},{both.pid}", "--json"))
    equal([answer["processes"][0]["pid"] for answer in answers["targets"]], [target.pid, both.pid], "listed programs")


@test
def spans_of_a_fast_thread_were_open(t):
    """Each listed span was open: the span around it is never missing, and never younger."""
    path = t.dir / "rounds"
    path.write_bytes(bytes(24))
    target = recorded(t)
    target.ask(f"steady {path}")
    for _ in range(50):
        for thread in look(t, target.pid)["threads"]:
            if not thread["name"].startswith("steady") or thread["moving"]:
                continue
            spans = thread["spans"]
            equal([span["depth"] for span in spans], list(range(len(spans))), "depths")
            check([span["age_ns"] for span in spans] == sorted((span["age_ns"] for span in spans), reverse=True), spans)
            check(spans and spans[0]["name"] == "life", spans)


if __name__ == "__main__":
    run()
