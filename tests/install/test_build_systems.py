#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a user's program by CMake, Meson and vcpkg's port, with an installed libproftap and with one that they build."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from fixture import Skip, check, contains, equal, need_no_sanitizer, run, test  # noqa: E402
from processes import TOP_BUILD, TOP_SRC  # noqa: E402

PACKAGING = TOP_SRC / "packaging"
VERSION = re.search(r"AC_INIT\(\[proftap\], \[(.*)\]\)", (TOP_SRC / "configure.ac").read_text())[1]
LIBRARY = TOP_BUILD / "lib/.libs/libproftap.so"
PROGRAM = """\
cmake_minimum_required(VERSION 3.18)
project(user C)
%s
add_executable(program program.c)
target_link_libraries(program PRIVATE proftap::proftap)
"""
FETCH = f"""\
include(FetchContent)
FetchContent_Declare(proftap SOURCE_DIR "{TOP_SRC}" SOURCE_SUBDIR packaging/cmake)
FetchContent_MakeAvailable(proftap)
"""
# The files below packaging that contain the version, and the line that has it.
VERSION_LINES = (("deb/debian/changelog", r"^proftap \((.*)-"), ("vcpkg/proftap/vcpkg.json", '"version": "(.*)"'))
# These stand for vcpkg's functions. They do the same with the folder PACKAGE as the only place of a package.
VCPKG = """\
function(run)
	execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_configure)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "")
	run(${CMAKE_COMMAND} -S "${arg_SOURCE_PATH}" -B built -DBUILD_SHARED_LIBS=OFF "-DCMAKE_INSTALL_PREFIX=${PACKAGE}")
endfunction()
function(vcpkg_cmake_install)
	run(${CMAKE_COMMAND} --build built --parallel 2)
	run(${CMAKE_COMMAND} --install built)
endfunction()
function(vcpkg_cmake_config_fixup)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
	file(MAKE_DIRECTORY "${PACKAGE}/share")
	file(RENAME "${PACKAGE}/${arg_CONFIG_PATH}" "${PACKAGE}/share/proftap")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
	cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
	file(COPY ${arg_FILE_LIST} DESTINATION "${PACKAGE}/share/proftap")
endfunction()
include("${PORT}/portfile.cmake")
"""


def call(t, *words, code=0, **variables):
    need_no_sanitizer("are switches that other build systems do not get")
    if not shutil.which(words[0]):
        raise Skip(f"there is no {words[0]}")
    # These commands are not a part of the make that runs this test.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PROFTAPD")}
    done = subprocess.run(words, cwd=t.dir, env={**env, **variables}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=200)
    equal(done.returncode, code, f"{words}: {done.stdout[-3000:]}")
    return done.stdout


def run_program(program):
    """Runs the program, which checks its library's version, starts a server and ends with its standard input."""
    done = subprocess.run([program, VERSION], env={**os.environ, "PROFTAPD": str(TOP_BUILD / "daemon/proftapd")},
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=60)
    equal((done.returncode, done.stderr), (0, ""), f"{program}")
    check(int(done.stdout) > 0, f"the server's port: {done.stdout}")


def install(t):
    """Installs by make, and returns the place to which the installed tree was moved."""
    stage = t.dir / "stage"
    call(t, "make", "-C", str(TOP_BUILD), "install", f"DESTDIR={stage}", "prefix=/opt/proftap")
    (stage / "opt/proftap").rename(t.dir / "moved")
    return t.dir / "moved"


def write_program(t, way):
    (t.dir / "CMakeLists.txt").write_text(PROGRAM % way)
    shutil.copy(HERE / "program.c", t.dir)


def check_packages(folder):
    """Checks the version that the folder's pkg-config files state."""
    stated = [re.search("^Version: (.*)", path.read_text(), re.M)[1] for path in folder.glob("**/proftap.pc")]
    equal(stated, [VERSION], f"versions in the .pc files of {folder}")


def build_program(t, way, *words):
    write_program(t, way)
    call(t, "cmake", "-S", ".", "-B", "b", *words)
    call(t, "cmake", "--build", "b", "--parallel", "2")
    run_program(t.dir / "b/program")
    return t.dir / "b"


def list_names(library):
    """Returns the names that a shared library exports."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True, check=True)
    return sorted(line.split(" ", 1)[1] for line in done.stdout.splitlines())


def list_global(archive):
    done = subprocess.run(["nm", "-g", "--defined-only", archive], text=True, capture_output=True, check=True)
    return sorted(line.split()[2] for line in done.stdout.splitlines() if len(line.split()) == 3)


def check_archive(built):
    """Checks that the archive in a build folder has the global names of the main build's."""
    equal(list_global(next(built.glob("**/libproftap.a"))), list_global(TOP_BUILD / "lib/libproftap.a"), "global names of the archive")


def find_soname(library):
    dynamic = subprocess.run(["readelf", "-d", library], text=True, capture_output=True, check=True).stdout
    return re.search(r"SONAME.*\[(.*)\]", dynamic)[1]


def check_same(library):
    """Checks that another build system made the same library, as a program sees it."""
    equal(list_names(library), list_names(LIBRARY), "exported names")
    equal(find_soname(library), find_soname(LIBRARY), "soname")
    equal(library.resolve().name, LIBRARY.resolve().name, "name of the file")


