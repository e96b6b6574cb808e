#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that ptap_server_start() fails with one sentence if proftapd's version does not fit the library's or PROFTAPD
is no proftapd, that a failed start leaves nothing behind, and that the next start works."""
import errno
import re
import time

from fixture import check, contains, equal, find_proftapds, is_alive, run, test, wait_until
from processes import PROFTAPD, TARGET, TOP_BUILD, TOP_SRC, Target

FOLDER = TOP_BUILD / "tests" / "programs"
# The layout version of this source; tests/Makefile.am sets those of the other programs.
HERE = re.search(r"ARENA_VERSION_HIGH (\d+)u", (TOP_SRC / "lib" / "wire" / "arena.h").read_text()).group(1)
# The time for which ptap_server_start() waits for the server's answer.
HELLO_S = 10


def make_target(t, server, program=TARGET):
    """Makes a target whose PROFTAPD is a link to |server|; use() changes the link."""
    target = t.keep(Target({"PROFTAPD": str(t.dir / "proftapd")}, program=program))
    use(t, server)
    return target


def use(t, server):
    link = t.dir / "proftapd"
    link.unlink(missing_ok=True)
    link.symlink_to(server)


def check_no_start(t, server, code, *words, program=TARGET):
    target = make_target(t, server, program)
    equal(target.start(), -code, "ptap_server_start")
    reason = target.ask("error")
    for word in words:
        contains(reason, word, "ptap_last_error")
    equal(target.ask("port"), "0", "ptap_server_port")
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1)")
    wait_until(lambda: not find_proftapds(target.pid), "the server to be gone", 3)
    check("ptap-control" not in target.thread_names().values(), "the control thread still runs")
    if program == TARGET:
        use(t, PROFTAPD)
        check_works(t, target.serve())
    return reason


def check_works(t, target):
    equal(t.emit(target, 150, "burst 10").trace.count("burst"), 10, "spans")


@test
def a_library_too_old_for_proftapd_reports_both_versions(t):
    check_no_start(t, FOLDER / "proftapd_newer", errno.ECHILD, "proftapd: the library speaks layout "
                   f"{HERE} to {HERE}, this proftapd 1000 to 1001; install the same version of both")


@test
def a_library_too_new_for_proftapd_reports_both_versions(t):
    check_no_start(t, PROFTAPD, errno.ECHILD, "proftapd: the library speaks layout 1000 to 1001, this "
                   f"proftapd {HERE} to {HERE}; install the same version of both",
                   program=FOLDER / "target_newer")


@test
def versions_that_overlap_work_together(t):
    check_works(t, make_target(t, FOLDER / "proftapd_wider").serve())
    check_works(t, make_target(t, PROFTAPD, FOLDER / "target_wider").serve())
    check_works(t, make_target(t, FOLDER / "proftapd_newer", FOLDER / "target_wider").serve())


@test
def server_path_that_is_no_program_is_reported(t):
    plain = t.dir / "plain"
    plain.write_text("no program\n")
    for server in ("/nowhere/proftapd", plain, t.dir):
        check_no_start(t, server, errno.ENOENT, f"proftapd: PROFTAPD={t.dir / 'proftapd'} is not an "
                       "executable file; correct or unset it")


def write_program(t, text):
    program = t.dir / "program"
    program.write_text(text)
    program.chmod(0o755)
    return program


@test
def server_that_cannot_be_executed_is_reported(t):
    check_no_start(t, write_program(t, "\0\1\2 not for this machine"), errno.ECHILD,
                   f"{t.dir / 'program'}: cannot be executed: ")


@test
def a_script_that_exits_is_reported_at_once(t):
    started = time.monotonic()
    check_no_start(t, write_program(t, "#!/bin/sh\nexit 0\n"), errno.ECHILD,
                   "proftapd: ended before it was ready")
    check(time.monotonic() - started < HELLO_S / 2, "the start waited for a script that had exited")


@test
def a_program_that_hangs_is_given_up_and_killed(t):
    """The script first writes its pid to a file, because the target never learns that pid."""
    note = t.dir / "pid"
    hangs = write_program(t, f"#!/bin/sh\necho $$ >{note}\nexec sleep 60\n")
    check_no_start(t, hangs, errno.ETIMEDOUT, "proftapd: no answer within 10 s")
    pid = int(note.read_text())
    wait_until(lambda: not is_alive(pid), "the program to be killed", 3)


run()
