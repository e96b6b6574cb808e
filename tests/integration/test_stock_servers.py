#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The client with the servers of JAX and TensorFlow: what they are asked, what they keep, and what is tried again."""
import json
import os
import subprocess
import time

from fake_server import FakeServer, field, space
from fixture import check, contains, equal, run, schema, test
from processes import PROFTAP

MS = 20
BUSY = "Another profiling session active."


def serve(t, script, requests=None, methods=None, **how):
    """|script| answers; what it is asked goes into the lists."""
    def answer(c):
        if requests is not None:
            requests.append(schema("profiler_service").ProfileRequest.FromString(c.bodies[c.stream][5:]))
        if methods is not None:
            methods.append(c.method())
        script(c)
    return FakeServer(t, answer, **how)


def ask(t, *options):
    """The request of a capture with |options|, and the directory that it was to go to."""
    requests = []
    c = t.capture(serve(t, lambda c: c.reply(field(8, space())), requests), MS, *options)
    return requests[0], c.path.parent


@test
def they_are_asked_for_the_data_in_all_their_words(t):
    request, run_dir = ask(t, "--delay", "5")
    check(request.emit_xspace, "it was not asked for the data")
    equal((request.duration_ms, request.opts.duration_ms), (MS, MS), "durations")
    equal((request.session_id, request.opts.session_id), (run_dir.name, run_dir.name), "session ids")
    equal(request.repository_root, str(run_dir.parent.resolve()), "the repository")
    equal(request.opts.version, 1, "the options' version: 0 would mean defaults")
    late_ms = (request.opts.start_timestamp_ns - time.time_ns()) / 1e6
    check(-60000 < late_ms < 5, f"the start is {late_ms} ms ahead")


@test
def both_spellings_of_the_hosts_name_are_understood_and_sent(t):
    for options in (("--host_name", "a"), ("-o", "override_hostname=a"), ("--override-hostnames", "a")):
        request, _ = ask(t, *options)
        sent = request.opts.advanced_configuration
        equal((request.opts.override_hostname, sent["override_hostname"].string_value, len(sent)),
              ("a", "a", 1), f"the name with {options}")


@test
def a_trace_that_they_keep_is_said_with_its_path(t):
    os.chdir(t.dir)
    t.at_end.append(lambda: os.chdir("/"))
    c = t.capture(serve(t, lambda c: c.reply(b"")), MS, "--run", "mine", code=1, log_dir="logs")
    contains(c.stderr, "the server kept the trace: it wrote it to its own disk, under "
             f"{t.dir.resolve()}/logs/plugins/profile/mine of that machine\n", "standard error")
    equal(c.stdout, "", "standard output")


@test
def they_write_by_themselves_when_told_to(t):
    requests, methods = [], []
    server = serve(t, lambda c: c.reply(b""), requests, methods, unknown=None)
    log_dir = t.dir / "logs"
    c = t.capture(server, MS, "--server-writes", "--run", "mine", log_dir=log_dir)
    equal((methods, requests[0].emit_xspace), (["Profile"], False), "what was asked")
    place = f"{log_dir.resolve()}/plugins/profile/mine"
    equal(f"{requests[0].repository_root}/{requests[0].session_id}", place, "where to")
    contains(c.stderr, f"the server kept the trace: it wrote it to its own disk, under {place} of", "said")
    equal((c.stdout, c.left()), ("", []), "standard output and what is left")
    result = json.loads(t.capture(server, MS, "--server_writes", "--run", "mine", "--json",
                                  log_dir=log_dir).stdout)
    equal((result["exit"], result["file"], result["files"], result["server_dir"]), (0, None, [], place), "JSON")


@test
def some_write_by_themselves_and_some_send_it(t):
    kept = serve(t, lambda c: c.reply(b""))
    ours = t.target().serve()
    c = t.start_capture(f"{kept.port},{ours.port}", 100, "--server_writes")
    ours.ask("await 1", "pass_early", "burst 10")
    c.finish()
    contains(c.stderr, "captured 2 of 2 targets\n", "the headline")
    contains(c.stderr, f"127.0.0.1:{kept.port}: the server kept the trace: ", "the one that wrote")
    equal(c.trace.count("burst"), 10, "spans of the one that did not")


@test
def where_they_are_to_write_must_be_said(t):
    done = subprocess.run([PROFTAP, "capture", "h:1", str(MS), "--server_writes"], capture_output=True, text=True)
    equal(done.returncode, 2, "exit status")
    contains(done.stderr, "--server_writes needs --log_dir", "standard error")


@test
def what_can_get_better_is_tried_again_with_growing_pauses(t):
    times = []

    def script(c):
        times.append(time.monotonic())
        if len(times) < 3:
            c.fail(13, BUSY)
        else:
            c.reply(field(8, space()))
    c = t.capture(serve(t, script), MS, "--attempts", "3")
    equal(len(times), 3, "attempts")
    pauses = [later - sooner for sooner, later in zip(times, times[1:])]
    check(pauses[0] >= 0.5 and pauses[1] >= 1, f"pauses: {pauses}")
    for i in (1, 2):
        contains(c.stderr, f" (attempt {i} of 3)\n", "standard error")


@test
def so_is_what_is_too_much_at_the_moment(t):
    for status in (8, 14):
        methods = []
        t.capture(serve(t, lambda c: c.fail(status, "later"), methods=methods), MS, "--attempts", "2",
                  code=1)
        equal(methods, ["Profile"] * 2, f"calls that were answered with {status}")


@test
def what_cannot_get_better_is_not(t):
    for status in (3, 5, 7, 12, 13, 16):
        methods = []
        t.capture(serve(t, lambda c: c.fail(status, "no"), methods=methods), MS, "--attempts", "3",
                  code=5 if status == 12 else 1)
        equal(methods, ["Profile"], f"calls that were answered with {status}")


run()
