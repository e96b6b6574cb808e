# SPDX-License-Identifier: Apache-2.0
"""Tests that the bill of materials of a release follows CycloneDX's own schema, and contains the libraries of the programs."""
import json
import os
import re
import subprocess
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

SOURCE, BUILD = (Path(os.environ[name]) for name in ("top_srcdir", "top_builddir"))
SCRIPT = SOURCE / "packaging/sbom"
# The packages of what the programs open at run time.
OPENED = {"libmicrohttpd12", "libmicrohttpd12t64", "libsqlite3-0"}


def check(text):
    return JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)


def write_bill(*words, **variables):
    return subprocess.run([SCRIPT, SOURCE, "1.2.3", *words], capture_output=True, text=True, check=True,
                          env={**os.environ, **variables}).stdout


def read_parts(text):
    """Returns {scope: names}."""
    parts = {}
    for part in json.loads(text)["components"]:
        parts.setdefault(part["scope"], set()).add(part["name"])
    return parts


def test_bill_of_materials():
    """The bill of materials of this build follows the schema, and has each library of the programs."""
    words = re.search(r"^PTAP_PROGRAM_LIBS = (.*)$", (BUILD / "tests/Makefile").read_text(), re.M)[1].split()
    text = write_bill(*words)
    assert check(text) is None, check(text)
    assert json.loads(text)["metadata"]["component"]["version"] == "1.2.3"
    required = read_parts(text)["required"]
    for name in ("c6", "gcc", "grpc", "jansson", "protobuf-c", "stdc++", "uv1", "xxhash"):
        assert any(part.startswith(f"lib{name}") for part in required), f"{name}: {required}"
    assert any(part.startswith("zlib1g") for part in required), required
    assert check(text.replace('"scope": "required"', '"scope": "perhaps"', 1)), "the schema accepts everything"


def test_libraries_that_the_programs_open():
    """A library that the programs open at run time is optional, and no part of a build's packages."""
    parts = read_parts(write_bill("-lz"))
    assert parts["optional"] & OPENED, parts
    assert not (parts["required"] | parts["excluded"]) & OPENED, parts


def test_shared_libraries():
    """Programs with shared libraries need no package that only a build needs."""
    parts = read_parts(write_bill("-lz", "-lpthread", "-ldl", "-lrt", "-lm", "-lstdc++"))
    assert parts["required"] == {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}, parts
    assert {"libc6-dev", "zlib1g-dev"} <= parts["excluded"], parts


def test_static_libgcc():
    """Programs with static libraries contain a part of libgcc's package for the build, and need libc."""
    parts = read_parts(write_bill("-lm", "-static-libgcc"))
    assert any(re.fullmatch(r"libgcc-\d+-dev", name) for name in parts["required"]), parts
    assert "libc6" in parts["required"], parts


def test_compiler_of_several_words():
    """CC may have several words, as in `ccache gcc`."""
    assert read_parts(write_bill("-lz", CC="env gcc")) == read_parts(write_bill("-lz", CC="gcc"))


def test_usage():
    """A call without the version or without a library prints the usage, and exits 2."""
    for words in ((), (SOURCE, "1.2.3")):
        done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert done.stderr == f"usage: {SCRIPT} SOURCE_ROOT VERSION WORD...\n", done.stderr
