# SPDX-License-Identifier: Apache-2.0
"""Programs that die while their flight recorders run, and their traces."""
import errno
import json
import os
import signal
import socket
import subprocess

from checks import SLOWNESS, equal, wait_until
from processes import PROFTAP, find_proftapd, is_alive
from running import make_environment
from trace_file import Trace, find_traces

RING_BYTES = 65536
GONE_S = 2 * SLOWNESS


def record(t, log_dir="-", ring_bytes=RING_BYTES, **env):
    env = {"PROFTAP_RECORDER": "1", **make_environment(t), **env}
    return t.target(**env).serve(0, ring_bytes, 0, "127.0.0.1", 0, 0, log_dir)


def end(target, how="kill"):
    """Ends the target, and returns its server's pid."""
    server = find_proftapd(target.pid)
    if how == "kill":
        target.signal(signal.SIGKILL)
    else:
        target.send(how)
    target.wait()
    return server


def await_gone(server):
    wait_until(lambda: not is_alive(server), "the server's end", GONE_S)


def files(log_dir):
    return find_traces(log_dir)


def only_run(log_dir):
    equal(len(files(log_dir)), 1, f"files in {log_dir}")
    return Trace(files(log_dir)[0])


def private_socket(t, target):
    return f"unix:{t.dir}/runtime/proftap/{target.pid}.sock"


def is_closed(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED


def listed_state(t, target):
    words = [PROFTAP, "list", "--json"]
    text = subprocess.run(words, env={**os.environ, **make_environment(t)}, check=True,
                          capture_output=True).stdout
    return {row["pid"]: row["state"] for row in json.loads(text)["targets"]}.get(target.pid)
