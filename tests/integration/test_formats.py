#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap capture --format and --perfetto_link, which convert or serve a trace as soon as it is written."""
import json
import re
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

from calls import Calls
from checks import PATIENCE_S
from fixture import LONG_MS, SESSION, check, contains, equal, free_port, run, test, wait_until
from processes import PROFTAP, halt
from trace_file import Trace

SUFFIXES = {"perfetto": ".pftrace", "pprof": ".pprof", "chrome": ".trace.json.gz",
            "csv-summary": "_summary.csv", "csv": ".csv", "ndjson": ".ndjson", "sqlite": ".sqlite"}
STEM = "x.xplane.pb"
# "flood N" emits twice as many spans. Their conversion takes a while.
N_FLOOD = 200_000


def record(t, *options, **how):
    target = t.target().serve()
    return t.capture(target, 50, "--run", "a", "--host_name", "x", *options, **how)


def check_conversions(t, trace, files, forms):
    """Checks that |files| are conversions of |trace|, in the order of |forms|, under its stem and
    as convert writes them."""
    stem = str(trace).removesuffix(".xplane.pb")
    equal(files, [stem + SUFFIXES[form] for form in forms], "converted files")
    for form, file in zip(forms, files):
        expected = t.dir / f"expected{SUFFIXES[form]}"
        subprocess.run([PROFTAP, "convert", "-o", expected, trace], check=True, capture_output=True)
        equal(Path(file).read_bytes(), expected.read_bytes(), f"bytes of {file}")


@test
def other_formats_lie_beside_the_trace(t):
    capture = record(t, "--format", "perfetto,xspace,pprof", "--format", "chrome,csv-summary" + 20 * ",pprof")
    trace, *files = capture.stdout.splitlines()
    check(trace.endswith(f"/a/{STEM}") and Trace(trace), f"first path {trace}")
    check_conversions(t, trace, files, ["perfetto", "pprof", "chrome", "csv-summary"])


@test
def without_other_formats_only_the_xspace_is_written(t):
    for options in ((), ("--format", "xspace"), ("--no_perfetto_link",)):
        log_dir = t.dir / f"logs{len(options)}{options[-1:]}"
        capture = record(t, *options, log_dir=log_dir)
        equal([path.name for path in capture.path.parent.iterdir()], [STEM], "files")


@test
def json_lists_the_converted_files(t):
    said = json.loads(record(t, "--json", "--format", "pprof").stdout)
    check_conversions(t, said["file"], said["converted"], ["pprof"])
    equal(json.loads(record(t, "--json").stdout)["converted"], [], "without")


@test
def each_of_many_traces_has_its_own_conversions(t):
    targets = ",".join(str(t.target().serve().port) for _ in range(2))
    capture = t.capture(targets, 50, "--format", "perfetto,pprof")
    files = capture.stdout.splitlines()
    equal(len(files), 6, "files")
    for i in (0, 3):
        check_conversions(t, files[i], files[i + 1:i + 3], ["perfetto", "pprof"])
    said = json.loads(t.capture(targets, 50, "--format", "pprof", "--json").stdout)
    equal([len(said["files"]), len(said["converted"])], [2, 2], "files")


@test
def snapshot_and_stop_write_other_formats_too(t):
    target = t.target().serve()
    subprocess.run([PROFTAP, "start", str(target.port)], check=True, capture_output=True)
    for number, command in enumerate(("snapshot", "stop")):
        done = subprocess.run([PROFTAP, command, str(target.port), "--log_dir", t.dir / f"logs{number}",
                               "--format", "perfetto"], check=True, capture_output=True, text=True)
        trace, *files = done.stdout.splitlines()
        check_conversions(t, trace, files, ["perfetto"])


@test
def failed_conversion_is_a_warning(t):
    log_dir = t.dir / "logs"
    (log_dir / "plugins/profile/a/x.pftrace").mkdir(parents=True)
    capture = record(t, "--format", "perfetto,pprof", log_dir=log_dir)
    contains(capture.find_warning("not written as perfetto: ", "x.pftrace: cannot write: "), "director", "warning")
    trace, *files = capture.stdout.splitlines()
    check_conversions(t, trace, files, ["pprof"])


@test
def events_that_a_format_cannot_express_are_a_warning(t):
    target = t.target().serve()
    capture = t.emit(target, 50, "count rows 1", options=("--format", "pprof"))
    capture.find_warning("pprof cannot express", "counter")


@test
def words_that_are_no_format_are_refused(t):
    for options, sentence in ((("--format", "perfetto,bogus"), '--format: bad value "bogus": must be chrome, '),
                              (("--format", "bogus"), "; or xspace"),
                              (("--perfetto_link", "--no_perfetto_link"), "exclude each other"),
                              (("--server_writes", "--format", "pprof"), "--server_writes excludes")):
        contains(t.capture(1, 50, *options, code=2).stderr, sentence, f"{options}")


def find_unfinished(run_dir):
    """The files that are being written, except the trace itself, which is written first."""
    return [path for path in run_dir.glob(".x.*") if not path.name.startswith(f".{STEM}")]


def halt_in_conversion(capture, run_dir):
    """Stops the client while a converted file is incomplete. Several formats leave enough time for that."""
    wait_until(lambda: find_unfinished(run_dir), "a conversion to begin")
    halt(capture.pid)
    while not find_unfinished(run_dir):
        capture.signal(signal.SIGCONT)
        wait_until(lambda: find_unfinished(run_dir), "the next conversion")
        halt(capture.pid)


