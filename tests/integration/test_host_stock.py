#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the stock services of the host daemon: for one program, chosen in several ways, or for all in one answer."""
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from calls import BUSY, PROFILER, Calls, profile_request, trace_of
from checks import contains
from fixture import (NOBODY, check, equal, find_proftapd, free_port, need_readable_tree, need_root, read_status, run, schema, test,
                     wait_until)
from hosts import Host, list_programs, start_target
from http2 import INTERNAL, INVALID_ARGUMENT, NOT_FOUND, OK
from manager import Manager
from processes import PROFTAP, Process, find_children, halt
from stock_program import StockProgram
from trace_file import Trace

PROFILE = PROFILER + "Profile"
LONG_MS = 60000
# The delay of the start after the request, if the request has no start of its own.
AGREED_NS = 200_000_000


def serve(t, n):
    """A daemon, and |n| programs that it knows."""
    host = Host(t)
    targets = [start_target(t) for _ in range(n)]
    host.await_pids(*(target.pid for target in targets))
    return host, targets


def named(request, target):
    request.opts.advanced_configuration["ptap_target"].string_value = str(target)
    return request


def file_of(target):
    return f"{socket.gethostname()}_target_{target.pid}.xplane.pb"


def traces_of(message):
    return {tool.name: Trace(data=tool.data) for tool in message.tool_data}


def is_of_many(request):
    return not request.emit_xspace


def is_quiet(host, *targets):
    rows = host.list()
    return all(rows[target.pid]["state"] == "idle" for target in targets)


def begin(calls, request, *targets, n=7):
    """Begins a Profile in which each of |targets| emits |n| spans. Several begin at an agreed time."""
    start = time.time_ns() + 500_000_000
    request.opts.start_timestamp_ns = start if is_of_many(request) else 0
    request.session_id = request.opts.session_id = "mine"
    stream = calls.start(PROFILE, request)
    for target in targets:
        target.ask("await 1")
    wait_until(lambda: time.time_ns() > request.opts.start_timestamp_ns, "the instant")
    for target in targets:
        target.ask(f"burst {n}")
    return stream


def record(calls, request, *targets, n=7):
    """Returns the answer to a Profile as in begin(), ended by Terminate."""
    stream = begin(calls, request, *targets, n=n)
    calls.terminate("mine")
    return calls.finish(stream)


@test
def the_only_program_is_recorded_without_a_name(t):
    host, (target,) = serve(t, 1)
    with Calls(host.port) as calls:
        answer = record(calls, profile_request(LONG_MS), target)
        equal((answer.status, answer.text), (OK, ""), "the answer")
        equal(trace_of(answer.message).count("burst"), 7, "spans")
        equal(len(answer.message.tool_data), 0, "tool data beside xspace")
        answer = record(calls, profile_request(LONG_MS, emit_xspace=False), target, n=5)
    (name, trace), = traces_of(answer.message).items()
    equal((name, trace.count("burst")), ("xplane.pb", 5), "the trace without emit_xspace")
    check(not answer.message.empty_trace, "the answer says that the trace is empty")


@test
def the_key_selects_one_program(t):
    host, (other, target) = serve(t, 2)
    with Calls(host.port) as calls:
        for word in (target.pid, f"pid={target.pid}"):
            answer = record(calls, named(profile_request(LONG_MS), word), target)
            trace = trace_of(answer.message)
            equal(trace.count("burst"), 7, "spans")
            equal([w for w in trace.space.warnings if "ptap_target" in w], [], "warnings of the key")
        request = profile_request(LONG_MS)
        request.opts.advanced_configuration["ptap_target"].int64_value = other.pid
        equal(trace_of(record(calls, request, other).message).count("burst"), 7, "by a number")
        answer = calls.call(PROFILE, named(profile_request(50), "nobody"))
    equal(answer.status, NOT_FOUND, "nobody's status")
    contains(answer.text, "nobody: no such program here; there are target (", "nobody's text")


