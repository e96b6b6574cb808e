#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `make install` is complete: a program that knows only pkg-config is built against it, started, and captured with the
installed programs; `make uninstall` leaves nothing.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from fixture import (SANITIZERS, check, contains, equal, find_proftapd, need_no_sanitizer, run, test,  # noqa: E402
                     wait_until)
from processes import TOP_BUILD, TOP_SRC, Capture, Process, is_alive  # noqa: E402

UNITS = ("proftapd.service", "proftapd.socket", "proftapd-registry.socket", "proftapd-web.socket")
# The limit of systemd-analyze security, in tenths; the scale ends at ten.
MAX_EXPOSURE = 30
SAMPLES_PERMITTED = "perf_event_open is allowed"
# The size of a stripped program. gRPC with TLS and what it needs adds 7 MB.
MAX_PROGRAM_BYTES = 7_000_000
SANITIZE = {"address": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}
COMPILERS = (("c", os.environ.get("CC", "cc"), "-std=gnu99"),
             ("c++", os.environ.get("CXX", "c++"), "-std=gnu++11"))


def call(*command, cwd=None, code=0):
    """Runs a command as a user would, not as a part of a make that runs already."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250)
    equal(done.returncode, code, f"{command}: {done.stdout[-2000:]}")
    return done.stdout


def make(goal, *variables):
    call("make", "-C", TOP_BUILD, goal, *variables)


def list_files(root):
    return sorted(str(p.relative_to(root)) for p in root.rglob("*")
                  if p.is_symlink() or not p.is_dir())


def clean_environment(**more):
    """Returns the environment without ways to the build tree."""
    env = {k: v for k, v in os.environ.items() if k not in ("PROFTAPD", "LD_LIBRARY_PATH")}
    return {**env, "PATH": "/usr/bin:/bin", **more}


def pkg_config(prefix, *words):
    done = subprocess.run(
        ["pkg-config", *words, "proftap"], env=clean_environment(PKG_CONFIG_PATH=find(prefix, "lib*/**/pkgconfig")), text=True,
        capture_output=True)
    equal(done.returncode, 0, f"pkg-config {words}: {done.stderr}")
    return done.stdout.split()


def find(prefix, pattern):
    found = sorted(prefix.glob(pattern))
    equal(len(found), 1, f"number of {pattern} in {list_files(prefix)}")
    return str(found[0])


def build(prefix, language, compiler, standard, is_static=False):
    program = prefix / f"{'static ' * is_static}program in {language}"
    library = pkg_config(prefix, "--variable=libdir")[0]
    done = subprocess.run(
        [*compiler.split(), "-x", language, standard, "-Wall", "-Wextra", "-Werror",
         *SANITIZE.get(SANITIZERS, ()), "-o", program, HERE / "program.c", "-x", "none",
         *(["-static", *pkg_config(prefix, "--cflags", "--libs", "--static")] if is_static else
           [*pkg_config(prefix, "--cflags", "--libs"), f"-Wl,-rpath,{library}"])],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal((done.returncode, done.stdout), (0, ""), f"{compiler}: a link without a warning")
    return program


class Program(Process):
    def __init__(self, path):
        super().__init__(path.name, [path], stdin=subprocess.PIPE)


def capture_program(t, prefix, program):
    """Captures |program| with the installed client; its server must be the installed one."""
    for name in ("PROFTAPD", "LD_LIBRARY_PATH"):
        os.environ.pop(name, None)
    target = t.keep(Program(program))
    target.port = int(target.read_line())
    server = find_proftapd(target.pid)
    equal(os.readlink(f"/proc/{server}/exe"), find(prefix, "sbin/proftapd"), "the server")
    capture = t.keep(Capture(t, target.port, 200, program=find(prefix, "bin/proftap"))).finish()
    check(capture.trace.count("turn") > 3, f"spans: {capture.trace.count('turn')}")
    report = json.loads(subprocess.run([find(prefix, "bin/proftap"), "report", "--json",
                                        capture.path], capture_output=True, check=True).stdout)
    check(report["totals"]["spans"] > 3, f"report: {report['totals']}")
    target.popen.stdin.close()
    equal(target.wait(), 0, "the program's exit")
    wait_until(lambda: not is_alive(server), "the server to end")


def check_lean(t, program):
    """Checks that |program| is small and has neither OpenSSL nor zstd: it has no TLS."""
    needed = subprocess.run(["ldd", program], text=True, capture_output=True, check=True).stdout
    check(not re.search(r"lib(ssl|crypto|zstd|grpc)\.so", needed), f"{program} needs: {needed}")
    symbols = subprocess.run(["readelf", "-sW", program], text=True, capture_output=True,
                             check=True).stdout
    equal(re.findall(r"\b(?:SSL|EVP|OPENSSL|ZSTD)_\w+", symbols)[:5], [], f"symbols of {program}")
    if SANITIZERS == "no":
        subprocess.run(["strip", "-o", t.dir / "stripped", program], check=True)
        check((t.dir / "stripped").stat().st_size <= MAX_PROGRAM_BYTES,
              f"{program}: {(t.dir / 'stripped').stat().st_size} bytes")


def check_whole(prefix):
    """Checks that each kind of file is installed, and that none points to the build."""
    files = list_files(prefix)
    for pattern in ("bin/proftap", "sbin/proftapd", "lib*/**/libproftap.a", "lib*/**/libproftap.so",
                    "lib*/**/libproftap.so.1", "lib*/**/proftap.pc", "include/proftap/proftap.h", "include/proftap/proftap.hpp",
                    "include/proftap/error.h", "include/proftap/collector.h", "share/man/man1/proftap.1",
                    "share/man/man3/proftap-collector.3",
                    "share/man/man8/proftapd.8", "share/man/man3/proftap.h.3", "share/man/man3/proftap.hpp.3",
                    "share/man/man7/proftap-errors.7",
                    "share/bash-completion/completions/proftap", "share/zsh/site-functions/_proftap",
                    "share/fish/vendor_completions.d/proftap.fish", "lib*/**/cmake/proftap/proftapConfig.cmake",
                    "lib*/**/cmake/proftap/proftapConfigVersion.cmake", "lib/sysusers.d/proftap.conf",
                    "lib/tmpfiles.d/proftap.conf", *(f"lib/systemd/system/{unit}" for unit in UNITS)):
        find(prefix, pattern)
    equal([name for name in files if name.endswith((".a", ".la"))], [str(Path(find(prefix, "lib*/**/libproftap.a")).relative_to(prefix))], "archives")
    for name in ("bin/proftap", "sbin/proftapd", "lib*/**/libproftap.so.1"):
        dynamic = subprocess.run(["readelf", "-d", find(prefix, name)], text=True,
                                 capture_output=True, check=True).stdout
        check(not re.search(r"R(UN)?PATH", dynamic), f"{name} has an RPATH or RUNPATH: {dynamic}")
    commands = subprocess.run([prefix / "bin/proftap", "--help"], text=True, capture_output=True,
                              check=True).stdout
    for command in re.findall(r"^  (\w+) ", commands, re.M):
        check(f"share/man/man1/proftap-{command}.1" in files, f"no page for {command} in {files}")


def systemd(program, *words, stdin=""):
    """Returns the output, and checks that the program found no error. None: systemd is not installed."""
    if not shutil.which(program):
        return None
    done = subprocess.run([program, *words], input=stdin, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=clean_environment(SYSTEMD_PAGER=""))
    equal(done.returncode, 0, f"{program} {words}: {done.stdout}")
    return done.stdout


def check_units(prefix):
    """Runs systemd's checks of the units; they change nothing on this machine."""
    folder = prefix / "lib/systemd/system"
    said = systemd("systemd-analyze", "verify", "--man=no", *(folder / unit for unit in UNITS))
    equal(said or "", "", "output of systemd-analyze verify")
    said = systemd("systemd-analyze", "security", "--offline=true", f"--threshold={MAX_EXPOSURE}", folder / "proftapd.service")
    # Lent servers inherit the filter, and take CPU samples.
    contains(said or SAMPLES_PERMITTED, SAMPLES_PERMITTED, "output of systemd-analyze security")
    users = systemd("systemd-sysusers", "--dry-run", f"--root={prefix}", "-",
                    stdin=(prefix / "lib/sysusers.d/proftap.conf").read_text())
    contains(users or "Creating user 'proftap'", "Creating user 'proftap'", "plan of systemd-sysusers")
    contains((folder / "proftapd.service").read_text(), f"ExecStart={prefix}/sbin/proftapd --host\n", "the service")


