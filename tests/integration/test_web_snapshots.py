#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots by HTTP: data of sessions and flight recorders becomes runs."""
import os
import signal

from checks import contains
from fixture import check, equal, find_proftapd, run, test, wait_until
from processes import halt
from profiler import Profiler
from trace_file import Trace
from web_api import Api


def path_of(api, capture, i=0):
    return str(api.log_dir / "plugins/profile" / capture["run"] / capture["files"][i])


def take(api, target, session="", **body):
    """Takes a snapshot, which must succeed, and returns its trace."""
    capture = api.await_capture(api.capture(target=target.pid, snapshot=session, **body))
    equal([capture["state"], capture["snapshot"], capture["duration_ms"], capture["error"]], ["done", session, None, None], "the outcome")
    return Trace(path_of(api, capture))


def fail(api, code, **body):
    """Returns the message of a snapshot that fails."""
    capture = api.await_capture(api.capture(**body))
    equal([capture["state"], capture["error"]["code"], capture["run"]], ["failed", code, None], f"outcome of {body}")
    return capture["error"]["message"]


def state_of(api, target):
    return next(row["state"] for row in api.get("targets")["targets"] if row["pid"] == target.pid)


@test
def a_session_continues_after_each_snapshot(t):
    api = Api(t)
    target = api.target()
    with Profiler(target) as profiler:
        profiler.begin(session_id="nightly")
        target.ask("await 1", "burst 3")
        trace = take(api, target)
        equal(trace.count("burst"), 3, "spans of the first")
        contains(trace.planes, "/host:CPU machine", "the machine's usage")
        target.ask("burst 4")
        equal(take(api, target, "nightly", run="second").count("burst"), 4, "spans of the next")
        equal(state_of(api, target), "recording", "the session")
        contains(fail(api, "NOT_FOUND", target=target.pid, snapshot="other"), "no such session", "another name")
        target.ask("burst 5")
        equal(take(api, target, "nightly", end=True).count("burst"), 5, "spans of its end")
        wait_until(lambda: state_of(api, target) == "idle", "the session to be over")
    contains(fail(api, "NOT_FOUND", target=target.pid, snapshot=""), "neither a continuous session nor a flight recorder runs", "no session")


@test
def a_flight_recorder_can_be_read(t):
    """A recorder can be read repeatedly. When it is switched off, its data is delivered."""
    api = Api(t)
    target = api.target()
    with Profiler(target) as profiler:
        profiler.begin_recorder()
        target.ask("await 1", "burst 6")
        for session in ("", "recorder"):
            equal(take(api, target, session).count("burst"), 6, f"spans of {session!r}")
        # By then all data is older than a millisecond.
        capture = api.await_capture(api.capture(target=target.pid, snapshot="recorder", last_ms=1))
        equal([capture["state"], capture["run"], capture["error"]["code"]], ["empty", None, "OK"], "the last millisecond")
        equal(state_of(api, target), "recorder", "the recorder")
        equal(take(api, target, "recorder", end=True).count("burst"), 6, "spans of its end")
        wait_until(lambda: state_of(api, target) == "idle", "the recorder to be off")


@test
def several_programs_are_one_run(t):
    api = Api(t)
    targets = [api.target() for _ in range(2)]
    for n, target in enumerate(targets):
        with Profiler(target) as profiler:
            profiler.begin_recorder()
            target.ask("await 1", f"burst {n + 1}")
    capture = api.await_capture(api.capture(target="all", snapshot="recorder", end=True))
    equal(capture["state"], "done", f"the outcome: {capture['error']}")
    equal(sorted(Trace(path_of(api, capture, i)).count("burst") for i in range(2)), [1, 2], "spans of each")


@test
def stopping_a_snapshot_stops_no_session(t):
    """A snapshot ends by itself, and the session goes on."""
    api = Api(t)
    target = api.target()
    server = find_proftapd(target.pid)
    with Profiler(target) as profiler:
        profiler.begin(session_id="nightly")
        target.ask("await 1", "burst 3")
        halt(server)
        stopped, given_up = (api.capture(target=target.pid, snapshot="") for _ in range(2))
        api.post(f"captures/{stopped}/stop", status=200)
        api.delete(f"captures/{given_up}")
        os.kill(server, signal.SIGCONT)
        equal(api.await_capture(stopped)["state"], "done", "the state of the snapshot that was to stop")
        check(profiler.ask("Status").session, "the session has ended")
        target.ask("burst 4")
        take(api, target, "nightly", end=True)


if __name__ == "__main__":
    run()
