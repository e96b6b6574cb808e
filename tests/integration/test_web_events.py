#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stream of events: its content, its audience, and its resumption after a lost connection."""
import os
import signal

from checks import contains
from fixture import NOBODY, check, equal, need_readable_tree, need_root, run, test, wait_until
from hosts import start_target
from processes import Process
from web_api import SCHEMA, Api, complaints

LONG_MS = 60000


def holds(data, name):
    equal(complaints(data, SCHEMA["components"]["schemas"][name], name), [], f"an event's {name}")


def numbers(events):
    return [int(number.split(".")[1]) for _, number, _ in list(events.events)]


@test
def usage_comes_each_second(t):
    api = Api(t)
    target = api.target()
    events = api.events(f"?topics=usage&groups=cpu,memory&pid={target.pid}")
    wait_until(lambda: len(events.of("usage")) >= 3, "three samples")
    first, second, third = events.of("usage")[:3]
    equal([second["n"] - first["n"], third["n"] - second["n"]], [1, 1], "their numbers")
    check(900 < second["at_unix_ms"] - first["at_unix_ms"] < 10000, f"times: {first} {second}")
    for column in first["columns"]:
        holds(column, "Column")
    described = {column["key"] for event in events.of("usage") for column in event["columns"]}
    equal(second["columns"], [], "columns that the first event described")
    equal({key.split("/")[0] for key in described}, {"cpu", "memory", "process"}, "groups")
    equal(set(third["values"]), described, "values")
    kept = api.get("usage?groups=cpu,memory")
    at = third["n"] - kept["first"]
    told = {column["key"]: values[at] for column, values in zip(kept["columns"], kept["values"])}
    equal({key: third["values"][key] for key in told}, told, "the values that are kept")
    equal({event[0] for event in events.events}, {"hello", "usage"}, "other topics")


@test
def programs_come_change_and_go(t):
    api = Api(t)
    events = api.events("?topics=targets")
    events.wait("hello")
    target = start_target(t)
    row = events.wait("target")
    holds(row, "Target")
    equal([row["pid"], row["state"]], [target.pid, "idle"], "the new programs")
    target.signal(signal.SIGSTOP)
    events.wait("target", lambda data: data["stopped"] and data["state"] == "idle")
    equal([one["stopped"] for one in api.get("targets")["targets"]], [True], "the list")
    target.signal(signal.SIGCONT)
    events.wait("target", lambda data: not data["stopped"] and len(events.of("target")) > 2)
    capture = t.start_capture(f"127.0.0.1:{api.host.port}", LONG_MS)
    events.wait("target", lambda data: data["state"] == "recording")
    capture.signal(signal.SIGINT)
    capture.finish()
    target.signal(signal.SIGKILL)
    equal(events.wait("target_gone"), {"id": row["id"], "pid": target.pid, "name": "target"}, "the programs that have left")


@test
def captures_and_runs_are_reported(t):
    api = Api(t)
    target = api.target()
    events = api.events("?topics=captures,runs")
    events.wait("hello")
    number = api.capture(target=target.pid, duration_ms=LONG_MS, run="told")
    target.ask("await 1", "burst 7")
    events.wait("capture", lambda data: data["recorded_bytes"] > 0)
    api.post(f"captures/{number}/stop", status=200)
    done = events.wait("capture", lambda data: data["is_over"])
    equal(done, api.get(f"captures/{number}"), "the last one")
    for data in events.of("capture"):
        holds(data, "Capture")
    order = ["starting", "recording", "collecting", "writing", "done"]
    states = [data["state"] for data in events.of("capture")]
    equal(states, sorted(states, key=order.index), "the order of its states")
    run_ = events.wait("run", lambda data: data["n_spans"] is not None)
    holds(run_, "Run")
    equal([run_["run"], run_["n_spans"]], ["told", 7], "the run, when it was read")
    api.delete(f"captures/{number}")
    equal(events.wait("capture_gone"), {"id": number}, "the capture that was deleted")