@test
def metadata_and_the_address_select_one_program(t):
    host, (first, second) = serve(t, 2)
    with Calls(host.port) as calls:
        calls.headers = {"authority": f"{second.pid}.localhost:{host.port}"}
        equal(trace_of(record(calls, profile_request(LONG_MS), second).message).count("burst"), 7, "by the address")
        calls.headers["extra"] = [("proftap-target", str(first.pid))]
        answer = record(calls, named(profile_request(LONG_MS), "nobody"), first)
        equal(trace_of(answer.message).count("burst"), 7, "by metadata, which goes before all")


@test
def without_a_name_all_are_one_answer(t):
    host, targets = serve(t, 3)
    with Calls(host.port) as calls:
        answer = record(calls, profile_request(LONG_MS, emit_xspace=False), *targets)
        equal((answer.status, answer.text), (OK, ""), "the answer")
        traces = traces_of(answer.message)
        equal(sorted(traces), sorted(map(file_of, targets)), "the names")
        for target in targets:
            equal(traces[file_of(target)].count("burst"), 7, f"spans of {target.pid}")
            equal(traces[file_of(target)].host_stat("process_id"), target.pid, "the process")
        refused = calls.call(PROFILE, profile_request(50))
        equal(refused.status, INVALID_ARGUMENT, "xspace of several")
        contains(refused.text, "3 programs are selected, and xspace has room for one", "its text")


@test
def all_programs_begin_at_one_instant(t):
    host, targets = serve(t, 3)
    with Calls(host.port) as calls:
        asked = time.time_ns()
        traces = traces_of(calls.expect(PROFILE, profile_request(50, emit_xspace=False)))
        late = [trace.environment["profile_start_time"].value - asked for trace in traces.values()]
        check(len(late) == 3 and min(late) >= AGREED_NS, f"they begin after {late} ns: before all can be ready")
        at = time.time_ns() + 400_000_000
        request = profile_request(50, {"start_timestamp_ns": at}, emit_xspace=False)
        for name, trace in traces_of(calls.expect(PROFILE, named(request, "all"))).items():
            check(trace.environment["profile_start_time"].value >= at, f"{name} began before its time")


@test
def failed_program_is_a_warning_unless_all_fail(t):
    host, targets = serve(t, 2)
    with Calls(host.port) as calls, Calls(targets[0]) as own:
        blocking = own.start(PROFILE, profile_request(LONG_MS, session_id="other"))
        targets[0].ask("await 1")
        stream = begin(calls, profile_request(LONG_MS, emit_xspace=False), targets[1])
        # This ends "mine" only at targets[1]. The session "other" must run until targets[0] has refused "mine".
        calls.headers = {"extra": [("proftap-target", str(targets[1].pid))]}
        calls.terminate("mine")
        calls.headers = {}
        answer = calls.finish(stream)
        (name, trace), = traces_of(answer.message).items()
        equal((name, trace.count("burst")), (file_of(targets[1]), 7), "recorded programs")
        contains("".join(trace.space.warnings), f"not recorded: target ({targets[0].pid}): ALREADY_EXISTS",
                 "programs that were not recorded")
        refused = calls.call(PROFILE, named(profile_request(50), targets[0].pid))
        equal(refused.status, INTERNAL, "status of the busy one alone")
        check(refused.text.startswith(BUSY), f"a stock client does not know: {refused.text}")
        own.terminate("other")
        own.finish(blocking)


@test
def refusal_of_a_server_is_passed_on(t):
    host, (target,) = serve(t, 1)
    with Calls(host.port) as calls:
        answer = calls.call(PROFILE, profile_request(50, {"host_tracer_level": 9}))
        equal(answer.status, INVALID_ARGUMENT, "the status")
        contains(answer.text, "host_tracer_level: 9", "the text")
        equal(calls.expect(PROFILE, profile_request(0)).empty_trace, False, "a duration of 0 has its usage")
        wait_until(lambda: is_quiet(host, target), "the program to be free")


@test
def a_client_that_goes_frees_all(t):
    host, targets = serve(t, 2)
    with Calls(host.port) as calls:
        calls.start(PROFILE, profile_request(LONG_MS, emit_xspace=False))
        for target in targets:
            target.ask("await 1")
    wait_until(lambda: is_quiet(host, *targets), "the programs to be free")


