#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests PROFTAP_SERVER and LD_PRELOAD as users set them by hand."""
import json
import os
import shutil
import subprocess

from fixture import NOBODY, check, equal, free_port, need_readable_tree, need_root, run, test
from processes import LIBRARY, PROFTAP, TARGET, Process
from running import SHELL, finish, make_environment, need_preload, obey, preload


@test
def the_environment_of_a_set_uid_program_starts_nothing(t):
    need_root()
    need_preload()
    need_readable_tree()
    answers = []
    for mode in (0o755, 0o4755):
        path = t.dir / f"target{mode:o}"
        shutil.copy(TARGET, path)
        path.chmod(mode)
        env = {**make_environment(t), "PROFTAP_SERVER": "0"}
        target = t.keep(Process("target", [path], env, stdin=obey(t, "port"), user=NOBODY))
        answers.append(finish(target).out[-1])
    check(answers[0] != "0\n", "nothing was started in an ordinary program")
    equal(answers[1], "0\n", "the port of a set-uid program")


@test
def a_server_by_the_environment_alone(t):
    port = free_port()
    commands = [SHELL, "-c", f"{PROFTAP} list --json | head -n 1; true"]
    for value, address in ((port, "127.0.0.1"), (f"127.0.0.2:{port}", "127.0.0.2"),
                           (f"[::1]:{port}", "::1")):
        rows = json.loads(preload(t, *commands, PROFTAP_SERVER=str(value),
                                  PROFTAP_SERVER_PID="").stdout.splitlines()[0])["targets"]
        found = [(row["address"], row["port"]) for row in rows if row["name"] == "sh"
                 and row["socket"].startswith(str(t.dir))]
        equal(found, [(address, port)], f"PROFTAP_SERVER={value}")


@test
def a_bad_value_is_one_line_and_no_more(t):
    for value in ("x", "70000", "-1", "", "::1:9", "[::1]9", ":9", "1.2.3.4:", "8.8.8.8:0"):
        process = preload(t, "/bin/echo", "on", PROFTAP_SERVER=value)
        equal(process.stdout, "on\n", "standard output")
        equal(len(process.err), 1 if value else 0, f"lines of {value!r}: {process.err}")
        check(all(line.startswith("proftap: ") for line in process.err), process.stderr)


@test
def a_broken_pipe_as_standard_error_does_not_end_the_program(t):
    need_preload()
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "LD_PRELOAD": str(LIBRARY), "PROFTAP_SERVER": "x"}
    ended = subprocess.run(["/bin/sh", "-c", "exit 7"], stderr=writer, env=env)
    os.close(writer)
    equal(ended.returncode, 7, "exit status")


run()
