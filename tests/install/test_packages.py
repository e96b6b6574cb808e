#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `packages missing` finds missing packages with any state of dpkg. A dpkg-query of the test reports the state."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from fixture import check, contains, equal, run, test  # noqa: E402
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


run()
