# SPDX-License-Identifier: Apache-2.0
"""The web servers of the peers: XProf's own, and TensorBoard with XProf as its plug-in."""
import contextlib
import gzip
import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from processes import PATIENCE_S, free_port, wait_until


class PageServer:
    """A running XProf or TensorBoard; both serve the same routes below PREFIX."""

    PREFIX = "/data/plugin/profile/"

    def __init__(self, command, work):
        self.name = command[0]
        self.port = free_port()
        self.errors = open(work / f"{self.name}.err", "w+")
        self.process = subprocess.Popen(
            [pathlib.Path(sys.executable).with_name(self.name), *command[1:],
             "--port", str(self.port)],
            stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)

    def url(self, route, **parameters):
        query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
        return f"http://127.0.0.1:{self.port}{self.PREFIX}{route}{query}"

    def get(self, route, **parameters):
        try:
            with urllib.request.urlopen(self.url(route, **parameters),
                                        timeout=PATIENCE_S) as reply:
                body = reply.read()
                is_packed = reply.headers["Content-Encoding"] == "gzip"
                return reply.status, gzip.decompress(body) if is_packed else body
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def get_json(self, route, **parameters):
        status, body = self.get(route, **parameters)
        assert status == 200, (route, parameters, status, body)
        return json.loads(body)

    def is_up(self):
        assert self.process.poll() is None, f"{self.name} ended"
        try:
            return self.get("runs")[0] == 200
        except OSError:
            return False

    def close(self):
        self.process.kill()  # after SIGTERM a server may take long to end
        self.process.wait()
        self.errors.close()


@contextlib.contextmanager
def serve(command, work):
    server = PageServer(command, work)
    try:
        wait_until(server.is_up, f"{server.name}'s page")
        yield server
    finally:
        server.close()


def xprof(log_dir, work):
    return serve(["xprof", "--logdir", str(log_dir), "--grpc_port", str(free_port())], work)


def tensorboard(log_dir, work):
    return serve(["tensorboard", "--logdir", str(log_dir), "--host", "127.0.0.1",
                  "--load_fast=false"], work)
