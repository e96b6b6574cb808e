#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One trace of a program and the programs that it started, each with a server of its own."""
import json
import os
import subprocess

from calls import PROFILER, UINT64_MAX, Calls, profile_request, trace_of
from fixture import check, contains, equal, find_proftapd, read_fds, run, test, wait_until
from http2 import OK
from processes import PROFTAP, PROFTAPD, TARGET
from profiler import V1, Profiler, capture_request
from trace_file import Trace

PROFILE = PROFILER + "Profile"
TREE = ("-o", "profile_subprocesses=true")
EXIT_BUSY = 4
RING_BYTES = 16 << 20
MANY = 800_000  # waves: more than the server keeps in memory


class Child:
    """A target that a target started: its commands come through a pipe, its answers go to a file."""

    def __init__(self, t, parent, name):
        self.pipe, self.said = t.dir / f"{name}.in", t.dir / f"{name}.out"
        os.mkfifo(self.pipe)
        self.said.touch()
        self.pid = int(parent.ask(
            f"spawn PROFTAPD={PROFTAPD} exec {TARGET} <{self.pipe} >{self.said}"))
        self.commands = open(self.pipe, "w", buffering=1)
        t.at_end.append(self.commands.close)
        self.answers = 1  # "ready"
        equal(self.ask("start 0").split()[0], "0", "ptap_server_start of a child")

    def ask(self, *commands):
        for command in commands:
            self.commands.write(command + "\n")
        self.answers += len(commands)
        wait_until(lambda: self.said.read_text().count("\n") >= self.answers, f"an answer to {commands}")
        return self.said.read_text().splitlines()[self.answers - 1]


def request(duration_ms, **fields):
    made = profile_request(duration_ms, **fields)
    made.opts.advanced_configuration["profile_subprocesses"].bool_value = True
    return made


def planes_of(trace):
    return sorted(name for name in trace.planes if name.startswith("/host:CPU"))


@test
def children_and_theirs_are_in_their_parents_trace_on_its_time(t):
    target = t.target().serve()
    first = Child(t, target, "first")
    second = Child(t, target, "second")
    stranger = t.target().serve()
    with Calls(target) as calls:
        stream = calls.start(PROFILE, request(UINT64_MAX, session_id="all"))
        for process, n in ((target, 3), (first, 4), (second, 5)):
            process.ask("await 1", f"burst {n}")
        first.ask("burst 1")
        target.ask("step 1 50")
        calls.terminate("all")
        answer = calls.finish(stream)
    equal((answer.status, answer.text), (OK, ""), "the answer")
    trace = trace_of(answer.message)
    equal(planes_of(trace), sorted(["/host:CPU"] + [f"/host:CPU target [{c.pid}]" for c in (first, second)]),
          "planes")
    equal(trace.count("burst"), 3, "spans of the parent")
    for child, n in ((first, 5), (second, 5)):
        plane = trace.process(child.pid)
        equal(plane.count("burst"), n, f"spans of the child {child.pid}")
        equal(plane.host_stat("process_id"), child.pid, "its plane's process_id")
    # What the parent did last came last.
    step = trace.threads[0].named("slow")[0].start_ps
    last = max(e.start_ps for line in trace.process(first.pid).threads for e in line.named("burst"))
    check(last < step < last + 5 * 10**12, f"the child's last span at {last} ps, the parent's step at {step}")
    equal(list(trace.space.warnings), [], "warnings")
    for process in (stranger, target, first, second):
        equal(process.ask("enabled 1"), "0", "whether anybody still records")


