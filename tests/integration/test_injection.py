#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests CUDA_INJECTION64_PATH: a program without a driver loads the library as the driver would."""
import subprocess
import sys
import time

from fixture import contains, equal, run, test
from processes import LIBRARY, Process
from running import SHELL, finish, make_environment, need_preload, start

# initialise() does what the driver does when a program initialises CUDA.
INITIALISE = """
import ctypes, os, sys
def initialise():
    library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    return library.InitializeInjection()
def port():
    return ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).ptap_server_port()
"""


def python(t, program, **env):
    need_preload()
    env = {**make_environment(t), "CUDA_INJECTION64_PATH": str(LIBRARY.resolve()), **env}
    return finish(t.keep(Process("python", [sys.executable, "-c", INITIALISE + program], env)))


@test
def a_program_that_is_only_injected_gets_its_server(t):
    process = python(t, "print(initialise(), port() > 0, initialise(), port() > 0)", PROFTAP_SERVER="0")
    equal(process.stdout, "1 True 1 True\n", "answers and ports")
    equal(process.stderr, "", "standard error")


@test
def a_server_requested_after_the_start_is_started(t):
    process = python(t, "print(port()); os.putenv('PROFTAP_SERVER', '0'); print(initialise(), port() > 0)",
                     PROFTAP_SERVER="")
    equal(process.stdout, "0\n1 True\n", "ports before and after")


@test
def injected_program_is_not_held_up(t):
    """CUDA opens the library under the loader's lock. Collectors need that lock before anything is recorded."""
    until = time.monotonic_ns() // 10**6 + 5000
    waits = f"import time\nprint(initialise(), port() > 0, time.monotonic_ns() // 10**6 < {until})"
    process = python(t, waits, PROFTAP_SERVER="0", PROFTAP_WAIT=str(until))
    equal(process.stdout, "1 True True\n", "answer, port, and whether initialise() returned before PROFTAP_WAIT had passed")
    preloaded = python(t, waits, PROFTAP_SERVER="0", PROFTAP_WAIT=str(until), LD_PRELOAD=str(LIBRARY.resolve()))
    equal(preloaded.stdout, "1 True False\n", "the same for a preloaded program, which waits")


@test
def nothing_happens_without_a_request(t):
    equal(python(t, "print(initialise(), port())", PROFTAP_SERVER="").stdout, "1 0\n", "answer and port")


@test
def a_server_that_was_stopped_stays_stopped(t):
    stop = "library = ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH'])\nprint(library.ptap_server_stop(), initialise(), port())"
    equal(python(t, stop, PROFTAP_SERVER="0").stdout, "0 1 0\n", "answers and port")


@test
def a_program_with_a_server_of_its_own_keeps_it(t):
    own = ("library = ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH'])\nprint(library.ptap_server_start(0))\nmine = port()\n"
           "os.putenv('PROFTAP_SERVER', '0'); print(initialise(), port() == mine)")
    process = python(t, own, PROFTAP_SERVER="")
    equal(process.stdout, "0\n1 True\n", "answers")
    equal(process.stderr, "", "standard error")


@test
def helpers_and_children_are_no_targets(t):
    need_preload()
    program = ("sys.stdout.flush()\npid = os.fork()\nif not pid:\n    print('child', initialise(), port()); sys.stdout.flush(); "
               "os._exit(0)\nos.waitpid(pid, 0)\nprint('parent', initialise(), port() > 0)")
    for options, child in (([], "child 1 0\n"), (["--follow"], "child 1 ")):
        process = finish(start(t, "-p", 0, *options, "--", sys.executable, "-c", INITIALISE + program))
        contains(process.stdout, child, f"the forked child with {options}")
        contains(process.stdout, "parent 1 True\n", f"the parent with {options}")
        equal("child 1 0\n" in process.stdout, not options, f"no server in the child with {options}")
    helper = t.dir / "helper.py"
    helper.write_text(INITIALISE + "print(initialise(), port())")
    process = finish(start(t, "-p", 0, "--", SHELL, "-c", f"{sys.executable} {helper}; true"))
    contains(process.stdout, "1 0\n", "a helper")


@test
def run_sets_the_injection_paths_of_the_program(t):
    need_preload()
    names = ("NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH")
    process = finish(start(t, "-p", 0, "--", SHELL, "-c", "; ".join(f"echo ${name}" for name in names)))
    equal(process.stdout, f"{LIBRARY.resolve()}\n" * 2, "paths")


@test
def the_library_exports_only_the_injection_names(t):
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    strangers = {name for name in names if not name.startswith(("ptap_", "PROFTAP_"))}
    equal(strangers, {"InitializeInjection", "InitializeInjectionNvtx", "InitializeInjectionNvtx2",
                      "InitializeInjectionNvtxExtension"}, "names that are not ours")


run()