@test
def a_client_that_reconnects_misses_nothing(t):
    api = Api(t)
    events = api.events("?topics=captures")
    events.wait("hello")
    numbers_made = [api.capture(next="nobody", duration_ms=50)]
    events.wait("capture")
    last = events.events[-1][1]
    events.close()
    for _ in range(3):
        numbers_made.append(api.capture(next="nobody", duration_ms=50))
    for again in (api.events("?topics=captures", Last_Event_ID=last), api.events(f"?topics=captures&after={last}")):
        wait_until(lambda: len(again.of("capture")) >= 3, "the missed events")
        equal([data["id"] for data in again.of("capture")], numbers_made[1:], "the missed events")
        equal(numbers(again)[1:], sorted(set(numbers(again)[1:])), "numbers of events")
        equal(again.of("reset"), [], "a reset")
        again.close()


@test
def a_client_that_missed_too_much_is_reset(t):
    api = Api(t)
    started = api.get("session")["started_unix_ms"]
    for after in (f"{started - 1}.1", "tea", f"{started}.999999"):
        events = api.events(f"?after={after}")
        events.wait("reset")
        equal([event[0] for event in events.events[:2]], ["hello", "reset"], f"first events after {after}")
        number = api.capture(next="nobody", duration_ms=50)
        events.wait("capture", lambda data, number=number: data["id"] == number)
        events.close()
        api.delete(f"captures/{number}")


@test
def events_of_other_users_are_hidden(t):
    need_root()
    need_readable_tree()
    api = Api(t, "--operators", "")
    script = ("import sys,urllib.request as u\n"
              "for line in u.urlopen(sys.argv[1]):\n"
              " print(line.decode().strip(), flush=True)\n")
    theirs = t.keep(Process("nobody", ["/usr/bin/python3", "-c", script,
                                       f"http://127.0.0.1:{api.web.port}/api/v1/events?groups=cpu,process"], user=NOBODY))
    wait_until(lambda: any("hello" in line for line in theirs.out), "a stream of another user's")
    mine = api.events()
    target = start_target(t)
    number = api.capture(next="nobody", duration_ms=50)
    mine.wait("target", lambda data: data["pid"] == target.pid)
    mine.wait("capture", lambda data: data["id"] == number)
    seen = mine.wait("usage", lambda data: data["n"] >= 2)["n"]
    wait_until(lambda: any(f'"n":{seen},' in line for line in theirs.out), "the same sample there")
    text = "".join(theirs.out)
    for word in ("event: target", "event: capture", "process/", "target"):
        check(word not in text, f"{word} in {text}")


@test
def the_number_of_streams_is_limited(t):
    need_root()
    api = Api(t)
    streams = [api.events("?topics=runs") for _ in range(64)]
    for stream in streams:
        stream.wait("hello")
    one_more = api.events("?topics=runs")
    wait_until(lambda: one_more.events or not one_more.is_alive() or b"\r\n" in one_more.head, "an answer")
    contains(one_more.head.decode(), "429", "the answer to the 65th")
    contains(api.refuses("GET", "events", 429, "RESOURCE_EXHAUSTED"), "64 streams of events at a time", "the 65th")
    streams[0].close()
    wait_until(lambda: api.web.ask("/api/v1/session").status == 200, "an answer")
    def is_let_in():
        stream = api.events("?topics=runs")
        wait_until(lambda: stream.events or not stream.is_alive(), "an answer")
        return bool(stream.events)
    wait_until(is_let_in, "a place")


@test
def a_daemon_that_ends_ends_its_streams(t):
    api = Api(t)
    events = api.events()
    started = events.wait("hello")["started_unix_ms"]
    equal(started, api.get("session")["started_unix_ms"], "the daemon's identity")
    equal(api.host.end(), 0, "exit status")
    events.join(20)
    check(not events.is_alive(), "the stream goes on")


if __name__ == "__main__":
    run()
