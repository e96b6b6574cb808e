#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the operator's directory: clients may have only a run's files written, listed and read there."""
import os

from calls import ANALYSIS, PROFILER, Calls, profile_request, trace_of
from fixture import (SANITIZERS, check, contains, equal, find_proftapd, read_fds, run, schema, test,
                     wait_until)
from http2 import FAILED_PRECONDITION, INTERNAL, INVALID_ARGUMENT, NOT_FOUND, OK
from memory_watch import MemoryWatch
from trace_file import Trace

LARGE_BYTES = 256 << 20
MAX_GROWTH_KIB = 64 << 10
PROFILE = PROFILER + "Profile"


def serve(t, log_dir=None):
    return t.target().serve(0, 0, 0, "127.0.0.1", 0, 0, *([log_dir] if log_dir else []))


def request(root, session_id="run", **fields):
    """A request like XProf's client's: the server writes the trace."""
    return profile_request(50, repository_root=str(root), session_id=session_id, emit_xspace=False,
                           host_name="127.0.0.1:9012", **fields)


def profile(calls, *how, **more):
    answer = calls.call(PROFILE, request(*how, **more))
    return answer


def files_below(directory):
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir())


def analysis(name, **fields):
    return getattr(schema("profiler_analysis"), name)(**fields)


def check_sent(answer, what):
    """Checks that the data came with the answer, as it does without a directory in the request."""
    equal((answer.status, answer.text), (OK, ""), what)
    equal([tool.name for tool in answer.message.tool_data], ["xplane.pb"], f"{what}: tools")


@test
def nothing_is_written_where_the_operator_named_no_directory(t):
    with Calls(serve(t)) as calls:
        check_sent(profile(calls, t.dir / "logs/plugins/profile"), "the answer")
    equal(files_below(t.dir), [], "files")


@test
def the_named_directory_is_written_as_the_stock_server_does(t):
    logs = t.dir / "logs"
    with Calls(serve(t, logs)) as calls:
        for root, found in ((logs / "plugins/profile", "plugins/profile/run/127.0.0.1_9012.xplane.pb"),
                            (logs / "deep/er/plugins/profile",
                             "deep/er/plugins/profile/run/127.0.0.1_9012.xplane.pb")):
            answer = profile(calls, root)
            equal((answer.status, answer.text), (OK, ""), "the answer")
            equal((len(answer.message.tool_data), answer.message.empty_trace), (0, False),
                  "the answer's data, and whether the trace is empty")
            check("process cpu %" in Trace(logs / found).usage, f"{found} has no samples")
        again = profile(calls, logs / "plugins/profile")
        equal(again.status, INTERNAL, "status for a file that is there")
        contains(again.text, "has a file of host 127.0.0.1:9012 already", "the error's text")
        named = request(logs / "plugins/profile", "other")
        named.opts.override_hostname = "../x/y"
        equal(calls.call(PROFILE, named).status, OK, "status with a host name of many parts")
    equal(len(files_below(logs)), 3, f"files: {files_below(logs)}")
    check((logs / "plugins/profile/other/_._x_y.xplane.pb").exists(), f"files: {files_below(logs)}")


@test
def clients_cannot_write_outside_the_log_directory(t):
    logs, outside = t.dir / "logs", t.dir / "outside"
    outside.mkdir()
    logs.mkdir()
    (logs / "link").symlink_to(outside)
    (logs / "runs").mkdir()
    (logs / "runs" / "link").symlink_to(outside)
    with Calls(serve(t, logs)) as calls:
        for root in (outside, f"{logs}/../outside", f"{logs}x", f"{logs}/a/../../outside", "outside",
                     "/", "../outside"):
            check_sent(profile(calls, root), f"the answer for {root}")
        for root, session_id in ((logs / "link", "run"), (logs / "runs", "link"), (logs, "../outside"),
                                 (logs, ".."), (logs, "a/b"), (logs, "/")):
            answer = profile(calls, root, session_id)
            equal(answer.status, INTERNAL, f"status for {root}, {session_id}")
    equal((files_below(outside), files_below(logs)), ([], []), "files")
    equal(sorted(p.name for p in t.dir.iterdir()), ["logs", "outside"], "directories")


@test
def a_snapshot_with_a_name_is_a_file_where_its_session_began(t):
    logs = t.dir / "logs"
    service = schema("profiler_service")
    target = serve(t, logs)

    def snapshot(name):
        return calls.call(PROFILER + "GetSnapshot", service.GetSnapshotRequest(snapshot_session_id=name))
    with Calls(target) as calls:
        for root, is_file in ((logs / "plugins/profile", True), (t.dir / "outside", False)):
            calls.expect(PROFILER + "StartContinuousProfiling", request(root), "ContinuousProfilingResponse")
            target.ask("await 2", "burst 3")
            answer = snapshot("shot-1")
            equal((answer.status, len(answer.message.xspace.planes) > 0), (OK, not is_file), f"answer for {root}")
            if is_file:
                path = logs / "plugins/profile/shot-1/127.0.0.1_9012.xplane.pb"
                equal(Trace(path).count("burst"), 3, "spans of the file")
                target.ask("burst 4")
                again = snapshot("shot-1")
                equal(again.status, INTERNAL, "status for a file that is there")
                contains(again.text, "has a file of host 127.0.0.1:9012 already", "the error's text")
                # The refused snapshot has taken no data.
                equal(trace_of(snapshot("").message).count("burst"), 4, "spans of a snapshot without a name")
            calls.expect(PROFILER + "StopContinuousProfiling", service.StopContinuousProfilingRequest(),
                         "StopContinuousProfilingResponse")
    equal(files_below(t.dir), ["logs/plugins/profile/shot-1/127.0.0.1_9012.xplane.pb"], "files")


