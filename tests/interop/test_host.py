# SPDX-License-Identifier: Apache-2.0
"""The clients that users have, against the one port of a host daemon."""
import re
import socket
import sys

import viewer
from hosts import hosted
from page_servers import xprof
from processes import folder, one_file, peer, run
from protos import XSpace

SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}


def shown_names(path, tool="trace_viewer@"):
    return {name for _, name in viewer.counts(viewer.trace_events(path, tool))}


def process_in(path):
    """The pid that was recorded."""
    host, = (p for p in XSpace.FromString(path.read_bytes()).planes if p.name == "/host:CPU")
    return next(s.int64_value for s in host.stats if host.stat_metadata[s.metadata_id].name == "process_id")


def collect(port, log_dir, *options):
    return run(sys.executable, "-m", "jax.collect_profile", port, 300, "--log_dir", log_dir, "--no_perfetto_link",
               *options)


def test_collect_profile_of_the_only_one():
    """python -m jax.collect_profile at a host daemon's port records the only program, at its first attempt."""
    with folder() as work, hosted(work, 1) as (host, _):
        done = collect(host.port, work / "logs")
        path = one_file(work / "logs")
        assert path.name == f"127.0.0.1_{host.port}.xplane.pb", path
        assert "retrying" not in done.stdout, done.stdout
        assert shown_names(path) >= SPANS


def test_collect_profile_of_a_named_one():
    """--host PID.localhost chooses a program, for a client that has but an address."""
    with folder() as work, hosted(work, 2) as (host, (_, pipeline)):
        collect(host.port, work / "logs", "--host", f"{pipeline.process.pid}.localhost")
        path = one_file(work / "logs")
        assert path.name == f"{pipeline.process.pid}.localhost_{host.port}.xplane.pb", path
        assert process_in(path) == pipeline.process.pid
        assert shown_names(path) >= SPANS


def test_all_in_one_run():
    """XProf's client without a name gets a file of each program, and XProf's server shows each as a host."""
    with folder() as work, hosted(work, 3) as (host, pipelines):
        peer("xprof_client.py", "trace", f"127.0.0.1:{host.port}", work / "logs", 300)
        paths = sorted((work / "logs").rglob("*.xplane.pb"))
        names = {f"127.0.0.1_{host.port}.{socket.gethostname()}_pipeline_{p.process.pid}.xplane.pb"
                 for p in pipelines}
        assert {path.name for path in paths} == names, paths
        assert len({path.parent for path in paths}) == 1, paths
        for path in paths:
            assert shown_names(path) >= SPANS, path
        with xprof(work / "logs", work) as server:
            shown = server.get_json("hosts", run=paths[0].parent.name, tag="trace_viewer@")
            hosts = {h["hostname"] for h in shown} - {"ALL_HOSTS"}
            assert hosts == {name.removesuffix(".xplane.pb") for name in names}, hosts


def test_capture_button():
    """XProf's page captures a program by the address PID.localhost, and shows the run."""
    with folder() as work, hosted(work, 2) as (host, (pipeline, _)):
        (work / "logs").mkdir()
        with xprof(work / "logs", work) as server:
            answer = server.get_json("capture_profile", duration=300, num_retry=0,
                                     service_addr=f"{pipeline.process.pid}.localhost:{host.port}")
            assert "successfully" in answer.get("result", ""), answer
        assert shown_names(one_file(work / "logs")) >= SPANS


def test_monitor():
    """XProf's monitor() of a program by its address."""
    with folder() as work, hosted(work, 2) as (host, (_, pipeline)):
        pid = pipeline.process.pid
        text = peer("xprof_client.py", "monitor", f"{pid}.localhost:{host.port}", work, 300).stdout
        assert re.search(rf"Program: pipeline \(pid {pid}\)", text), text


def test_continuous():
    """Two snapshots of a continuous session, by XProf's client and the program's address."""
    with folder() as work, hosted(work, 2) as (host, (_, pipeline)):
        address = f"{pipeline.process.pid}.localhost:{host.port}"
        peer("xprof_client.py", "continuous", address, work / "logs", 300)
        paths = sorted((work / "logs").rglob("*.xplane.pb"))
        assert len(paths) == 2, paths
        for path in paths:
            assert shown_names(path) >= SPANS, path
