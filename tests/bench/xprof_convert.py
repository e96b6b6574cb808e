# SPDX-License-Identifier: Apache-2.0
"""XProf's own conversion of a trace, in a process of its own; with gzip, compressed as by JAX's collect_profile.

usage: xprof_convert.py FILE TOOL gzip|plain     prints: seconds, processor seconds, bytes
"""
import gzip
import os
import shutil
import sys
import tempfile
import time

from xprof.convert import raw_to_tool_data

# XProf's page sends this request first.
SCREEN = {"resolution": "8000"}


def main(path, tool, form):
    with tempfile.TemporaryDirectory() as work:  # XProf leaves its tables beside the trace
        copy = shutil.copy(path, work)
        parameters = {"trace_viewer_options": SCREEN if tool.endswith("@") else {}, "hosts": [os.path.basename(copy).removesuffix(".xplane.pb")],
                      "use_saved_result": False}
        start, cpu = time.monotonic(), time.process_time()
        data, _ = raw_to_tool_data.xspace_to_tool_data([copy], tool, parameters)
        data = data if isinstance(data, bytes) else data.encode()
        if form == "gzip":
            data = gzip.compress(data)  # as gzip.open() does it
        print(time.monotonic() - start, time.process_time() - cpu, len(data))


if __name__ == "__main__":
    main(*sys.argv[1:])
