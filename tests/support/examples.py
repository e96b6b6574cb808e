# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/examples, started for a test."""
import re

from checks import equal, wait_until
from processes import PROFTAPD, TOP_BUILD, Process, find_proftapds, is_alive

EXAMPLES = TOP_BUILD / "docs" / "examples"


def start(t, command):
    """Starts the example, and returns it with the ports that it names when it is ready."""
    process = t.keep(Process(command[0].name, command, {"PROFTAPD": str(PROFTAPD)}))
    ports = [int(port) for port in re.findall(r"port (\d+)", process.read_line())]
    servers = find_proftapds(process.pid)
    equal(len(servers), 1, "number of servers")

    def wait_for_servers():
        process.kill()
        wait_until(lambda: not any(map(is_alive, servers)), f"server {servers} to end", 5)
    t.at_end.append(wait_for_servers)
    return process, *ports