@test
def a_program_that_dies_is_in_the_answer(t):
    host, targets = serve(t, 2)
    with Calls(host.port) as calls:
        stream = begin(calls, profile_request(LONG_MS, emit_xspace=False), *targets)
        targets[0].kill()
        host.await_pids(targets[1].pid)
        calls.terminate("mine")
        traces = traces_of(calls.finish(stream).message)
    equal({name: trace.count("burst") for name, trace in traces.items()}, {file_of(target): 7 for target in targets},
          "spans")


@test
def a_stopped_server_does_not_hold_terminate(t):
    host, (first, second) = serve(t, 2)
    server = find_proftapd(first.pid)
    os.kill(server, signal.SIGSTOP)
    try:
        with Calls(host.port) as calls:
            answer = record(calls, named(profile_request(LONG_MS), second.pid), second)
            equal(trace_of(answer.message).count("burst"), 7, "spans of the other one")
    finally:
        os.kill(server, signal.SIGCONT)


@test
def monitor_shows_one_program(t):
    host, targets = serve(t, 2)
    request = schema("profiler_service").MonitorRequest(duration_ms=100, monitoring_level=1)
    with Calls(host.port) as calls:
        refused = calls.call(PROFILER + "Monitor", request, "MonitorResponse")
        equal(refused.status, INVALID_ARGUMENT, "status for two programs")
        contains(refused.text, "2 programs are meant", "its text")
        calls.headers = {"authority": f"{targets[1].pid}.localhost:{host.port}"}
        shown = calls.expect(PROFILER + "Monitor", request, "MonitorResponse")
        contains(shown.data, f"(pid {targets[1].pid})", "programs that it shows")


def call_session(calls, name, reply):
    return calls.expect(PROFILER + name, getattr(schema("profiler_service"), f"{name}Request")(), reply)


@test
def a_continuous_session_is_where_it_was_begun(t):
    host, (_, target) = serve(t, 2)
    start = "StartContinuousProfiling"
    with Calls(host.port) as calls:
        refused = calls.call(PROFILER + start, profile_request(2000), "ContinuousProfilingResponse")
        equal(refused.status, INVALID_ARGUMENT, "without a name")
        request = named(profile_request(2000), target.pid)
        calls.expect(PROFILER + start, request, "ContinuousProfilingResponse")
        target.ask("await 1", "burst 5")
        equal(trace_of(call_session(calls, "GetSnapshot", "ProfileResponse")).count("burst"), 5, "spans")
        target.ask("burst 3")
        equal(trace_of(call_session(calls, "GetSnapShot", "ProfileResponse")).count("burst"), 3, "by the old name")
        call_session(calls, "StopContinuousProfiling", "StopContinuousProfilingResponse")
        wait_until(lambda: is_quiet(host, target), "the program to be free")
        calls.expect(PROFILER + "ContinuousProfiling", request, "ContinuousProfilingResponse")
        call_session(calls, "StopContinuousProfiling", "StopContinuousProfilingResponse")


@test
def a_programs_own_server_ignores_the_key(t):
    target = t.target().serve()
    with Calls(target) as calls:
        trace = trace_of(calls.expect(PROFILE, named(profile_request(20), "somebody")))
    contains("".join(trace.space.warnings), "ptap_target: ignored: only a host daemon reads this key", "its warning")


