#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the host daemon's lines for the journal: one line for each request about a program, with its fields."""
import contextlib
import os
import re
import signal
import socket
import threading

from calls import PROFILER, Calls, profile_request
from checks import contains
from fixture import NOBODY, SANITIZERS, SESSION, Skip, check, equal, need_namespaces, need_root, run, schema, test, wait_until
from hosts import Host, list_programs, registry_path, runtime, start_target
from http2 import UNIMPLEMENTED
from manager import Manager
from processes import LIBRARY, PROFTAP, PROFTAPD, Process
from trace_file import own_schema
from web_api import Api

LONG_MS = 60000
LINE = re.compile(r"proftapd: audit: (?P<what>\w+) of (?P<target>.+) by uid (?P<uid>\d+) \((?P<peer>[^)]*)\): "
                  r"(?P<result>[A-Z_]+)(?:: (?P<reason>.*))?; (?P<bytes>\d+) bytes, (?P<ms>\d+) ms(?:; (?P<options>.*))?\n")


def read_lines(host):
    return [match for line in host.err if (match := LINE.fullmatch(line))]


def await_line(host, what, n=1):
    """Waits for the nth line about that call, and returns it."""
    def find():
        found = [line for line in read_lines(host) if line["what"] == what]
        return len(found) >= n and found[n - 1]
    return wait_until(find, f"line {n} about {what}")


def serve(t, *options, n=1):
    host = Host(t, *options)
    targets = [start_target(t) for _ in range(n)]
    host.await_pids(*(target.pid for target in targets))
    return host, *targets


def begin(t, host, target):
    capture = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, "-o", f"session_id={SESSION}", "--target", target.pid)
    target.ask("await 1")
    return capture


def proftap(t, *words):
    process = t.keep(Process("proftap", [PROFTAP, *words]))
    equal(process.wait(), 0, f"proftap {words}: {process.err}")


@test
def a_capture_has_a_line(t):
    """There is exactly one line, though the log level suppresses all else."""
    host = Manager(t, "log_level = error\n").start()
    target = start_target(t)
    wait_until(lambda: list_programs(t, host.port), "the program to be listed")
    capture = t.capture(f"127.0.0.1:{host.port}", 120)
    line = await_line(host, "Capture")
    equal((line["target"], line["uid"], line["result"], line["reason"]),
          (f"target ({target.pid})", str(os.geteuid()), "OK", None), "the line")
    check(re.fullmatch(r"loopback port \d+, socket table", line["peer"]), f"peer: {line['peer']}")
    check(int(line["bytes"]) >= capture.path.stat().st_size, f"bytes: {line['bytes']}")
    check(120 <= int(line["ms"]) < LONG_MS, f"ms: {line['ms']}")
    check("duration_ms=120" in line["options"].split(), f"options: {line['options']}")
    host.signal(signal.SIGTERM)
    equal(host.wait(), 0, "the daemon's end")
    for thread in host.threads:
        thread.join()
    equal(len([line for line in read_lines(host) if line["what"] == "Capture"]), 1, "lines")


@test
def every_call_has_an_audit_line(t):
    host, target = serve(t)
    words = [f"127.0.0.1:{host.port}", "--target", str(target.pid)]
    proftap(t, "start", *words)
    target.ask("await 1", "burst 5")
    proftap(t, "snapshot", *words, "--log_dir", t.dir / "a")
    target.ask("burst 3")
    proftap(t, "stop", *words, "--log_dir", t.dir / "b")
    with Calls(host) as calls:
        calls.call(PROFILER + "Profile", profile_request(50))
    proftap(t, "monitor", *words, "100", "--count", "1")
    for what in ("Start", "Snapshot", "Stop", "Profile", "Monitor"):
        line = await_line(host, what)
        equal((line["target"], line["result"]), (f"target ({target.pid})", "OK"), what)


