#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures by HTTP: each of their states, and the runs that they write."""
import contextlib
import errno
import os
import re
import signal
import socket
import time

import small_disk
from checks import contains
from fixture import check, equal, need_root, run, test, wait_until
from hosts import start_target
from stock_program import StockProgram
from trace_file import Trace
from web import Web
from web_api import Api

LONG_MS = 60000


def path_of(api, capture, i=0):
    return str(api.log_dir / "plugins/profile" / capture["run"] / capture["files"][i])


def begin(api, target, **body):
    """Starts a capture that records until it is stopped."""
    number = api.capture(target=target.pid, duration_ms=LONG_MS, **body)
    target.ask("await 1")
    return number


@test
def a_capture_becomes_a_run(t):
    api = Api(t)
    target = api.target()
    number = begin(api, target)
    target.ask("burst 7")
    api.await_capture(number, "recording")
    equal(api.get("captures")["captures"][0]["id"], number, "the list")
    equal(api.post(f"captures/{number}/stop", status=200)["id"], number, "the stopped capture")
    capture = api.await_capture(number)
    equal([capture["state"], capture["error"], capture["warnings"]], ["done", None, []], "the outcome")
    equal(capture["files"], [f"{socket.gethostname()}_target_{target.pid}.xplane.pb"], "files")
    trace = Trace(path_of(api, capture))
    equal(trace.count("burst"), 7, "spans")
    contains(trace.planes, "/host:CPU machine", "the machine's usage")
    (row,) = capture["targets"]
    equal([row["pid"], row["name"], row["state"], row["n_dropped"]], [target.pid, "target", "done", 0], "the program")
    check(row["n_events"] >= 7 and row["trace_bytes"] == capture["trace_bytes"] > 0, f"sizes: {row}")
    check(capture["created_unix_ms"] <= capture["started_unix_ms"] <= capture["ended_unix_ms"], f"times: {capture}")
    api.refuses("POST", f"captures/{number}/stop", 409, "FAILED_PRECONDITION")
    api.delete(f"captures/{number}")
    api.refuses("GET", f"captures/{number}", 404, "NOT_FOUND")
    equal(Trace(path_of(api, capture)).count("burst"), 7, "spans after the DELETE")


@test
def a_capture_has_the_requested_duration(t):
    api = Api(t)
    target = api.target()
    capture = api.await_capture(api.capture(target=str(target.pid), duration_ms=200, run="mine",
                                            options={"host_tracer_level": 1, "ptap_usage_interval_ms": 10}))
    equal([capture["state"], capture["run"], capture["elapsed_ms"]], ["done", "mine", 200], "the outcome")
    equal(Trace(path_of(api, capture)).duration_ms, 200, "milliseconds")
    contains(api.refuses("POST", "captures", 409, "ALREADY_EXISTS", {"target": "target", "duration_ms": 1, "run": "mine"}),
             "run mine: exists", "a second run of that name")


@test
def a_run_has_the_time_of_its_beginning_for_a_name(t):
    api = Api(t)
    target = api.target()
    number = begin(api, target)
    api.await_capture(number, "recording")
    begun_s = api.get(f"captures/{number}")["started_unix_ms"] / 1000
    wait_until(lambda: time.time() > begun_s + 3, "the time to pass")
    api.post(f"captures/{number}/stop", status=200)
    capture = api.await_capture(number)
    names = [time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(begun_s + more)) for more in (-1, 0, 1)]
    check(capture["run"] in names, f"run {capture['run']}, begun at {names[1]}")


@test
def a_full_disk_is_a_failure_of_its_programs_and_is_counted(t):
    log_dir = small_disk.mount(t)
    web = Web(t, "--log_dir", str(log_dir))
    api = Api(t, web=web)
    target = api.target()
    with contextlib.suppress(OSError):
        (log_dir / "fill").write_bytes(b"x" * (256 << 10))
    capture = api.await_capture(api.capture(target=target.pid, duration_ms=50))
    (row,) = capture["targets"]
    equal([capture["state"], capture["error"]["code"], row["state"]], ["failed", "UNAVAILABLE", "failed"], "the outcome")
    contains(row["error"], os.strerror(errno.ENOSPC).lower(), "why the program failed")
    equal(row["error"], capture["error"]["message"], "the error of the program and of the capture")
    wait_until(lambda: 'proftap_captures_total{call="web",result="failed"} 1\n' in web.ask("/metrics").text,
               "the failure to be counted")
    metrics = web.ask("/metrics").text
    contains(metrics, 'proftap_captures_total{call="web",result="ok"} 0\n', "recordings that went well")
    contains(metrics, "proftap_trace_bytes_total 0\n", "bytes of traces")
    # The daemon can still serve gRPC clients, which get their traces without its log directory.
    equal(web.ask("/readyz").status, 200, "readiness")


