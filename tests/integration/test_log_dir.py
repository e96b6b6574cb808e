#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log directory that cannot take the file: said before the recording; nothing half is left."""
import os

import small_disk
from fake_server import FakeServer, field, space
from fixture import NOBODY, check, contains, equal, need_root, run, test

# A recording that should not have begun would take this long.
LONG_MS = 15000


def check_early(capture):
    check(capture.elapsed_s < LONG_MS / 2000, f"failed only after {capture.elapsed_s} s")
    equal(capture.stdout, "", "standard output")


@test
def an_unwritable_one_fails_before_the_recording(t):
    need_root()
    log_dir = t.dir / "forbidden"
    log_dir.mkdir(mode=0o755)
    target = t.target().serve(0, 0, 1)
    capture = t.capture(target, LONG_MS, code=1, log_dir=log_dir, user=NOBODY,
                        program=t.public_proftap())
    check_early(capture)
    contains(capture.stderr, f"{log_dir}/plugins: cannot make the directory: permission denied; ",
             "standard error")
    equal(capture.left(), [], "what is left")


@test
def a_file_in_the_place_of_the_directory_fails_before_the_recording(t):
    path = t.dir / "file"
    path.write_text("a file")
    target = t.target().serve()
    capture = t.capture(target, LONG_MS, code=1, log_dir=path)
    check_early(capture)
    contains(capture.stderr, f"{path}: cannot be used: not a directory; ", "standard error")
    equal(path.read_text(), "a file", "the file")


@test
def missing_parents_are_made_and_go_again_with_nothing_to_keep(t):
    log_dir = t.dir / "a" / "b" / "c"
    port = FakeServer(t, lambda c: c.reply(field(8, space(0)))).port
    t.capture(port, 1, log_dir=log_dir, code=3)
    equal([p.name for p in t.dir.iterdir()], [], "what is left")
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
    equal(capture.left(), [], "what is left")
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
    """Of the run's files one appears when nothing can be asked any more, and a second one with the next name."""
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