@test
def a_capture_by_http_has_an_audit_line(t):
    api = Api(t)
    target = api.target()
    capture = api.await_capture(api.capture(target=target.pid, duration_ms=60, options={"host_tracer_level": 1}))
    line = await_line(api.host, "WebCapture")
    equal((line["target"], line["uid"], line["result"], line["reason"]),
          (f"target ({target.pid})", str(os.geteuid()), "OK", None), "the line")
    equal(int(line["bytes"]), capture["trace_bytes"], "bytes")
    check(re.fullmatch(r"HTTP, loopback port \d+, socket table", line["peer"]), f"peer: {line['peer']}")
    equal(line["options"], 'duration_ms=60 {"host_tracer_level":1}', "options")


@test
def audited_options_have_no_braces(t):
    api = Api(t)
    target = api.target()
    api.await_capture(api.capture(target=target.pid, duration_ms=60))
    equal(await_line(api.host, "WebCapture")["options"], "duration_ms=60", "options of a capture")
    row = api.get("targets")["targets"][0]
    api.post(f"targets/{row['id']}/session", {"recorder": True}, 200)
    equal(await_line(api.host, "WebStart")["options"], "session= recorder=true", "options of a recorder")
    api.delete(f"targets/{row['id']}/session")
    equal(await_line(api.host, "WebGiveUp")["options"], "session= recorder=false", "options of its end")


@test
def a_chain_of_wrappers_is_logged_once(t):
    if SANITIZERS != "no":
        raise Skip("a shell does not load a library with sanitizers")
    host = Host(t)
    program = t.keep(Process("chain", ["/bin/sh", "-c", "exec env /bin/sh -c 'exec env sleep 600'"],
                             {**runtime(t), "PROFTAPD": str(PROFTAPD), "LD_PRELOAD": str(LIBRARY), "PROFTAP_SERVER": "0"}))
    of_it = lambda: [line.split("target: ", 1)[-1].strip() for line in host.err if f"process {program.pid} " in line]
    wait_until(lambda: any("(sleep)" in line for line in of_it()), "the line about sleep")
    program.kill()
    wait_until(lambda: any("is gone" in line for line in of_it()), "the line about the program's end")
    equal(of_it(), [f"process {program.pid} (sleep) of uid {os.geteuid()} is here", f"process {program.pid} is gone"], "lines")


@test
def a_refused_capture_by_http_has_an_audit_line(t):
    api = Api(t)
    target = api.target()
    fine = {"target": target.pid, "duration_ms": 50}
    refused = (({**fine, "target": "tea"}, 404, "NOT_FOUND", "tea: no such program here", '{"target": "tea", "duration_ms": 50}'),
               ({**fine, "tea": 1}, 400, "INVALID_ARGUMENT", "tea: no such member", '"tea": 1}'),
               (b"[\n\n", 400, "INVALID_ARGUMENT", "the body is no JSON", "[  "),
               (b" " * 70000, 413, "RESOURCE_EXHAUSTED", "the body has more than 65536 bytes", ""))
    for n, (body, status, code, why, options) in enumerate(refused, 1):
        api.refuses("POST", "captures", status, code, body)
        line = await_line(api.host, "WebCapture", n)
        equal((line["target"], line["uid"], line["result"]), ("no program", str(os.geteuid()), code), f"the line about {code}")
        contains(line["reason"], why, "the reason")
        contains(line["options"] or "", options, "the request")
    # A request that no handler receives has a line too: from a page of another site, or without a token.
    api.web.ask("/api/v1/captures", "POST", b"{}", {"Origin": "http://evil.example"})
    contains(await_line(api.host, "WebCapture", n + 1)["reason"], "pages of other sites", "the reason")
    api.web.ask("/api/v1/captures", "POST", b"{}")
    contains(await_line(api.host, "WebCapture", n + 2)["reason"], "needs the header X-Proftap-Token", "the reason")
    # A request that only reads has no line.
    api.refuses("GET", "captures/77", 404, "NOT_FOUND")
    api.web.refuses(404, "/nothing")
    api.await_capture(api.capture(**fine))
    await_line(api.host, "WebCapture", n + 3)
    equal(len(read_lines(api.host)), n + 3, "lines")


