#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap run with programs that cannot be run or recorded: it reports the reason."""
import os
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

from fixture import NOBODY, Skip, contains, equal, need_root, run, test
from processes import PROFTAP, Process
from running import SHELL, find_files, finish, make_environment, need_preload, record, start


def refuse(t, code, reason, *words, user=None, program=PROFTAP, env=None):
    env = {**make_environment(t), **(env or {})}
    process = t.keep(Process("run", [program, "run", "--", *words], env, user=user))
    process = finish(process, code)
    contains(process.stderr, reason, "the reason")
    equal(process.stdout, "", "standard output")
    equal(len(process.err), 1, "lines on standard error")


def build(t, name, *flags):
    source = t.dir / "program.c"
    source.write_text("#include <stdio.h>\nint main(void) { puts(\"hello\"); return 9; }\n")
    command = [*shlex.split(os.environ.get("CC", "cc")), *flags, source, "-o", t.dir / name]
    if subprocess.run(command, capture_output=True).returncode:
        raise Skip(f"the compiler cannot {' '.join(flags)}")
    return t.dir / name


@test
def files_that_are_no_programs_are_refused(t):
    refuse(t, 127, "nosuch: not found in PATH", "nosuch")
    refuse(t, 127, "/nosuch: not found", "/nosuch")
    refuse(t, 126, "/etc/passwd: not executable", "/etc/passwd")
    refuse(t, 126, "/tmp: not executable", "/tmp")
    text = t.dir / "text"
    text.write_text("hello\n")
    text.chmod(0o755)
    refuse(t, 126, "neither a program nor a script", text)
    refuse(t, 125, "PROFTAP_LIB=/none is not a file", "true", env={"PROFTAP_LIB": "/none"})


@test
def programs_that_cannot_be_preloaded_are_refused(t):
    static = build(t, "static", "-static")
    refuse(t, 125, "static: statically linked", static)
    script = t.dir / "script"
    script.write_text(f"#! {static} -x\n")
    script.chmod(0o755)
    refuse(t, 125, "static: statically linked", script)
    foreign = t.dir / "foreign"
    program = bytearray(Path("/bin/true").read_bytes())
    program[18] ^= 0xff  # e_machine
    foreign.write_bytes(program)
    foreign.chmod(0o755)
    refuse(t, 125, "foreign: built for another processor", foreign)


@test
def rights_that_switch_the_preload_off_are_reported(t):
    need_root()
    program = t.dir / "rights"
    shutil.copy("/bin/true", program)
    as_nobody = {"user": NOBODY, "program": t.public_proftap()}
    program.chmod(0o4755)
    refuse(t, 125, "rights: set-user-ID", program, **as_nobody)
    program.chmod(0o755)
    try:  # CAP_CHOWN, effective; see <linux/capability.h>
        os.setxattr(program, "security.capability", bytes([1, 0, 0, 2, 1] + [0] * 15))
    except OSError as e:
        raise Skip(f"file capabilities: {e}") from None
    refuse(t, 125, "rights: has file capabilities", program, **as_nobody)


@test
def a_sanitized_program_works(t):
    program = build(t, "sanitized", "-fsanitize=address")
    equal(record(t, program, code=9).stdout, "hello\n", "standard output")


@test
def a_port_in_use_stops_no_program(t):
    need_preload()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = finish(start(t, "-p", taken.getsockname()[1], SHELL, "-c", "echo on; exit 6"), 6)
    equal(process.stdout, "on\n", "standard output")
    equal(len(process.err), 1, "lines on standard error")
    contains(process.stderr, "in use on 127.0.0.1", "the reason")


@test
def a_cleared_environment_is_reported(t):
    need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", "env", "-i", SHELL, "-c", "sleep 0.2; exit 4"), 4)
    contains(process.stderr, "env: not recorded: it had no profiler server", "the reason")
    equal(find_files(t), [], "files")


@test
def run_with_proftap_disabled_names_the_variable(t):
    need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", "true", env={"PROFTAP_DISABLE": "1"}))
    contains(process.stderr, "true: not recorded: PROFTAP_DISABLE is set; unset it", "the reason")
    equal(find_files(t), [], "files")


@test
def bad_arguments_of_run_are_explained(t):
    for words, reason in (((), "no program given"), (("-p", "70000", "true"), "0 to 65535"),
                          (("--duration", "0", "true"), "--duration"),
                          (("-o", "host_tracer_level=9", "true"), "host_tracer_level: bad value \"9\": must be 0 to 3"),
                          (("-o", "gpu_dump_graph_node_map=1", "true"), "gpu_dump_graph_node_mapping"),
                          (("--delay_ms", "5", "true"), "--duration MS: duration_ms, delay_ms and start_timestamp_ns are for proftap capture")):
        process = finish(start(t, *words), 2)
        contains(process.stderr, reason, f"run {words}")


run()
