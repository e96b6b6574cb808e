#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics and the probes of the host daemon, read as Prometheus reads them."""
import json
import math
import resource
import signal
import time

from fixture import NOBODY, Skip, check, equal, need_readable_tree, need_root, run, test, wait_until
from hosts import start_target
from processes import read_fds
from web import Web

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
    from prometheus_client.parser import text_string_to_metric_families as parse_text
except ImportError:
    parse_openmetrics = parse_text = None

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
LONG_MS = 60000


class Metrics:
    """What was scraped: samples by name and labels."""

    def __init__(self, web, accept=OPENMETRICS):
        if not parse_openmetrics:
            raise Skip("no prometheus_client here")
        answer = web.ask("/metrics", headers={"Accept": accept} if accept else {})
        equal(answer.status, 200, "status of /metrics")
        self.type, self.text = answer.headers["Content-Type"], answer.text
        parse = parse_openmetrics if self.type == OPENMETRICS else parse_text
        self.families = {family.name: family for family in parse(self.text)}
        self.samples = {(sample.name, frozenset(sample.labels.items())): sample.value
                        for family in self.families.values() for sample in family.samples}

    def get(self, sample, **labels):
        return self.samples[sample, frozenset(labels.items())]

    def find(self, name):
        """{labels: value} of all its samples."""
        return {labels: value for (sample, labels), value in self.samples.items() if sample == name}


@test
def prometheus_reads_them(t):
    web = Web(t)
    metrics = Metrics(web)
    equal(metrics.type, OPENMETRICS, "the type")
    check(metrics.text.endswith("\n# EOF\n"), "no end")
    for name, family in metrics.families.items():
        check(family.documentation, f"{name}: no help")
        check(family.type in ("counter", "gauge", "histogram", "info"), f"{name}: {family.type}")
        equal(family.unit, next((u for u in ("seconds", "bytes") if name.endswith("_" + u)), ""), f"unit of {name}")
        check(bool(family.samples) != name.startswith("proftap_target_"), f"{name}: {family.samples}")
    equal(len(metrics.samples), sum(len(family.samples) for family in metrics.families.values()), "samples without twins")
    (build,) = metrics.find("proftap_build_info")
    check(dict(build)["version"], "no version")
    lag_s = time.time() - metrics.get("process_start_time_seconds")
    check(-2 < lag_s < 3600, f"it was started {lag_s} s ago")
    check(metrics.get("process_resident_memory_bytes") > 1 << 20, "memory")
    check(metrics.get("process_open_fds") > 5, "descriptors")
    equal(metrics.get("proftap_http_connections"), 1, "connections")


@test
def the_older_text_is_there_for_who_wants_it(t):
    web = Web(t)
    metrics = Metrics(web)
    for accept, kind in (
            ("text/plain", TEXT), ("text/plain;version=0.0.4;q=0.5, */*;q=0.1", TEXT), ("text/*", TEXT),
            ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
             "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", OPENMETRICS),
            ("*/*", OPENMETRICS), (None, OPENMETRICS), ("text/html", OPENMETRICS)):
        equal(web.ask("/metrics", headers={"Accept": accept} if accept else {}).headers["Content-Type"], kind, accept)
    older = Metrics(web, "text/plain")
    check("# EOF" not in older.text and "# UNIT" not in older.text, "what the older form has not")
    equal(set(older.samples), set(metrics.samples), "the samples")


def await_samples(web, n):
    wait_until(lambda: Metrics(web).get("proftap_collector_samples_total", collector="machine") >= n, f"{n} samples")


@test
def measuring_the_machine_has_a_cost(t):
    web = Web(t)
    await_samples(web, 2)
    check(Metrics(web).get("proftap_collector_cpu_seconds_total", collector="machine") > 0, "no time was taken")


def capture(t, web, target, *options, code=0):
    """One of some spans, as the program's server made it."""
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
    # The client adds what it knows to the file.
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
def what_becomes_of_them_is_told(t):
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


@test
def programs_that_are_gone_have_no_values(t):
    web = Web(t)
    target, other = start_target(t), start_target(t)
    web.host.await_pids(target.pid, other.pid)
    target.kill()
    web.host.await_pids(other.pid)
    equal([dict(labels)["pid"] for labels in Metrics(web).find("proftap_target_events_total")], [str(other.pid)], "pids")


@test
def others_programs_are_not_told_of(t):
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
def it_is_ready_when_it_can_work(t):
    web = Web(t)
    answer = web.ask("/readyz")
    equal((answer.status, answer.text), (200, "registry ok\ngrpc ok\ndescriptors ok\n"), "ready")
    soft, hard = resource.prlimit(web.pid, resource.RLIMIT_NOFILE)
    # Half is gRPC's: with room for this request, and little more.
    resource.prlimit(web.pid, resource.RLIMIT_NOFILE, (2 * (max(read_fds(web.pid)) + 8), hard))
    answer = web.ask("/readyz")
    equal((answer.status, answer.text), (503, "registry ok\ngrpc ok\ndescriptors not ready\n"), "without descriptors")
    equal(web.ask("/healthz").status, 200, "it lives")
    resource.prlimit(web.pid, resource.RLIMIT_NOFILE, (soft, hard))
    equal(web.ask("/readyz").status, 200, "again")


if __name__ == "__main__":
    run()