@test
def several_programs_make_one_run(t):
    api = Api(t)
    targets = [api.target() for _ in range(3)]
    number = api.capture(target="all", duration_ms=LONG_MS)
    api.await_capture(number, "recording")
    for target in targets:
        target.ask("burst 5")
    api.post(f"captures/{number}/stop", status=200)
    capture = api.await_capture(number)
    equal(capture["state"], "done", f"the outcome of {capture}")
    equal(sorted(row["pid"] for row in capture["targets"]), sorted(target.pid for target in targets), "programs")
    traces = [Trace(path_of(api, capture, i)) for i in range(3)]
    equal([trace.count("burst") for trace in traces], [5, 5, 5], "spans")
    number = api.capture(target=[targets[0].pid, f"pid={targets[1].pid}", targets[0].pid], duration_ms=50)
    equal(sorted(row["pid"] for row in api.await_capture(number)["targets"]),
          sorted(target.pid for target in targets[:2]), "programs of a list, each once")


@test
def an_ambiguous_name_is_refused_with_the_programs(t):
    api = Api(t)
    targets = sorted((api.target() for _ in range(2)), key=lambda target: target.pid)
    (path,) = {row["path"] for row in api.get("targets")["targets"]}
    for word in ("target", path):
        for asked in (word, [word], [targets[0].pid, word]):
            message = api.refuses("POST", "captures", 400, "INVALID_ARGUMENT", {"target": asked, "duration_ms": 50})
            contains(message, f"target: {word}: 2 programs are meant: target ({targets[0].pid}), target ({targets[1].pid})",
                     f"refusal of {asked}")
            contains(message, "name=NAME", "the remedy")
    equal(api.get("captures")["captures"], [], "captures")
    for asked in ("name=target", [target.pid for target in targets]):
        capture = api.await_capture(api.capture(target=asked, duration_ms=50))
        equal(sorted(row["pid"] for row in capture["targets"]), [target.pid for target in targets], f"programs of {asked}")


@test
def a_path_selects_one_program(t):
    api = Api(t)
    target = api.target()
    (row,) = api.get("targets")["targets"]
    capture = api.await_capture(api.capture(target=row["path"], duration_ms=50))
    equal([one["pid"] for one in capture["targets"]], [target.pid], "programs")
    contains(api.refuses("POST", "captures", 404, "NOT_FOUND", {"target": "/bin/none", "duration_ms": 50}),
             "/bin/none: no program of this file", "a path that no program has")


@test
def the_next_program_is_recorded_from_its_first_annotation(t):
    api = Api(t)
    old = api.target()
    number = api.capture(next="targ*", duration_ms=300)
    equal(api.get(f"captures/{number}")["state"], "waiting", "its state")
    target = start_target(t)
    api.await_capture(number, "recording")
    # The program emits nothing for longer than the duration of the capture.
    quiet_until = time.monotonic() + 0.6
    wait_until(lambda: time.monotonic() > quiet_until, "the time to pass")
    equal(api.get(f"captures/{number}")["started_unix_ms"], None, "the start time before an annotation")
    target.ask("burst 3")
    capture = api.await_capture(number)
    equal([capture["state"], [row["pid"] for row in capture["targets"]]], ["done", [target.pid]],
          f"programs, not {old.pid}")
    equal(Trace(path_of(api, capture)).count("burst"), 3, "spans")
    check(capture["started_unix_ms"] + 300 <= capture["ended_unix_ms"], f"times: {capture}")


@test
def a_path_selects_the_next_program(t):
    """A pattern with a '/' is compared with the path; a program with the right name and another path is skipped."""
    api = Api(t)
    api.target()
    (row,) = api.get("targets")["targets"]
    folder, _, name = row["path"].rpartition("/")
    elsewhere = api.capture(next=f"{folder}/*/{name}", duration_ms=50)
    number = api.capture(next=f"{folder[:-3]}*/{name}", duration_ms=50)
    target = start_target(t)
    api.await_capture(number, "recording")
    target.ask("burst 3")
    equal([one["pid"] for one in api.await_capture(number)["targets"]], [target.pid], "programs")
    equal(api.get(f"captures/{elsewhere}")["state"], "waiting", "the state of one that waits for another path")


