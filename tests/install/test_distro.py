#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that tests/distro fails where one of its steps fails, and upgrades a tree that it kept. Programs of the test stand for
those that need root or a network."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from fixture import check, contains, equal, run, test  # noqa: E402
from processes import TOP_SRC  # noqa: E402


def call(t, code, *words, **programs):
    """Runs tests/distro among programs whose commands are given by name, and returns its output."""
    for name, commands in {"id": "echo 0", **programs}.items():
        path = t.dir / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{commands}\n")
        path.chmod(0o755)
    done = subprocess.run([TOP_SRC / "tests/distro", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PATH": f"{t.dir}/bin:{os.environ['PATH']}", "PROFTAP_ROOTS": str(t.dir / "roots")})
    equal(done.returncode, code, f"the exit: {done.stdout}")
    return done.stdout


@test
def a_copy_without_files_is_not_tried(t):
    (t.dir / "roots/trixie/etc").mkdir(parents=True)
    (t.dir / "roots/trixie/root").mkdir()
    contains(call(t, 9, "trixie", git="echo no repository >&2; exit 9", unshare="echo tried"), "no repository", "output")
    missing = "printf 'no such file\\0'"
    contains(call(t, 2, "trixie", git=missing, unshare="echo tried"), "no such file", "output")


@test
def a_tree_that_was_not_completed_is_removed(t):
    output = call(t, 1, "trixie", debootstrap="mkdir -p $4/usr; echo no network; exit 1", unshare="echo tried")
    contains(output, "no network", "output")
    equal(sorted(path.name for path in (t.dir / "roots").iterdir()), ["trixie.lock", "trixie.log"], "files")


@test
def a_tree_that_was_kept_is_upgraded_before_the_demo(t):
    programs = {"git": "printf 'packages\\0'", "debootstrap": 'mkdir -p "$4/etc" "$4/root"', "mount": ":",
                "unshare": 'while [ "$1" != sh ]; do shift; done; exec "$@"',
                "chroot": f'echo "$*" >>{t.dir}/steps; ! test -e {t.dir}/broken || {{ echo no archive; exit 100; }}'}
    for steps in (["make"], ["apt-get update && apt-get dist-upgrade", "make"]):
        call(t, 0, "sid", **programs)
        done = (t.dir / "steps").read_text().splitlines()
        equal(len(done), len(steps), f"steps of {done}")
        for line, words in zip(done, steps):
            contains(line, words, "step")
        (t.dir / "steps").unlink()
    (t.dir / "broken").touch()
    contains(call(t, 1, "sid", **programs), "no archive", "output")
    check("demo" not in (t.dir / "steps").read_text(), "the demo ran in a tree that was not upgraded")


@test
def the_place_of_the_trees_is_kept_by_sudo(t):
    output = call(t, 0, "sid", id="echo 1000", sudo='echo "$@"')
    equal(output, f"-- env PROFTAP_ROOTS={t.dir}/roots {TOP_SRC.resolve()}/tests/distro sid\n", "command")


run()
