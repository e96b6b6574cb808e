# SPDX-License-Identifier: Apache-2.0
"""A real sshd on loopback with keys and a configuration of its own, and a client that can reach it as gpu7, and also
as inner, through gpu7."""
import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path

from checks import Skip, check, wait_until
from fixture import is_alive
from processes import PROFTAP, Process, free_port

SERVER = "/usr/sbin/sshd"


def find_children(text):
    """Returns the processes with |text| on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        pid = int(path.parent.name)
        if text.encode() in words and is_alive(pid):
            found.append(pid)
    return found


class Sshd:
    def __init__(self, t, runtime=None):
        """|runtime| is XDG_RUNTIME_DIR of its sessions; with "" they have none."""
        if not os.access(SERVER, os.X_OK) or not shutil.which("ssh"):
            raise Skip("sshd or ssh is not installed")
        try:
            socket.gethostbyname("localhost")
        except OSError as error:
            raise Skip(f"localhost has no address here: {error}") from error
        self.dir = t.dir / "ssh"
        self.dir.mkdir(0o700)
        self.port = free_port()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.dir / name], check=True)
        shutil.copy(self.dir / "user.pub", self.dir / "authorized")
        self.write_client()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self.config = self.dir / "sshd.conf"
        runtime = f"{t.dir}/runtime" if runtime is None else runtime
        self.config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.dir}/host\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {self.dir}/authorized\nStrictModes no\nPasswordAuthentication no\n"
            # The PATH of the remote side, with proftap in it.
            f"SetEnv PATH={PROFTAP.parent}:/usr/bin:/bin{runtime and f' XDG_RUNTIME_DIR={runtime}'}\n")
        self.process = t.keep(Process("sshd", [SERVER, "-D", "-e", "-f", self.config]))
        self.wait_for("Server listening")

    def wait_for(self, words):
        """Waits for |words| in sshd's log (stderr)."""
        wait_until(lambda: any(words in line for line in self.process.err), f"sshd to say {words!r}")

    def write_client(self):
        key = (self.dir / "host.pub").read_text().split()
        (self.dir / "known").write_text(f"[127.0.0.1]:{self.port} {key[0]} {key[1]}\n")
        # The path of this configuration is on the command line of each ssh of this test.
        self.client = self.dir / "client.conf"
        self.client.write_text(
            f"Host inner\n ProxyJump gpu7\nHost gpu7 inner\n HostName 127.0.0.1\n Port {self.port}\n User {getpass.getuser()}\n"
            f" IdentityFile {self.dir}/user\n IdentitiesOnly yes\n UserKnownHostsFile {self.dir}/known\n"
            f" GlobalKnownHostsFile /dev/null\n ControlPath {self.dir}/master\n")
        bin = self.dir / "bin"
        bin.mkdir()
        self.ssh = shutil.which("ssh")
        (bin / "ssh").write_text(f'#!/bin/sh\nexec {self.ssh} -F {self.client} "$@"\n')
        (bin / "ssh").chmod(0o755)
        self.tmp = self.dir / "t"
        self.tmp.mkdir()
        self.environment = ["env", f"PATH={bin}:{os.environ['PATH']}", f"TMPDIR={self.tmp}"]
        # setsid takes the terminal away, wherever the tests run.
        self.prefix = ["setsid", *self.environment]

    def count_logins(self):
        """Waits for the first login, which sshd may log late; counts all."""
        self.wait_for("Accepted publickey")
        return sum("Accepted publickey" in line for line in self.process.err)

    def find_clients(self):
        return find_children(str(self.client))

    def check_nothing_left(self):
        check(not self.find_clients(), f"clients that are left: {self.find_clients()}")
        check(not os.listdir(self.tmp), f"left in the temporary directory: {os.listdir(self.tmp)}")

    def run(self, *words):
        return subprocess.run([self.ssh, "-F", self.client, *words], check=True, capture_output=True,
                              stdin=subprocess.DEVNULL)
