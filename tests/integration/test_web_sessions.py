#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions and flight recorders by HTTP: begin and end. test_web_snapshots.py reads their data."""
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor

from checks import contains
from fixture import NOBODY, check, equal, find_proftapd, need_readable_tree, need_root, run, test, wait_until
from processes import Process, halt
from stock_program import StockProgram
from trace_file import Trace
from web_api import Api


def find_row(api, target):
    return next(row for row in api.get("targets")["targets"] if row["pid"] == target.pid)


def path_of(api, target):
    return f"targets/{find_row(api, target)['id']}/session"


def await_state(api, target, state):
    wait_until(lambda: find_row(api, target)["state"] == state, f"the program to be {state}")


def take(api, target, session, **body):
    """Returns the trace of a snapshot."""
    capture = api.await_capture(api.capture(target=target.pid, snapshot=session, **body))
    equal(capture["state"], "done", f"the outcome: {capture['error']}")
    return Trace(str(api.log_dir / "plugins/profile" / capture["run"] / capture["files"][0]))


def await_lines(api, what, n):
    """Waits for |n| or more lines of the audit, which may come after the answer."""
    def find():
        found = [line for line in api.host.err if f"audit: {what} " in line]
        return found if len(found) >= n else None
    return wait_until(find, f"{n} lines of the audit about {what}")


@test
def a_session_records_until_it_is_ended(t):
    api = Api(t)
    target = api.target()
    row = find_row(api, target)
    begun = api.post(path_of(api, target), {"session": "nightly", "options": {"host_tracer_level": 1, "ptap_usage_interval_ms": 0, "ptap_sample_hz": 0}}, 200)
    equal(begun, {"id": row["id"], "pid": target.pid, "session": "nightly", "warnings": []}, "the answer")
    await_state(api, target, "recording")
    target.ask("await 1", "burst 3")
    equal(target.ask("enabled 2"), "0", "level 2")
    trace = take(api, target, "nightly", end=True)
    equal([trace.count("burst"), trace.usage], [3, {}], "spans, and usage at intervals of 0")
    await_state(api, target, "idle")
    (line,) = await_lines(api, "WebStart", 1)
    for words in (f"target ({target.pid})", "OK", "session=nightly recorder=false", '"host_tracer_level":1'):
        contains(line, words, "the audit's line")


@test
def a_session_without_a_name_gets_a_name(t):
    """A second session is refused until the first ends. The body may be missing, and unknown options are reported."""
    api = Api(t)
    target = api.target()
    name = api.post(path_of(api, target), status=200)["session"]
    check(re.fullmatch(r"\S+", name), f"its name: {name}")
    contains(api.refuses("POST", path_of(api, target), 409, "ALREADY_EXISTS", {}), "session", "a second one")
    api.delete(path_of(api, target) + f"?session={name}")
    await_state(api, target, "idle")
    begun = api.post(path_of(api, target), {"options": {"xyz": 1}}, 200)
    contains("\n".join(begun["warnings"]), "xyz", "warnings")
    api.delete(path_of(api, target))
    await_state(api, target, "idle")


@test
def a_flight_recorder_is_switched_on_and_off(t):
    api = Api(t)
    target = api.target()
    equal(api.post(path_of(api, target), {"recorder": True}, 200)["session"], "recorder", "its name")
    await_state(api, target, "recorder")
    target.ask("await 1", "burst 6")
    equal(take(api, target, "recorder").count("burst"), 6, "spans")
    api.delete(path_of(api, target) + "?session=recorder")
    await_state(api, target, "idle")
    contains(api.refuses("DELETE", path_of(api, target), 404, "NOT_FOUND"), "no such session runs", "without a session")
    first, second = await_lines(api, "WebGiveUp", 2)
    contains(first, "OK", "the first line of the audit")
    contains(second, "NOT_FOUND", "the second")


@test
def a_discarded_session_is_gone(t):
    """Only the named session is discarded."""
    api = Api(t)
    target = api.target()
    api.post(path_of(api, target), {"session": "nightly"}, 200)
    target.ask("await 1", "burst 3")
    api.refuses("DELETE", path_of(api, target) + "?session=other", 404, "NOT_FOUND")
    equal(find_row(api, target)["state"], "recording", "its state")
    api.delete(path_of(api, target) + "?session=nightly")
    api.post(path_of(api, target), {"session": "nightly"}, 200)
    target.ask("await 1", "burst 4")
    equal(take(api, target, "nightly", end=True).count("burst"), 4, "spans of the next one")
    equal(api.get("runs")["runs"][0]["run"], api.get("captures")["captures"][0]["run"], "the only run")


