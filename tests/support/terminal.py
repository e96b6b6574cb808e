# SPDX-License-Identifier: Apache-2.0
"""Runs proftap on a terminal."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from checks import PATIENCE_S, check
from processes import PROFTAP

CLEAR = "\r\x1b[K"


def run_on_terminal(*words, columns, **env):
    """Returns the output of proftap on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    base = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    with subprocess.Popen([PROFTAP, *words], stdout=theirs, env={**base, "TERM": "xterm", **env}):
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 65536):
                said += chunk
        except OSError:  # EIO: the other end is closed
            pass
    os.close(ours)
    return said.decode()


class Terminal:
    """proftap capture on a terminal of its own; self.screen is all that it wrote there."""

    def __init__(self, t, *words, prefix=()):
        command = [str(w) for w in (*prefix, PROFTAP, "capture", *words, "--log_dir", t.dir / "logs")]
        self.screen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        t.at_end.append(self.close)

    def read(self, pattern=None):
        """Reads until |pattern| was seen, or to the end."""
        deadline = time.monotonic() + PATIENCE_S
        while not (pattern and re.search(pattern, self.screen)):
            check(time.monotonic() < deadline, f"no {pattern!r} in {self.screen!r}")
            if not select.select([self.fd], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # EIO: the other end is closed
                data = b""
            if not data:
                check(pattern is None, f"it ended without {pattern!r}: {self.screen!r}")
                return
            self.screen += data.decode()

    def finish(self):
        self.read()
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = None
        return self.screen

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
