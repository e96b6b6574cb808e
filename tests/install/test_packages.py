#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `packages missing` finds missing packages with any state of dpkg, which a dpkg-query of the test reports, and that the
scripts of packaging say what they need.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from fixture import Skip, check, contains, equal, run, test  # noqa: E402
from processes import TOP_SRC  # noqa: E402

# A package of dpkg: name, architecture, what is wanted, its error, its state. FOREIGN and REMOVED do not
# count as installed, the other three do.
FOREIGN = "zlib1g-dev arm64 install ok installed"
REMOVED = "zlib1g-dev amd64 deinstall ok config-files"
NATIVE = "zlib1g-dev amd64 install ok installed"
HELD = "zlib1g-dev amd64 hold ok installed"
INDEPENDENT = "zlib1g-dev all install ok installed"
# This dpkg-query knows the fields of a row, and like the real one it fails if a package has no row.
QUERY = """#!/bin/sh
# dpkg-query -W -f FORMAT PACKAGE...
while read -r package architecture wanted error state; do
	case " $* " in
	*" $package "*) text=$3 ;;
	*) continue ;;
	esac
	for field in "Package=$package" "Architecture=$architecture" "Status=$wanted $error $state" "db:Status-Status=$state"; do
		text=$(printf '%s' "$text" | sed "s/[$]{${field%%=*}}/${field#*=}/")
	done
	printf "$text"
done <<ROWS
ROWS
[ $# -eq 4 ] && [ -n "${text:-}" ]
"""


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def list_missing(t, *rows):
    """Returns the words of `packages missing build` after its first colon."""
    write_program(t.dir / "dpkg-query", QUERY.replace("<<ROWS\n", "<<ROWS\n" + "".join(f"{row}\n" for row in rows)))
    write_program(t.dir / "dpkg", '#!/bin/sh\n[ "$1" = --print-architecture ] && echo amd64\n')
    done = subprocess.run([TOP_SRC / "packages", "missing", "build"], text=True, capture_output=True,
                          env={**os.environ, "PATH": f"{t.dir}:{os.environ['PATH']}"})
    equal(done.returncode, 1, f"the exit, with {rows}: {done.stderr}")
    contains(done.stdout, "missing packages: ", "the output")
    return done.stdout.splitlines()[0].split()[2:]


@test
def package_for_this_machine_counts_as_installed(t):
    for rows in ((NATIVE,), (NATIVE, FOREIGN), (FOREIGN, NATIVE), (HELD,), (INDEPENDENT,)):
        missing = list_missing(t, *rows)
        check("zlib1g-dev" not in missing and "gcc" in missing, f"{rows}: {missing}")


@test
def package_for_another_machine_counts_as_missing(t):
    for rows in ((), (FOREIGN,), (REMOVED,), (REMOVED, FOREIGN)):
        check("zlib1g-dev" in list_missing(t, *rows), f"{rows}")


@test
def all_targets_of_a_call_get_their_packages(t):
    if not (TOP_SRC / ".ci").exists():
        raise Skip("only a checkout has the Makefile that installs packages")
    shutil.copy(TOP_SRC / "Makefile", t.dir)
    (t.dir / "build/tests").mkdir(parents=True)
    (t.dir / "tests").mkdir()
    for name in ("configure.ac", "configure", "build/config.status"):
        (t.dir / name).touch()
    (t.dir / "build/Makefile").write_text("demo check:\n")
    for name, commands in (("packages", 'echo "$@" >>installed'), ("tests/lists", ":"), ("tests/tally", ":")):
        write_program(t.dir / name, f"#!/bin/sh\n{commands}\n")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(["make", "demo", "check"], cwd=t.dir, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal(done.returncode, 0, f"the exit: {done.stdout}")
    equal((t.dir / "installed").read_text(), "install build check\n", "calls of packages")


@test
def scripts_of_packaging_say_what_they_need(t):
    for name, code, reason in (("deb/build", 2, "usage: "), ("deb/check", 1, "`make check-deb` makes one"),
                               ("image/build", 2, "usage: "), ("image/check", 1, "`make image` builds it"),
                               ("image/collect", 2, "usage: "), ("rpm/build", 2, "usage: "), ("rpm/check", 1, "`make rpm` builds them")):
        done = subprocess.run([TOP_SRC / "packaging" / name], cwd=t.dir, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        equal((done.returncode, done.stdout.count("\n")), (code, 1), f"{name}: exit, and lines of {done.stdout}")
        contains(done.stdout, reason, name)
        equal(list(t.dir.iterdir()), [], "files")


run()
