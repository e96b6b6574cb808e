#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests log directories that cannot take the file: the error comes before the recording, and
no partial file remains."""
import os
import subprocess

import small_disk
from fake_server import FakeServer, field, space
from fixture import NOBODY, check, contains, equal, need_root, run, test
from processes import PROFTAP, PROFTAPD

# A recording that should not have begun would take this long.
LONG_MS = 15000


def check_early(capture):
    check(capture.elapsed_s < LONG_MS / 2000, f"failed only after {capture.elapsed_s} s")
    equal(capture.stdout, "", "standard output")


@test
def an_unwritable_directory_fails_before_the_recording(t):
    need_root()
    log_dir = t.dir / "forbidden"
    log_dir.mkdir(mode=0o755)
    target = t.target().serve(0, 0, 1)
    capture = t.capture(target, LONG_MS, code=1, log_dir=log_dir, user=NOBODY,
                        program=t.public_proftap())
    check_early(capture)
    contains(capture.stderr, f"{log_dir}/plugins: cannot make the directory: permission denied; ",
             "standard error")
    equal(capture.left(), [], "remaining files")


@test
def a_file_in_the_place_of_the_directory_fails_before_the_recording(t):
    path = t.dir / "file"
    path.write_text("a file")
    target = t.target().serve()
    capture = t.capture(target, LONG_MS, code=1, log_dir=path)
    check_early(capture)
    contains(capture.stderr, f"{path}: cannot be used: not a directory; ", "standard error")
    equal(path.read_text(), "a file", "the file")


LOCAL_ONLY = "a URL, and files are written to local directories only; give a path, and copy the run from there"
URLS = {"s3://bucket/x": LOCAL_ONLY, "gs://bucket": LOCAL_ONLY, "http://host/x": LOCAL_ONLY,
        "abfs+ssl.1://x": LOCAL_ONLY, "file://host/x": LOCAL_ONLY,
        "file:///x/y": "a URL, and files are written to a path; give the path alone: /x/y"}


@test
def a_url_is_no_directory(t):
    """mkdir() would silently make a directory "s3:" in the program's working directory."""
    target = t.target().serve()
    work = t.dir / "work"
    work.mkdir()

    def fails(url, words, code, *command, **env):
        done = subprocess.run([str(word) for word in command], env={**os.environ, **env}, cwd=work, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        equal(done.returncode, code, f"status of {command}: {done.stderr}")
        contains(done.stderr, f"{url}: {words}", f"standard error of {command}")
        equal(list(work.iterdir()), [], f"remaining files after {command}")

    for url, words in URLS.items():
        fails(url, words, 1, PROFTAP, "capture", target.port, LONG_MS, "--log_dir", url)
        fails(url, words, 1, PROFTAP, "capture", target.port, LONG_MS, PROFTAP_LOG_DIR=url)
        fails(url, words, 1, PROFTAP, "snapshot", target.port, "--log_dir", url)
        fails(url, words, 1, PROFTAP, "stop", target.port, "--log_dir", url)
        fails(url, words, 125, PROFTAP, "run", "--log_dir", url, "--", "/bin/true")
        fails(url, words, 2, PROFTAPD, "--host", "--config", "/dev/null", "--log_dir", url)
        equal(target.ask(f"trace_start {url}"), "-22", "ptap_trace_start")
        contains(target.ask("error"), f"ptap_trace_start: {url}: {words}", "ptap_last_error")
        other = t.target()
        equal(other.ask(f"start 0 0 0 127.0.0.1 0 0 {url}").split()[:2], ["-22", "0"], "ptap_server_start_with")
        contains(other.ask("error"), f"log_dir: {url}: {words}", "ptap_last_error")
    t.capture(target, 10, log_dir=work / "s3:" / "x")


@test
def missing_parents_are_made_and_go_again_with_nothing_to_keep(t):
    log_dir = t.dir / "a" / "b" / "c"
    port = FakeServer(t, lambda c: c.reply(field(8, space(0)))).port
    t.capture(port, 1, log_dir=log_dir, code=3)
    equal([p.name for p in t.dir.iterdir()], [], "remaining files")
    port = FakeServer(t, lambda c: c.reply(field(8, space(3)))).port
    capture = t.capture(port, 1, log_dir=log_dir)
    check(capture.path.is_relative_to(log_dir), f"{capture.path} is not in {log_dir}")


@test
def a_full_disk_leaves_nothing(t):
    log_dir = small_disk.mount(t)
    target = t.target().serve()
    capture = t.begin(target, log_dir=log_dir)
    target.ask("cycle 20000")
    t.stop(target, capture, code=1)
    contains(capture.stderr, "no space left on device; free some space", "standard error")
    equal(capture.stdout, "", "standard output")
    equal(capture.left(), [], "remaining files")
    second = t.emit(target, 200, "burst 10", log_dir=log_dir)
    equal(second.trace.count("burst"), 10, "spans of a capture that fits")


@test
def a_published_file_is_never_touched_again(t):
    target = t.target().serve()
    log_dir = t.dir / "logs"
    first = t.emit(target, 200, "burst 10", options=("--run", "mine"), log_dir=log_dir)
    before = first.path.read_bytes()
    second = t.capture(target, LONG_MS, "--run", "mine", code=1, log_dir=log_dir)
    check_early(second)
    contains(second.stderr, f"{first.path}: exists already", "standard error")
    equal(first.path.read_bytes(), before, "the file")
    equal(os.listdir(first.path.parent), [first.path.name], "the run")


@test
def a_name_that_is_taken_while_it_records_costs_nothing(t):
    """The first name of the file is taken after the client's check, and so is the second one."""
    target = t.target().serve()
    run_dir = t.dir / "logs" / "plugins" / "profile" / "mine"
    capture = t.begin(target, "--run", "mine", "--host_name", "me", log_dir=t.dir / "logs")
    for name in ("me.xplane.pb", "me_2.xplane.pb"):
        (run_dir / name).write_text(f"another's {name}")
    target.ask("burst 10")
    t.stop(target, capture)
    equal(capture.path, run_dir / "me_3.xplane.pb", "the file")
    equal(capture.trace.count("burst"), 10, "spans")
    capture.find_warning("the run had a file me already when the recording was over: this trace is called me_3")
    for name in ("me.xplane.pb", "me_2.xplane.pb"):
        equal((run_dir / name).read_text(), f"another's {name}", name)
    equal(len(list(run_dir.iterdir())), 3, "files")


run()
