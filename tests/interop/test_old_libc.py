# SPDX-License-Identifier: Apache-2.0
"""libproftap built for glibc 2.17, the oldest one that it supports, by zig, which has the headers and symbols of every glibc."""
import os
import re
import subprocess
import sys

from processes import BUILD, PATIENCE_S, PROFTAP, SOURCE, folder, run

OLDEST = (2, 17)
TARGET = f"{os.uname().machine}-linux-gnu.2.17"
MAKE_FLAGS = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")


def build_library(work):
    """Installs the library in |work|/prefix, and returns the compiler's name."""
    compiler = work / "cc"
    compiler.write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang cc -target {TARGET} "$@"\n')
    compiler.chmod(0o755)
    env = {k: v for k, v in os.environ.items() if k not in MAKE_FLAGS}
    env |= {"ZIG_GLOBAL_CACHE_DIR": str(BUILD / "zig"), "ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig")}
    build = work / "build"
    build.mkdir()
    for command in ([SOURCE / "configure", f"CC={compiler}", "CXX=no", "--disable-programs", "--enable-werror", "--prefix=/nonexistent"],
                    ["make", "-s", "install", f"prefix={work}/prefix"]):
        run(*command, cwd=build, env=env, patience_s=20 * PATIENCE_S)
    return compiler, env


def read_newest(path):
    """The newest version of glibc of which |path| needs a symbol."""
    text = run("readelf", "-W", "--version-info", path).stdout
    return max(tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", text))


def test_glibc_2_17():
    """The library needs no symbol newer than glibc 2.17's, and a program that is built with it is recorded."""
    with folder() as work:
        compiler, env = build_library(work)
        library = work / "prefix/lib"
        for path in (library / "libproftap.so", library / "proftap/proftap-cuda.so"):
            assert read_newest(path) <= OLDEST, (path, read_newest(path))
        program = work / "program"
        run(compiler, "-O2", "-Wall", "-Wextra", "-Werror", f"-I{work}/prefix/include", SOURCE / "tests/install/program.c", f"-L{library}",
            "-lproftap", f"-Wl,-rpath,{library}", "-o", program, env=env, patience_s=10 * PATIENCE_S)
        assert read_newest(program) <= OLDEST, read_newest(program)
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PROFTAPD": str(BUILD / "daemon/proftapd")}) as target:
            port = target.stdout.readline().strip()
            done = run(PROFTAP, "capture", port, 200, "--log_dir", work / "logs")
            target.stdin.close()
        spans = int(re.search(r"spans (\d+)", done.stderr)[1])
        assert target.returncode == 0 and spans > 3, (target.returncode, done.stderr)