@test
def runs_are_listed_and_read(t):
    logs = t.dir / "logs"
    target = serve(t, logs)
    with Calls(target) as calls:
        listing = analysis("EnumProfileSessionsAndToolsRequest")
        reply = ("EnumProfileSessionsAndToolsResponse", "profiler_analysis")
        equal(len(calls.expect(ANALYSIS + "EnumSessions", listing, *reply).sessions), 0, "sessions")
        for session_id in ("b", "a"):
            profile(calls, logs / "plugins/profile", session_id)
        (logs / "plugins/profile/empty").mkdir()
        (logs / "plugins/profile/link").symlink_to("/etc")
        (logs / "plugins/profile/a/127.0.0.1_9012.trace.json.gz").write_bytes(b"json")
        (logs / "plugins/profile/a/secret.xplane.pb").symlink_to("/etc/passwd")
        sessions = calls.expect(ANALYSIS + "EnumSessions", listing, *reply).sessions
        equal([(s.session_id, list(s.available_tools)) for s in sessions],
              [("a", ["xplane.pb", "trace.json.gz"]), ("b", ["xplane.pb"])], "sessions")

        def ask(**fields):
            return calls.call(ANALYSIS + "GetSessionToolData",
                              analysis("ProfileSessionDataRequest",
                                       **{"session_id": "a", "tool_name": "xplane.pb",
                                          "host_name": "127.0.0.1:9012", **fields}),
                              "ProfileSessionDataResponse", "profiler_analysis")
        path = logs / "plugins/profile/a/127.0.0.1_9012.xplane.pb"
        equal(ask().message.output, path.read_bytes(), "the data")
        equal(ask(tool_name="trace.json.gz").message.output, b"json", "the data of another tool")
        for fields in ({"tool_name": "passwd"}, {"session_id": "empty"}, {"session_id": "nobody"},
                       {"host_name": "nobody"}, {"tool_name": "/../../x"}):
            equal(ask(**fields).status, NOT_FOUND, f"status for {fields}")
        for fields in ({"session_id": ".."}, {"session_id": "a/../b"}):
            equal(ask(**fields).status, INVALID_ARGUMENT, f"status for {fields}")
        for fields in ({"host_name": "secret"}, {"session_id": "link", "host_name": "passwd"},
                       {"repository_root": "/etc"}, {"repository_root": f"{logs}/.."}):
            check(ask(**fields).status != OK, f"data for {fields}")


@test
def a_large_file_needs_no_memory(t):
    """Clients may read slowly, so the server must not hold the file."""
    run_dir = t.dir / "logs/plugins/profile/run"
    run_dir.mkdir(parents=True)
    with open(run_dir / "large.xplane.pb", "wb") as file:
        file.truncate(LARGE_BYTES)
    target = serve(t, t.dir / "logs")
    with Calls(target) as calls:
        profile(calls, run_dir.parent, "warm")
    server = find_proftapd(target.pid)
    fds = read_fds(server)
    watch = MemoryWatch(server)
    before_kib = watch.anonymous_kib
    with Calls(target, window=1000) as calls:
        stream = calls.start(ANALYSIS + "GetSessionToolData",
                             analysis("ProfileSessionDataRequest", session_id="run", tool_name="xplane.pb",
                                      host_name="large"))
        answer = calls.connection.streams[stream]
        calls.connection.wait(lambda: answer.data, "the answer's beginning", 30)
        contains(answer.data, b"application/octet-stream", "its head")
    grown_kib = watch.end().anonymous_kib - before_kib
    if SANITIZERS == "no":
        check(grown_kib < MAX_GROWTH_KIB, f"the server grew by {grown_kib} KiB")
    wait_until(lambda: len(read_fds(server)) <= len(fds), "the server to have as few descriptors as before")


@test
def without_a_directory_analysis_says_so(t):
    with Calls(serve(t)) as calls:
        for name, request_name in (("EnumSessions", "EnumProfileSessionsAndToolsRequest"),
                                   ("GetSessionToolData", "ProfileSessionDataRequest"),
                                   ("NewSession", "NewProfileSessionRequest")):
            answer = calls.call(ANALYSIS + name, analysis(request_name, session_id="x") if name !=
                                "EnumSessions" else analysis(request_name))
            equal(answer.status, FAILED_PRECONDITION, f"status of {name}")
            contains(answer.text, "this server has no log directory: start it with .log_dir", "text")


@test
def a_relative_directory_is_the_programs(t):
    target = t.target()
    os.makedirs(t.dir / "here")
    target.ask(f"chdir {t.dir}/here")
    target.serve(0, 0, 0, "127.0.0.1", 0, 0, "logs")
    target.ask("chdir /")
    with Calls(target) as calls:
        profile(calls, f"{t.dir}/here/logs/plugins/profile")
    equal(len(files_below(t.dir / "here" / "logs")), 1, "files")


run()
