# SPDX-License-Identifier: Apache-2.0
"""The file without a name to which a server writes large recordings, and the content of a large trace."""
import json
import os
import subprocess

from processes import PROFTAP, read_fds


def read_spools(pid, directory=""):
    """Returns {path: bytes} of the files without a name in |directory| that the process has open."""
    found = {}
    for fd in read_fds(pid):
        try:
            path = os.readlink(f"/proc/{pid}/fd/{fd}")
            if path.startswith(f"{directory}/") and path.endswith("(deleted)") and "memfd" not in path:
                found[path] = os.stat(f"/proc/{pid}/fd/{fd}").st_size
        except OSError:
            pass
    return found


def report(path):
    """Returns proftap report's JSON of the whole trace: no decoder in Python is fast enough for such a file."""
    done = subprocess.run([PROFTAP, "report", "--json", "--whole", path], check=True, capture_output=True)
    return json.loads(done.stdout)


def count_spans(trace):
    """Returns {name: count} of a report."""
    counts = {}
    for plane in trace["planes"]:
        for thread in plane["threads"]:
            for row in thread["spans"]:
                counts[row["name"]] = counts.get(row["name"], 0) + row["count"]
    return counts
