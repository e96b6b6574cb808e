#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests libproftap with another libc than glibc: the command of docs/containers.md builds it with musl-gcc and without a warning, and
a shared, a static and a static-PIE program of musl are recorded by this build's proftapd.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from fixture import Skip, check, contains, equal, free_port, need_no_sanitizer, run, test  # noqa: E402
from processes import PROFTAP, PROFTAPD, TOP_SRC, Capture, Process  # noqa: E402

MUSL = "musl-gcc"
CONFIGURE = re.search("^```sh musl\n(.*)\n```$", (TOP_SRC / "docs/containers.md").read_text(), re.M)[1]


def call(*command, cwd=None, code=0):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    env["PATH"] = f"{TOP_SRC.resolve()}:{env['PATH']}"
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=250)
    equal(done.returncode, code, f"{command}: {done.stdout[-3000:]}")
    return done.stdout


def configure(t, command, code=0):
    """Runs the command in a build folder, in which a warning then is an error."""
    need_no_sanitizer("are not for musl")
    if not shutil.which(MUSL):
        raise Skip(f"there is no {MUSL}")
    (t.dir / "build").mkdir()
    return call("sh", "-c", f"{command} --enable-werror --prefix=/nonexistent", cwd=t.dir / "build", code=code)


def check_headers(build):
    """Checks that the library needs no header of glibc, which the compiler finds beside those of Linux."""
    used = {path for file in build.glob("**/.deps/*.Plo") for path in re.findall(r"/usr/include/[^\s:]+", file.read_text())}
    check(any("/linux/futex.h" in path for path in used), f"headers: {used}")
    equal([path for path in sorted(used) if not re.search("musl|/(linux|asm|asm-generic)/", path)], [], "headers of glibc")


def install(t):
    """Builds the library with musl, and returns its prefix, in which sbin/proftapd is this build's."""
    configure(t, CONFIGURE)
    build, prefix = t.dir / "build", t.dir / "prefix"
    call("make", "-s", "-j2", "install", f"prefix={prefix}", cwd=build)
    check_headers(build)
    (prefix / "sbin").mkdir()
    (prefix / "sbin/proftapd").symlink_to(PROFTAPD)
    return prefix


def build_program(prefix, name, *words):
    """Builds program.c into bin/, beside which sbin/ has the server."""
    program = prefix / "bin" / name
    program.parent.mkdir(exist_ok=True)
    call(MUSL, "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{prefix}/include", "-o", program, *words)
    return program


def build_static_pie(prefix, name):
    """Debian's musl-gcc does not know -static-pie, so this names the files with which such a program begins and ends."""
    musl = re.search(r"(\S+)/crti\.o", call(MUSL, "-###", HERE / "program.c"))[1]
    begin, end = (call("gcc", f"-print-file-name={file}").strip() for file in ("crtbeginS.o", "crtendS.o"))
    return build_program(prefix, name, "-fPIE", "-static", "-nostartfiles", "-Wl,-pie,--no-dynamic-linker,-z,text",
                         f"{musl}/rcrt1.o", f"{musl}/crti.o", begin, HERE / "program.c", prefix / "lib/libproftap.a", end,
                         f"{musl}/crtn.o")


def check_record(t, program, **env):
    """Captures the program, which finds proftapd without help."""
    target = t.keep(Process(program.name, [program], env, stdin=subprocess.PIPE))
    target.port = int(target.read_line())
    capture = t.keep(Capture(t, target.port, 200)).finish()
    check(capture.trace.count("turn") > 3, f"{program.name}: {capture.trace.count('turn')} spans")
    target.popen.stdin.close()
    equal(target.wait(), 0, f"exit of {program.name}")
    return target.port


@test
def configure_says_how_a_compiler_of_musl_finds_the_headers_of_linux(t):
    command, flags = CONFIGURE.split(" CPPFLAGS=")
    contains(configure(t, command, code=1), f"or for musl-gcc add CPPFLAGS={flags}\n", "the reason")


@test
def programs_of_musl_are_recorded(t):
    prefix = install(t)
    os.environ.pop("PROFTAPD", None)
    source = HERE / "program.c"
    library = ["-L", prefix / "lib", "-lproftap"]
    shared = build_program(prefix, "shared", source, *library, f"-Wl,-rpath,{prefix}/lib")
    contains(call("readelf", "-l", shared), "ld-musl", "the shared program's loader")
    check_record(t, shared)
    refused = subprocess.run([PROFTAP, "run", "--", shared], text=True, capture_output=True)
    equal(refused.returncode, 125, "exit of proftap run")
    contains(refused.stderr, "link the program with a libproftap that was built with musl", "the reason")
    static = build_program(prefix, "static", "-static", source, *library)
    static_pie = build_static_pie(prefix, "static-pie")
    for program, kind in ((static, "EXEC"), (static_pie, "DYN")):
        contains(call("readelf", "-h", program), kind, f"the type of {program.name}")
        check("INTERP" not in call("readelf", "-l", program), f"{program.name} needs a loader")
        check_record(t, program)
    # The constructor is part of a static program, too.
    port = free_port()
    equal(check_record(t, static, PROFTAP_SERVER=str(port)), port, "the port that PROFTAP_SERVER names")


run()
