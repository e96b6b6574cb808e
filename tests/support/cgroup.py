# SPDX-License-Identifier: Apache-2.0
"""Memory, processor, freezer and named cgroups of a test's own: v1 or v2, whichever has the controller."""
import os
import re
import time
from pathlib import Path

from checks import Skip

# (regular expression for the start of a line in /proc/self/cgroup, mount point, file of the limit, file of the usage)
KINDS = ((r"\d+:(?:.*,)?memory(?:,.*)?:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
          "memory.usage_in_bytes"),
         (r"0::", "/sys/fs/cgroup", "memory.max", "memory.current"))


def candidates():
    """Yields (folder, file of the limit, file of the usage): first below our own cgroup, then below the root."""
    own = Path("/proc/self/cgroup").read_text()
    for line, mount, limit, usage in KINDS:
        found = re.search(f"^{line}/(.*)$", own, re.M)
        if found:
            for parent in (Path(mount) / found[1], Path(mount)):
                yield parent / f"proftap-test-{os.getpid()}", limit, usage


def remove(path):
    """Removes the cgroup when its processes have ended."""
    deadline = time.monotonic() + 5
    while path.exists():
        try:
            path.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)


class MemoryCgroup:
    """A memory cgroup of the test |t|, removed with the test when the cgroup's processes have ended."""

    def __init__(self, t):
        reason = "no memory controller is mounted"
        for self.path, limit, usage in candidates():
            self.limit_path, self.usage_path = self.path / limit, self.path / usage
            try:
                self.path.mkdir()
                t.after.append(lambda path=self.path: remove(path))
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


class ProcessorCgroup:
    """A cgroup of the test |t| whose processes get a limited number of microseconds of a processor in each second."""

    PERIOD_US = 1000000

    def __init__(self, t, quota_us):
        period, quota = f"{self.PERIOD_US}", f"{quota_us}"
        reason = "no processor controller is mounted"
        for parent, files in ((Path("/sys/fs/cgroup"), {"cpu.max": f"{quota} {period}"}),
                              (Path("/sys/fs/cgroup/cpu"),
                               {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota})):
            self.path = parent / f"proftap-test-{os.getpid()}"
            try:
                self.path.mkdir()
                t.after.append(lambda path=self.path: remove(path))
                for name, text in files.items():
                    if not (self.path / name).exists():
                        raise OSError(f"{parent} does not hand the processor controller on")
                    (self.path / name).write_text(text)
                return
            except OSError as e:
                reason = str(e)
        raise Skip(f"no processor cgroup can be made: {reason}")

    def add(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid))

    def lift(self):
        for name, text in (("cpu.max", "max"), ("cpu.cfs_quota_us", "-1")):
            if (self.path / name).exists():
                (self.path / name).write_text(text)


class FreezerCgroup:
    """A cgroup of the test |t| whose processes are neither stopped nor run while it is frozen."""

    def __init__(self, t):
        reason = "no freezer is mounted"
        for parent, self.file, self.words in ((Path("/sys/fs/cgroup"), "cgroup.freeze", ("1", "0")),
                                              (Path("/sys/fs/cgroup/freezer"), "freezer.state", ("FROZEN", "THAWED"))):
            self.path = parent / f"proftap-test-{os.getpid()}"
            try:
                self.path.mkdir()
                t.after.append(lambda path=self.path: remove(path))
                if (self.path / self.file).exists():
                    t.at_end.append(self.thaw)
                    return
            except OSError as e:
                reason = str(e)
        raise Skip(f"no cgroup that freezes can be made: {reason}")

    def freeze(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid))
        (self.path / self.file).write_text(self.words[0])

    def thaw(self):
        (self.path / self.file).write_text(self.words[1])



def own_place():
    """Returns our own cgroup's folder in the unified hierarchy, or else in the first one of /proc/self/cgroup."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    own = {number: path for number, _, path in lines}
    for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if "0" in own and Path(mount, "cgroup.controllers").exists():
            return Path(mount + own["0"])
    if own.get("0", "/") != "/" or lines[0][0] == "0":
        raise Skip("the unified hierarchy is not mounted at /sys/fs/cgroup or /sys/fs/cgroup/unified")
    return Path(f"/sys/fs/cgroup/{lines[0][1].removeprefix('name=')}{lines[0][2]}")


class NamedCgroup:
    """A cgroup |name| of the test |t|, removed like MemoryCgroup."""

    def __init__(self, t, name):
        self.path = own_place() / name
        try:
            self.path.mkdir()
        except OSError as e:
            raise Skip(f"no cgroup can be made: {e}") from e
        t.after.append(lambda: remove(self.path))

    def add(self, pid):
        try:
            (self.path / "cgroup.procs").write_text(str(pid))
        except OSError as e:
            raise Skip(f"no process can be put into {self.path}: {e}") from e
