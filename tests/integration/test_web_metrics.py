#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics and the probes of the host daemon, read as Prometheus reads them."""
import json
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from checks import contains
from fixture import NOBODY, SANITIZERS, Skip, check, equal, need_readable_tree, need_root, run, test, wait_until
from hosts import runtime, start_target
from processes import LIBRARY, PROFTAP, PROFTAPD, Process, halt, read_fds
from web import Web

try:
    from prometheus_client.parser import text_string_to_metric_families as parse_text
except ImportError:
    parse_text = None

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
LONG_MS = 60000


class Metrics:
    """The samples of one scrape, by name and labels."""

    def __init__(self, web, accept=None):
        if not parse_text:
            raise Skip("no prometheus_client here")
        answer = web.ask("/metrics", headers={"Accept": accept} if accept else {})
        equal(answer.status, 200, "status of /metrics")
        self.type, self.text = answer.headers["Content-Type"], answer.text
        self.families = {family.name: family for family in parse_text(self.text)}
        self.samples = {(sample.name, frozenset(sample.labels.items())): sample.value
                        for family in self.families.values() for sample in family.samples}

    def get(self, sample, **labels):
        return self.samples[sample, frozenset(labels.items())]

    def find(self, name):
        """Returns {labels: value} of all samples of a family."""
        return {labels: value for (sample, labels), value in self.samples.items() if sample == name}


@test
def prometheus_reads_the_metrics(t):
    web = Web(t)
    metrics = Metrics(web)
    equal(metrics.type, TEXT, "the type")
    for name, family in metrics.families.items():
        check(family.documentation, f"{name}: no help")
        check(family.type in ("counter", "gauge", "histogram"), f"{name}: {family.type}")
        check(family.samples or name.startswith("proftap_target_"), f"{name}: no samples")
    equal(len(metrics.samples), sum(len(family.samples) for family in metrics.families.values()), "samples without twins")
    (build,) = metrics.find("proftap_build_info")
    check(dict(build)["version"], "no version")
    lag_s = time.time() - metrics.get("process_start_time_seconds")
    check(-2 < lag_s < 3600, f"it was started {lag_s} s ago")
    check(metrics.get("process_resident_memory_bytes") > 1 << 20, "memory")
    check(metrics.get("process_open_fds") > 5, "descriptors")
    equal(metrics.get("proftap_http_connections"), 1, "connections")


@test
def promtool_finds_no_fault_whatever_is_accepted(t):
    """promtool has Prometheus' own parser, of the text format only: OpenMetrics names families of counters differently."""
    promtool = shutil.which("promtool")
    web = Web(t)
    target = start_target(t)
    web.host.await_pids(target.pid)
    await_samples(web, 2)
    for accept in (None, "*/*", "text/plain", "text/html", OPENMETRICS,
                   "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                   "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "text/plain;q=0, */*;q=0.1"):
        metrics = Metrics(web, accept)
        equal(metrics.type, TEXT, f"type for {accept}")
        check("# EOF" not in metrics.text and "# UNIT" not in metrics.text, f"{accept}: what the text format has not")
        types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics.text, re.M))
        helped = re.findall(r"^# HELP (\S+) \S", metrics.text, re.M)
        equal(helped, list(types), f"{accept}: families with help and with a type")
        for sample, _ in metrics.samples:
            family = re.sub("_(bucket|sum|count)$", "", sample) if sample not in types else sample
            check(family in types, f"{sample}: no type")
        equal([name for name, kind in types.items() if (kind == "counter") != name.endswith("_total")], [], "counters")
        if promtool:
            done = subprocess.run([promtool, "check", "metrics"], input=metrics.text, text=True, capture_output=True)
            equal((done.returncode, done.stdout, done.stderr), (0, "", ""), f"promtool on {accept}")


@test
def machine_and_programs_are_measured(t):
    web = Web(t)
    target = start_target(t)
    web.host.await_pids(target.pid)
    target.send("spin 60000")
    wait_until(lambda: any(value > 0.05 for value in Metrics(web).find("proftap_target_cpu_ratio").values()),
               "the program's processor time")
    metrics = Metrics(web)
    labels = {"pid": str(target.pid), "name": "target"}
    equal({frozenset(labels.items())}, set(metrics.find("proftap_target_cpu_ratio")), "programs")
    check(metrics.get("proftap_target_resident_memory_bytes", **labels) > 1 << 20, "its memory")
    check(metrics.get("proftap_target_threads", **labels) >= 2, "its threads")
    check(0 < metrics.get("proftap_machine_cpu_busy_ratio") <= 1.01, "the processors")
    total = dict(re.findall(r"(\w+): +(\d+) kB", Path("/proc/meminfo").read_text()))["MemTotal"]
    equal(metrics.get("proftap_machine_memory_total_bytes"), 1024 * int(total), "the memory")
    check(len(metrics.find("proftap_machine_core_busy_ratio")) >= len(os.sched_getaffinity(0)), "the cores")