@test
def servers_of_another_make_are_programs_too(t):
    name, web = f"jax-{os.getpid()}", free_port()
    host = Host(t, "--stock_servers", "yes", web=web)
    target, stock = start_target(t), StockProgram(t, name)
    wait_until(lambda: {target.pid, stock.pid} <= set(host.list()), "both to be listed")
    row = host.list()[stock.pid]
    equal((row["name"], row["server"], row["state"], row["port"], row["uid"]),
          (name, "JAX", "unknown", stock.port, os.geteuid()), "the row")
    equal(set(stock.calls), {"Monitor"}, "earlier calls")
    with urllib.request.urlopen(f"http://127.0.0.1:{web}/api/v1/targets", timeout=20) as answer:
        rows = {one["pid"]: one["server"] for one in json.load(answer)["targets"]}
    equal((rows[stock.pid], rows[target.pid]), ("JAX", "proftap"), "the makes on the web")
    contains(t.capture(host.port, 20, "--target", name).stderr, "spans 3 on 1 thread", "the summary")
    with Calls(host.port) as calls:
        answer = calls.call(PROFILE, named(profile_request(20, emit_xspace=False), stock.pid))
        equal((answer.status, [tool.name for tool in answer.message.tool_data]), (OK, ["xplane.pb"]), "a stock client's")
    contains(t.capture(host.port, 20, "--target", os.path.realpath("/usr/bin/python3")).stderr, "spans 3 on 1 thread",
             "the summary by the program's path")
    equal(stock.calls.count("Profile"), 3, "recordings")
    stock.kill()
    wait_until(lambda: stock.pid not in host.list(), "the stock server to leave the list with its program")
    check(target.pid in host.list(), "the other one has gone, too")


LISTENS = "import socket, sys, time; s = socket.create_server(('0.0.0.0', 0)); print(sys.argv[1], flush=True); time.sleep(600)"
CAPABLE = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--bounding-set=-all,+setuid,+setgid",
           "--inh-caps=-all,+setuid,+setgid", "--ambient-caps=-all,+setuid,+setgid")
OTHERS = (65531, 65532)


@test
def a_daemon_as_its_unit_has_it_finds_other_users_servers(t):
    """The daemon may not inspect other users' processes. Its starter runs one search per user,
    which sees only that user's."""
    need_root()
    need_readable_tree()
    manager = Manager(t, "operators =\n")
    daemon = manager.start("--stock_servers", "yes", prefix=CAPABLE)
    names = {user: f"jax-{user % 10}-{os.getpid()}" for user in (*OTHERS, NOBODY)}
    stock = {user: StockProgram(t, name, user=user) for user, name in names.items()}
    plain = t.keep(Process("plain", ["/usr/bin/python3", "-c", LISTENS, "listens"], user=OTHERS[0]))
    equal(plain.read_line(), "listens", "the program that listens without a profiler library")
    pids = {program.pid for program in stock.values()}
    wait_until(lambda: pids <= set(list_programs(t, manager.port)), "servers of three users to be listed")
    rows = list_programs(t, manager.port)
    equal({rows[program.pid]["uid"] for program in stock.values()}, set(stock), "their owners")
    check(plain.pid not in rows, "a program with another listener is listed")
    equal({call for program in stock.values() for call in program.calls}, {"Monitor"}, "their calls")
    for user, program in stock.items():
        seen = set(list_programs(t, manager.port, user)) & pids
        equal(seen, {program.pid}, f"programs that user {user} sees")
    contains(t.capture(manager.port, 20, "--target", names[OTHERS[1]]).stderr, "spans 3 on 1 thread", "the summary")
    stock[OTHERS[0]].kill()
    wait_until(lambda: stock[OTHERS[0]].pid not in list_programs(t, manager.port), "the stock server to leave the list with its program")
    equal([read_status(pid)["Uid"] for pid in (daemon.pid, *find_children(daemon.pid))], ["\t".join([str(NOBODY)] * 4)] * 2,
          "the daemon, its starter, and nothing else that was left")


@test
def files_of_stock_servers_are_named_after_their_programs(t):
    name, host = f"jax-{os.getpid()}", Host(t, "--stock_servers", "yes")
    target, stock = start_target(t), StockProgram(t, name)
    wait_until(lambda: {target.pid, stock.pid} <= set(host.list()), "both to be listed")
    wanted = f"fake_{name}_{stock.pid}.xplane.pb"  # the host name in its trace
    for how in (stock.pid, f"{name},{target.pid}"):
        files = [Path(line).name for line in record_named(t, host.port, "--target", how)]
        check(wanted in files, f"the files of {how}: {files}")
    equal([Path(line).name for line in record_named(t, f"{name}.localhost:{host.port}")], [wanted], "by its name")
    names = [Path(line).name for line in
             record_named(t, host.port, "--target", f"{stock.pid},{target.pid}", "--host_name", "left,right")]
    equal(sorted(names), ["left.xplane.pb", "right.xplane.pb"], "names that were given")


