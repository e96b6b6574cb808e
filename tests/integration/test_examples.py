#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the programs of docs/examples in captures: their spans, flows and async spans are in the file."""
import re
import socket
import subprocess
import threading
from pathlib import Path

import running
from checks import PATIENCE_S
from examples import EXAMPLES, start
from fixture import SANITIZERS, Skip, check, equal, run, test, wait_until
from processes import LIBRARY, PROFTAP, TOP_SRC
from trace_file import Trace, find_traces, read_flows

WAITS_MS = (15, 10, 5)
ASYNC_STATS = {"id", "_a", "unfinished", "started_before"}


def end_ps(event):
    return event.start_ps + event.duration_ps


def is_whole(event):
    return not {"unfinished", "started_before"} & set(event.stats)


def read_asyncs(trace, name):
    """Checks all lines with that name, and returns the async spans on them."""
    lines = [line for line in trace.lines if line.name == name]
    check(lines, f"no line {name} among {[line.name for line in trace.lines]}")
    for line in lines:
        for event in line.events:
            equal(event.name, name, "the name of an async span")
            check({"id", "_a"} <= set(event.stats) <= ASYNC_STATS, f"stats of {event}")
        for before, after in zip(line.events, line.events[1:]):
            check(end_ps(before) <= after.start_ps, f"{before} and {after} overlap on one line")
    return [event for line in lines for event in line.events]


def check_enclosing(line, name, mark, number):
    """Checks that a span with that number surrounds the mark, unless the span began before the capture."""
    if mark is line.events[0]:
        return
    found = [e for e in line.named(name) if e.start_ps <= mark.start_ps <= end_ps(e)]
    equal(len(found), 1, f"number of spans {name} around {mark}")
    equal(found[0].stats["number"], number, f"number of the span around {mark}")


@test
def each_example_prints_its_usage(t):
    for name in ("answers", "pipeline", "prefork", "recorder", "requests"):
        done = subprocess.run([EXAMPLES / name, "--help"], capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=t.dir)
        check((done.stdout or done.stderr).startswith(f"usage: {name} "), f"{name}: {done}")
        equal(done.returncode, 0 if done.stdout else 2, f"exit status of {name}")


@test
def requests_are_followed_through_threads(t):
    _, port = start(t, [EXAMPLES / "requests"])
    trace = t.capture(port, 300).trace
    outs, ins = read_flows(trace, "job")
    check(len(ins) > 20, f"{len(ins)} flows")
    equal({line.name for line, _ in outs.values()}, {"front"}, "begins of flows")
    equal({line.name for line, _ in ins.values()}, {"worker 1", "worker 2"}, "ends of flows")
    for key in set(outs) & set(ins):
        (front, left), (worker, entered) = outs[key], ins[key]
        number = left.stats["id"]
        equal(entered.stats["id"], number, "the id at the flow's other end")
        check(left.start_ps <= entered.start_ps, f"{entered} is before {left}")
        check_enclosing(front, "take in", left, number)
        check_enclosing(worker, "work", entered, number)
    check(len(set(outs) & set(ins)) > 20, f"{len(outs)} begins, {len(ins)} ends, few with the same key")


@test
def requests_are_async_spans_from_begin_to_end(t):
    _, port = start(t, [EXAMPLES / "requests"])
    trace = t.capture(port, 300).trace
    outs, ins = ({mark.stats["id"]: mark for _, mark in ends.values()}
                 for ends in read_flows(trace, "job"))
    whole = [e for e in read_asyncs(trace, "request") if is_whole(e)]
    check(len(whole) > 20, f"{len(whole)} requests")
    for event in whole:
        check(event.start_ps <= outs[event.stats["id"]].start_ps, f"{event} begins after its flow")
        check(ins[event.stats["id"]].start_ps <= end_ps(event), f"{event} ends before its flow")
    kinds = {e.name for line in trace.threads for e in line.events if e.name.startswith("kind ")}
    equal(kinds, {"kind 0", "kind 1", "kind 2"}, "the names made at run time")
    check(trace.count("queue") > 20, "samples of the counter")


@test
def python_annotates_through_ctypes(t):
    if SANITIZERS != "no":
        raise Skip("the interpreter is not built with the sanitizer")
    words = {"first": 100, "second": 2000}
    files = t.public_dir("files")
    for name, n in words.items():
        (files / name).write_text("word " * n)
    process, port = start(t, [TOP_SRC / "docs/examples/words.py", LIBRARY, files])
    trace = t.capture(port, 300).trace
    line = trace.thread("counting")
    equal(line.id, process.pid, "the thread's id")
    rounds = line.named("round")
    check(len(rounds) > 5, f"{len(rounds)} rounds")
    numbers = [e.stats["step_num"].value for e in rounds]
    equal(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "the steps' numbers")
    # Only spans that were open at an end of the capture may lack some of their parts.
    for name in words:
        for event in [e for e in line.named(name) if is_whole(e)][1:]:
            inside = [e.name for e in line.events
                      if event.start_ps <= e.start_ps and end_ps(e) <= end_ps(event)]
            equal(sorted(inside), sorted([name, "read", "count"]), f"children of {event}")
        samples = {e.stats["value"] for c in trace.counters for e in c.named(f"words of {name}")}
        equal(samples, {("double_value", words[name])}, f"the words of {name}")


