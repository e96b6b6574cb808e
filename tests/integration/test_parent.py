#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests PROFTAP_PARENT, by which programs that are not children for the kernel find their parent's server."""
import os
import signal
import socket
import subprocess
import sys
import time

from children import (DAEMON, MOUNTS, NAMESPACE, NOTICE, TREE, VARIABLE, Child, await_registered,
                      list_subprocesses, planes_of, say, socket_of, tree_request)
from calls import PROFILER, Calls, profile_request, trace_of
from fake_server import FakeServer, field, number
from fixture import (NOBODY, check, contains, equal, find_proftapd, find_proftapds, need_namespaces,
                     need_no_sanitizer, need_root, run, schema, test, wait_until)
from http2 import OK
from processes import PROFTAP, Process, read_status
from profiler import Profiler, xxh3

PROFILE = PROFILER + "Profile"
UNSET = f"-u {VARIABLE}"
STOPPED = "T"


def environment(target, t):
    """Returns the value of the variable in a child of |target|."""
    path = t.dir / f"environment-{time.monotonic_ns()}"
    target.ask(f"spawn echo \"${VARIABLE}\" >{path}.new; mv {path}.new {path}")
    wait_until(path.exists, "the environment")
    return path.read_text().strip()


def record_tree(t, target, *children):
    """Captures the whole tree, in which the first process emits 3 spans "burst", the next one 4, and so on."""
    capture = t.begin(target, *TREE)
    for n, process in enumerate((target, *children), 3):
        process.ask("await 1", f"burst {n}")
    trace = t.stop(target, capture).trace
    equal(trace.count("burst"), 3, "spans of the parent")
    equal(list(trace.space.warnings), [], "warnings")
    return trace


def check_tree(t, target, *children):
    trace = record_tree(t, target, *children)
    names = [f"/host:CPU target [{child.pid}]" for child in children]
    equal(planes_of(trace), sorted(["/host:CPU", *names]), "planes")
    for n, child in enumerate(children, 4):
        equal(trace.process(child.pid).count("burst"), n, f"spans of {child.pid}")


# The library sets the variable.

@test
def a_server_tells_children_where_it_is(t):
    need_no_sanitizer()
    target = t.target()
    equal(environment(target, t), "", "the variable before")
    target.serve()
    equal(environment(target, t), f"unix:{socket_of(target)}", "the variable")
    # After the stop no server answers at this address; a later server of the program has the same one.
    target.ask("stop")
    equal(target.serve() and environment(target, t), f"unix:{socket_of(target)}", "the variable after the second start")


@test
def running_threads_leave_the_environment_unset(t):
    target = t.target()
    counts = t.dir / "counts"
    counts.write_bytes(bytes(4096))
    target.ask(f"steady {counts}")
    target.serve()
    equal(environment(target, t), "", "the variable")


@test
def a_start_that_fails_sets_nothing(t):
    target = t.target(PROFTAPD="/does/not/exist")
    check(target.start() < 0, "the start")
    equal(environment(target, t), "", "the variable")


@test
def proftap_run_sets_the_variable(t):
    need_no_sanitizer()
    words = [PROFTAP, "run", "-p", "0", "--", "sh", "-c", f"echo ${VARIABLE} $$"]
    off = {"PROFTAP_DISABLE": "1"}
    process = t.keep(Process("run", words, off))
    place, pid = process.read_line().split()
    check(place.startswith("unix:/") and place.endswith(f"/{pid}.sock"), place)
    # A program that already belongs to another tree stays in it.
    process = t.keep(Process("run", words, {**off, VARIABLE: "unix:/elsewhere"}))
    equal(process.read_line().split()[0], "unix:/elsewhere", "the variable")


# Children that are found.

@test
def a_daemon_is_found(t):
    need_no_sanitizer()
    target = t.target().serve()
    child = Child(t, target, "child", DAEMON)
    check(int(read_status(child.pid)["PPid"]) != target.pid, "the child is no daemon")
    await_registered(target, child.pid)
    check_tree(t, target, child)


@test
def a_daemon_without_the_variable_is_not(t):
    target = t.target().serve()
    Child(t, target, "child", DAEMON, env=UNSET)
    equal(list_subprocesses(target), [], "registered children")
    check_tree(t, target)