# A server whose two workers use processors while it waits for a line.
PREFORK = """
import ctypes, os, signal, sys
library = ctypes.CDLL(sys.argv[1])
assert library.ptap_server_start(0) == 0
print("ready", flush=True)
sys.stdin.readline()
workers = []
for _ in range(2):
    workers.append(os.fork())
    if workers[-1] == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        while True:
            pass
print("forked", flush=True)
sys.stdin.readline()
"""


@test
def usage_of_workers_counts_for_their_program(t):
    if SANITIZERS != "no":
        raise Skip("Python does not load a library with sanitizers")
    web = Web(t)
    server = t.keep(Process("prefork", [sys.executable, "-c", PREFORK, LIBRARY],
                            {**runtime(t), "PROFTAPD": str(PROFTAPD)}, stdin=-1))
    equal(server.read_line(), "ready", "the server")
    web.host.await_pids(server.pid)
    before = {name: value for name in ("threads", "resident_memory_bytes")
              for value in await_values(web, f"proftap_target_{name}")}
    server.popen.stdin.write("\n")
    server.popen.stdin.flush()
    equal(server.read_line(), "forked", "the server")
    wait_until(lambda: any(value > 0.2 for value in Metrics(web).find("proftap_target_cpu_ratio").values()),
               "the workers' processor time")
    own = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
    check((int(own[11]) + int(own[12])) / os.sysconf("SC_CLK_TCK") < 1, "the server itself is busy")
    contains(Metrics(web).families["proftap_target_cpu_ratio"].documentation, "at least", "unreaped children's effect")
    after = {name: value for name in before for value in Metrics(web).find(f"proftap_target_{name}").values()}
    equal(after["threads"], before["threads"] + 2, "threads of the server and its workers")
    check(after["resident_memory_bytes"] > 1.2 * before["resident_memory_bytes"], f"memory: {before}, {after}")


def await_values(web, name):
    wait_until(lambda: Metrics(web).find(name), f"{name}")
    return Metrics(web).find(name).values()


def await_samples(web, n):
    wait_until(lambda: Metrics(web).get("proftap_collector_samples_total", collector="machine") >= n, f"{n} samples")


@test
def measuring_the_machine_has_a_cost(t):
    web = Web(t)
    await_samples(web, 2)
    check(Metrics(web).get("proftap_collector_cpu_seconds_total", collector="machine") > 0, "no time was taken")


def capture(t, web, target, *options, code=0):
    """Captures some spans and returns the trace of the program's server."""
    process = t.start_capture(f"127.0.0.1:{web.host.port}", LONG_MS, "--target", target.pid, "-o",
                              "ptap_machine_usage=false", *options)
    target.ask("await 1", "burst 7")
    process.signal(signal.SIGINT)
    return process.finish(code)


@test
def captures_are_counted(t):
    web = Web(t)
    target = start_target(t)
    web.host.await_pids(target.pid)
    before = Metrics(web)
    check(not any(before.find("proftap_captures_total").values()), "captures before any")
    path = capture(t, web, target).path
    metrics = Metrics(web)
    labels = {"pid": str(target.pid), "name": "target"}
    size = path.stat().st_size
    equal(metrics.get("proftap_captures_total", call="capture", result="ok"), 1, "captures")
    equal(sum(metrics.find("proftap_captures_total").values()), 1, "captures of all kinds")
    # The client adds its own facts to the file.
    check(size / 2 < metrics.get("proftap_trace_bytes_total") <= size, "bytes")
    check(metrics.get("proftap_trace_events_total") >= 7, "events")
    equal(metrics.get("proftap_target_captures_total", **labels), 1, "captures of the program")
    for name in ("events", "dropped_events"):
        equal(metrics.get(f"proftap_target_{name}_total", **labels), metrics.get(f"proftap_trace_{name}_total"), name)
    equal(metrics.get("proftap_target_trace_bytes_total", **labels), metrics.get("proftap_trace_bytes_total"), "bytes")
    for name in ("duration_seconds", "size_bytes"):
        check_histogram(metrics, f"proftap_capture_{name}", 1)
    equal(metrics.get("proftap_capture_size_bytes_sum"), metrics.get("proftap_trace_bytes_total"), "sum of sizes")


