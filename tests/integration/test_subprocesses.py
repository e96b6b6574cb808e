#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests one trace of a program and of the programs that it started, each with a server of its own."""
import contextlib
import json
import os
import signal
import subprocess
import time

from calls import PROFILER, UINT64_MAX, Calls, profile_request, trace_of
from checks import PATIENCE_S, SLOWNESS
from children import TREE, Child, await_registered, planes_of, say, socket_of, tree_request
from fake_server import Connection, FakeServer, Gone, space
from fake_stream import chunk, trailer, whole
from fixture import (SANITIZERS, check, contains, equal, find_proftapd, read_fds, read_status, run, test,
                     wait_until)
from http2 import ALREADY_EXISTS, OK
from processes import PROFTAP
from profiler import V1, Profiler, capture_request, set_options
from trace_file import Trace, own_schema, schema

PROFILE = PROFILER + "Profile"
EXIT_BUSY = 4
RING_BYTES = 16 << 20
MANY = 800_000  # waves: more than the server keeps in memory
LARGE = 1_200_000  # waves: 50 MB
MAX_KIB = 64 << 10  # the manual says 128 MiB, for a trace of any size
SESSION = "until-stopped"
STOPPED = 3
# The number of servers that never answer. A parent that asked them one after the other, 2 s
# each, would need twice the time that the test allows.
HUNG = 12
NO_PID = 5_000_000  # above all pids


def count_spans(path):
    """Returns {(plane, name): count} of a trace's spans."""
    done = subprocess.run([PROFTAP, "report", "--json", path], check=True, capture_output=True)
    return {(plane["name"], row["name"]): row["count"] for plane in json.loads(done.stdout)["planes"]
            for thread in plane["threads"] for row in thread["spans"]}