def record_named(t, where, *options):
    """The paths that proftap capture prints."""
    command = [PROFTAP, "capture", str(where), "20", "--log_dir", t.dir / "named", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}")
    return done.stdout.split()


@test
def stock_servers_have_the_daemons_clock(t):
    name, host = f"jax-{os.getpid()}", Host(t, "--stock_servers", "yes")
    target, stock = start_target(t), StockProgram(t, name)
    wait_until(lambda: {target.pid, stock.pid} <= set(host.list()), "both to be listed")
    result = json.loads(t.capture(host.port, 20, "--target", f"{name},{target.pid}", "--json").stdout)
    for one in result["targets"]:
        equal((one["clock_offset_ns"], one["clock_uncertainty_ns"]), (0, 0), f"the clock of {one['target']}")


def run_proftap(*words, code=0):
    done = subprocess.run([PROFTAP, *map(str, words)], capture_output=True, text=True)
    equal(done.returncode, code, f"how {words} ended: {done.stderr}")
    return done


@test
def sessions_of_stock_servers_begin_and_end(t):
    name, host = f"jax-{os.getpid()}", Host(t, "--stock_servers", "yes")
    stock = StockProgram(t, name)
    wait_until(lambda: stock.pid in host.list(), "the stock program to be listed")
    where, logs = (f"localhost:{host.port}", "--target", stock.pid), ("--log_dir", t.dir / "sessions")
    contains(run_proftap("start", *where).stderr, f"proftap stop 127.0.0.1:{host.port} --target {stock.pid}", "the command that ends it")
    contains(run_proftap("snapshot", *where, *logs).stdout, f"fake_{name}_{stock.pid}.xplane.pb", "the snapshot's file")
    contains(run_proftap("stop", *where, *logs).stdout, f"fake_{name}_{stock.pid}.xplane.pb", "the end's file")
    calls = stock.requests
    equal(calls, ["StartContinuousProfiling", "GetSnapshot", "GetSnapshot", "StopContinuousProfiling"], "calls")


@test
def a_stock_program_that_dies_in_mid_capture_is_named(t):
    name, host = f"jax-{os.getpid()}", Host(t, "--stock_servers", "yes")
    stock = StockProgram(t, name)
    wait_until(lambda: stock.pid in host.list(), "the stock program to be listed")
    stock.die_when_recorded()
    done = run_proftap("capture", f"localhost:{host.port}", 100, "--target", stock.pid, "--log_dir", t.dir / "no", code=1)
    contains(done.stderr, f"{host.port} target {stock.pid}: {name} ({stock.pid}): the connection broke: "
             "the program or its profiler server died", "standard error")
    check("UNAVAILABLE" not in done.stderr, done.stderr)


@test
def a_stopped_stock_program_is_listed_once_continued(t):
    """Each of the other programs is found by a new search, and no search asks the stopped program."""
    stopped = StockProgram(t, f"jax-{os.getpid()}")
    halt(stopped.pid)
    host = Host(t, "--stock_servers", "yes")
    for i in range(7):
        other = StockProgram(t, f"jax-{i}-{os.getpid()}")
        wait_until(lambda: other.pid in host.list(), "the other one to be listed")
    equal(stopped.calls, [], "calls of the stopped one")
    os.kill(stopped.pid, signal.SIGCONT)
    wait_until(lambda: stopped.pid in host.list(), "the continued program to be listed")


@test
def the_daemon_ends_well_after_a_search_without_new_servers(t):
    """The search after the end of one program finds only the other one, which is known already."""
    host = Host(t, "--stock_servers", "yes")
    one, other = (StockProgram(t, f"jax-{i}-{os.getpid()}") for i in range(2))
    wait_until(lambda: {one.pid, other.pid} <= set(host.list()), "both to be listed")
    other.kill()
    wait_until(lambda: other.pid not in host.list(), "the stock server to leave the list with its program")
    check(one.pid in host.list(), "the one that lives has gone, too")
    equal(host.end(), 0, f"how the daemon ended: {host.err}")


if __name__ == "__main__":
    run()