@test
def waiting_for_a_program_ends(t):
    api = Api(t)
    numbers = [api.capture(next="*/nobody", duration_ms=50), api.capture(next="nobody", duration_ms=50),
               api.capture(next="nobody", duration_ms=50, wait_ms=1000)]
    api.post(f"captures/{numbers[0]}/stop", status=200)
    equal(api.await_capture(numbers[0])["state"], "cancelled", "a waiting capture that was stopped")
    api.delete(f"captures/{numbers[1]}")
    failed = api.await_capture(numbers[2])
    equal([failed["state"], failed["error"]["code"]], ["failed", "DEADLINE_EXCEEDED"], "a capture that waited in vain")
    equal([row["id"] for row in api.get("captures")["captures"]], [numbers[2], numbers[0]], "the remaining captures")


@test
def a_busy_program_is_reported_as_by_grpc(t):
    api = Api(t)
    target = api.target()
    number = begin(api, target)
    second = api.await_capture(api.capture(target=target.pid, duration_ms=50))
    equal([second["state"], second["error"]["code"], second["run"]], ["failed", "ALREADY_EXISTS", None], "the second")
    refused = t.capture(f"127.0.0.1:{api.host.port}", 50, "--target", target.pid, code=4)
    for text, who in ((second["error"]["message"], "HTTP"), (refused.stderr, "gRPC")):
        contains(text, "another profiling session is active", f"the message by {who}")
    api.delete(f"captures/{number}")
    wait_until(lambda: api.get("targets")["targets"][0]["state"] == "idle", "the program to be free")
    equal(list((api.log_dir / "plugins/profile").glob("*")) if api.log_dir.exists() else [], [], "runs")


@test
def data_of_a_program_that_dies_is_kept(t):
    api = Api(t)
    targets = [api.target() for _ in range(2)]
    number = api.capture(target="all", duration_ms=LONG_MS)
    api.await_capture(number, "recording")
    for target in targets:
        target.ask("burst 4")
    targets[0].signal(signal.SIGKILL)
    targets[0].wait()
    wait_until(lambda: len(api.get("targets")["targets"]) == 1, "program to be gone")
    api.post(f"captures/{number}/stop", status=200)
    capture = api.await_capture(number)
    equal([capture["state"], len(capture["files"])], ["done", 2], f"the outcome of {capture}")


@test
def requests_are_checked(t):
    api = Api(t)
    target = api.target()
    fine = {"target": target.pid, "duration_ms": 50}
    for body, what in ((b"", "no JSON"), (b"[]", "must be a JSON object"), (b'{"target":1,"target":2}', "duplicate"),
                       ({}, "duration_ms: is missing"), ({"duration_ms": 50}, "target: say either"),
                       ({**fine, "next": "x"}, "target: say either"), ({**fine, "tea": 1}, "tea: no such member"),
                       ({**fine, "duration_ms": 0}, "duration_ms: must be a whole number of 1 to 86400000 ms"),
                       ({**fine, "duration_ms": "50"}, "duration_ms: must be"), ({**fine, "duration_ms": 1.5}, "must be"),
                       ({**fine, "wait_ms": 5000}, "wait_ms: only allowed with next"), ({**fine, "run": "../x"}, "run \"../x\""),
                       ({**fine, "target": []}, "target: must be"), ({**fine, "target": {}}, "target: must be"),
                       ({**fine, "options": {"host_tracer_level": 4}}, "host_tracer_level: bad value \"4\""),
                       ({**fine, "options": {"ptap_tea": 1}}, "the nearest known"), ({**fine, "options": 1}, "options: must"),
                       ({**fine, "options": {"ptap_trigger_step": "2"}}, "ptap_trigger_step"),
                       ({**fine, "options": {"host_tracer_level": [1]}}, "host_tracer_level: must be a whole number"),
                       ({"next": "x", "duration_ms": 50, "options": {"delay_ms": 5}}, "not allowed with next")):
        contains(api.refuses("POST", "captures", 400, "INVALID_ARGUMENT", body), what, f"refusal of {body}")
    api.refuses("POST", "captures", 413, "RESOURCE_EXHAUSTED", b" " * 70000)
    contains(api.refuses("POST", "captures", 404, "NOT_FOUND", {**fine, "target": "tea"}), "tea: no such program here", "")
    equal(api.get("captures"), {"captures": []}, "captures")
    warned = api.await_capture(api.capture(**fine, options={"tpu_trace_mode": "TRACE_COMPUTE", "colour": 1}))
    equal([warned["state"], len(warned["warnings"])], ["done", 2], "options that are ignored")


