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


def check(text):
    return JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)


def test_bill_of_materials():
    """The bill of materials follows the schema, and gRPC is in it as a library that the program needs."""
    words = re.search(r"^PTAP_PROGRAM_LIBS = (.*)$", (BUILD / "tests/Makefile").read_text(), re.M)[1].split()
    text = subprocess.run([SOURCE / "packaging/sbom", SOURCE, "1.2.3", *words], capture_output=True, text=True, check=True).stdout
    assert check(text) is None, check(text)
    bill = json.loads(text)
    required = {part["name"] for part in bill["components"] if part["scope"] == "required"}
    assert any(name.startswith("libgrpc") for name in required), required
    assert bill["metadata"]["component"]["version"] == "1.2.3"
    assert check(text.replace('"scope": "required"', '"scope": "perhaps"', 1)), "the schema accepts everything"