@test
def a_pipeline_of_threads_works_in_batches(t):
    files = t.public_dir("files")
    for i in range(8):
        (files / str(i)).write_text("line of text\n" * 1000)
    _, port = start(t, [EXAMPLES / "pipeline", files])
    trace = t.capture(port, 300).trace
    names = {"reader": {"batch", "load", "open", "read"}, "worker-1": {"compress", "deflate"},
             "worker-2": {"compress", "deflate"}, "writer": {"write"}}
    for thread, spans in names.items():
        found = set(trace.thread(thread).count())
        check(spans <= found, f"{thread}: {spans - found} missing among {found}")
    for event in [e for e in trace.thread("writer").named("write") if is_whole(e)]:
        equal(Path(event.stats["file"].value).parent, files, "the file that was written")
    numbers = [e.stats["step_num"].value for e in trace.thread("reader").named("batch")]
    equal(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "the steps' numbers")
    check({"queue to compress", "queue to write"} <= {c.events[0].name for c in trace.counters},
          "the counters")


@test
def a_pipeline_ends_after_its_batches(t):
    files = t.public_dir("files")
    for i in range(8):
        (files / str(i)).write_text("line of text\n" * 50)
    done = subprocess.run([EXAMPLES / "pipeline", "--no-server", "--batches", "3", files], stdout=subprocess.PIPE,
                          text=True, timeout=PATIENCE_S, check=True)
    last = done.stdout.splitlines()[-1]
    said = re.fullmatch(r"pipeline: 3 batches in ([\d.]+) ms, ([\d.]+) ms of the processor", last)
    check(said and all(float(ms) > 0 for ms in said.groups()), f"said last: {last!r}")


@test
def a_pipeline_recorded_from_start_to_end_leaves_nothing_to_warn_of(t):
    """These are the first lines of proftap run that a reader of the README sees."""
    files = t.public_dir("files")
    for i in range(8):
        (files / str(i)).write_text("line of text\n" * 50)
    recorded = running.record(t, EXAMPLES / "pipeline", "--batches", "3", files)
    equal(re.findall("warning.*", recorded.stderr), [], "warnings")
    equal(len(recorded.trace.thread("reader").named("batch")), 3, "steps")


@test
def a_recorder_shows_the_causes_of_a_slow_request(t):
    log_dir = t.dir / "runs"
    process, port = start(t, [EXAMPLES / "recorder", log_dir])
    words = re.fullmatch(r"recorder: (request (\d+) took [\d.]+ ms)", process.read_line())
    check(words, "the program printed no slow request")
    wait_until(lambda: find_traces(log_dir), "the run")
    trace = Trace(find_traces(log_dir)[0])
    equal(trace.environment["ptap_reason"].value, words[1], "the reason")
    requests = {e.stats["number"].value: e for line in trace.threads for e in line.named("request")}
    check(requests[int(words[2])].duration_ps >= 20 * 10**9, "the slow request, whole")
    check(set(range(int(words[2]))) <= set(requests), f"requests before it: {sorted(requests)}")
    look = subprocess.run([PROFTAP, "snapshot", str(port), "--last", "200", "--log_dir", t.dir / "logs"],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    check(Trace(Path(look.stdout.strip())).count("request"), "spans in a snapshot by the client")


def send_requests(port, is_over, sent):
    """Sends as many requests at a time as WAITS_MS has entries, until |is_over|, and adds their numbers to |sent|."""
    with socket.create_connection(("127.0.0.1", port)) as peer, peer.makefile() as answers:
        number = 2**63
        while not is_over():
            numbers = range(number, number + 3)
            peer.sendall("".join(f"{n} {ms}\n" for n, ms in zip(numbers, WAITS_MS)).encode())
            sent += numbers
            number += 3
            for _ in range(3):
                answers.readline()


@test
def an_event_loop_has_many_requests_under_way(t):
    _, port, request_port = start(t, [EXAMPLES / "answers"])
    capture = t.start_capture(port, 300)
    sent = []
    sender = threading.Thread(
        target=send_requests, args=(request_port, lambda: capture.popen.poll() is not None, sent))
    sender.start()
    trace = capture.finish().trace
    sender.join()
    events = read_asyncs(trace, "request")
    ids = [e.stats["id"] for e in events]
    check(len(ids) == len(set(ids)) and {("uint64_value", n) for n in sent} >= set(ids),
          f"ids {ids}")
    whole = [e for e in events if is_whole(e)]
    check(len(whole) > 10, f"{len(whole)} requests")
    for event in whole:
        shortest_ms = WAITS_MS[(event.stats["id"].value - 2**63) % 3]
        check(event.duration_ps > (shortest_ms - 1.1) * 10**9,
              f"{event} is shorter than {shortest_ms} ms")
    equal(sum(line.name == "request" for line in trace.lines), 3, "lines for three at a time")
    loop = trace.thread("loop")
    check({"turn", "read", "begin", "end"} <= set(loop.count()), f"spans {set(loop.count())}")


run()
