# SPDX-License-Identifier: Apache-2.0
"""Builds libproftap from the tree in which this recipe is: conan create packaging/conan"""
import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy


class Proftap(ConanFile):
    name = "proftap"
    description = "Lets a running program be recorded: spans, steps and counters for XProf"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}
    generators = "CMakeToolchain"

    @property
    def _top(self):
        return Path(self.recipe_folder).parent.parent

    def set_version(self):
        self.version = re.search(r"AC_INIT\(\[proftap\], \[(.*?)\]", (self._top / "configure.ac").read_text())[1]

    def export_sources(self):
        for pattern in ("LICENSE", "NOTICE", "base/*", "configure.ac", "lib/*", "packaging/cmake/*"):
            copy(self, pattern, self._top, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("libproftap needs Linux")

    def configure(self):
        # The interface is in C; the header for C++ has only inline functions.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder="packaging/cmake")
        cmake.build()

    def package(self):
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["proftap"]
        self.cpp_info.system_libs = ["dl", "pthread"]
