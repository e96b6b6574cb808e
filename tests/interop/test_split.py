# SPDX-License-Identifier: Apache-2.0
"""Tests a trace that was split into several files, in XProf: the files are hosts of one run, with common times."""
import collections

import spaces
import viewer
from processes import PROFTAP, Pipeline, folder, run
from protos import XSpace

LIMIT_BYTES = 60000


def without_counters(counts):
    return collections.Counter({key: n for key, n in counts.items() if key[0] != "(counters)"})


def test_split_trace_is_one_run_of_xprof():
    """trace_viewer@ draws the events of all files of a split trace, each once, one after the other."""
    with folder() as work, Pipeline(work) as pipeline:
        done = run(PROFTAP, "capture", pipeline.port, 1000, "--log_dir", work / "logs", f"--split={LIMIT_BYTES}")
        paths = done.stdout.splitlines()
        assert len(paths) > 2, done.stdout
        expected = collections.Counter()
        for path in paths:
            with open(path, "rb") as f:
                data = f.read()
            assert len(data) <= LIMIT_BYTES, (path, len(data))
            expected += without_counters(spaces.counts(spaces.host_events(XSpace.FromString(data))))
        events = viewer.run_events(paths)
        spaces.assert_same(without_counters(viewer.counts(events)), expected)
        hosts = {name.split()[0] for name in viewer.process_names(events).values()}
        assert len(hosts) == len(paths), hosts
