#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap doctor TARGET on real programs: with a server and without, free and busy, stopped, of
other users, in containers."""
import os
import pathlib
import signal
import shutil
import subprocess

from doctors import as_nobody, expect, findings
from fixture import (Skip, check, contains, equal, free_port, need_namespaces, need_no_sanitizer, need_readable_tree, need_root,
                     run, test, wait_until)
from hosts import Host
from processes import LIBRARY, PROFTAP, Process, halt

NEEDED = ("target_server", "target_state", "target_process", "target_user")


@test
def a_program_with_a_server_passes_the_checks(t):
    target = t.target().serve()
    for words in (str(target.port), f"127.0.0.1:{target.port}"):
        found = findings(t, words, code=0)
        for key in (*NEEDED, "target_library", "target_rings", "target_namespaces"):
            expect(found, key, "yes")
        contains(found["target_server"]["text"], f"pid {target.pid}", "the program")
    contains(found["target_library"]["text"], LIBRARY.name, "the library")


@test
def a_program_is_found_by_its_pid(t):
    path = t.dir / "runtime"
    path.mkdir(mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(path)}
    target = t.target(**env).serve()
    found = findings(t, str(target.pid), code=0, env=env)
    contains(found["target_server"]["text"], f"pid {target.pid}", "the program")


@test
def a_recorded_program_is_busy_and_free_afterwards(t):
    target = t.target().serve()
    capture = t.begin(target)
    found = findings(t, str(target.port), code=1)
    expect(found, "target_state", "no", None)
    contains(found["target_state"]["reason"], "wait for its end, as proftap capture --wait does", "the remedy")
    t.stop(target, capture, code=0)
    wait_until(lambda: findings(t, str(target.port))["target_state"]["state"] == "yes", "the target to be free")


@test
def the_command_continues_a_stopped_program(t):
    target = t.target().serve()
    halt(target.pid)
    found = findings(t, str(target.port), code=1)
    expect(found, "target_process", "no", f"kill -CONT {target.pid}")
    subprocess.run(found["target_process"]["command"].split(), check=True)
    wait_until(lambda: findings(t, str(target.port))["target_process"]["state"] == "yes", "the program to go on")


@test
def rings_that_were_mapped_for_a_capture_are_reported(t):
    def mib():
        text = findings(t, str(target.port))["target_rings"]["text"]
        return float(text.split(", ")[1].split()[0])

    target = t.target().serve()
    before = mib()
    t.record(target, 20, commands=["spans 10"]).finish()
    check(mib() > before, f"{before} MiB of rings before a capture, {mib()} after it")


@test
def a_program_without_a_server_gets_a_remedy(t):
    sleep = shutil.which("sleep")
    program = t.keep(Process("sleep", [sleep, "300"]))
    wait_until(lambda: os.readlink(f"/proc/{program.pid}/exe") == os.path.realpath(sleep), "sleep to run")
    found = findings(t, str(program.pid), code=5)
    expect(found, "target_server", "no")
    contains(found["target_server"]["reason"], "proftap run", "how")
    expect(found, "target_library", "no", f"proftap run -p 0 -- {sleep} 300")
    expect(found, "target_process", "yes")


def await_program(program, folder):
    """Waits until the process runs a program of the folder. The kernel sets its environment a little later than its file."""
    proc = pathlib.Path(f"/proc/{program.pid}")
    wait_until(lambda: os.readlink(proc / "exe").startswith(str(folder)) and (proc / "environ").read_bytes(), "the program to run")


@test
def the_remedy_has_the_programs_command_line(t):
    """The command names the link by which the file was started. If the program overwrote its command
    line, there is no command."""
    folder = t.dir / "its own"
    folder.mkdir()
    os.link(shutil.copy(shutil.which("sleep"), folder / "a sleep"), folder / "zzz")
    (folder / "300").touch()
    env = {"PATH": f"{folder}:{os.environ['PATH']}"}
    for start, command in (
            ([folder / "a sleep", "300"], f"cd '{folder}' && proftap run -p 0 -- '{folder}/a sleep' 300"),
            (["./zzz", "100000"], f"proftap run -p 0 -- '{folder}/./zzz' 100000"),
            (["zzz", "200"], f"proftap run -p 0 -- '{folder}/zzz' 200")):
        script = 'import os, sys; os.chdir(sys.argv[1]); os.execvp(sys.argv[2], sys.argv[2:])'
        program = t.keep(Process("a program", ["/usr/bin/python3", "-c", script, folder, *start], env))
        await_program(program, folder)
        expect(findings(t, str(program.pid), code=5), "target_library", "no", command)
    script = 'import os, sys; os.chdir(sys.argv[1]); os.execve(sys.argv[2], ["zzz", "200"], {"PATH": sys.argv[3]})'
    for path, directory in (("", folder), (":/bin", folder), ("/bin::/usr/bin", folder), ("/bin:", folder), (".", f"{folder}/."),
                            ("/bin:../its own", f"{folder}/../its own")):
        program = t.keep(Process("a program", ["/usr/bin/python3", "-c", script, folder, folder / "zzz", path]))
        await_program(program, folder)
        expect(findings(t, str(program.pid), code=5), "target_library", "no", f"proftap run -p 0 -- '{directory}/zzz' 200")
    title = 'import os, sys; os.execv(sys.argv[1], [sys.argv[1] + " *:6379", "300"])'
    program = t.keep(Process("titled", ["/usr/bin/python3", "-c", title, folder / "zzz"]))
    await_program(program, folder)
    found = findings(t, str(program.pid), code=5)
    expect(found, "target_library", "no", None)
    equal(found["target_library"]["command"], None, "the command")
    contains(found["target_library"]["reason"], "which the program has overwritten", "reason")


@test
def an_absent_target_is_reported(t):
    found = findings(t, f"127.0.0.1:{free_port()}", code=5)
    expect(found, "target_server", "no", "proftap list")
    expect(found, "target_process", "none")


@test
def another_users_program_is_reported_as_such(t):
    need_root()
    need_readable_tree()
    need_no_sanitizer("are not loaded by a copy of proftap")
    target = t.target().serve()
    found = findings(t, f"127.0.0.1:{target.port}", code=5, **as_nobody(t))
    expect(found, "target_server", "no")
    found = findings(t, str(target.pid), code=5, **as_nobody(t))
    expect(found, "target_user", "no")
    contains(found["target_user"]["text"], "only the program's user and root", "reason")
    expect(found, "target_tracing", "no", f"sudo setcap cap_sys_ptrace+ep {t.dir / 'proftapd'}")
    expect(found, "target_sampling", "no", "proftap doctor")


@test
def a_program_in_a_container_is_reported(t):
    need_namespaces("--net")
    parent = t.keep(Process("unshare", ["unshare", "--net", "sleep", "300"]))
    wait_until(lambda: os.readlink(f"/proc/{parent.pid}/ns/net") != os.readlink("/proc/self/ns/net"), "its namespace")
    expect(findings(t, str(parent.pid), code=5), "target_namespaces", "none")


@test
def a_traced_program_is_reported(t):
    need_root()
    if findings(t)["ptrace"]["state"] != "yes":
        raise Skip("this machine forbids tracing of programs that are not children")
    target = t.target().serve()
    tracer = t.keep(Process("a tracer", ["python3", "-c", f"""
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(0x4206, {target.pid}, None, None) == 0
print("ready", flush=True)
time.sleep(300)"""]))
    tracer.read_line()
    found = findings(t, str(target.port), code=0)
    expect(found, "target_tracing", "no", f"kill {tracer.pid}")
    tracer.kill()
    tracer.wait()
    expect(findings(t, str(target.port)), "target_tracing", "yes")


@test
def a_host_daemon_answers_as_a_target(t):
    host = Host(t)
    contains(findings(t, f"127.0.0.1:{host.port}", code=0)["target_server"]["text"], "answers", "the daemon")
    host.end(signal.SIGTERM)


@test
def a_second_target_is_wrong_usage(t):
    done = subprocess.run([PROFTAP, "doctor", "1", "2"], capture_output=True, text=True, timeout=20)
    equal(done.returncode, 2, "exit status")
    contains(done.stderr, "proftap doctor: one TARGET at a time, or none", "reason")
    done = subprocess.run([PROFTAP, "doctor", "[::1"], capture_output=True, text=True, timeout=20)
    equal(done.returncode, 2, "exit status for a word that is no target")


run()
