# SPDX-License-Identifier: Apache-2.0
"""A memory cgroup of a test's own: v1 or v2, whichever has the controller."""
import os
import re
import time
from pathlib import Path

from checks import Skip

# (start of its line in /proc/self/cgroup, mount point, file of the limit, file of the usage)
KINDS = ((r"\d+:(?:.*,)?memory(?:,.*)?:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
          "memory.usage_in_bytes"),
         (r"0::", "/sys/fs/cgroup", "memory.max", "memory.current"))


def candidates():
    """(folder, file of the limit, file of the usage): below our own cgroup, then below the root."""
    own = Path("/proc/self/cgroup").read_text()
    for line, mount, limit, usage in KINDS:
        found = re.search(f"^{line}/(.*)$", own, re.M)
        if found:
            for parent in (Path(mount) / found[1], Path(mount)):
                yield parent / f"proftap-test-{os.getpid()}", limit, usage


class MemoryCgroup:
    """Ends with the test |t|, when its processes have ended."""

    def __init__(self, t):
        reason = "no memory controller is mounted"
        for self.path, limit, usage in candidates():
            self.limit_path, self.usage_path = self.path / limit, self.path / usage
            try:
                self.path.mkdir()
                t.after.append(self.remove)
                if self.limit_path.exists():
                    return
                reason = f"{self.path.parent} does not hand the memory controller on"
            except OSError as e:
                reason = str(e)
        raise Skip(f"no memory cgroup can be made: {reason}")

    def limit(self, n_bytes):
        self.limit_path.write_text(str(n_bytes))

    def add(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid))

    @property
    def usage(self):
        return int(self.usage_path.read_text())

    @property
    def n_oom_kills(self):
        for name in ("memory.events", "memory.oom_control"):
            path = self.path / name
            if path.exists():
                return int(re.search(r"^oom_kill (\d+)", path.read_text(), re.M)[1])
        return 0

    def remove(self):
        deadline = time.monotonic() + 5
        while self.path.exists():
            try:
                self.path.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    return
                time.sleep(0.01)
