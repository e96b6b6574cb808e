#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that change their user, and set-uid programs: which user owns them, and which settings they obey."""
import os
import re
import shutil

from host import (NOBODY, PROFTAPD, Host, Skip, check, contains, equal, find_proftapds, find_program, need_namespaces,
                  need_root, run, test, timed)

STRANGER = 65533
STAY = ("after", "uid", "stay")
REFUSED = "only the user that runs the target, or root, may connect"


def capture_as(t, user, start, code=0):
    return t.capture(start, 50, code=code, user=user, program=t.public_proftap(),
                     log_dir=t.public_dir(f"logs-{user}"))


@test
def a_program_that_gave_up_root_belongs_to_its_new_user(t):
    need_root()
    host = Host(t, "confined", "armed", *STAY)
    start = host.await_start()
    host.await_output("uid 65534")
    equal(start.sentence, "", "ptap_last_error")
    for user in (NOBODY, None):
        check(capture_as(t, user, start).trace.count("stay"), f"uid {user} found no span")
    contains(capture_as(t, STRANGER, start, 5).stderr, REFUSED, "standard error")
    equal(host.end()[0], 0, "exit status")


def copy_set_uid(t, mode):
    path = t.dir / f"set-uid-{mode}"
    shutil.copy(find_program("confined", mode), path)
    path.chmod(0o4755)
    return path


def run_set_uid(t, mode, *args, command=(), **env):
    """Starts a set-uid program of root as the user nobody."""
    command = [*command, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return Host(t, "confined", mode, "before", "nothing", *args, command=command,
                program=copy_set_uid(t, mode), **env)


def need_set_uid(t):
    need_root()
    output = run_set_uid(t, "plain").behaviour()[1]
    if "uid 65534 0 " not in output:
        raise Skip(f"set-uid programs have no effect in {t.dir}")
    return output


def make_evil_proftapd(t):
    folder = t.public_dir("evil")
    path = folder / "proftapd"
    path.write_text(f"#!/bin/sh\ntouch {folder}/was-here\n")
    path.chmod(0o755)
    return path


def run_beside_evil(t, output):
    """The start of a set-uid program whose environment names another proftapd."""
    evil = make_evil_proftapd(t)
    host = run_set_uid(t, "armed", "stay", PROFTAPD=str(evil), PATH=f"{evil.parent}:/usr/bin:/bin")
    start = host.await_start()
    for server in find_proftapds(start.pid):
        check(os.readlink(f"/proc/{server}/exe") != str(PROFTAPD), "the proftapd beside the library was run")
    equal(host.end(), (0, output), "(exit status, output)")
    check(not (evil.parent / "was-here").exists(), "a set-uid program ran what $PROFTAPD or PATH said")
    return start


@test
def a_set_uid_program_runs_no_proftapd_that_its_caller_names(t):
    start = run_beside_evil(t, need_set_uid(t))
    if start.result:
        contains(start.sentence, "the only place where a set-uid program looks", "ptap_last_error")


# Mounts a file system over the folder where proftapd would be installed.
INSTALL = """
mount --make-rprivate / && dir=$(dirname "$1") && while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done &&
mount -t tmpfs none "$dir" && mkdir -p "$(dirname "$1")" && cp "$2" "$1" && shift 2 && exec "$@"
"""


def run_installed(t, *args):
    """Runs the set-uid program with proftapd installed, in a mount namespace."""
    need_namespaces("--mount")
    start = run_beside_evil(t, need_set_uid(t))
    found = re.search(r"not found at (\S+),", start.sentence)
    if not found:
        raise Skip("proftapd is installed here")
    script = t.dir / "install.sh"
    script.write_text(INSTALL)
    return run_set_uid(t, "armed", *args,
                       command=["unshare", "--mount", "sh", script, found[1], PROFTAPD])


@timed
def a_set_uid_program_belongs_to_root_whoever_runs_it(t):
    need_set_uid(t)
    host = run_installed(t, "stay")
    start = host.await_start()
    equal((start.result, start.sentence), (0, ""), "ptap_server_start")
    contains(capture_as(t, NOBODY, start, 5).stderr, REFUSED, "standard error")
    check(capture_as(t, None, start).trace.count("stay"), "root found no span")
    equal(host.end()[0], 0, "exit status")
    host.check_servers_are_gone()


run()