@test
def a_trace_has_all_descendants_on_the_parents_clock(t):
    target = t.target().serve()
    first = Child(t, target, "first")
    second = Child(t, target, "second")
    stranger = t.target().serve()
    with Calls(target) as calls:
        stream = calls.start(PROFILE, tree_request(UINT64_MAX, session_id="all"))
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
        equal(plane.host_stat("process_id"), child.pid, "process_id of the child's plane")
    # The parent's last span began after the children's.
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
def program_without_annotations_beside_a_child_is_reported(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    capture = t.begin(target, *TREE)
    child.ask("await 1", "burst 4")
    trace = t.stop(target, capture).trace
    equal(trace.process(child.pid).count("burst"), 4, "spans of the child")
    warnings = [text for text in trace.space.warnings if "was recorded" in text]
    equal(len(warnings), 1, f"such warnings of {list(trace.space.warnings)}")
    contains(warnings[0], " of the program itself was recorded: the program reached no annotation ", "the warning")


@test
def the_trailer_counts_events_of_all_processes(t):
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
def a_spooled_trace_has_the_children_too(t):
    target = t.target().serve(0, RING_BYTES)
    child = Child(t, target, "child")
    capture = t.begin(target, *TREE)
    target.ask(f"flood {MANY}")
    child.ask("await 1", "burst 4")
    server = find_proftapd(target.pid)
    check(any(" (deleted)" in os.readlink(f"/proc/{server}/fd/{fd}") and "memfd" not in
              os.readlink(f"/proc/{server}/fd/{fd}") for fd in read_fds(server)), "there is no spool")
    t.stop(target, capture)
    counts = count_spans(capture.path)
    equal(counts.get((f"/host:CPU target [{child.pid}]", "burst")), 4, "spans of the child")


class Peak:
    """The peak of a process's anonymous memory, among the values that were read."""

    def __init__(self, pid):
        self.pid, self.kib = pid, 0

    def look(self):
        status = read_status(self.pid)
        now = [int(status.get(name, "0 kB").split()[0]) for name in ("RssAnon", "RssShmem")]
        self.kib = max(self.kib, sum(now))


@test
def a_large_trace_of_a_child_needs_no_memory(t):
    target = t.target().serve()
    child = Child(t, target, "child", options=(0, RING_BYTES))
    capture = t.begin(target, *TREE)
    child.ask("await 1", "burst 4")
    child.send(f"flood {LARGE}")
    peak = Peak(find_proftapd(target.pid))
    wait_until(child.has_answered, "the flood", PATIENCE_S)
    with Calls(target) as calls:
        calls.terminate(SESSION)
    wait_until(lambda: peak.look() or capture.popen.poll() is not None, "the file", PATIENCE_S)
    capture.finish(patience_s=PATIENCE_S)
    size = capture.path.stat().st_size
    print(f"# {size} bytes, {peak.kib} KiB of memory")
    check(size > 40e6, f"the file has only {size} bytes")
    counts = count_spans(capture.path)
    equal(counts[f"/host:CPU target [{child.pid}]", "burst"], 4, "small spans of the child")
    check(counts[f"/host:CPU target [{child.pid}]", "wave"] > LARGE // 2, f"large spans of the child: {counts}")
    if SANITIZERS == "no":
        check(peak.kib < MAX_KIB, f"{peak.kib} KiB of memory")


@test
def the_operators_directory_gets_the_children_too(t):
    target = t.target().serve(0, 0, 0, "127.0.0.1", 0, 0, t.dir / "logs")
    child = Child(t, target, "child")
    runs = t.dir / "logs/plugins/profile"
    with Calls(target) as calls:
        answer = calls.call(PROFILE, tree_request(50 * SLOWNESS, emit_xspace=False, repository_root=str(runs),
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
def a_session_without_an_end_warns_that_it_has_no_children(t):
    target = t.target().serve()
    words = "profile_subprocesses: ignored: a session without an end records this program only"
    with Profiler(target) as calls:
        asked = set_options(own_schema().StartRequest())
        asked.options.advanced_configuration["profile_subprocesses"].bool_value = True
        stream = calls.start(V1 + "Start", asked)
        equal(calls.end(stream), (OK, ""), "the answer to Start")
        for end in (calls.snapshot, calls.end_session):
            contains(" ".join(calls.deliver(end()).space.warnings), words, "warnings of proftap.v1")
        calls.expect(PROFILER + "StartContinuousProfiling", tree_request(1), "ContinuousProfilingResponse")
        answer = calls.expect(PROFILER + "GetSnapshot", schema("profiler_service").GetSnapshotRequest())
        contains(" ".join(trace_of(answer).space.warnings), words, "warnings")


@test
def a_child_that_is_busy_is_reported_and_the_rest_arrives(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    port = int(child.ask("port"))
    with Calls(target) as calls, Calls(port) as childs:
        theirs = childs.start(PROFILE, profile_request(60000, session_id="theirs"))
        child.ask("await 1")
        trace = trace_of(calls.expect(PROFILE, tree_request(100)))
        equal(planes_of(trace), ["/host:CPU"], "planes")
        contains(" ".join(trace.space.warnings), f"process {child.pid} was not recorded: ", "warnings")
        contains(" ".join(trace.space.warnings), "another profiling session is active (session theirs",
                 "warnings")
        childs.terminate("theirs")
        equal(childs.finish(theirs).status, OK, "status of the session that was not disturbed")


SHARE = 12 << 20  # for all traces together
PART = 5 << 20


def large_space(n_bytes):
    """An XSpace of at least |n_bytes|, most of them in the name of a span."""
    return space(3, name="n" * n_bytes)


@test
def traces_of_children_share_their_room_and_missing_ones_are_reported(t):
    target = t.target().serve()
    data = large_space(PART)
    pids = [NO_PID + number for number in range(3)]
    for pid in pids:
        place = str(t.dir / f"large{pid}")
        FakeServer(t, whole(data, n_events=3), unknown=None, path=place)
        say(socket_of(target), b"%d 0 unix:%s\n" % (pid, place.encode()))
    await_registered(target, pids[-1])
    asked = tree_request(100)
    asked.opts.advanced_configuration["ptap_max_capture_bytes"].int64_value = SHARE
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, asked))
    names = {f"/host:CPU [{pid}]": pid for pid in pids}
    there = [pid for name, pid in names.items() if name in trace.planes]
    equal(len(there), 2, f"children that have room, of {sorted(trace.planes)}")
    left_out, = set(pids) - set(there)
    warning, = [text for text in trace.space.warnings if "was not recorded" in text]
    contains(warning, f"process {left_out} was not recorded: ", "the warning")
    contains(warning, "no room for its trace of 5.0 MiB: all together may have 1", "the warning")
    contains(warning, " MiB, what max_capture_bytes leaves them; raise it", "the warning")


class HungConnection(Connection):
    """A connection that begins to record, and then answers no other call."""
    unknown = None

    def begin_call(self, stream):
        self.calls.append(stream)
        if len(self.calls) == 1:
            self.headers()
        else:
            self.heard.append(("asked", time.monotonic()))


class HungServer(FakeServer):
    """A child that hangs, as its parent sees it. All such children add (event, time) to one list, |heard|."""

    connection = HungConnection

    def __init__(self, t, target, number, heard):
        self.heard = heard
        place = str(t.dir / f"hung{number}")
        super().__init__(t, None, path=place)
        self.announce(target, number, b"unix:" + place.encode())

    def announce(self, target, number, address):
        say(socket_of(target), b"%d 0 %s\n" % (NO_PID + number, address))

    def serve(self, sock):
        connection = self.connection(sock, None)
        connection.heard = self.heard
        try:
            connection.serve()
        except (Gone, OSError):
            if connection.calls:
                self.heard.append(("left", time.monotonic()))
        finally:
            sock.close()


class BusyConnection(HungConnection):
    """A connection to a server that records for another client."""

    def begin_call(self, stream):
        self.heard.append(("asked", time.monotonic()))
        self.headers(end=True, stream=stream, grpc_status=ALREADY_EXISTS, grpc_message="busy")


class BusyServer(HungServer):
    """The server of a process that lives, and is busy."""
    connection = BusyConnection

    def announce(self, target, number, address):
        pidfd = os.pidfd_open(os.getpid())
        say(socket_of(target), b"%d 0 %s\n" % (os.getpid(), address), pidfd)
        os.close(pidfd)


@test
def a_busy_child_is_asked_once(t):
    target = t.target().serve()
    heard = []
    BusyServer(t, target, 0, heard)
    await_registered(target, os.getpid())
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, tree_request(500)))
    equal([what for what, _ in heard].count("asked"), 1, "requests to the child")
    contains(" ".join(trace.space.warnings), f"process {os.getpid()} was not recorded: ", "warnings")


@test
def a_child_without_a_server_is_asked_until_it_has_one(t):
    """The attempts must not fill the 64 places of other children."""
    target = t.target().serve()
    child = Child(t, target, "child")
    place = socket_of(child)
    os.kill(find_proftapd(child.pid), signal.SIGKILL)
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, tree_request(2000)))
        warning, = [text for text in trace.space.warnings if "not recorded" in text]
        contains(warning, f"process {child.pid} was not recorded: ", "the warning")
        stream = calls.start(PROFILE, tree_request(UINT64_MAX, session_id="all"))
        target.ask("await 1")
        with contextlib.suppress(FileNotFoundError):  # others remove the socket of a dead server, too
            os.unlink(place)
        server = FakeServer(t, whole(space(3), n_events=3), unknown=None, path=place)
        wait_until(lambda: server.sockets, "the child to be asked")
        calls.terminate("all")
        trace = trace_of(calls.finish(stream).message)
    check(f"/host:CPU [{child.pid}]" in trace.planes, f"no plane of the child in {sorted(trace.planes)}")
    equal([text for text in trace.space.warnings if "not recorded" in text], [], "warnings")