@test
def command_to_a_capture_by_http_has_an_audit_line(t):
    api = Api(t)
    number = api.capture(next="nobody", duration_ms=50)
    api.post(f"captures/{number}/stop", status=200)
    line = await_line(api.host, "WebStop")
    equal((line["target"], line["result"]), (f"capture {number}", "OK"), "the line")
    api.await_capture(number)
    api.refuses("POST", f"captures/{number}/stop", 409, "FAILED_PRECONDITION")
    line = await_line(api.host, "WebStop", 2)
    equal((line["result"], line["reason"]), ("FAILED_PRECONDITION", f"capture {number}: it is over"), "the line")
    api.delete(f"captures/{number}")
    equal(await_line(api.host, "WebDelete")["target"], f"capture {number}", "target of the deletion")
    api.refuses("DELETE", f"captures/{number}", 404, "NOT_FOUND")
    equal(await_line(api.host, "WebDelete", 2)["result"], "NOT_FOUND", "the result")


@test
def a_deleted_run_has_an_audit_line(t):
    api = Api(t)
    target = api.target()
    api.await_capture(api.capture(target=target.pid, duration_ms=50, run="mine"))
    size = sum(path.stat().st_size for path in (api.log_dir / "plugins/profile/mine").iterdir())
    api.delete("runs/mine")
    line = await_line(api.host, "WebDelete")
    equal((line["target"], line["uid"], line["result"], line["reason"], int(line["bytes"])),
          ("run mine", str(os.geteuid()), "OK", None, size), "the line")
    check(re.fullmatch(r"HTTP, loopback port \d+, socket table", line["peer"]), f"peer: {line['peer']}")
    api.refuses("DELETE", "runs/mine", 404, "NOT_FOUND")
    line = await_line(api.host, "WebDelete", 2)
    equal((line["target"], line["result"], line["reason"]), ("run mine", "NOT_FOUND", "run mine: no such run"), "the line")
    api.web.ask("/api/v1/runs/mine", "DELETE")
    line = await_line(api.host, "WebDelete", 3)
    equal((line["target"], line["result"]), ("run mine", "PERMISSION_DENIED"), "the line about a request without a token")


@test
def words_of_a_request_are_printable_in_the_log(t):
    """Characters of a request can neither split a line nor control a terminal."""
    api = Api(t)
    api.target()
    evil = "no\n\x1b[2Jbody\u202e"
    api.await_capture(api.capture(next=evil, duration_ms=50, wait_ms=1000))
    contains(await_line(api.host, "WebCapture")["reason"], "no??[2Jbody?: no program of this name", "the reason")
    api.refuses("POST", "captures", 404, "NOT_FOUND", {"target": evil, "duration_ms": 50})
    contains(await_line(api.host, "WebCapture", 2)["reason"], "no??[2Jbody?: no such program", "the reason")
    api.web.ask("/api/v1/captures", "POST", b"{}", {"Host": "evil\x1b[2J.example"})
    contains(await_line(api.host, "WebCapture", 3)["reason"], "evil?[2J.example", "the reason")
    check(not any("\x1b" in line or "\u202e" in line for line in api.host.err), f"the log: {api.host.err}")


@test
def refused_capture_has_an_audit_line(t):
    host, *_ = serve(t, n=2)
    t.capture(f"127.0.0.1:{host.port}", 100, code=1)
    line = await_line(host, "Capture")
    equal((line["target"], line["result"]), ("no program", "INVALID_ARGUMENT"), "the line")
    contains(line["reason"], "2 programs are meant", "the reason")


