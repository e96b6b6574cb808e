#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests NewSession, by which one server records itself and others into one run: its requests, and
its reports of failures."""
import re
import socket
import threading

from calls import ANALYSIS, Calls, profile_request
from checks import PATIENCE_S
from children import Child, planes_of
from fake_server import FakeServer, field, space, tool_data
from fake_stream import Flood, stream_server
from fixture import (SANITIZERS, check, contains, equal, find_proftapd, free_port, need_ipv6, run, schema,
                     test)
from http2 import INVALID_ARGUMENT, OK, RESOURCE_EXHAUSTED, UNAVAILABLE, message
from memory_watch import MemoryWatch
from trace_file import Trace, own_schema

NEW_SESSION = ANALYSIS + "NewSession"
LARGE = 48 << 20
MAX_KIB = 40 << 10  # for a server that writes a large trace while it arrives
REPLY = ("NewProfileSessionResponse", "profiler_analysis")


def serve(t, log_dir=None, host="127.0.0.1"):
    return t.target().serve(0, 0, 0, host, 0, 0, *([log_dir] if log_dir else []))


def session(session_id, hosts=(), duration_ms=50, **fields):
    asked = getattr(schema("profiler_analysis"), "NewProfileSessionRequest")(
        session_id=session_id, hosts=hosts, **fields)
    asked.request.CopyFrom(profile_request(duration_ms))
    return asked


def files_of(run_dir):
    return sorted(p.name for p in run_dir.iterdir())


@test
def one_session_records_many_hosts(t):
    logs = t.dir / "logs"
    first, second = serve(t, logs), serve(t)
    dead = free_port()
    hosts = [f"127.0.0.1:{port}" for port in (first.port, second.port, second.port, dead)]
    with Calls(first) as calls:
        stream = calls.start(NEW_SESSION, session("fan", hosts, 300, repository_root=str(logs / "plugins/profile")))
        first.ask("await 1", "burst 3")
        second.ask("await 1", "burst 4")
        answer = calls.finish(stream, *REPLY)
    equal((answer.status, answer.message.empty_trace), (OK, False), "the answer")
    failed = answer.message.error_message
    check(re.fullmatch(fr"127\.0\.0\.1:{dead}: UNAVAILABLE: .*Connection refused.*", failed), failed)
    runs = logs / "plugins/profile/fan"
    equal(files_of(runs), sorted(f"127.0.0.1_{p.port}.xplane.pb" for p in (first, second)), "files")
    for target, n in ((first, 3), (second, 4)):
        equal(Trace(runs / f"127.0.0.1_{target.port}.xplane.pb").count("burst"), n, "spans")


@test
def hosts_have_ipv6_addresses(t):
    need_ipv6()
    logs = t.dir / "logs"
    first, second = serve(t, logs), serve(t, host="::1")
    with Calls(first) as calls:
        reply = calls.expect(NEW_SESSION, session("six", [f"[::1]:{second.port}"]), *REPLY)
    equal(reply.error_message, "", "failures")
    equal(len(files_of(logs / "plugins/profile/six")), 2, "files")


@test
def the_server_itself_is_always_one_of_them(t):
    logs = t.dir / "logs"
    target = serve(t, logs)
    with Calls(target) as calls:
        reply = calls.expect(NEW_SESSION, session("alone"), *REPLY)
    equal((reply.error_message, reply.empty_trace), ("", False), "the answer")
    equal(files_of(logs / "plugins/profile/alone"), [f"{socket.gethostname()}_{target.port}.xplane.pb"], "files")


@test
def many_failures_are_counted(t):
    with Calls(serve(t, t.dir / "logs")) as calls:
        failed = calls.expect(NEW_SESSION, session("dead", [f"127.9.9.{i}:1" for i in range(1, 65)]),
                              *REPLY).error_message
    named = re.findall(r"127\.9\.9\.\d+:1: UNAVAILABLE", failed)
    rest = re.search(r"; and (\d+) more$", failed)
    check(rest, failed)
    check(1 < len(named) < 64, failed)
    equal(len(named) + int(rest[1]), 64, "hosts named and counted")


@test
def text_of_other_servers_becomes_readable(t):
    """A string that is not UTF-8 makes the whole answer unreadable for a client."""
    server = FakeServer(t, lambda c: c.fail(UNAVAILABLE, b"no \xff\xfe\x1b[2J here"))
    with Calls(serve(t, t.dir / "logs")) as calls:
        reply = calls.expect(NEW_SESSION, session("bytes", [f"127.0.0.1:{server.port}"]), *REPLY)
    equal(reply.error_message, f"127.0.0.1:{server.port}: UNAVAILABLE: no ???[2J here", "failures")
    equal(reply.empty_trace, False, "whether there is nothing")


def check_memory(watch, max_kib):
    watch.end()
    print(f"# {watch.whole_kib} KiB of memory")
    if SANITIZERS == "no":
        check(watch.whole_kib < max_kib, f"{watch.whole_kib} KiB of memory")


@test
def a_trace_that_comes_as_a_stream_needs_no_memory(t):
    asked, flood, logs = [], Flood(LARGE), t.dir / "logs"

    def script(c):
        asked.append((c.method(), own_schema().CaptureRequest.FromString(c.bodies[c.stream][5:]).options))
        flood.script(c)
    server = stream_server(t, script)
    target = serve(t, logs)
    watch = MemoryWatch(find_proftapd(target.pid))
    with Calls(target) as calls:
        reply = calls.expect(NEW_SESSION, session("large", [f"127.0.0.1:{server.port}"]), *REPLY)
    check_memory(watch, MAX_KIB)
    equal(reply.error_message, "", "failures")
    (method, options), = asked
    equal((method, options.version, options.duration_ms, options.session_id), ("Capture", 1, 50, "large"),
          "its calls")
    file = logs / f"plugins/profile/large/127.0.0.1_{server.port}.xplane.pb"
    equal(file.stat().st_size, sum(map(len, flood)), "bytes of the file")


@test
def large_answers_are_taken_one_at_a_time(t):
    data, logs = space(name="n" * LARGE), t.dir / "logs"
    servers = [FakeServer(t, lambda c: c.reply(field(8, data))) for _ in range(4)]
    target = serve(t, logs)
    watch = MemoryWatch(find_proftapd(target.pid))
    with Calls(target) as calls:
        reply = calls.expect(NEW_SESSION, session("stock", [f"127.0.0.1:{s.port}" for s in servers]), *REPLY)
    # The server may hold one answer, and a copy of the long name in it.
    check_memory(watch, MAX_KIB + 2 * LARGE // 1024)
    equal(reply.error_message, "", "failures")
    for server in servers:
        file = logs / f"plugins/profile/stock/127.0.0.1_{server.port}.xplane.pb"
        check(file.read_bytes() == data, "the file is not what was sent")


@test
def server_that_has_not_answered_yet_delays_no_other(t):
    data, taken, seen = space(name="n" * (LARGE // 8)), threading.Event(), []

    def answer_late(c):
        seen.append(taken.wait(PATIENCE_S / 2))
        c.reply(field(8, space()))

    def answer_now(c):
        c.reply(field(8, data))  # returns after the server has read, because the data exceeds the HTTP/2 window
        taken.set()
    servers = [FakeServer(t, script) for script in (answer_late, answer_now)]
    with Calls(serve(t, t.dir / "logs")) as calls:
        reply = calls.expect(NEW_SESSION, session("late", [f"127.0.0.1:{s.port}" for s in servers]), *REPLY)
    equal(seen, [True], "whether the answer that was there had been taken")
    equal(reply.error_message, "", "failures")


@test
def an_answer_has_one_message_and_it_is_a_profile(t):
    def answer_twice(c):
        c.headers()
        c.message(field(8, space()))
        c.message(field(8, space()))
        c.end()
    said = {}
    for text, script in (("its answer has more than one message", answer_twice),
                         ("its answer is no ProfileResponse", lambda c: c.reply(b"\xff\xff")),
                         ("its answer is no ProfileResponse", lambda c: c.headers() or c.end()),
                         ("it answered without data: it wrote to its own disk", lambda c: c.reply(b""))):
        said[FakeServer(t, script).port] = text
    with Calls(serve(t, t.dir / "logs")) as calls:
        reply = calls.expect(NEW_SESSION, session("bad", [f"127.0.0.1:{port}" for port in said]), *REPLY)
    for port, text in said.items():
        contains(reply.error_message, f"127.0.0.1:{port}: {text}", "failures")


@test
def first_of_both_forms_of_a_trace_counts(t):
    def answer(c):
        c.reply(tool_data("xplane.pb", space(4)) + field(8, space(3)))
    logs = t.dir / "logs"
    port = FakeServer(t, answer).port
    with Calls(serve(t, logs)) as calls:
        equal(calls.expect(NEW_SESSION, session("both", [f"127.0.0.1:{port}"]), *REPLY).error_message, "",
              "failures")
    file, = (logs / "plugins/profile/both").glob(f"*{port}*")
    equal(Trace(file).count("span"), 4, "spans")


@test
def its_own_part_has_subprocesses_where_they_are_asked_for(t):
    logs = t.dir / "logs"
    target = serve(t, logs)
    child = Child(t, target, "child")
    asked = session("tree", duration_ms=1000 * PATIENCE_S)
    asked.request.opts.advanced_configuration["profile_subprocesses"].bool_value = True
    asked.request.opts.advanced_configuration["ptap_sample_hz"].int64_value = 0
    with Calls(target) as calls:
        stream = calls.start(NEW_SESSION, asked)
        for process, n in ((target, 3), (child, 4)):
            process.ask("await 1", f"burst {n}")
        calls.terminate("tree")
        equal(calls.finish(stream, *REPLY).message.error_message, "", "failures")
    file, = (logs / "plugins/profile/tree").iterdir()
    trace = Trace(file)
    equal(planes_of(trace), ["/host:CPU", f"/host:CPU target [{child.pid}]"], "planes")
    equal((trace.count("burst"), trace.process(child.pid).count("burst")), (3, 4), "spans of both")


@test
def only_addresses_are_connected_to(t):
    with Calls(serve(t, t.dir / "logs")) as calls:
        for host in ("", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", ":1", "[::1:1", "::1:1",
                     "a b:1", f"unix:{t.dir}/x.sock", f"unix:{t.dir}/x:1", "dns:///localhost:1", "x" * 300 + ":1"):
            answer = calls.call(NEW_SESSION, session("bad", [host]), *REPLY)
            equal(answer.status, INVALID_ARGUMENT, f"status for {host}")
            contains(answer.text, "must be HOST:PORT", "the text")
        raw = session("bad").SerializeToString() + field(3, b"\xff\xfe:1")
        stream = calls.connection.start(NEW_SESSION, message(raw))
        answer = calls.finish(stream, *REPLY)
        equal((answer.status, answer.text), (INVALID_ARGUMENT, 'host "??:1": must be HOST:PORT'), "for bytes")
        answer = calls.call(NEW_SESSION, session("bad", [f"127.9.9.{i}:1" for i in range(1, 66)]), *REPLY)
        equal((answer.status, answer.text), (INVALID_ARGUMENT, "there may be 64 hosts at most"), "for many")


@test
def one_session_at_a_time_asks_others(t):
    target = serve(t, t.dir / "logs")
    with Calls(target) as calls:
        stream = calls.start(NEW_SESSION, session("first", duration_ms=1000 * PATIENCE_S))
        target.ask("await 1")
        busy = calls.call(NEW_SESSION, session("second"), *REPLY)
        equal((busy.status, busy.text),
              (RESOURCE_EXHAUSTED, "another NewSession is under way; ask again later"), "the second")
        calls.terminate("first")
        equal(calls.finish(stream, *REPLY).message.error_message, "", "failures of the first")
        equal(calls.expect(NEW_SESSION, session("third"), *REPLY).error_message, "", "failures of the third")


run()