class LateConnection(HungConnection):
    """Ignores the first request for an end, and sends the trace after the second one."""

    def begin_call(self, stream):
        self.calls.append(stream)
        if len(self.calls) == 1:
            self.headers()
            return
        self.heard.append(("asked", time.monotonic()))
        self.reply(b"", stream=stream)
        if len(self.calls) == 3:
            data = space(3)
            for part in (chunk(data), trailer(data, n_events=3)):
                self.message(part)
            self.end()


class LateServer(HungServer):
    """The server of a child that started just before the capture ended."""
    connection = LateConnection


@test
def a_child_that_starts_late_is_asked_again_to_end(t):
    target = t.target().serve()
    heard = []
    LateServer(t, target, 0, heard)
    await_registered(target, NO_PID)
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, tree_request(100)))
    equal([what for what, _ in heard].count("asked"), 2, "requests for an end")
    equal([text for text in trace.space.warnings if "was not recorded" in text], [], "warnings")
    check(f"/host:CPU [{NO_PID}]" in trace.planes, f"the child's plane is not in {sorted(trace.planes)}")


@test
def children_that_hang_are_given_up_together(t):
    target = t.target().serve()
    children = [Child(t, target, f"child{i}") for i in range(STOPPED)]
    alive = Child(t, target, "alive")
    servers = [find_proftapd(child.pid) for child in children]
    # The servers are continued even if the test fails, before their programs end.
    t.at_end.append(lambda: [os.kill(server, signal.SIGCONT) for server in servers])
    heard = []
    for number in range(HUNG):
        HungServer(t, target, number, heard)
    await_registered(target, NO_PID + HUNG - 1)
    with Calls(target) as calls:
        stream = calls.start(PROFILE, tree_request(UINT64_MAX, session_id="all"))
        for process in (target, alive, *children):
            process.ask("await 1", "burst 3")
        for server in servers:
            os.kill(server, signal.SIGSTOP)
        calls.terminate("all")
        trace = trace_of(calls.finish(stream, patience_s=PATIENCE_S).message)
    wait_until(lambda: len(heard) == 2 * HUNG, "all hanging children to be given up")
    # All children were asked before the first was given up, so no request waited for the answer to another.
    equal([what for what, _ in heard], ["asked"] * HUNG + ["left"] * HUNG, "events of the hanging servers")
    spread = heard[HUNG - 1][1] - heard[0][1]
    check(spread < HUNG, f"{spread:.1f} s from the first to the last that was asked")
    warnings = " ".join(trace.space.warnings)
    for pid in [child.pid for child in children] + [NO_PID + number for number in range(HUNG)]:
        contains(warnings, f"process {pid} was not recorded: ", "warnings")
    # On a machine that is too busy, the child that answers may be left out with a warning, too.
    is_there = f"/host:CPU target [{alive.pid}]" in planes_of(trace)
    check(is_there != (f"process {alive.pid} was not" in warnings), f"the live child: {is_there}, {warnings}")
    for server in servers:
        os.kill(server, signal.SIGCONT)
    for child in children:
        wait_until(lambda c=child: c.ask("enabled 1") == "0", "the recording to be off", 5)


@test
def a_second_tree_is_busy_and_names_the_session(t):
    target = t.target().serve()
    with Profiler(target) as calls:
        theirs = calls.capture(60000, session_id="theirs")
        target.ask("await 1")
        capture = t.capture(target, 50, *TREE, code=EXIT_BUSY)
        contains(capture.stderr, "session theirs", "standard error")
        calls.end_session("theirs")
        calls.deliver(theirs)


@test
def a_killed_client_frees_the_program_and_its_children(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    capture = t.record(target, 60000, *TREE)
    child.ask("await 1")
    capture.kill()
    for process in (target, child):
        wait_until(lambda p=process: p.ask("enabled 1") == "0", "the recording to be off", 5)


@test
def a_stock_client_that_vanishes_frees_all_programs(t):
    target = t.target().serve()
    child = Child(t, target, "child")
    with Calls(target) as calls:
        calls.start(PROFILE, tree_request(60000))
        target.ask("await 1")
        child.ask("await 1")
    for process in (target, child):
        wait_until(lambda p=process: p.ask("enabled 1") == "0", "the recording to be off", 5)


run()
