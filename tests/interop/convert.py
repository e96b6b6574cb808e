#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XProf's own conversion of a trace, or of the files of one run, as its server does it.

usage: convert.py FILE... TOOL OUT
"""
import pathlib
import shutil
import sys
import tempfile

from xprof.convert import raw_to_tool_data

# This requests all events, not only those that a screen shows.
EVERYTHING = {"resolution": "0"}


def main(*arguments):
    *paths, tool, out = arguments
    with tempfile.TemporaryDirectory() as work:  # XProf leaves its tables beside the trace
        copies = [shutil.copy(path, work) for path in paths]
        if tool == "tool_names":
            data = ",".join(raw_to_tool_data.xspace_to_tool_names(copies))
        else:
            hosts = [pathlib.Path(copy).name.removesuffix(".xplane.pb") for copy in copies]
            parameters = {"trace_viewer_options": EVERYTHING if tool.endswith("@") else {},
                          "hosts": hosts, "use_saved_result": False}
            data, _ = raw_to_tool_data.xspace_to_tool_data(copies, tool, parameters)
    if data is None:
        sys.exit(f"xprof cannot convert {paths} for {tool}")
    pathlib.Path(out).write_bytes(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
