#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests packaging/release with a key of its own and a make that writes only its files: a release is complete, or there is none."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from fixture import Skip, contains, equal, run, test  # noqa: E402
from processes import TOP_SRC  # noqa: E402

URL = "https://example.org/proftap"
MAKE = """\
#!/bin/sh
echo "$@" >make.log
mkdir -p build-release
echo tarball >build-release/proftap-7.8.9.tar.xz
echo {} >build-release/proftap-7.8.9.cdx.json
"""


class Project:
    """A repository with the files that the script reads, and a key to sign."""

    def __init__(self, t, head="## 7.8.9 (2026-12-24)"):
        for program in ("git", "gpg", "gpg-agent"):
            if not shutil.which(program):
                raise Skip(f"there is no {program}")
        self.top = t.dir / "project"
        for name in ("packaging/release", "packaging/meson/proftap.wrap.in"):
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP_SRC / name, self.top / name)
        (self.top / "configure.ac").write_text("AC_PREREQ([2.71])\nAC_INIT([proftap], [7.8.9])\n")
        (self.top / "NEWS.md").write_text(f"# News\n\n{head}\n\n* New.\n\n## 7.8.8 (2026-12-23)\n\n* Old.\n")
        (self.top / ".gitignore").write_text("release/\nbuild-release/\nmake.log\n")
        (t.dir / "bin").mkdir()
        (t.dir / "bin/make").write_text(MAKE)
        (t.dir / "bin/make").chmod(0o755)
        (t.dir / "gnupg").mkdir(mode=0o700)
        self.env = {**os.environ, "PATH": f"{t.dir}/bin:{os.environ['PATH']}", "GNUPGHOME": str(t.dir / "gnupg"),
                    "HOME": str(t.dir), "GIT_CONFIG_NOSYSTEM": "1"}
        t.at_end.append(lambda: self.call("gpgconf", "--kill", "gpg-agent"))
        self.call("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "release@example.org", "ed25519", "sign")
        self.call("git", "init", "-q")
        self.commit()

    def call(self, *words, code=0):
        done = subprocess.run(words, cwd=self.top, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        equal(done.returncode, code, f"{words}: {done.stdout}")
        return done.stdout

    def commit(self):
        self.call("git", "add", ".")
        self.call("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "change")

    def check_refused(self, reason, *words):
        contains(self.call("packaging/release", *words, code=1), reason, "reason")
        equal([(self.top / name).exists() for name in ("release", "make.log")], [False, False], "a part of a release")


@test
def a_release_has_signatures_checksums_and_news(t):
    project = Project(t)
    project.call("git", "config", "user.signingkey", "release@example.org")
    project.call("packaging/release", "-u", URL)
    release = project.top / "release"
    equal((project.top / "make.log").read_text(), "B=build-release distcheck sbom\n", "call of make")
    equal(sorted(path.name for path in release.iterdir()),
          ["NEWS-7.8.9.md", "SHA256SUMS", "SHA256SUMS.asc", "proftap-7.8.9.cdx.json", "proftap-7.8.9.tar.xz", "proftap-7.8.9.tar.xz.asc",
           "proftap.wrap"], "files")
    equal((release / "NEWS-7.8.9.md").read_text(), "## 7.8.9 (2026-12-24)\n\n* New.\n\n", "the news")
    for name in ("SHA256SUMS", "proftap-7.8.9.tar.xz"):
        project.call("gpg", "--verify", f"release/{name}.asc", f"release/{name}")
    checked = project.call("sh", "-c", "cd release && sha256sum -c SHA256SUMS").splitlines()
    equal(checked, [f"{name}: OK" for name in ("NEWS-7.8.9.md", "proftap-7.8.9.cdx.json", "proftap-7.8.9.tar.xz", "proftap.wrap")], "checksums")
    wrap = (release / "proftap.wrap").read_text()
    contains(wrap, f"source_url = {URL}/proftap-7.8.9.tar.xz\n", "the wrap")
    contains((release / "SHA256SUMS").read_text(), re.search("source_hash = (.*)", wrap)[1], "checksum in the wrap")
    equal(wrap.count("@"), 0, "places that were not filled")


@test
def a_release_needs_a_key(t):
    project = Project(t)
    project.check_refused("no key: give -k KEY")
    project.check_refused("gpg has no secret key other@example.org", "-k", "other@example.org")


@test
def a_release_needs_the_news_of_its_version(t):
    project = Project(t, "## 7.8.9 (not released yet)")
    project.check_refused('must be "## 7.8.9 (YYYY-MM-DD)", but is "## 7.8.9 (not released yet)"', "-k", "release@example.org")


@test
def a_release_needs_a_committed_tree(t):
    project = Project(t)
    (project.top / "new").touch()
    project.check_refused("some files are not committed", "-k", "release@example.org")


run()
