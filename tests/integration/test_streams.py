#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests standard output and error that are closed or full, and limits on files: the trace is safe, and no file that
took the number of a closed stream is written to."""
import os
import resource
import subprocess

from fake_server import FakeServer, field, space
from fixture import check, contains, equal, run, test
from processes import PROFTAP
from trace_file import Trace

MS = 20


def capture(t, *options, **how):
    """Runs proftap with streams of the test's own, against a server that answers at once."""
    port = FakeServer(t, lambda c: c.reply(field(8, space(3)))).port
    command = [PROFTAP, "capture", str(port), str(MS), "--log_dir", t.dir / "logs", *options]
    return subprocess.run(command, timeout=20, text=True, **how)


def closing(*fds):
    def close():
        for fd in fds:
            os.close(fd)
    return close


def check_trace(t):
    found = list((t.dir / "logs").rglob("*.xplane.pb"))
    equal(len(found), 1, "traces")
    equal(Trace(found[0]).count("span"), 3, "spans")
    equal(len([p for p in (t.dir / "logs").rglob("*") if p.is_file()]), 1, "files")
    return found[0]


@test
def a_full_standard_output_is_reported_with_where_the_trace_is(t):
    for options in ((), ("--json",)):
        with open("/dev/full", "w") as full:
            done = capture(t, "--run", f"run{len(options)}", *options, stdout=full,
                           stderr=subprocess.PIPE)
        equal(done.returncode, 1, "exit status")
        contains(done.stderr, "standard output: cannot write: no space left on device\n",
                 "standard error")
        path = done.stderr.split("the trace is in ")[1].strip()
        equal(Trace(path).count("span"), 3, "spans")


@test
def a_closed_standard_output_is_reported_with_where_the_trace_is(t):
    done = capture(t, preexec_fn=closing(1), stderr=subprocess.PIPE)
    equal(done.returncode, 1, "exit status")
    contains(done.stderr, "standard output: cannot write: bad file descriptor\n", "standard error")
    contains(done.stderr, f"the trace is in {check_trace(t)}\n", "standard error")


@test
def a_closed_standard_error_does_not_matter(t):
    done = capture(t, preexec_fn=closing(2), stdout=subprocess.PIPE)
    equal((done.returncode, done.stdout), (0, f"{check_trace(t)}\n"), "exit and output")


@test
def a_reader_that_went_away_does_not_take_the_trace(t):
    read_end, write_end = os.pipe()
    os.close(read_end)
    capture(t, stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    check_trace(t)


@test
def a_limit_on_files_is_an_error_like_others(t):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
    done = capture(t, preexec_fn=limit, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal((done.returncode, done.stdout), (1, ""), "exit and output")
    contains(done.stderr, "cannot write the trace: file too large; allow larger files (ulimit -f)",
             "standard error")
    check(not (t.dir / "logs").exists(), "a log directory is left")


@test
def help_that_cannot_be_printed_is_a_failure(t):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROFTAP, "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=20)
    equal((done.returncode, done.stderr),
          (1, "standard output: cannot write: no space left on device\n"), "exit and error")


run()
