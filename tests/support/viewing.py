# SPDX-License-Identifier: Apache-2.0
"""proftap view as a server, and the requests of a browser to it."""
import http.client
import json
import socket
import subprocess

from checks import PATIENCE_S, equal
from processes import PROFTAP, Process, free_port

ORIGIN = "https://ui.perfetto.dev"


class View(Process):
    """A running proftap view, which has printed its address."""

    def __init__(self, t, *words, env=None):
        self.port = free_port()
        super().__init__("view", [PROFTAP, "view", "--json", "--port", self.port, *words],
                         {"SSH_CONNECTION": "", **(env or {})})
        t.keep(self)
        self.said = json.loads(self.read_line())
        self.path = "/" + self.said["url"].split("/", 3)[3]

    def ask(self, method="GET", path=None, host=None, body=None, origin=ORIGIN, more=None):
        """Returns the (status, headers, body) of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        headers = {**({"Origin": origin} if origin else {}), **({"Host": host} if host else {}), **(more or {})}
        connection.request(method, path or self.path, body, headers)
        reply = connection.getresponse()
        answer = reply.status, reply.headers, reply.read()
        connection.close()
        return answer

    def fetch(self):
        status, _, data = self.ask()
        equal(status, 200, "status")
        return data

    def connect(self, receive_bytes=None):
        s = socket.socket()
        if receive_bytes:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        s.settimeout(PATIENCE_S)
        s.connect(("127.0.0.1", self.port))
        return s

    def request(self, s):
        s.sendall(f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())


def convert(t, *words, cwd=None):
    """Returns the bytes that proftap view should serve."""
    path = t.dir / "expected.pftrace"
    subprocess.run([PROFTAP, "convert", "-o", path, *words], check=True, capture_output=True,
                   cwd=cwd)
    return path.read_bytes()
