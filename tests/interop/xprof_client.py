#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XProf's Python client, one call of it.

usage: xprof_client.py trace|monitor|continuous HOST:PORT LOG_DIR MS

continuous: starts a session, waits MS, takes a snapshot into LOG_DIR, waits and takes another,
ends the session.
"""
import sys
import time

from xprof.api import continuous_profiling_snapshot as continuous
from xprof.convert import _pywrap_profiler_plugin as plugin


def profile_continuously(address, log_dir, ms):
    continuous.start_continuous_profiling(address, {"duration_ms": ms})
    for _ in range(2):
        # A run is named after its snapshot's time in whole seconds; another in the same second would overwrite it.
        time.sleep(max(ms / 1000, 1.1))
        continuous.get_snapshot(address, log_dir)
    continuous.stop_continuous_profiling(address)


def main(what, address, log_dir, ms):
    if what == "trace":
        plugin.trace(address, log_dir, "", True, ms, 1, {"host_tracer_level": 2})
    elif what == "monitor":
        print(plugin.monitor(address, ms, 2, True))
    else:
        profile_continuously(address, log_dir, ms)


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]))
