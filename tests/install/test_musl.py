#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests libproftap with another libc than glibc: configure --disable-programs builds it with musl-gcc and without a warning, and
a shared, a static and a static-PIE program of musl are recorded by this build's proftapd.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from fixture import Skip, check, contains, equal, free_port, need_no_sanitizer, run, test  # noqa: E402
from processes import PROFTAP, PROFTAPD, TOP_SRC, Capture, Process  # noqa: E402

MUSL = "musl-gcc"


def call(*command, cwd=None):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=250)
    equal(done.returncode, 0, f"{command}: {done.stdout[-3000:]}")
    return done.stdout


def find_kernel_headers(folder):
    """Makes |folder| with Linux's headers alone. Debian's musl-gcc does not search /usr/include, which has glibc's, too."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    found = subprocess.run([*compiler, "-M", "-x", "c", "-"], input="#include <linux/futex.h>\n#include <asm/unistd.h>\n",
                           capture_output=True, text=True).stdout
    folder.mkdir()
    for name in ("linux", "asm", "asm-generic"):
        path = re.search(rf"(\S+/{name})/\w+\.h", found)
        if not path:
            raise Skip("the compiler finds no headers of Linux")
        (folder / name).symlink_to(path[1])
    return folder


def install(t):
    """Builds the library with musl, and returns its prefix, in which sbin/proftapd is this build's."""
    need_no_sanitizer("are not for musl")
    if not shutil.which(MUSL):
        raise Skip(f"there is no {MUSL}")
    build, prefix = t.dir / "build", t.dir / "prefix"
    build.mkdir()
    headers = find_kernel_headers(t.dir / "kernel")
    call(TOP_SRC / "configure", f"CC={MUSL}", "CXX=no", f"CPPFLAGS=-isystem {headers}", "--disable-programs", "--enable-werror",
         "--prefix=/nonexistent", cwd=build)
    call("make", "-s", "-j2", "install", f"prefix={prefix}", cwd=build)
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