def check_histogram(metrics, name, n):
    equal(metrics.get(f"{name}_count"), n, f"count of {name}")
    buckets = sorted((float(dict(labels)["le"]), count) for labels, count in metrics.find(f"{name}_bucket").items())
    equal(buckets[-1], (math.inf, n), f"the last bucket of {name}")
    equal([count for _, count in buckets], sorted(count for _, count in buckets), f"buckets of {name}")
    total = metrics.get(f"{name}_sum")
    equal([bound for bound, count in buckets if count], [bound for bound, _ in buckets if bound >= total],
          f"the bucket of {name}")


@test
def outcomes_of_captures_are_counted(t):
    web = Web(t)
    target = start_target(t)
    web.host.await_pids(target.pid)
    running = t.start_capture(f"127.0.0.1:{web.host.port}", LONG_MS, "--target", target.pid)
    target.ask("await 1")
    metrics = Metrics(web)
    equal((metrics.get("proftap_targets", state="recording"), metrics.get("proftap_targets", state="idle")), (1, 0),
          "states meanwhile")
    equal(metrics.get("proftap_calls", kind="passing"), 1, "calls meanwhile")
    equal(metrics.get("proftap_sessions"), 1, "sessions meanwhile")
    t.start_capture(f"127.0.0.1:{web.host.port}", 100, "--target", target.pid, "--attempts", 1).finish(4)
    running.signal(signal.SIGINT)
    running.finish()
    gone = t.start_capture(f"127.0.0.1:{web.host.port}", LONG_MS, "--target", target.pid)
    target.ask("await 1")
    gone.kill()
    wait_until(lambda: Metrics(web).get("proftap_captures_total", call="capture", result="cancelled") == 1,
               "the one that was given up to be counted")
    found = {dict(labels)["result"]: n for labels, n in Metrics(web).find("proftap_captures_total").items() if n}
    equal(found, {"ok": 1, "busy": 1, "cancelled": 1}, "results")


@test
def captures_by_http_are_counted_as_well(t):
    web = Web(t, "--log_dir", t.dir / "logs")
    target = start_target(t)
    web.host.await_pids(target.pid)
    token = {"X-Proftap-Token": web.ask("/api/v1/session").json["token"], "Content-Type": "application/json"}
    asked = json.dumps({"target": target.pid, "duration_ms": 100}).encode()
    equal(web.ask("/api/v1/captures", "POST", asked, token).status, 201, "the capture's beginning")
    wait_until(lambda: Metrics(web).get("proftap_captures_total", call="web", result="ok") == 1, "it to be counted")
    check(Metrics(web).get("proftap_trace_bytes_total") > 0, "no bytes")


# A program that executes lines of Python.
COUNTING = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.ptap_counter_dyn.argtypes = [ctypes.c_char_p, ctypes.c_double]
assert library.ptap_server_start(0) == 0
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""
RECORDED = ("proftap_target_recorded_value", "proftap_target_last_step_number", "proftap_target_last_step_seconds")


def start_recorder(t, pid):
    """Starts the recorder of a program with a server. The test's end stops it before the program:
    otherwise the server would live on to keep its data."""
    def call(*words):
        subprocess.run([PROFTAP, *words], check=True, capture_output=True, env={**os.environ, **runtime(t)})

    call("start", str(pid), "--recorder")
    t.at_end.append(lambda: call("stop", str(pid), "--log_dir", str(t.dir / "stopped")))


def find_recorded(metrics):
    """Returns {(family, name of program, counter or step): value}."""
    return {(family, dict(labels)["name"], dict(labels).get("counter") or dict(labels).get("step")): value
            for family in RECORDED for labels, value in metrics.find(family).items()}


@test
def recorders_of_programs_that_the_operator_names_tell_their_counters_and_steps(t):
    web = Web(t, "--recorder_metrics", "no such,targ*,python*")
    target = start_target(t)
    web.host.await_pids(target.pid)
    equal(find_recorded(Metrics(web)), {}, "values without a recorder")
    start_recorder(t, target.pid)
    wait_until(lambda: target.ask("enabled 1") == "1", "the recorder")
    target.ask("gauge 5 9 7")
    target.ask("step 1 20")
    wait_until(lambda: find_recorded(Metrics(web)), "values")
    metrics = Metrics(web)
    pid = str(target.pid)
    equal(metrics.get("proftap_target_recorded_value", pid=pid, name="target", counter="queue"), 7, "the newest value")
    equal(metrics.get("proftap_target_last_step_number", pid=pid, name="target", step="slow"), 7, "the step")
    took_s = metrics.get("proftap_target_last_step_seconds", pid=pid, name="target", step="slow")
    check(0.02 <= took_s < 5, f"the step took {took_s} s")
    target.ask("gauge 8")
    halt(target.pid)
    equal(Metrics(web).get("proftap_target_recorded_value", pid=pid, name="target", counter="queue"), 8, "of a stopped one")
    os.kill(target.pid, signal.SIGCONT)
    promtool = shutil.which("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "metrics"], input=metrics.text, text=True, capture_output=True)
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "promtool")