@test
def installation_under_a_prefix_works(t):
    prefix = t.dir / "prefix"
    make("install", f"prefix={prefix}")
    installed = list_files(prefix)
    check_whole(prefix)
    check_units(prefix)
    for name in ("bin/proftap", "sbin/proftapd"):
        check_lean(t, find(prefix, name))
    programs = [build(prefix, *compiler) for compiler in COMPILERS]
    if SANITIZERS == "no":  # a sanitizer's library is shared
        programs += [build(prefix, *compiler, is_static=True) for compiler in COMPILERS]
    # A static program finds the server where it was configured to be, or by PATH.
    os.environ["PATH"] += f":{prefix}/sbin"
    for program in programs:
        capture_program(t, prefix, program)
        program.unlink()
    equal(list_files(prefix), installed, "files after use")
    make("uninstall", f"prefix={prefix}")
    equal(list_files(prefix), [], "files that make uninstall left")
    check(not list(prefix.rglob("*proftap*")), f"left: {list(prefix.rglob('*proftap*'))}")


@test
def staged_package_is_the_same_and_uninstalls(t):
    stage = t.dir / "stage"
    make("install", f"DESTDIR={stage}", "prefix=/opt/proftap")
    check_whole(stage / "opt/proftap")
    contains(Path(find(stage / "opt/proftap", "lib*/**/proftap.pc")).read_text(), "prefix=/opt/proftap\nlibdir=${prefix}/lib",
             "proftap.pc")
    equal([p.name for p in stage.iterdir()], ["opt"], "contents of the stage")
    make("uninstall", f"DESTDIR={stage}", "prefix=/opt/proftap")
    equal(list_files(stage), [], "files that make uninstall left")


