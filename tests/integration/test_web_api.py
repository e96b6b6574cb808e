#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON API: the caller, programs, usage, options, and refusals. Every answer is checked against docs/openapi.json."""
import json
import os
import re
import socket
import time
from pathlib import Path

from checks import contains
from fixture import NOBODY, check, equal, need_readable_tree, need_root, run, test, wait_until
from hosts import start_target
from manager import Manager
from processes import PROFTAP, Process, find_proftapds, halt
from web import Web
from web_api import SCHEMA, Api, complaints, resolve

# This user is neither root nor NOBODY.
SOMEBODY = 65533


@test
def the_openapi_document_is_consistent(t):
    equal(SCHEMA["openapi"], "3.1.0", "version of OpenAPI")
    references = re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(SCHEMA))
    check(len(references) > 50, f"{len(references)} references")
    for reference in references:
        resolve({"$ref": f"#/{reference}"})
    names = [operation["operationId"] for operations in SCHEMA["paths"].values() for operation in operations.values()]
    equal(sorted(names), sorted(set(names)), "names of operations")
    for path, operations in SCHEMA["paths"].items():
        for operation in operations.values():
            said = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
            equal(said, set(re.findall(r"\{(\w+)\}", path)), f"parameters of {path}")


@test
def the_check_of_answers_finds_errors(t):
    session = Api(t).get("session")
    schema = SCHEMA["components"]["schemas"]["Session"]
    equal(complaints(session, schema, ""), [], "as it is")
    for wrong in ({**session, "uid": "0"}, {**session, "uid": -1}, {**session, "more": 1}, {**session, "may_all": 1},
                  {k: v for k, v in session.items() if k != "token"}, {**session, "limits": {}}):
        check(complaints(wrong, schema, ""), f"nothing is wrong with {wrong}")


@test
def the_session_names_the_caller(t):
    api = Api(t)
    session = api.get("session")
    equal(session["uid"], os.geteuid(), "uid")
    equal(session["may_all"], os.geteuid() == 0, "may_all")
    equal(session["log_dir"], str(api.log_dir), "log_dir")
    equal(session["hostname"], socket.gethostname(), "hostname")
    check(abs(session["now_unix_ms"] - time.time() * 1000) < 60000, f"the clock: {session}")


@test
def targets_equal_those_listed_by_grpc(t):
    api = Api(t)
    equal(api.get("targets"), {"targets": []}, "without any")
    target = api.target()
    (row,) = api.get("targets")["targets"]
    listed = api.host.list()[target.pid]
    for key in ("pid", "name", "uid", "user", "address", "port", "state"):
        equal(row[key], listed[key], key)
    equal(row["path"], os.readlink(f"/proc/{target.pid}/exe"), "path")
    equal(row["pid_inside"], target.pid, "pid_inside")
    equal(row["labels"], {"pid": str(target.pid), "name": listed["name"], "uid": str(listed["uid"])}, "labels")