@test
def a_child_with_another_runtime_directory_is_found(t):
    need_no_sanitizer()
    (t.dir / "run").mkdir(mode=0o700)
    target = t.target().serve()
    child = Child(t, target, "child", env=f"XDG_RUNTIME_DIR={t.dir}/run")
    await_registered(target, child.pid)
    equal([one.address for one in list_subprocesses(target)],
          [f"unix:{t.dir}/run/proftap/{child.pid}.sock"], "its address")
    check_tree(t, target, child)


@test
def a_child_in_another_pid_namespace_is_found(t):
    need_no_sanitizer()
    need_namespaces("--pid", "--fork", "--mount-proc")
    target = t.target().serve()
    child = Child(t, target, "child", NAMESPACE)
    found = wait_until(lambda: list_subprocesses(target), "a notice")
    equal(len(found), 1, "children")
    child.pid = found[0].pid
    # NSpid has the child's pid in our namespace, and the pid in its own namespace.
    numbers = read_status(child.pid)["NSpid"].split()
    check(len(numbers) > 1 and numbers[-1] != numbers[-2], f"the child's pids: {numbers}")
    trace = record_tree(t, target, child)
    equal(planes_of(trace), ["/host:CPU", f"/host:CPU target [{child.pid}]"], "planes")


@test
def a_child_in_another_mount_namespace_is_found(t):
    need_no_sanitizer()
    need_namespaces("--mount")
    covered = t.dir / "covered"
    covered.mkdir()
    target = t.target().serve()
    child = Child(t, target, "child", MOUNTS, env=f"XDG_RUNTIME_DIR={covered}")
    child.pid = child.shell
    await_registered(target, child.pid)
    equal(os.listdir(covered), [], "visible files of the child's runtime directory")
    check_tree(t, target, child)


@test
def child_found_in_both_ways_is_there_once(t):
    need_no_sanitizer()
    target = t.target().serve()
    child = Child(t, target, "child")
    await_registered(target, child.pid)
    check_tree(t, target, child)


@test
def daemons_of_daemons_are_found(t):
    need_no_sanitizer()
    target = t.target().serve()
    child = Child(t, target, "child", DAEMON)
    grandchild = Child(t, child, "grandchild", DAEMON)
    for one in (child, grandchild):
        await_registered(target, one.pid)
    await_registered(child, grandchild.pid)
    check_tree(t, target, child, grandchild)


@test
def a_server_that_is_started_again_tells_its_parent_again(t):
    """The library has set the variable to the program's own server meanwhile, which does not become its parent."""
    parent = t.target().serve()
    child = t.target(**{VARIABLE: f"unix:{socket_of(parent)}"}).serve()
    await_registered(parent, child.pid)
    child.ask("stop")
    wait_until(lambda: list_subprocesses(parent) == [], "the child to be forgotten")
    child.serve()
    await_registered(parent, child.pid)


@test
def parents_in_a_circle_stop_passing_notices_on(t):
    """Each of the two parents passes on the notices of the other one, and this comes to an end."""
    first_place = t.dir / "first.sock"
    second = t.target(**{VARIABLE: f"unix:{first_place}"}).serve()
    first = t.target(**{VARIABLE: f"unix:{socket_of(second)}"})
    first.start(0, 0, 0, f"unix:{first_place}")
    await_registered(second, first.pid)
    server = find_proftapd(second.pid)

    def work():
        return read_status(server)["voluntary_ctxt_switches"]

    # Once no notice is on its way, nothing wakes the main loop.
    wait_until(lambda: is_quiet(work), "the notices to end")


def is_quiet(work, pause_s=0.2):
    before = work()
    time.sleep(pause_s)
    return work() == before


@test
def ended_children_are_not_missed(t):
    need_no_sanitizer()
    target = t.target().serve()
    ended, stopped = (Child(t, target, name, DAEMON) for name in ("ended", "stopped"))
    for child in (ended, stopped):
        await_registered(target, child.pid)
    server = find_proftapd(ended.pid)
    os.kill(ended.pid, signal.SIGKILL)
    stopped.ask("stop")
    wait_until(lambda: not find_proftapds(ended.pid), f"server {server} to end")
    wait_until(lambda: list_subprocesses(target) == [], "the ended and the stopped child to be forgotten")
    check_tree(t, target)


