# SPDX-License-Identifier: Apache-2.0
"""Conan builds libproftap for a program, and the files for GitHub and GitLab are valid."""
import os
import pathlib
import shutil
import sys

from processes import BUILD, SOURCE, folder, run

TOOLS = pathlib.Path(sys.executable).parent
PROGRAM = """\
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(proftap REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE proftap::proftap)
"""


def build_by_conan(is_shared):
    with folder() as work:
        (work / "CMakeLists.txt").write_text(PROGRAM)
        shutil.copy(SOURCE / "tests/install/program.c", work)
        env = {**os.environ, "CONAN_HOME": str(work / "conan")}
        options = ("-o", f"proftap/*:shared={is_shared}")

        def conan(*words):
            return run(TOOLS / "conan", *words, cwd=work, env=env)

        conan("profile", "detect")
        conan("create", SOURCE / "packaging/conan", *options)
        conan("install", "--requires", "proftap/[>=0]", "-g", "CMakeDeps", "-g", "CMakeToolchain", "-of", "deps", *options)
        run("cmake", "-S", ".", "-B", "b", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_TOOLCHAIN_FILE=deps/conan_toolchain.cmake", cwd=work)
        run("cmake", "--build", "b", cwd=work)
        libraries = run("readelf", "-d", work / "b/program").stdout
        assert ("libproftap.so.1" in libraries) == is_shared, libraries
        # The program starts a server, and ends with its standard input.
        done = run(work / "b/program", env={**os.environ, "PROFTAPD": str(BUILD / "daemon/proftapd")})
        assert int(done.stdout) > 0, done.stdout


def test_conan_with_a_shared_library():
    """A program that Conan gives the shared library starts a server."""
    build_by_conan(True)


def test_conan_with_a_static_library():
    """A program that Conan gives the static library starts a server."""
    build_by_conan(False)


def test_files_for_forges():
    """The files for GitHub and GitLab follow their schemas. A tarball does not have them."""
    if not (SOURCE / ".ci").exists():
        return
    for schema, path in (("github-workflows", ".github/workflows/ci.yml"), ("gitlab-ci", ".gitlab-ci.yml")):
        transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
        run(TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *transform, SOURCE / path)
