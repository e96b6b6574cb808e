# SPDX-License-Identifier: Apache-2.0
"""Root directories of copied files, like those of containers."""
import re
import shutil
import subprocess
from pathlib import Path

from processes import LIBRARY, PROFTAPD, TARGET


def libraries_of(program):
    """Returns the libraries that the loader opens, and the loader."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", text)} - {LIBRARY}


def make_root(t, proftapd=True):
    """Makes a root with a shell, a program (usr/bin/train), libproftap, and, if |proftapd|, the
    server; it has nothing else."""
    root = t.dir / "root"
    for folder in ("bin", "usr/bin", "usr/lib", "proc", "dev", "tmp", "run/proftap"):
        (root / folder).mkdir(parents=True)
    copies = [(shutil.which("sh"), "bin/sh"), (TARGET, "usr/bin/train"), (LIBRARY, f"usr/lib/{LIBRARY.name}")]
    for program, place in copies + ([(PROFTAPD, "usr/bin/proftapd")] if proftapd else []):
        shutil.copy(program, root / place)
        for library in libraries_of(program):
            copy = root / library.relative_to("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, copy)
    return root