@test
def a_child_without_a_parent_starts_as_ever(t):
    """There is no parent, or one that accepts no connection."""
    full = socket.socket(socket.AF_UNIX)
    full.bind(str(t.dir / "full"))
    full.listen(0)
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    t.at_end.append(lambda: [one.close() for one in (full, *waiting)])
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(str(t.dir / "full"))
    for place in ("unix:/does/not/exist", f"unix:{t.dir}/full", "nonsense", "unix:" + "/x" * 200):
        target = t.target(**{VARIABLE: place}).serve()
        t.emit(target, 20, "burst 1")


@test
def a_busy_parent_hears_of_a_child_later(t):
    """The parent is stopped for a while, and its queue of connections is full."""
    target = t.target().serve()
    place, server = socket_of(target), find_proftapd(target.pid)
    os.kill(server, signal.SIGSTOP)
    wait_until(lambda: read_status(server)["State"][0] == STOPPED, "the server to stand still")
    crowd = []
    t.at_end.append(lambda: [one.close() for one in crowd])
    for _ in range(200):
        crowd.append(socket.socket(socket.AF_UNIX))
        crowd[-1].setblocking(False)
        if crowd[-1].connect_ex(place):
            break
    child = Child(t, t.target(), "child", env=f"{VARIABLE}=unix:{place}")
    os.kill(server, signal.SIGCONT)
    await_registered(target, child.pid)


# Children that are not found.

@test
def messages_that_are_no_notices_are_forgotten(t):
    target = t.target().serve()
    place = socket_of(target)
    server = find_proftapd(target.pid)
    before = len(os.listdir(f"/proc/{server}/fd"))
    fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(3)]
    t.at_end.append(lambda: [os.close(fd) for fd in fds])
    address = b"unix:" + place.encode()  # a server answers there
    for text in (b"", b"\n", b"1 0 \n", b"1 0 unix:relative\n", b"x 0 %s\n", b"-1 0 %s\n", b"1 0 %s",
                 b"1 0 %s\nmore\n", b"1 0 %s\0\n", b"1 0 unix:/" + b"x" * 200 + b"\n"):
        text = text.replace(b"%s", address)
        say(place, text)
        say(place, text, *fds)
    say(place, b"1 0 %s\n" % address, fds[0])
    say(place, b"1 0 %s\n" % address, *fds)
    equal(list_subprocesses(target), [], "registered children")
    wait_until(lambda: len(os.listdir(f"/proc/{server}/fd")) <= before + 8, "descriptors to be closed")
    check_tree(t, target)


SAY_AS_ANOTHER = """
import socket, sys
one = socket.socket(socket.AF_UNIX)
one.connect(sys.argv[1])
try:
    one.send(sys.argv[2].encode())
    one.recv(1)
except (BrokenPipeError, ConnectionResetError):
    pass
print("said")
"""

LISTEN_AS_ANOTHER = """
import socket, sys
one = socket.socket(socket.AF_UNIX)
one.bind(sys.argv[1])
one.listen(5)
print("ready", flush=True)
while True:
    client = one.accept()[0]
    print(len(client.recv(1000)), flush=True)
"""


@test
def another_user_may_not_register(t):
    need_root()
    # Other users may read this directory, as with /run/proftap.
    t.public_dir("run")
    target = t.target(XDG_RUNTIME_DIR=str(t.dir / "run")).serve()
    place = str(t.dir / f"run/proftap/{target.pid}.sock")
    notice = NOTICE.decode() + f"1 0 unix:{place}\n"
    for user, n in ((NOBODY, 0), (0, 1)):
        said = t.keep(Process("say", [sys.executable, "-c", SAY_AS_ANOTHER, place, notice], user=user))
        equal(said.read_line(), "said", "output of the process that sends the notice")
        equal(len(list_subprocesses(target)), n, f"registered by user {user}")


@test
def another_users_socket_is_no_parent(t):
    need_root()
    place = t.public_dir("shared") / "socket"
    other = t.keep(Process("listen", [sys.executable, "-c", LISTEN_AS_ANOTHER, place], user=NOBODY))
    equal(other.read_line(), "ready", "output of the process that listens")
    t.target(**{VARIABLE: f"unix:{place}"}).serve()
    equal(other.read_line(), "0", "bytes that the other user's socket received")


# Times.

