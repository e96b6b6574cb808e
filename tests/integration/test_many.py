#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests captures of many targets: they begin at one instant, and write one run with a file each."""
import json
import re
import signal
import socket
import time

from checks import not_void
from clocked_server import ClockedServer
from fixture import check, contains, equal, find_proftapd, run, staged, test, wait_until
from processes import PROFTAP, Process, halt
from pulses import Pulses
from trace_file import Trace, schema

MS_NS = 10**6
# A longer delay is reported.
ALLOWED_LATE_NS = MS_NS
N_TRIES = 20


def join(targets):
    return ",".join(f"127.0.0.1:{target.port}" for target in targets)


def record(t, targets, ms):
    """Begins a capture of all of them, and returns it when it records."""
    start = time.time_ns() + 500 * MS_NS
    capture = t.start_capture(join(targets), ms, "--start_timestamp_ns", start)
    for target in targets:
        target.ask("await 1")
    wait_until(lambda: time.time_ns() > start, "the instant")
    return capture


def read_options(path):
    """Returns the options of a trace, and its window in Unix ns."""
    environment = Trace(path).environment
    options = schema("profiler_options").ProfileOptions.FromString(environment["profile_options"].value)
    return options, environment["profile_start_time"].value, environment["profile_stop_time"].value


@test
def targets_are_one_run_with_a_file_each(t):
    targets = [t.target().serve() for _ in range(3)]
    capture = record(t, targets, 300)
    for n, target in enumerate(targets, 1):
        target.ask(f"burst {n}")
    capture.finish()
    paths = capture.stdout.splitlines()
    directory, = {path.rsplit("/", 1)[0] for path in paths}
    host = socket.gethostname()
    equal([path.rsplit("/", 1)[1] for path in paths],
          [f"{host}_{target.port}.xplane.pb" for target in targets], "files")
    equal([Trace(path).host_stat("process_id") for path in paths], [target.pid for target in targets],
          "pids of the recorded programs")
    equal({read_options(path)[0].session_id for path in paths}, {directory.rsplit("/", 1)[1]},
          "sessions")
    equal(capture.stderr.splitlines()[0], "captured 3 of 3 targets", "the headline")
    for target in targets:
        check(re.search(rf"^127\.0\.0\.1:{target.port}: \d+ ms of target \(pid {target.pid}\) · spans \d",
                        capture.stderr, re.M), f"the summary: {capture.stderr!r}")


def check_windows(capture, n_targets):
    """Checks that all targets got the same instant, and that delays are reported."""
    result = json.loads(capture.stdout)
    equal((result["captured"], result["failed"], len(result["files"])), (n_targets, 0, n_targets),
          "targets")
    for target in result["targets"]:
        options, start, stop = read_options(target["file"])
        equal(options.start_timestamp_ns, result["start_unix_ns"], "the instant that was asked for")
        late = start - options.start_timestamp_ns
        check(late >= 0, f"{target['target']}: began {-late} ns too early")
        check(late <= target["start_late_ns"], f"{late} ns late: {target['start_late_ns']} are reported")
        equal(stop - start, options.duration_ms * 1000000, f"{target['target']}: the window in ns")
        is_told = any(words in w for w in target["warnings"]
                      for words in ("machine was too busy to begin", "after the agreed instant"))
        equal(is_told, target["start_late_ns"] > ALLOWED_LATE_NS, f"{target['start_late_ns']} ns late: whether a warning says so")


def find_firsts(t, targets, pulses):
    """Captures all targets once, and returns [(when it could record, when its first event began)] for each target, in ns
    since the agreed instant."""
    result = json.loads(t.capture(join(targets), 100, "--json").stdout)
    found = []
    for part, own in zip(result["targets"], pulses, strict=True):
        late, first = own.check_start(Trace(part["file"]), result["start_unix_ns"])
        equal(part["start_late_ns"], late, "how late it was, for scripts")
        found.append((late, first))
    return found


@staged
def all_record_from_the_agreed_instant_on(t):
    targets = [t.target().serve() for _ in range(3)]
    pulses = [Pulses(t, target) for target in targets]
    found = []
    # A target on a busy machine can be late, and reports that.
    while len(found) < N_TRIES and (
            not found or any(late or first > ALLOWED_LATE_NS for late, first in found[-1])):
        found.append(find_firsts(t, targets, pulses))
    not_void(len(found) < N_TRIES, f"(late, first event) in ns: {found}")


@test
def sixty_four_windows_are_the_same(t):
    targets = [t.target() for _ in range(64)]
    for target in targets:
        target.send("start 0")
    for target in targets:
        target.port = int(target.read_line().split()[1])
    check_windows(t.capture(join(targets), 20, "--json"), 64)