def check_interrupted(t, capture, forms):
    """Checks that incomplete files are gone, that missing ones are reported, and that the trace is there."""
    trace, *files = capture.stdout.splitlines()
    n = len(files)
    check(n < len(forms), "all was converted")
    check_conversions(t, trace, files, forms[:n])
    for form in forms[n:]:
        capture.find_warning(f"not written as {form}: interrupted")
    equal({path.name for path in Path(trace).parent.iterdir()}, {Path(path).name for path in (trace, *files)}, "files")


@test
def an_interrupt_ends_conversions_and_keeps_the_data(t):
    forms = ["sqlite", "chrome", "csv", "ndjson", "perfetto", "pprof"]
    link = ("--perfetto_link", "--perfetto_port", str(free_port()))
    for number, options in ((signal.SIGINT, ()), (signal.SIGTERM, link)):
        target = t.target().serve()
        capture = t.begin(target, "--run", "a", "--host_name", "x", "--format", ",".join(forms), *options)
        target.ask(f"flood {N_FLOOD}")
        with Calls(target) as calls:
            calls.terminate(SESSION)
        halt_in_conversion(capture, capture.log_dir / "plugins/profile/a")
        capture.signal(number)
        capture.signal(signal.SIGCONT)
        check_interrupted(t, capture.finish(), forms)
        check("ui.perfetto.dev" not in capture.stderr, "the client made a link in spite of the interrupt")


@test
def interrupt_after_the_recording_ends_conversions_of_all_targets(t):
    """An earlier interrupt has ended the recording."""
    targets = [t.target().serve() for _ in range(2)]
    for target in targets:
        target.send("await 1")
    capture = t.start_capture(",".join(str(target.port) for target in targets), LONG_MS, "--host_name", "x,y",
                              "--run", "a", "--format", "sqlite,chrome,csv,ndjson")
    for target in targets:
        equal(target.read_line(), "recording", "the target")
    targets[0].ask(f"flood {N_FLOOD}")
    capture.signal(signal.SIGINT)
    halt_in_conversion(capture, capture.log_dir / "plugins/profile/a")
    capture.signal(signal.SIGINT)
    capture.signal(signal.SIGCONT)
    files = capture.finish().stdout.splitlines()
    equal([Path(path).name for path in files if path.endswith(".xplane.pb")], ["x.xplane.pb", "y.xplane.pb"], "traces")
    check(len(files) < 10, "all was converted")
    capture.find_warning("not written as ndjson: interrupted")
    equal({path.name for path in Path(files[0]).parent.iterdir()}, {Path(path).name for path in files}, "files")


@test
def an_interrupt_ends_the_making_of_a_link(t):
    """The link is not served, whether the interrupt comes while the link is made or before."""
    target = t.target().serve()
    port = free_port()
    capture = t.begin(target, "--perfetto_link", "--perfetto_port", str(port))
    target.ask(f"flood {N_FLOOD}")
    with Calls(target) as calls:
        calls.terminate(SESSION)
    wait_until(lambda: capture.out, "the path of the trace")
    capture.signal(signal.SIGINT)
    check(capture.finish().path.stat().st_size > 0, "the trace is gone")


def await_link(capture):
    """Returns the URL of the link, once the command has printed it."""
    def find():
        return re.search(r"^https://ui\.perfetto\.dev/#!/\?url=(http://127[^&\n]*)", "".join(capture.err), re.M)

    wait_until(find, "the link")
    return find()[1]


def start_with_link(t, target, port):
    return t.start_capture(target, 50, "--perfetto_link", "--perfetto_port", str(port))


@test
def a_link_is_served_until_it_was_followed(t):
    capture = start_with_link(t, t.target().serve(), free_port())
    with urllib.request.urlopen(await_link(capture), timeout=PATIENCE_S) as reply:
        data = reply.read()
    capture.finish()
    expected = t.dir / "expected.pftrace"
    subprocess.run([PROFTAP, "convert", "-o", expected, capture.path], check=True, capture_output=True)
    equal(data, expected.read_bytes(), "bytes")
    equal([path.suffix for path in capture.path.parent.iterdir()], [".pb"], "files")


@test
def a_link_of_many_targets_is_one(t):
    targets = ",".join(str(t.target().serve().port) for _ in range(2))
    capture = start_with_link(t, targets, free_port())
    url = await_link(capture)
    capture.signal(signal.SIGINT)
    traces = capture.finish().stdout.splitlines()
    equal(len(traces), 2, "traces")
    contains(url, f"/{Path(traces[0]).parent.name}.pftrace", "the link")


@test
def an_interrupt_ends_the_link_and_keeps_the_data(t):
    for number in (signal.SIGINT, signal.SIGTERM):
        capture = start_with_link(t, t.target().serve(), free_port())
        await_link(capture)
        capture.signal(number)
        Trace(capture.finish().path)


@test
def a_link_that_cannot_be_served_is_a_warning(t):
    with socket.create_server(("127.0.0.1", 0)) as s:
        capture = start_with_link(t, t.target().serve(), s.getsockname()[1]).finish()
    capture.find_warning("no link: ", "address in use", "another with --perfetto_port (")
    Trace(capture.path)


run()