class OldChild:
    """A server that was registered by hand, whose trace began |age_s| before the request for it. It says that it
    records after |n_asked| requests, of which the first is the Capture, and ends the recording after one more."""
    n_asked = 1

    def __init__(self, t, target, age_s, *more):
        self.age_ns, self.more = int(age_s * 1e9), more
        self.place = str(t.dir / "old.sock")
        FakeServer(t, self.answer, path=self.place, unknown=None)
        say(socket_of(target), b"4242 0 unix:%s\n" % self.place.encode())
        await_registered(target, 4242)

    def make_space(self, asked_ns):
        """Makes three spans: one ended before the request, one was open then, and one began later. Times count from
        the trace's start."""
        space = schema("xplane").XSpace()
        plane = space.planes.add(name="/host:CPU")
        line = plane.lines.add(id=1, name="main")
        times = {"ended": (0, self.age_ns // 4), "open": (0, 3 * self.age_ns),
                 "later": (2 * self.age_ns, 1000)}
        for i, (name, (start, duration)) in enumerate(times.items(), 1):
            plane.event_metadata[i].id, plane.event_metadata[i].name = i, name
            line.events.add(metadata_id=i, offset_ps=start * 1000, duration_ps=duration * 1000)
        self.start_ns = asked_ns - self.age_ns
        return space.SerializeToString()

    def answer(self, c):
        data = self.make_space(time.time_ns())
        while len(c.calls) < self.n_asked:
            c.read_frame()
        c.headers()
        c.message(field(1, b""))
        while len(c.calls) < self.n_asked + 1:
            c.read_frame()
        c.message(field(2, data))
        c.message(field(3, number(1, len(data)) + b"\x11" + xxh3(data).to_bytes(8, "little") +
                        number(4, 3) + number(6, self.start_ns)))
        for message in self.more:
            c.message(message)
        c.end()


def start_of(trace):
    """Returns the start in Unix ns, as a parent reads it."""
    return trace.environment["profile_start_time"].value


@test
def older_session_of_a_child_reports_times_for_its_parent(t):
    # A JAX program calls Profile, and assumes that the answer is at most as old as its own session.
    child = t.target().serve()
    with Profiler(child) as calls:
        calls.begin(session_id="older")
        child.ask("await 1", "burst 3")
        busy = calls.call(PROFILE, profile_request(50))
        contains(busy.text, "session older", "the answer of a child with an older session")
        calls.stop("older", discard=True)
        asked_ns = time.time_ns()
        stream = calls.start(PROFILE, profile_request(60000, session_id="theirs"))
        child.ask("await 1", "burst 4")
        calls.terminate("theirs")
        trace = trace_of(calls.finish(stream).message)
    check(start_of(trace) >= asked_ns, f"the trace began {asked_ns - start_of(trace)} ns before it was asked for")
    equal(trace.count("burst"), 4, "spans of the child")
    # In proftap's own tree, a trace that began earlier is cut.
    target = t.target().serve()
    old = OldChild(t, target, 20)
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, tree_request(50)))
    planes = {plane.name: plane for plane in trace.space.planes}
    check("/host:CPU [4242]" in planes, f"the trace has {list(planes)}, and says {list(trace.space.warnings)}")
    plane = planes["/host:CPU [4242]"]
    names = {key: entry.name for key, entry in plane.event_metadata.items()}
    events = {names[event.metadata_id]: (line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps)
              for line in plane.lines for event in line.events}
    before_ns = start_of(trace) - old.start_ns
    check(before_ns > 19 * 10**9, f"the child began {before_ns} ns before its parent")
    expected = {"open": (0, (60 * 10**9 - before_ns) * 1000),
                "later": ((40 * 10**9 - before_ns) * 1000, 10**6)}
    equal(events, expected, "the child's spans on the parent's time")


@test
def a_child_that_took_the_capture_after_the_request_to_end_it_is_asked_again(t):
    target = t.target().serve()
    child = OldChild(t, target, 1)
    child.n_asked = 2
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, tree_request(50)))
    check("/host:CPU [4242]" in trace.planes, f"the trace has {list(trace.planes)}, and says {list(trace.space.warnings)}")


@test
def data_after_a_childs_trailer_spoils_its_trace(t):
    """The trailer promises nothing about data after it."""
    target = t.target().serve()
    OldChild(t, target, 1, field(2, schema("xplane").XSpace(warnings=["late"]).SerializeToString()))
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, tree_request(50)))
    equal([name for name in trace.planes if "4242" in name], [], "planes of the child")
    said = [warning for warning in trace.space.warnings if "process 4242 was not recorded: " in warning]
    check(len(said) == 1 and "its answer is not a whole trace" in said[0], f"warnings: {trace.space.warnings}")


run()