@test
def ranges_stand_for_targets(t):
    targets = [t.target().serve() for _ in range(2)]
    ports = sorted(target.port for target in targets)
    capture = t.capture(f"127.0.0.1:[{ports[0]},{ports[1]}]", 20)
    equal(capture.stderr.splitlines()[0], "captured 2 of 2 targets", "the headline")
    # A list of one target is reported like a single target.
    capture = t.capture(f"127.0.0.1:[{targets[0].port}]", 20)
    contains(capture.stderr.splitlines()[0], f"of target (pid {targets[0].pid}) at ", "the headline")


@test
def targets_come_from_a_file(t):
    targets = [t.target().serve() for _ in range(3)]
    path = t.dir / "targets"
    path.write_text(f"# two\n127.0.0.1:{targets[0].port}\n\n{targets[1].port} # bare\n")
    capture = t.capture("--targets", path, 20)
    equal(len(capture.stdout.splitlines()), 2, "files of a file alone")
    capture = t.capture("--targets", path, f"127.0.0.1:{targets[2].port}", 20)
    equal(len(capture.stdout.splitlines()), 3, "files of a file and a word")
    capture = t.capture("--targets", path, "--duration_ms", 20)
    equal(len(capture.stdout.splitlines()), 2, "files with an option for the duration")


@test
def targets_come_from_standard_input(t):
    target = t.target().serve()
    capture = t.keep(Process("proftap", ["sh", "-c", f"echo {target.port} | exec \"$@\"", "sh", PROFTAP,
                                         "capture", "--targets", "-", 20, "--log_dir", t.dir / "in"]))
    equal(capture.wait(), 0, "exit status")


@test
def two_names_of_one_target_are_refused(t):
    target = t.target().serve()
    for other in (f"localhost:{target.port}", str(target.pid)):
        c = t.capture(f"127.0.0.1:{target.port},{other}", 60000, "--wait", code=2)
        contains(c.stderr, ": the same target as ", f"the sentence for {other}")


@test
def one_interrupt_ends_all_early_with_their_data(t):
    targets = [t.target().serve() for _ in range(2)]
    capture = record(t, targets, 60000)
    for target in targets:
        target.ask("burst 7")
    capture.signal(signal.SIGINT)
    capture.finish()
    equal([Trace(path).count("burst") for path in capture.stdout.splitlines()], [7, 7], "spans")
    equal(capture.warnings.count("interrupted: the recording was ended early"), 2, "warnings")


@test
def two_interrupts_leave_nothing(t):
    targets = [t.target().serve() for _ in range(2)]
    capture = record(t, targets, 60000)
    # The servers cannot answer the first interrupt before the second.
    servers = [find_proftapd(target.pid) for target in targets]
    for server in servers:
        halt(server)

    def interrupt():
        capture.signal(signal.SIGINT)
        return capture.popen.poll() is not None
    wait_until(interrupt, "the client to give up")
    capture.finish(130)
    equal((capture.stdout, capture.left()), ("", []), "standard output and what is left")
    equal(capture.stderr.count("interrupted twice: nothing was written"), 2, "sentences")


@test
def hosts_of_one_name_get_different_files(t):
    first = ClockedServer(t, 0)
    second = ClockedServer(t, 0, address="127.0.0.2", port=first.port)
    capture = t.capture(f"127.0.0.1:{first.port},127.0.0.2:{second.port}", 20)
    names = {path.rsplit("/", 1)[1] for path in capture.stdout.splitlines()}
    equal(names, {f"fake_{first.port}.xplane.pb", f"fake_{first.port}_2.xplane.pb"}, "files")


@test
def host_name_takes_one_name_for_each_target(t):
    servers = [ClockedServer(t, 0) for _ in range(2)]
    capture = t.capture(join(servers), 20, "--host_name", "left,right")
    equal([path.rsplit("/", 1)[1] for path in capture.stdout.splitlines()],
          ["left.xplane.pb", "right.xplane.pb"], "files")
    equal([server.requests[0].opts.override_hostname for server in servers], ["left", "right"],
          "the name that the server is told")


@test
def a_target_that_is_busy_is_waited_for_by_all(t):
    targets = [t.target().serve() for _ in range(2)]
    busy = t.begin(targets[1])
    # The capture is longer than a refusal takes. A target that has its file is not recorded again.
    capture = t.start_capture(join(targets), 300, "--wait", "--json")
    wait_until(lambda: any("(waiting)" in line for line in capture.err), "the client to wait")
    t.stop(targets[1], busy)
    check_windows(capture.finish(), 2)
    contains(capture.stderr, f"127.0.0.1:{targets[1].port}: busy: ", "standard error")


run()
