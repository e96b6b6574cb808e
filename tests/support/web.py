# SPDX-License-Identifier: Apache-2.0
"""HTTP requests to a host daemon, and its answers."""
import http.client
import json
import socket

from checks import PATIENCE_S, equal
from hosts import Host
from processes import Process, free_port

ASK = """
import sys, urllib.request, urllib.error
try:
    with urllib.request.urlopen(f"http://localhost:{sys.argv[1]}{sys.argv[2]}", timeout=60) as answer:
        print(answer.status)
        sys.stdout.write(answer.read().decode())
except urllib.error.HTTPError as answer:
    print(answer.status)
except (ConnectionError, urllib.error.URLError, OSError):
    print()
"""


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


class Web:
    """The web port of a host daemon that the test has started."""

    def __init__(self, t, *options, prefix=()):
        self.port = free_port()
        self.host = Host(t, *options, web=self.port, prefix=prefix)
        self.pid = self.host.pid

    @classmethod
    def at(cls, port):
        """Uses a daemon that is running already."""
        web = cls.__new__(cls)
        web.port, web.host = port, None
        return web

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def ask(self, path, method="GET", body=None, headers=None):
        """Sends one request on its own connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}),
                                  skip_accept_encoding="Accept-Encoding" in (headers or {}))
            for name, value in {**({"Content-Length": len(body)} if body else {}), **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def refuses(self, status, path, method="GET", **how):
        """Checks that the request is refused, and returns the message."""
        answer = self.ask(path, method, **how)
        equal(answer.status, status, f"status of {method} {path}")
        return answer.json["error"]["message"]


    def ask_as(self, user, path):
        """Returns (status, text) of a GET by a process of |user|, or ("", "") if the connection is closed."""
        process = self.host.case.keep(Process("asker", ["/usr/bin/python3", "-c", ASK, str(self.port), path], user=user))
        equal(process.wait(), 0, f"asking as {user}: {process.err}")
        for thread in process.threads:
            thread.join()
        status, _, text = "".join(process.out).partition("\n")
        return status, text


def read_answer(s):
    """Reads the answer on a connection."""
    response = http.client.HTTPResponse(s)
    response.begin()
    return Answer(response)