def read_pss(pid):
    """Returns the kernel's value."""
    return 1024 * int(re.search(r"^Pss: +(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1])


def check_memory(api, row):
    """Compares the reported memory of a target with the kernel's values before and after."""
    before = read_pss(row["pid"])
    memory = api.get(f"targets/{row['id']}/memory")
    after = read_pss(row["pid"])
    equal([memory["id"], memory["pid"]], [row["id"], row["pid"]], "its owner")
    # Other processes with the same libraries change the share.
    check(0.5 * min(before, after) <= memory["pss_bytes"] <= 2 * max(before, after), f"{before}, {memory}, {after}")
    check(abs(memory["at_unix_ms"] - time.time() * 1000) < 60000, f"when: {memory}")


@test
def the_share_of_memory_is_reported_on_request(t):
    api = Api(t)
    target = api.target()
    (row,) = api.get("targets")["targets"]
    check_memory(api, row)
    for wrong in (row["id"] + 1, 0, "x", target.pid + 10**9):
        contains(api.refuses("GET", f"targets/{wrong}/memory", 404, "NOT_FOUND"), "no such program here", f"of {wrong}")


@test
def the_spans_that_are_open_are_reported(t):
    api = Api(t)
    target = api.target()
    (row,) = api.get("targets")["targets"]
    path = f"targets/{row['id']}"
    (process,) = api.get(f"{path}/open_spans")["processes"]
    equal([process["pid"], process["recording"]], [target.pid, None], "of one that nobody records")
    api.post(f"{path}/session", {"recorder": True}, 200)
    tid = int(target.ask("hang stuck"))
    (process,) = api.get(f"{path}/open_spans")["processes"]
    (thread,) = [thread for thread in process["threads"] if thread["tid"] == tid]
    equal([span["name"] for span in thread["spans"]], ["serve", "lock"], "the open spans")
    equal(thread["spans"][1]["arguments"][0], {"name": "n", "value": 64}, "an argument")
    api.delete(f"{path}/session?session=recorder")
    contains(api.refuses("GET", f"targets/{row['id'] + 1}/open_spans", 404, "NOT_FOUND"), "no such program here", "of nobody")


@test
def a_daemon_without_rights_asks_the_programs_server(t):
    """A service has its own user, to whom the kernel does not show the memory of others."""
    need_root()
    need_readable_tree()
    manager = Manager(t)
    target = start_target(t, user=SOMEBODY)
    manager.start(user=NOBODY)
    api = Api(t, web=Web.at(manager.web_port))
    api.await_target(target.pid)
    (row,) = api.get("targets")["targets"]
    equal(row["uid"], SOMEBODY, "its owner")
    check_memory(api, row)
    # The kernel does not show it to the server of an undumpable program either.
    target.ask("sandbox undumpable")
    contains(api.refuses("GET", f"targets/{row['id']}/memory", 409, "FAILED_PRECONDITION"), "not dumpable", "of one that hides")
    # Other messages from its server arrive nevertheless.
    equal(api.get("targets")["targets"][0]["state"], "idle", "its state")
    for pid in find_proftapds(target.pid):
        halt(pid)
    contains(api.refuses("GET", f"targets/{row['id']}/memory", 503, "UNAVAILABLE"), "its server does not answer", "of a stopped server")


@test
def programs_of_other_users_are_hidden(t):
    need_root()
    need_readable_tree()
    api = Api(t, "--operators", "")
    target = api.target()
    of_it = f"usage?groups=cpu&pid={target.pid}"
    wait_until(lambda: any(column["pid"] for column in api.get(of_it)["columns"]), "a sample of the program")
    seen = ask_as_nobody(t, api, "targets", "session", "usage?groups=cpu,process", "captures", "runs")
    equal(seen["targets"], {"targets": []}, "programs")
    equal([seen["session"][key] for key in ("uid", "may_all")], [NOBODY, False], "who")
    columns = seen["usage?groups=cpu,process"]["columns"]
    equal(api.web.ask_as(NOBODY, f"/api/v1/{of_it}")[0], "404", "usage of another's program")
    check(columns and not any(column["group"] == "process" for column in columns), f"columns: {columns}")
    equal(seen["captures"], {"captures": []}, "captures")
    (row,) = api.get("targets")["targets"]
    equal(api.web.ask_as(NOBODY, f"/api/v1/targets/{row['id']}/memory")[0], "404", "the share of memory of another's program")


def ask_as_nobody(t, api, *paths):
    """Returns {path: answer} of requests by another user."""
    script = ("import json,sys,urllib.request as u\n"
              "for p in sys.argv[2:]:\n"
              " print(json.dumps([p, json.load(u.urlopen(sys.argv[1]+p))]))\n")
    asking = t.keep(Process("nobody", ["/usr/bin/python3", "-c", script, f"http://127.0.0.1:{api.web.port}/api/v1/",
                                       *paths], user=NOBODY))
    equal(asking.wait(), 0, f"asking as another user: {asking.err}")
    for thread in asking.threads:
        thread.join()
    return dict(map(json.loads, asking.out))


def by_key(usage):
    return {column["key"]: values for column, values in zip(usage["columns"], usage["values"], strict=True)}


@test
def usage_is_ten_minutes_of_samples(t):
    api = Api(t)
    target = api.target()
    wait_until(lambda: api.get("usage")["next"] >= 3, "three samples")
    usage = api.get("usage?groups=cpu,memory")
    equal(sorted({column["group"] for column in usage["columns"]}), ["cpu", "memory"], "groups")
    n = usage["next"] - usage["first"]
    equal([len(usage["at_unix_ms"]), *{len(values) for values in usage["values"]}], [n, n], "samples")
    steps = [b - a for a, b in zip(usage["at_unix_ms"], usage["at_unix_ms"][1:])]
    check(all(step > 0 for step in steps), f"times: {usage['at_unix_ms']}")
    check(abs(usage["at_unix_ms"][-1] - time.time() * 1000) < 60000, "the last time")
    total = by_key(usage)["memory//total"][-1]
    (kib,) = re.findall(r"MemTotal:\s+(\d+)", open("/proc/meminfo", encoding="ascii").read())
    check(abs(total - int(kib) * 1024) < 1e-6 * total, f"memory: {total} {kib}")
    equal(api.get(f"usage?since={usage['next'] - 2}")["first"], usage["next"] - 1, "the first behind a number")
    equal(api.get("usage?since=1000000")["values"][:1], [], "of the future")
    own = [column for column in api.get(f"usage?groups=cpu&pid={target.pid}")["columns"] if column["pid"]]
    equal({column["pid"] for column in own}, {target.pid}, "the program's columns")
    contains([column["metric"] for column in own], "rss", "its metrics")


@test
def the_api_lists_the_options_of_the_command(t):
    options = {row["key"]: row for row in Api(t).get("options")["options"]}
    equal([options["host_tracer_level"][key] for key in ("type", "place", "min", "max", "default")],
          ["int", "field", 0, 3, "2"], "host_tracer_level")
    equal(options["start_timestamp_ns"]["max"], None, "a bound that no double holds")
    equal(options["ptap_trigger_span"]["uses"], ["recorder"], "uses of a trigger")
    listing = t.keep(Process("help", [PROFTAP, "capture", "--help"]))
    equal(listing.wait(), 0, "proftap capture --help")
    for thread in listing.threads:
        thread.join()
    for key in options:
        if "capture" in options[key]["uses"] and key.startswith(("ptap_", "gpu_")) and key != "ptap_target":
            contains("".join(listing.out), key, "the help of the command")


@test
def parameters_are_those_of_the_document(t):
    api = Api(t)
    for path, operations in SCHEMA["paths"].items():
        asked = re.sub(r"\{\w+\}", "1", path).removeprefix("/api/v1/")
        for method, operation in operations.items():
            keys = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
            message = api.refuses(method.upper(), f"{asked}?{''.join(f'{key}=&' for key in keys)}tea=1", 400, "INVALID_ARGUMENT")
            equal(message, f"tea: no such parameter; there {'are ' + ', '.join(keys) if keys else 'is none'}", f"{method} {path}")


@test
def bad_requests_are_explained(t):
    api = Api(t)
    for path, what in (("usage?groups=tea", "no such group; there are cpu, core"),
                       ("usage?since=-1", "since: \"-1\": must be a whole number"),
                       ("usage?pid=x", "pid: \"x\": must be a whole number of 1 to"),
                       ("events?topics=tea", "no such topic; there are usage"),
                       ("events?pid=0", "pid: \"0\""),
                       ("usage?bogus=1", "bogus: no such parameter; there are since, groups, pid"),
                       ("usage?groups=cpu&Pid=1", "Pid: no such parameter"),
                       ("targets?pid=1", "pid: no such parameter; there is none")):
        contains(api.refuses("GET", path, 400, "INVALID_ARGUMENT"), what, path)
    contains(api.refuses("GET", "usage?pid=4194303", 404, "NOT_FOUND"), "pid: 4194303: no such program here",
             "a pid that is not there")
    for path in ("captures/1", "captures/x", "captures/-1", "runs/none", "runs/none/report", "nothing"):
        api.refuses("GET", path, 404, "NOT_FOUND")
    equal(api.send("DELETE", "targets").status, 405, "a method that there is not")


@test
def writes_need_the_token(t):
    api = Api(t)
    for method, path in (("POST", "captures"), ("POST", "captures/1/stop"), ("DELETE", "captures/1"),
                         ("DELETE", "runs/x"), ("POST", "targets/1/session"), ("DELETE", "targets/1/session")):
        for headers in ({}, {"X-Proftap-Token": "0" * 32}):
            answer = api.web.ask(f"/api/v1/{path}", method, headers=headers)
            equal([answer.status, answer.json["error"]["code"]], [403, "PERMISSION_DENIED"], f"{method} {path}")


if __name__ == "__main__":
    run()