@test
def bad_requests_are_explained(t):
    api = Api(t)
    target = api.target()
    for body, words in (({"session": 7}, "session: must be a text"), ({"session": ""}, "session: must be a text"), ({"session": "a" * 128}, "session: must"),
                        ({"recorder": 1}, "recorder: must be true or false"), ({"recorder": True, "session": "x"}, "has no other name"),
                        ({"options": []}, "options: must be an object"), ({"options": {"duration_ms": 5}}, "options: duration_ms: not here"),
                        ({"options": {"delay_ms": 5}}, "a session begins at once"), ({"options": {"host_tracer_level": 9}}, "host_tracer_level"),
                        ({"options": {"ptap_trigger_span": "a:1ms"}}, "ptap_trigger_span"),
                        ({"recorder": True, "options": {"host_tracer_level": 0}}, "host_tracer_level"),
                        ({"tea": 1}, "tea: no such member; there are session, recorder and options"), ([], "the body must be a JSON object")):
        contains(api.refuses("POST", path_of(api, target), 400, "INVALID_ARGUMENT", body), words, f"answer to {body}")
    equal(api.send("POST", path_of(api, target), b"{", 400).json["error"]["code"], "INVALID_ARGUMENT", "a body that is not JSON")
    api.refuses("DELETE", path_of(api, target) + f"?session={'a' * 128}", 400, "INVALID_ARGUMENT")
    equal(find_row(api, target)["state"], "idle", "its state")
    for number in ("0", "x", "1000000"):
        api.refuses("POST", f"targets/{number}/session", 404, "NOT_FOUND", {})
        api.refuses("DELETE", f"targets/{number}/session", 404, "NOT_FOUND")


@test
def sessions_of_other_users_programs_are_not_found(t):
    need_root()
    need_readable_tree()
    api = Api(t, "--operators", "")
    path = f"/api/v1/{path_of(api, api.target())}"
    script = ("import json,sys,urllib.request as u,urllib.error\n"
              "base, path = sys.argv[1:]\n"
              "token = json.load(u.urlopen(base + '/api/v1/session'))['token']\n"
              "for method in ('POST', 'DELETE'):\n"
              " try: print(u.urlopen(u.Request(base + path, method=method, headers={'X-Proftap-Token': token})).status)\n"
              " except urllib.error.HTTPError as e: print(json.load(e)['error']['code'])\n")
    asking = t.keep(Process("nobody", ["/usr/bin/python3", "-c", script, f"http://127.0.0.1:{api.web.port}", path], user=NOBODY))
    equal(asking.wait(), 0, f"asking as another user: {asking.err}")
    for thread in asking.threads:
        thread.join()
    equal("".join(asking.out).split(), ["NOT_FOUND", "NOT_FOUND"], "as another user")


@test
def a_server_that_is_stopped_holds_nobody_up(t):
    """Two requests wait for five seconds, and a third is refused. Lists of runs, which use the same threads, are
    answered meanwhile."""
    api = Api(t)
    target = api.target()
    path = path_of(api, target)
    server = find_proftapd(target.pid)
    halt(server)
    try:
        api.token = api.get("session")["token"]
        with ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(api.send, "POST", path, {}) for _ in range(3)]
            equal(api.get("runs")["runs"], [], "runs, meanwhile")
            codes = sorted(one.result().json["error"]["code"] for one in asked)
        equal(codes, ["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"], "codes of the answers")
    finally:
        # If the server continued, it would begin the requested session and outlive the program with its data.
        os.kill(server, signal.SIGKILL)


@test
def a_session_of_a_stock_server_begins_and_ends(t):
    """Such a session has no name, and there is no recorder; requests for either are refused with a reason."""
    api = Api(t, "--stock_servers", "yes")
    stock = StockProgram(t, f"jax-{os.getpid()}")
    api.await_target(stock.pid)
    path = path_of(api, stock)
    equal(api.post(path, {}, 200)["session"], "", "its name")
    for more in ({}, {"end": True}):
        capture = api.await_capture(api.capture(target=stock.pid, snapshot="", **more))
        equal([capture["state"], capture["error"], capture["warnings"]], ["done", None, []], f"a snapshot, {more}")
    api.delete(path)
    equal(stock.requests, ["StartContinuousProfiling", "GetSnapshot", "GetSnapshot", "StopContinuousProfiling",
                        "StopContinuousProfiling"], "the request")
    for method, query, body, words in (
            ("POST", "", {"session": "nightly"}, "JAX's profiler server has no names for sessions; leave session out"),
            ("POST", "", {"recorder": True}, "JAX's profiler server has no flight recorder; begin a session"),
            ("DELETE", "?session=nightly", None, "has no names for sessions")):
        contains(api.refuses(method, path + query, 501, "UNIMPLEMENTED", body), words, f"{method}{query} of {body}")
    contains(api.refuses("GET", path.replace("/session", "/open_spans"), 501, "UNIMPLEMENTED"),
             "JAX's profiler server does not report open spans; record the program", "open spans")
    capture = api.await_capture(api.capture(target=stock.pid, snapshot="recorder"))
    contains(capture["error"]["message"], "have no flight recorder", "a snapshot of its recorder")


run()
