# SPDX-License-Identifier: Apache-2.0
"""A file system with little space."""
import subprocess

from fixture import Skip, need_root


def mount(t, size="128k"):
    """Mounts the file system until the test ends, and returns its path."""
    need_root()
    path = t.dir / "small"
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path],
                          capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"cannot mount a tmpfs: {done.stderr.strip()}")
    t.at_end.append(lambda: subprocess.run(["umount", "-l", path], check=True))
    return path