@test
def proftap_gets_children_by_its_own_call(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    capture = t.begin(target, *TREE)
    for process, n in ((target, 3), (child, 4)):
        process.ask("await 1", f"burst {n}")
    trace = t.stop(target, capture).trace
    equal(planes_of(trace), ["/host:CPU", f"/host:CPU target [{child.pid}]"], "planes")
    equal((trace.count("burst"), trace.process(child.pid).count("burst")), (3, 4), "spans of both")
    equal(list(trace.space.warnings), [], "warnings")
    for process in (target, child):
        equal(process.ask("enabled 1"), "0", "whether anybody still records")


@test
def a_stream_ends_with_a_trailer_about_all_of_them(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    with Profiler(target) as calls:
        asked = capture_request(60000)
        asked.options.advanced_configuration["profile_subprocesses"].bool_value = True
        stream = calls.start(V1 + "Capture", asked)
        for process, n in ((target, 3), (child, 4)):
            process.ask("await 1", f"burst {n}")
        calls.end_session()
        delivery = calls.deliver(stream)
    events = sum(len(line.events) for plane in delivery.space.planes for line in plane.lines)
    equal(delivery.trailer.n_events, events, "events in the trailer")
    check(delivery.trailer.n_events >= 7, f"{delivery.trailer.n_events} events")


@test
def a_trace_that_lies_on_disk_gets_its_children_too(t):
    target = t.target().serve(0, RING_BYTES)
    child = Child(t, target, "child")
    capture = t.begin(target, *TREE)
    target.ask(f"flood {MANY}")
    child.ask("await 1", "burst 4")
    server = find_proftapd(target.pid)
    check(any(" (deleted)" in os.readlink(f"/proc/{server}/fd/{fd}") and "memfd" not in
              os.readlink(f"/proc/{server}/fd/{fd}") for fd in read_fds(server)), "there is no spool")
    t.stop(target, capture)
    done = subprocess.run([PROFTAP, "report", "--json", capture.path], check=True, capture_output=True)
    counts = {(plane["name"], row["name"]): row["count"] for plane in json.loads(done.stdout)["planes"]
              for thread in plane["threads"] for row in thread["spans"]}
    equal(counts.get((f"/host:CPU target [{child.pid}]", "burst")), 4, "spans of the child")


@test
def the_operators_directory_gets_all_of_them(t):
    target = t.target().serve(0, 0, 0, "127.0.0.1", 0, 0, t.dir / "logs")
    child = Child(t, target, "child")
    runs = t.dir / "logs/plugins/profile"
    with Calls(target) as calls:
        answer = calls.call(PROFILE, request(50, emit_xspace=False, repository_root=str(runs),
                                             session_id="run", host_name="host"))
    equal((answer.status, answer.text, len(answer.message.tool_data)), (OK, "", 0), "the answer")
    equal(planes_of(Trace(runs / "run/host.xplane.pb")),
          ["/host:CPU", f"/host:CPU target [{child.pid}]"], "planes in the file")


@test
def without_the_key_a_program_is_recorded_alone(t):
    target = t.target().serve()
    Child(t, target, "child")
    with Calls(target) as calls:
        equal(planes_of(trace_of(calls.expect(PROFILE, profile_request(50)))), ["/host:CPU"], "planes")


@test
def a_child_that_is_busy_is_said_and_the_rest_arrives(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    port = int(child.ask("port"))
    with Calls(target) as calls, Calls(port) as childs:
        theirs = childs.start(PROFILE, profile_request(60000, session_id="theirs"))
        child.ask("await 1")
        trace = trace_of(calls.expect(PROFILE, request(100)))
        equal(planes_of(trace), ["/host:CPU"], "planes")
        contains(" ".join(trace.space.warnings), f"process {child.pid} was not recorded: ", "warnings")
        contains(" ".join(trace.space.warnings), "Another profiling session active. session theirs",
                 "warnings")
        childs.terminate("theirs")
        equal(childs.finish(theirs).status, OK, "status of the session that was not disturbed")


@test
def a_second_tree_is_told_that_the_place_is_taken(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        theirs = calls.capture(60000, session_id="theirs")
        target.ask("await 1")
        capture = t.capture(target, 50, *TREE, code=EXIT_BUSY)
        contains(capture.stderr, "session theirs", "standard error")
        calls.end_session("theirs")
        calls.deliver(theirs)


@test
def a_stream_whose_client_vanishes_frees_all_of_them(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    capture = t.record(target, 60000, *TREE)
    child.ask("await 1")
    capture.kill()
    for process in (target, child):
        wait_until(lambda p=process: p.ask("enabled 1") == "0", "the recording to be off", 5)


@test
def a_client_that_vanishes_frees_all_of_them(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    with Calls(target) as calls:
        calls.start(PROFILE, request(60000))
        target.ask("await 1")
        child.ask("await 1")
    for process in (target, child):
        wait_until(lambda p=process: p.ask("enabled 1") == "0", "the recording to be off", 5)


run()