@test
def the_number_of_captures_is_limited(t):
    api = Api(t)
    numbers = [api.capture(next="nobody", duration_ms=50) for _ in range(16)]
    need_root()
    contains(api.refuses("POST", "captures", 429, "RESOURCE_EXHAUSTED", {"next": "nobody", "duration_ms": 50}),
             "16 captures at a time", "the 17th")
    api.delete(f"captures/{numbers[0]}")
    api.capture(next="nobody", duration_ms=50)


@test
def a_daemon_that_ends_writes_running_captures(t):
    """At stop_limit_s or at a second signal it ends captures that still record. Captures that wait for a program do not
    delay its end."""
    api = Api(t)
    target = api.target()
    begin(api, target)
    waiting = api.capture(next="nobody", duration_ms=1, wait_ms=LONG_MS)
    target.ask("burst 6")
    api.host.signal(signal.SIGTERM)
    wait_until(lambda: api.get(f"captures/{waiting}")["state"] == "cancelled", "the waiting capture to be cancelled")
    message = api.refuses("POST", "captures", 503, "UNAVAILABLE", {"target": "target", "duration_ms": 1})
    contains(message, "is ending", "the refusal of another")
    target.ask("burst 1")
    equal(api.host.end(), 0, "exit status")
    (file,) = (api.log_dir / "plugins/profile").glob("*/*.xplane.pb")
    equal(Trace(str(file)).count("burst"), 7, "spans")


def start_stock(t, api):
    stock = StockProgram(t, f"jax-{os.getpid()}")
    api.await_target(stock.pid)
    return stock, f"jax-{os.getpid()}"


@test
def programs_with_stock_servers_are_recorded(t):
    api = Api(t, "--stock_servers", "yes")
    stock, name = start_stock(t, api)
    for how in ({"target": name}, {"target": f"{stock.pid}"}):
        capture = api.await_capture(api.capture(duration_ms=20, **how))
        equal([capture["state"], capture["error"], capture["warnings"]], ["done", None, []], f"the outcome of {how}")
        check(capture["targets"][0]["n_events"] == 3, f"events: {capture['targets']}")
    contains(Trace(path_of(api, capture)).planes, "/host:CPU machine", "the machine's usage")
    equal(stock.requests, ["Profile", "Profile"], "the request")
    metrics = api.web.ask("/metrics").text
    for line in ('captures_total{call="web",result="ok"} 2', 'captures_total{call="web",result="failed"} 0',
                 'targets{state="unknown"} 1'):
        contains(metrics, f"\nproftap_{line}\n", "the metrics")
    contains(re.findall(r"^proftap_target_events_total{.*} (\d+)$", metrics, re.M), "6", "target events")


@test
def the_next_program_may_have_a_stock_server(t):
    api = Api(t, "--stock_servers", "yes")
    number = api.capture(next=f"jax-{os.getpid()}", duration_ms=20)
    api.await_capture(number, "waiting")
    stock = StockProgram(t, f"jax-{os.getpid()}")
    capture = api.await_capture(number)
    equal([capture["state"], capture["error"], capture["targets"][0]["pid"]], ["done", None, stock.pid], "the outcome")


@test
def a_stock_server_is_asked_to_end_early(t):
    api = Api(t, "--stock_servers", "yes")
    stock, name = start_stock(t, api)
    stock.wait_when_recorded()
    number = api.capture(target=name, duration_ms=LONG_MS)
    api.await_capture(number, "recording")
    # Without a connection the daemon would call Profile and Terminate at once, and either may arrive first.
    wait_until(lambda: "Profile" in stock.calls, "the request to record")
    api.post(f"captures/{number}/stop", status=200)
    equal(api.await_capture(number)["state"], "done", "the outcome")
    equal(stock.requests, ["Profile", "Terminate"], "the request")


run()