@test
def cmake_finds_a_library_that_was_moved(t):
    moved = install(t)
    check_packages(moved)
    built = build_program(t, "find_package(proftap 0.1 REQUIRED)", f"-DCMAKE_PREFIX_PATH={moved}")
    contains(call(t, "ldd", str(built / "program")), str(moved), "libraries of the program")


@test
def cmake_refuses_other_versions(t):
    moved = install(t)
    major, minor, _ = map(int, VERSION.split("."))
    for version, code in ((VERSION, 0), (f"{major}.{minor}", 0), (f"{major}.{minor}.999", 1), (f"{major}.{minor + 1}", 1),
                          (f"{major + 1}", 1)):
        write_program(t, f"find_package(proftap {version} REQUIRED)")
        call(t, "cmake", "-S", ".", "-B", f"b{version}", f"-DCMAKE_PREFIX_PATH={moved}", code=code)


@test
def cmake_says_that_a_part_of_the_library_is_missing(t):
    moved = install(t)
    for pattern in ("include/proftap/proftap.h", "lib*/**/libproftap.*"):
        for path in moved.glob(pattern):
            path.unlink()
        write_program(t, "find_package(proftap REQUIRED)")
        contains(" ".join(call(t, "cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={moved}", code=1).split()),
                 "has include/proftap/proftap.h" if pattern.startswith("include") else "libproftap is not in the folder", "reason")


@test
def cmake_fetches_the_library_alone(t):
    built = build_program(t, FETCH, f"-DCMAKE_INSTALL_PREFIX={t.dir}/installed")
    check_same(next(built.glob("**/libproftap.so")))
    call(t, "cmake", "--install", "b")
    check_packages(t.dir / "installed")
    shutil.rmtree(built)
    build_program(t, f"find_package(proftap {VERSION} REQUIRED)", f"-DCMAKE_PREFIX_PATH={t.dir}/installed")


@test
def cmake_fetches_a_static_library_that_keeps_its_names(t):
    check_archive(build_program(t, FETCH, "-DBUILD_SHARED_LIBS=OFF"))


@test
def cmake_fetches_a_static_library_without_link_time_optimization(t):
    check_archive(build_program(t, FETCH, "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_C_FLAGS=-flto",
                                "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"))


def build_by_wrap(t, kind, *options, **variables):
    """Builds the program by Meson, which builds the library of the kind from a tarball, and returns the build folder."""
    subprojects = t.dir / "subprojects"
    shutil.copytree(PACKAGING / "meson/packagefiles", subprojects / "packagefiles")
    archive = t.dir / f"proftap-{VERSION}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=0) as tar:
        for name in ("base", "configure.ac", "lib"):
            tar.add(TOP_SRC / name, f"proftap-{VERSION}/{name}")
    wrap = (PACKAGING / "meson/proftap.wrap.in").read_text()
    for key, value in (("VERSION", VERSION), ("URL", f"file://{t.dir}"),
                       ("SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())):
        wrap = wrap.replace(f"@{key}@", value)
    (subprojects / "proftap.wrap").write_text(wrap)
    (t.dir / "meson.build").write_text("project('user', 'c')\n"
                                       f"proftap = dependency('proftap', version: '{VERSION}')\n"
                                       "executable('program', 'program.c', dependencies: proftap)\n")
    shutil.copy(HERE / "program.c", t.dir)
    call(t, "meson", "setup", "b", f"--default-library={kind}", *options, **variables)
    call(t, "meson", "compile", "-C", "b")
    run_program(t.dir / "b/program")
    check_packages(t.dir / "b")
    return t.dir / "b"


@test
def meson_wrap_builds_the_library(t):
    check_same(next(build_by_wrap(t, "shared").glob("**/libproftap.so")))


@test
def meson_wrap_builds_a_static_library_that_keeps_its_names(t):
    built = build_by_wrap(t, "static")
    check_archive(built)
    check("libproftap" not in call(t, "ldd", str(built / "program")), "the program needs the shared library")


@test
def meson_wrap_builds_a_static_library_without_link_time_optimization(t):
    check_archive(build_by_wrap(t, "static", "-Db_lto=true", CFLAGS="-flto"))


@test
def vcpkg_port_installs_a_library_that_cmake_finds(t):
    """vcpkg itself does not run here; its functions are replaced, but the port is the real one."""
    port = PACKAGING / "vcpkg/proftap"
    (t.dir / "vcpkg.cmake").write_text(VCPKG)
    call(t, "cmake", f"-DPACKAGE={t.dir}/package", f"-DPORT={port}", "-P", "vcpkg.cmake")
    for path in ("share/proftap/LICENSE", "lib/libproftap.a", "include/proftap/proftap.h"):
        check((t.dir / "package" / path).exists(), f"no {path}")
    check_packages(t.dir / "package")
    build_program(t, f"find_package(proftap {VERSION} CONFIG REQUIRED)", f"-DCMAKE_PREFIX_PATH={t.dir}/package")


@test
def every_file_has_the_same_version(t):
    news = (TOP_SRC / "NEWS.md").read_text()
    equal(re.search(r"^## (\S+)", news, re.M)[1], VERSION, "the newest entry of NEWS.md")
    for name, pattern in VERSION_LINES:
        equal(re.search(pattern, (PACKAGING / name).read_text(), re.M)[1], VERSION, f"version in {name}")


run()
