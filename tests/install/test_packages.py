#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `packages missing` finds missing packages with any state of dpkg, which a dpkg-query of the test reports, that the
source package of Debian asks for the same, and that the scripts of packaging say what they need and replace only what they may.
"""
import os
import re
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
# Packages of the stage `build` that the source package need not name: each build of Debian has the first four, and debhelper brings
# the others. It names pkg-config by its newer name.
IMPLIED = {"g++", "gcc", "libc6-dev", "make", "autoconf", "automake", "libtool"}
RENAMED = {"pkg-config": "pkgconf"}
# Packages that only a build of packages needs. The directory of systemd's units comes from the last.
FOR_PACKAGES = {"debhelper-compat", "dh-sequence-installsysusers", "systemd-dev"}


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
def an_unknown_action_or_stage_is_answered_with_the_usage(t):
    for name in ("apt-get", "dpkg-query", "sudo"):
        write_program(t.dir / name, f"#!/bin/sh\ntouch {t.dir}/called\n")
    for words in ((), ("xyzzy", "build"), ("mising", "build"), ("missing",), ("missing", "nostage"), ("install", "build", "buil")):
        done = subprocess.run([TOP_SRC / "packages", *words], text=True, capture_output=True,
                              env={**os.environ, "PATH": f"{t.dir}:{os.environ['PATH']}"})
        equal((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), f"{words}: exit, output and lines of {done.stderr}")
        contains(done.stderr, "packages missing|install STAGE...; the stages are: aarch64 build check ", f"{words}")
        check(not (t.dir / "called").exists(), f"{words}: a program was called")


@test
def the_source_package_asks_for_the_packages_of_the_stage_build(t):
    stage = set(re.findall(r"^\tbuild (\S+)$", (TOP_SRC / "packages").read_text(), re.M))
    control = (TOP_SRC / "packaging/deb/debian/control").read_text()
    asked = set(re.findall(r"^ ([^ ,]+)", re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.M)[1], re.M))
    equal(sorted(asked - FOR_PACKAGES), sorted(RENAMED.get(name, name) for name in stage - IMPLIED), "Build-Depends")


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


def call_script(t, name, code, *words, **programs):
    """Runs a script of packaging among programs whose commands are given by name, and returns its output."""
    for program, commands in programs.items():
        (t.dir / "bin").mkdir(exist_ok=True)
        write_program(t.dir / "bin" / program, f"#!/bin/sh\n{commands}\n")
    done = subprocess.run([TOP_SRC / "packaging" / name, *words], cwd=t.dir, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "PATH": f"{t.dir}/bin:{os.environ['PATH']}"})
    equal(done.returncode, code, f"{name}: the exit: {done.stdout}")
    return done.stdout


def make_tarball(t):
    """Makes a tarball with one file, in a folder of its own, and returns its path. It is not compressed: xz may be missing here."""
    (t.dir / "made/proftap-1.2.3").mkdir(parents=True)
    (t.dir / "made/proftap-1.2.3/README.md").touch()
    subprocess.run(["tar", "-C", t.dir / "made", "-cf", t.dir / "made/proftap-1.2.3.tar.xz", "proftap-1.2.3"], check=True)
    return t.dir / "made/proftap-1.2.3.tar.xz"


@test
def packages_stay_where_there_is_no_tarball(t):
    (t.dir / "proftap-2.tar.xz").write_text("no tarball")
    for name, result, words in (("deb/build", "deb/proftap_1.deb", ()), ("rpm/build", "rpm/RPMS/proftap-1.rpm", ("spec", "source"))):
        (t.dir / result).parent.mkdir(parents=True)
        (t.dir / result).touch()
        for tarball in ("proftap-1.tar.xz", "proftap-2.tar.xz"):
            equal(call_script(t, name, 1, tarball, *words), f"{TOP_SRC}/packaging/{name}: '{tarball}' is not a tarball; `make dist` makes one\n",
                  "output")
            check((t.dir / result).exists(), f"{name} deleted {result}")


@test
def packages_of_debian_are_built_from_a_tarball_anywhere(t):
    tarball = make_tarball(t)
    call_script(t, "deb/build", 0, tarball, **{"dpkg-buildpackage": 'cat README.md debian/control >/dev/null && echo "$@" >../proftap_1.deb'})
    equal(sorted(path.name for path in (t.dir / "deb").iterdir()), ["proftap_1.2.3.orig.tar.xz", "proftap_1.deb"], "files")


@test
def an_image_without_a_registry_begins_with_a_private_base(t):
    """The name of Debian's image would mean the home-made one for all other builds on the machine."""
    tarball = make_tarball(t)
    buildah = f"""echo "$*" >>{t.dir}/calls
case $1 in
pull) exit 1 ;;
inspect) test -e {t.dir}/base ;;
from) echo container ;;
commit) touch {t.dir}/base ;;
push) touch proftapd-image.tar ;;
esac"""
    for n_made in (1, 0):
        call_script(t, "image/build", 0, tarball, buildah=buildah, debootstrap='mkdir -p "$3/etc/apt"')
        calls = (t.dir / "calls").read_text().splitlines()
        commits = [line for line in calls if line.startswith("commit ")]
        equal(len(commits), n_made, f"commits of {calls}")
        check(all(line.endswith(" localhost/proftap-base") for line in commits), f"{commits}")
        contains(next(line for line in calls if line.startswith("build ")), " --build-arg BASE=localhost/proftap-base ", "call")
        (t.dir / "calls").unlink()


run()
