# SPDX-License-Identifier: Apache-2.0
"""Starts programs with `proftap run`, for its tests."""
from fixture import contains, equal, need_no_sanitizer
from processes import LIBRARY, PROFTAP, PROFTAPD, Process
from trace_file import Trace

SHELL = "/bin/sh"


def need_preload():
    need_no_sanitizer("cannot be preloaded into other programs")


def make_environment(t):
    """Returns an environment with a new runtime directory, where only this test's targets are listed."""
    path = t.dir / "runtime"
    path.mkdir(mode=0o700, exist_ok=True)
    return {"XDG_RUNTIME_DIR": str(path), "PROFTAPD": str(PROFTAPD)}


def start(t, *words, env=None, **how):
    command = [PROFTAP, "run", *words]
    return t.keep(Process("run", command, {**make_environment(t), **(env or {})}, **how))


def finish(process, code=0):
    equal(process.wait(), code, f"exit status of {process.name}")
    for thread in process.threads:
        thread.join()
    process.stdout, process.stderr = "".join(process.out), "".join(process.err)
    return process


def find_files(t):
    return sorted((t.dir / "logs").glob("plugins/profile/*/*"))


def record(t, *words, code=0, options=(), **how):
    """Runs a program to its end; the result's .trace is its only trace."""
    need_preload()
    process = finish(start(t, "--log_dir", t.dir / "logs", *options, "--", *words, **how), code)
    files = [path for path in find_files(t) if path.suffix == ".pb"]
    equal(len(files), 1, f"traces; {process.stderr}")
    contains(process.stderr, f"{files[0]}\n", "standard error")
    process.path, process.trace = files[0], Trace(files[0])
    return process


def obey(t, *commands):
    path = t.dir / "commands"
    path.write_text("".join(f"{command}\n" for command in commands))
    return path.open()


def preload(t, *words, **env):
    env = {**make_environment(t), "LD_PRELOAD": str(LIBRARY), **env}
    need_preload()
    return finish(t.keep(Process("program", words, env)))