@contextlib.contextmanager
def as_nobody():
    """Sockets that are made in the body belong to another user."""
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@test
def another_user_is_refused_by_every_method_with_a_line(t):
    """A refusal by a method that only reads has a line, too, though its success has none."""
    need_root()
    host, target = serve(t, "--operators", "")
    services = (own_schema().DESCRIPTOR.services_by_name["Profiler"], schema("profiler_service").DESCRIPTOR.services_by_name["ProfilerService"])
    served = 0
    for service in services:
        for method in service.methods:
            with as_nobody():
                calls = Calls(host, greets=True)
            calls.headers = {"extra": [("proftap-target", str(target.pid))]}
            request = method.input_type._concrete_class()
            if method.name == "List":
                request.target = str(target.pid)
            with calls:
                answer = calls.call(f"/{service.full_name}/{method.name}", request, None)
            if answer.status == UNIMPLEMENTED:
                continue
            served += 1
            line = await_line(host, method.name)
            equal((line["target"], line["uid"], line["result"]), ("no program", str(NOBODY), "NOT_FOUND"), f"the line about {method.name}")
            contains(line["reason"], "no program that you may record", f"the reason of {method.name}")
    check(served >= 12, f"{served} methods are served")


@test
def capture_without_a_program_in_the_list_has_an_audit_line(t):
    """proftap capture calls List first, and stops if its target is not in the answer."""
    host, target = serve(t)
    other = start_target(t)
    host.await_pids(target.pid, other.pid)
    t.capture(f"127.0.0.1:{host.port}", 100, "--target", f"{target.pid},nobody", code=1)
    line = await_line(host, "List")
    equal((line["target"], line["uid"], line["result"]), ("no program", str(os.geteuid()), "NOT_FOUND"), "the line")
    contains(line["reason"], "nobody: no such program here; there are target (", "the reason")
    equal(line["options"], f"target={target.pid},nobody", "the request's options")
    # A client that only lists programs, or that finds its target in the list, leaves no line about List.
    host.list()
    t.capture(f"127.0.0.1:{host.port}", 50, "--target", target.pid)
    await_line(host, "Capture")
    equal(len([line for line in read_lines(host) if line["what"] == "List"]), 1, "lines about List")


@test
def a_refused_read_by_http_has_an_audit_line(t):
    """The caller requests a run's file, or a program's memory, that does not exist for this caller."""
    api = Api(t)
    for n, (path, thing) in enumerate((("targets/77/memory", "target 77"), ("runs/secret/files/a.xplane.pb", "run secret"),
                                       ("runs/secret/report", "run secret")), 1):
        api.refuses("GET", path, 404, "NOT_FOUND")
        line = await_line(api.host, "WebRead", n)
        equal((line["target"], line["uid"], line["result"]), (thing, str(os.geteuid()), "NOT_FOUND"), f"the line about {path}")


@test
def a_look_at_open_spans_by_http_has_an_audit_line(t):
    """The answer contains the arguments of spans, as a capture does."""
    api = Api(t)
    target = start_target(t)
    api.await_target(target.pid)
    (row,) = api.get("targets")["targets"]
    answer = api.get(f"targets/{row['id']}/open_spans")
    equal(answer["processes"][0]["pid"], target.pid, "their owners")
    line = await_line(api.host, "WebOpenSpans")
    equal((line["target"], line["uid"], line["result"]), (f"target ({target.pid})", str(os.geteuid()), "OK"), "the line")
    # A request for an absent program has one line, not two.
    api.refuses("GET", f"targets/{row['id'] + 1}/open_spans", 404, "NOT_FOUND")
    equal(await_line(api.host, "WebRead")["result"], "NOT_FOUND", "the line about the refused request")
    equal(len([line for line in read_lines(api.host) if line["what"] == "WebOpenSpans"]), 1, "lines about WebOpenSpans")


