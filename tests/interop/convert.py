#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XProf's own conversion of one trace, as its server does it.

usage: convert.py FILE TOOL OUT
"""
import pathlib
import shutil
import sys
import tempfile

from xprof.convert import raw_to_tool_data

# All events, not only those that a screen shows.
EVERYTHING = {"resolution": "0"}


def main(path, tool, out):
    with tempfile.TemporaryDirectory() as work:  # it leaves its tables beside the trace
        copy = shutil.copy(path, work)
        if tool == "tool_names":
            data = ",".join(raw_to_tool_data.xspace_to_tool_names([copy]))
        else:
            host = pathlib.Path(copy).name.removesuffix(".xplane.pb")
            parameters = {"trace_viewer_options": EVERYTHING if tool.endswith("@") else {},
                          "hosts": [host], "use_saved_result": False}
            data, _ = raw_to_tool_data.xspace_to_tool_data([copy], tool, parameters)
    if data is None:
        sys.exit(f"xprof cannot convert {path} for {tool}")
    pathlib.Path(out).write_bytes(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
