#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the findings of proftap doctor are true on this machine, for root and for a user
without rights."""
import json
import os
import re
import subprocess
from pathlib import Path

from doctors import as_nobody, ask, expect, findings
from fixture import Skip, check, contains, equal, need_no_sanitizer, need_readable_tree, need_root, run, test
from processes import PROFTAP, PROFTAPD, TOP_BUILD, TOP_SRC
from web import Web

PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def has(path):
    """Returns whether the file can be read and is not empty."""
    try:
        return bool(Path(path).read_bytes())
    except OSError:
        return False


@test
def this_machine_records(t):
    answer = ask(t, code=0)
    equal(answer["is_ready"], True, "ready")
    equal(answer["hostname"], os.uname().nodename, "the machine")
    equal(answer["uid"], os.geteuid(), "the user")
    found = {row["key"]: row for row in answer["checks"]}
    contains(found["proftapd"]["text"], str(PROFTAPD), "path of proftapd")
    for row in found.values():
        check(row["state"] != "no" or row["command"] or row["reason"], f"no remedy: {row}")


@test
def files_of_the_kernel_are_found_as_they_are(t):
    found = findings(t)
    for key, path in (("pressure", "/proc/pressure/cpu"), ("btf", "/sys/kernel/btf/vmlinux"),
                      ("cgroup", "/sys/fs/cgroup/cgroup.controllers"),
                      ("tracefs", "/sys/kernel/tracing/events/sched/sched_switch/id")):
        equal(found[key]["state"] == "yes", has(path), f"{key}: {found[key]}")


@test
def every_check_is_in_the_manual(t):
    page = (TOP_SRC / "docs/man/proftap-doctor.1").read_text()
    described = {key for entry in re.findall(r"^\.It Cm (.*)$", page, re.M) for key in entry.split(" , ")}
    keys = set(findings(t)) | set(findings(t, str(os.getpid()), code=5))
    equal(keys - described, set(), "checks that are not described")
    check("target_server" in keys and "perf_own" in keys, f"keys: {keys}")


@test
def the_object_is_as_the_schema_says(t):
    schema = json.loads((TOP_SRC / "docs/openapi.json").read_text())["components"]["schemas"]["Doctor"]
    row_schema = schema["properties"]["checks"]["items"]
    for answer in (ask(t), ask(t, str(os.getpid()), code=5)):
        for part, form in ((answer, schema), *((row, row_schema) for row in answer["checks"])):
            equal(set(part), set(form["required"]), "members")
            for name, value in part.items():
                types = form["properties"][name]["type"]
                kind = {str: "string", bool: "boolean", int: "integer", list: "array", type(None): "null"}[type(value)]
                check(kind in types, f"{name}: {value} is a {kind}")


@test
def the_host_daemon_serves_the_findings(t):
    def ask_daemon():
        web = Web(t)
        answer = web.ask("/api/v1/doctor")
        equal(web.host.end(), 0, "the daemon's exit status")
        equal((answer.status, answer.headers["Content-Type"]), (200, "application/json"), "the answer")
        return {row["key"]: row for row in answer.json["checks"]}

    expect(ask_daemon(), "proftapd", "yes")
    os.environ["PROFTAPD"] = "/nonexistent"
    try:
        expect(ask_daemon(), "proftapd", "no", "unset PROFTAPD")
    finally:
        del os.environ["PROFTAPD"]


@test
def a_proftapd_of_another_version_is_reported(t):
    other = t.dir / "proftapd"
    other.write_text("#!/bin/sh\necho proftapd 0.0.1\n")
    other.chmod(0o755)
    found = findings(t, code=1, env={"PROFTAPD": str(other)})
    expect(found, "proftapd", "no", "make install")
    contains(found["proftapd"]["text"], "is proftapd 0.0.1", "the version")
    found = findings(t, code=1, env={"PROFTAPD": "/nonexistent"})
    expect(found, "proftapd", "no", "unset PROFTAPD")


@test
def only_an_impossible_log_directory_is_reported(t):
    expect(findings(t, code=0, env={"PROFTAP_LOG_DIR": str(t.dir / "a" / "b")}), "log_dir", "yes")
    (t.dir / "file").touch()
    env = {"PROFTAP_LOG_DIR": str(t.dir / "file" / "b"), "HOME": str(t.dir)}
    for env in (env, {**env, "PROFTAP_LOG_DIR": "gs://bucket/x"}):
        found = findings(t, code=1, env=env)
        expect(found, "log_dir", "no")
        after = ["sh", "-c", f'{found["log_dir"]["command"]} && "$@"', "sh"]
        expect(findings(t, code=0, env=env, prefix=after), "log_dir", "yes")
    contains(found["log_dir"]["text"], "PROFTAP_LOG_DIR: gs://bucket/x: a URL, and files are written to local directories", "a URL")


@test
def a_limit_is_raised_by_its_command(t):
    low = ["sh", "-c", 'ulimit -S -n 256; "$@"', "sh"]
    found = findings(t, prefix=low)
    expect(found, "limit_files", "no", "ulimit -n 1024")
    raised = ["sh", "-c", f'ulimit -S -n 256; {found["limit_files"]["command"]}; "$@"', "sh"]
    expect(findings(t, prefix=raised), "limit_files", "yes")


@test
def missing_rights_are_reported_and_work_when_granted(t):
    need_root()
    need_readable_tree()
    need_no_sanitizer("are not loaded by a copy of proftap")
    found = findings(t, **as_nobody(t))
    paranoid = int(PARANOID.read_text())
    if paranoid >= 2 and found["perf_call"]["state"] == "yes":
        expect(found, "perf_kernel", "no", "sudo sysctl -w kernel.perf_event_paranoid=1")
    expect(found, "ptrace_others", "no", f"sudo setcap cap_sys_ptrace+ep {t.dir / 'proftapd'}")
    expect(found, "bpf", "no", f"sudo setcap cap_bpf,cap_perfmon+ep {t.dir / 'proftapd'}")
    own = findings(t)
    if any(own[key]["state"] != "yes" for key in ("ptrace_others", "perf_kernel", "bpf")):
        raise Skip("root lacks these rights on this machine, so it cannot give them to a user")
    given = findings(t, **as_nobody(
        t, "--inh-caps=+perfmon,+sys_ptrace,+bpf", "--ambient-caps=+perfmon,+sys_ptrace,+bpf"))
    expect(given, "ptrace_others", "yes")
    if paranoid < 3:
        expect(given, "perf_kernel", "yes")
        expect(given, "perf_others", "yes")
        expect(given, "bpf", "yes")


@test
def pipe_gets_no_colours(t):
    done = subprocess.run([PROFTAP, "doctor"], capture_output=True, text=True, timeout=60)
    check("\033" not in done.stdout, "there are colours, though the output is a pipe")
    contains(done.stdout, "\nrecording\n  yes  proftapd            ", "the first section")
    contains(done.stdout, "\nready to record", "the verdict")
    equal(done.stderr, "", "standard error")


@test
def libraries_of_a_gpu_may_crash(t):
    need_no_sanitizer("are not loaded into libraries of others")
    for name, fake in (("libcuda.so.1", "fake_cuda.so"), ("libcupti.so.13", "fake_cuda.so"),
                       ("libnvidia-ml.so.1", "fake_nvml.so")):
        path = TOP_BUILD / "tests" / "unit" / fake
        if not path.exists():
            raise Skip(f"{fake} is built only by make check")
        (t.dir / name).symlink_to(path)
    env = {"LD_LIBRARY_PATH": str(t.dir), "VIRTUAL_ENV": ""}
    found = findings(t, env=env)
    for key, text in (("cuda", "libcuda.so.1: 13.0"), ("cupti", "libcupti.so.13: 13.0.1"),
                      ("nvml", "libnvidia-ml.so.1: 580.65.06, 2 GPUs")):
        equal((found[key]["state"], found[key]["text"]), ("yes", text), key)
    crashed = findings(t, code=0, env={**env, "FAKE_CUDA": "crash", "FAKE_NVML_INIT": "9"})
    for key in ("cuda", "cupti", "nvml"):
        check(crashed[key]["state"] != "yes", f"{key}: {crashed[key]}")


run()