@test
def client_that_disconnects_has_an_audit_line(t):
    host, target = serve(t)
    capture = begin(t, host, target)
    capture.kill()
    line = await_line(host, "Capture")
    equal((line["result"], line["reason"]), ("CANCELLED", "the client went away"), "the result")


@test
def a_socket_tells_the_process(t):
    path = t.dir / "host.sock"
    host = Host(t, "--listen", f"unix:{path}")
    target = start_target(t)
    wait_until(lambda: any(f"process {target.pid} (target)" in line for line in host.err), "the line about the new program")
    capture = t.capture(f"unix:{path}", 50)
    equal(await_line(host, "Capture")["peer"], f"process {capture.pid}, SO_PEERCRED", "the peer")


class Journal:
    """Takes the place of the journal for a daemon in its own mount namespace. .heard has the fields of each message."""

    def __init__(self, t):
        self.run = t.dir / "run"
        (self.run / "systemd" / "journal").mkdir(parents=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.run / "systemd" / "journal" / "socket"))
        self.heard = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            text = self.socket.recv(65536).decode()
            self.heard.append(dict(line.split("=", 1) for line in text.splitlines()))


def start_in_journal(t, folder):
    """Starts a daemon as systemd does: its standard error is a stream of the journal. |folder| is its /run."""
    script = ("mount --bind \"$1\" /run && shift && JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) && "
              "export JOURNAL_STREAM && exec \"$@\"")
    daemon = Process("proftapd", ["unshare", "-m", "sh", "-c", script, "sh", folder, PROFTAPD, "--host", "--config",
                                  "/dev/null", "--web", "none", "--listen", f"unix:{t.dir}/host.sock", "--registry",
                                  registry_path(t), "--stock_servers", "no"], runtime(t))
    return t.keep(daemon)


@test
def the_journal_gets_fields(t):
    need_namespaces("-m")
    journal = Journal(t)
    daemon = start_in_journal(t, journal.run)
    wait_until(lambda: any("serving on" in said["MESSAGE"] for said in journal.heard), "the daemon to serve")
    target = start_target(t)
    wait_until(lambda: any(f"process {target.pid} (target)" in said["MESSAGE"] for said in journal.heard), "the message about the new program")
    t.capture(f"unix:{t.dir}/host.sock", 50)
    said = wait_until(lambda: [said for said in journal.heard if said["PROFTAP_AREA"] == "audit"], "the audit")[0]
    equal({key: said[key] for key in ("PRIORITY", "SYSLOG_IDENTIFIER", "PROFTAP_CALL", "PROFTAP_TARGET", "PROFTAP_UID",
                                      "PROFTAP_RESULT", "PROFTAP_REASON")},
          {"PRIORITY": "6", "SYSLOG_IDENTIFIER": "proftapd", "PROFTAP_CALL": "Capture",
           "PROFTAP_TARGET": f"target ({target.pid})", "PROFTAP_UID": str(os.geteuid()), "PROFTAP_RESULT": "OK",
           "PROFTAP_REASON": ""}, "fields")
    check(re.fullmatch("[0-9a-f]{32}", said["MESSAGE_ID"]), "MESSAGE_ID")
    check(int(said["PROFTAP_BYTES"]) > 0 and int(said["PROFTAP_TOOK_MS"]) >= 50, f"PROFTAP_BYTES and PROFTAP_TOOK_MS: {said}")
    daemon.signal(signal.SIGTERM)
    equal(daemon.wait(), 0, "the exit status")
    for thread in daemon.threads:
        thread.join()
    equal(daemon.err, [], "standard error")


@test
def without_its_socket_the_journal_gets_priorities(t):
    need_namespaces("-m")
    folder = t.dir / "run"
    folder.mkdir()
    daemon = start_in_journal(t, folder)
    wait_until(lambda: any(line.startswith("<6>listen: serving on") for line in daemon.err), "the daemon to serve")


if __name__ == "__main__":
    run()