@test
def libraries_are_shared_where_a_static_one_is_missing(t):
    need_no_sanitizer("have shared libraries")
    folders = subprocess.run(["pkg-config", "--variable", "pc_path", "pkg-config"], check=True, capture_output=True, text=True).stdout
    for folder in folders.strip().split(":"):
        for path in Path(folder).glob("*.pc"):
            if path.name != "libuv-static.pc" and not (t.dir / path.name).exists():
                (t.dir / path.name).symlink_to(path)
    configure = [Path(TOP_SRC, "configure").resolve(), f"PKG_CONFIG_LIBDIR={t.dir}"]
    (t.dir / "build").mkdir()
    for choice, code, said in (("auto", 0, "proftap and proftapd, shared libraries, "),
                               ("static", 1, "libuv-static.pc: not found; install the package that holds it, or use --with-libraries=shared")):
        done = subprocess.run([*configure, f"--with-libraries={choice}"], cwd=t.dir / "build", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=250)
        equal(done.returncode, code, f"status of {choice}: {done.stdout[-500:]}")
        contains(done.stdout, said, f"--with-libraries={choice}")


@test
def a_folder_without_programs_refuses_what_needs_them(t):
    call(Path(TOP_SRC, "configure").resolve(), "--disable-programs", cwd=t.dir)
    for goal in ("check", "demo", "dist", "distcheck", "sbom"):
        output = call("make", goal, cwd=t.dir, code=2)
        contains(output, f"make {goal}: this folder was configured with --disable-programs; configure another one", "reason")
        equal(output.count("\n"), 1, f"lines of {output}")


@test
def a_static_library_of_link_time_optimization_is_machine_code(t):
    need_no_sanitizer("have shared libraries")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["CFLAGS=-O1 -flto=2", "LDFLAGS=-flto=2", "AR=gcc-ar", "NM=gcc-nm", "RANLIB=gcc-ranlib"]
    if b"clang" in subprocess.run([*compiler, "--version"], capture_output=True).stdout:
        flags = ["CFLAGS=-O1 -flto", "LDFLAGS=-flto"]
    call(Path(TOP_SRC, "configure").resolve(), "--disable-programs", "--enable-werror", *flags, cwd=t.dir)
    for folder in ("base", "lib"):
        call("make", "-s", "-j2", "-C", folder, cwd=t.dir)
    for option in ("-fno-lto", "-flto"):
        call(*compiler, option, "-I", Path(TOP_SRC, "lib/include").resolve(), "-o", t.dir / "program", HERE / "program.c",
             t.dir / "lib/libproftap.a", "-ldl", "-pthread")


run()