@test
def names_of_counters_may_hold_anything_and_are_bounded(t):
    if SANITIZERS != "no":
        raise Skip("Python does not load a library with sanitizers")
    web = Web(t, "--recorder_metrics", "*")
    program = t.keep(Process("counting", [sys.executable, "-c", COUNTING, LIBRARY],
                             {**runtime(t), "PROFTAPD": str(PROFTAPD)}, stdin=-1))
    equal(program.read_line(), "ready", "the program")
    web.host.await_pids(program.pid)
    start_recorder(t, program.pid)
    names = ['a "quoted" one', "back\\slash", "é ü", "x" * 300, "empty}"]
    lines = [f"library.ptap_counter_dyn({name.encode()!r}, {value}.5)" for value, name in enumerate(names)]
    program.popen.stdin.write("\n".join([*lines, "[library.ptap_counter_dyn(b'c%d' % i, i) for i in range(100)]"]) + "\n")
    program.popen.stdin.flush()
    for _ in range(len(lines) + 1):
        equal(program.read_line(), "done", "the program")
    found = {key[2]: value for key, value in find_recorded(Metrics(web)).items()}
    for value, name in enumerate(names):
        values = [found[shown] for shown in found if shown == name or (shown.endswith("…") and name.startswith(shown[:-1]))]
        equal(values, [value + 0.5], f"the value of {name[:20]} among {[*found][:8]}")
    equal(len(found), 64, "counters, of 105")
    promtool = shutil.which("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "metrics"], input=Metrics(web).text, text=True, capture_output=True)
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "promtool")


@test
def other_programs_recorders_are_not_asked(t):
    web = Web(t, "--recorder_metrics", "targe,argets*")
    target = start_target(t)
    web.host.await_pids(target.pid)
    start_recorder(t, target.pid)
    target.ask("gauge 5")
    wait_until(lambda: Metrics(web).get("proftap_targets", state="recorder") == 1, "the recorder to be known")
    equal(find_recorded(Metrics(web)), {}, "values")
    equal([name for name in Metrics(web).families if name.startswith(RECORDED)], [], "families")


@test
def programs_that_are_gone_have_no_values(t):
    web = Web(t)
    target, other = start_target(t), start_target(t)
    web.host.await_pids(target.pid, other.pid)
    target.kill()
    web.host.await_pids(other.pid)
    equal([dict(labels)["pid"] for labels in Metrics(web).find("proftap_target_events_total")], [str(other.pid)], "pids")


@test
def metrics_name_no_programs_of_other_users(t):
    need_root()
    need_readable_tree()
    web = Web(t, "--operators", "")
    target = start_target(t)
    web.host.await_pids(target.pid)
    status, text = web.ask_as(NOBODY, "/metrics")
    equal(status, "200", "status")
    check("proftap_targets{state=\"idle\"} 0\n" in text, "the number of programs")
    check("pid=" not in text, "a program is told of")


@test
def the_daemon_is_ready_if_it_has_descriptors(t):
    web = Web(t)
    answer = web.ask("/readyz")
    equal((answer.status, answer.text), (200, "registry ok\ngrpc ok\ndescriptors ok\n"), "ready")
    soft, hard = resource.prlimit(web.pid, resource.RLIMIT_NOFILE)
    # Half of the limit is kept for gRPC. Of the rest about 8 are free: enough for this request, too few to be ready.
    resource.prlimit(web.pid, resource.RLIMIT_NOFILE, (2 * (max(read_fds(web.pid)) + 8), hard))
    answer = web.ask("/readyz")
    equal((answer.status, answer.text), (503, "registry ok\ngrpc ok\ndescriptors not ready\n"), "without descriptors")
    equal(web.ask("/healthz").status, 200, "it lives")
    resource.prlimit(web.pid, resource.RLIMIT_NOFILE, (soft, hard))
    equal(web.ask("/readyz").status, 200, "again")


if __name__ == "__main__":
    run()
