# SPDX-License-Identifier: Apache-2.0
"""A machine with NVIDIA's driver, as far as NVML is concerned: a mount namespace with its device node, and a linker
that finds a fake of NVIDIA's library (tests/unit/fake_nvml.c)."""
import shutil
import subprocess

from fixture import Skip, need_namespaces, need_no_sanitizer, need_root
from processes import TOP_BUILD, Target

FAKE = TOP_BUILD / "tests" / "unit" / "fake_nvml_hopper.so"
NODES = ("null", "zero", "full", "random", "urandom")
# $1: a /dev of its own; $2: a cache of the linker.
MOUNT = """
dev=$1 cache=$2; shift 2
mount --bind "$dev" /dev && mount --bind "$cache" /etc/ld.so.cache && exec "$@"
"""


class Machine:
    def __init__(self, t, has_library=True):
        need_root()
        need_namespaces("--mount")
        need_no_sanitizer("bring libraries of their own")
        if not FAKE.exists():
            raise Skip(f"{FAKE.name} is built by make check alone")
        if not shutil.which("ldconfig", path="/sbin:/usr/sbin"):
            raise Skip("there is no ldconfig")
        self.dev, self.libraries, self.cache = t.dir / "dev", t.dir / "lib", t.dir / "ld.so.cache"
        self.make_dev()
        self.libraries.mkdir()
        if has_library:
            shutil.copy(FAKE, self.libraries / "libnvidia-ml.so.1")
        self.make_cache(t.dir / "ld.so.conf")

    def make_dev(self):
        self.dev.mkdir()
        for name in NODES:
            subprocess.run(["cp", "-a", f"/dev/{name}", self.dev], check=True)
        (self.dev / "shm").mkdir()
        (self.dev / "nvidiactl").touch()

    def make_cache(self, conf):
        conf.write_text(f"include /etc/ld.so.conf\n{self.libraries}\n")
        subprocess.run(["/sbin/ldconfig", "-X", "-f", conf, "-C", self.cache], check=True, stderr=subprocess.DEVNULL)

    def target(self, t, **env):
        prefix = ("unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, "sh", self.dev, self.cache)
        return t.keep(Target(env, prefix=prefix))
