# SPDX-License-Identifier: Apache-2.0
"""A service manager for one test: it holds the sockets, starts the host daemon on them, and receives the daemon's
messages.
"""
import re
import socket
import threading

from checks import wait_until
from hosts import registry_path, runtime
from processes import PROFTAPD, Process

# Moves the given descriptors to the numbers that sd_listen_fds(3) expects, and sets its variables.
HAND_OVER = ("import fcntl, os, sys\n"
             "at = sys.argv.index('--')\n"
             "fds = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 100) for word in sys.argv[1:at]]\n"
             "for to, fd in enumerate(fds, 3):\n"
             "    os.dup2(fd, to)\n"
             "os.closerange(3 + len(fds), 200)\n"
             "for name in ('LISTEN_PID', 'WATCHDOG_PID'):\n"
             "    os.environ[name] = str(os.getpid())\n"
             "os.execv(sys.argv[at + 1], sys.argv[at + 1:])\n")


class Managed(Process):
    """proftapd --host as a service: the manager's sockets stay open when the daemon ends."""

    def __init__(self, manager, *options, prefix=(), **how):
        self.port = manager.port
        fds = [s.fileno() for s in manager.sockets.values()]
        env = {**runtime(manager.case), "NOTIFY_SOCKET": str(manager.path), "LISTEN_FDS": str(len(fds)),
               "LISTEN_FDNAMES": ":".join(manager.sockets), **manager.env}
        super().__init__("proftapd as a service", [
            *prefix, "/usr/bin/python3", "-c", HAND_OVER, *fds, "--", PROFTAPD, "--host", "--config",
            # Programs of tests that run beside this one stay out, as in hosts.Host.
            manager.config, "--stock_servers", "no", *options], env, fds=fds, **how)
        manager.case.keep(self)


class Manager:
    """.heard has all messages, as {KEY: value} each."""

    def __init__(self, t, config="", env=None):
        self.case = t
        self.env = env or {}
        self.config = t.dir / "proftapd.conf"
        self.config.write_text(config)
        self.config.chmod(0o644)
        self.sockets = {"registry": self.listen(), **{
            name: socket.create_server(("127.0.0.1", 0), backlog=128) for name in ("grpc", "web")}}
        self.port, self.web_port = (self.sockets[name].getsockname()[1] for name in ("grpc", "web"))
        self.path = t.dir / "notify"
        self.heard = []
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(self.path))
        self.path.chmod(0o777)
        t.at_end.append(self.close)
        threading.Thread(target=self.listen_to_it, daemon=True).start()

    def listen(self):
        runtime(self.case)
        path = registry_path(self.case)
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.bind(str(path))
        path.chmod(0o666)
        server.listen(128)
        return server

    def listen_to_it(self):
        while lines := self.notify.recv(4096):
            self.heard.append(dict(re.findall(r"^(\w+)=(.*)$", lines.decode(), re.M)))

    def close(self):
        for s in self.sockets.values():
            s.close()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(b"", str(self.path))

    def hears(self, key, value=None):
        return [said for said in self.heard if key in said and value in (None, said[key])]

    def await_word(self, key, value=None, n=1):
        wait_until(lambda: len(self.hears(key, value)) >= n, f"the manager to hear {key} {value} {n} times")

    def start(self, *options, **how):
        """Starts the daemon, and returns when it is ready."""
        n = len(self.hears("READY"))
        daemon = Managed(self, *options, **how)
        self.await_word("READY", "1", n + 1)
        return daemon
