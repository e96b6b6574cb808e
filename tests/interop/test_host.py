# SPDX-License-Identifier: Apache-2.0
"""Tests users' own clients against the one port of a host daemon."""
import re
import socket
import sys

import perfetto
import viewer
from hosts import hosted
from page_servers import xprof
from processes import capture, folder, one_file, peer, run
from protos import XSpace

SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}


def shown_names(path, tool="trace_viewer@"):
    return {name for _, name in viewer.counts(viewer.trace_events(path, tool))}


def process_in(path):
    """Returns the pid that was recorded."""
    host, = (p for p in XSpace.FromString(path.read_bytes()).planes if p.name == "/host:CPU")
    return next(s.int64_value for s in host.stats if host.stat_metadata[s.metadata_id].name == "process_id")


def machine_samples(path):
    """Returns {counter of the machine: its samples [(ps, value)]}."""
    plane, = (p for p in XSpace.FromString(path.read_bytes()).planes if p.name == "/host:CPU machine")
    return {plane.event_metadata[line.events[0].metadata_id].name:
            [(event.offset_ps, event.stats[0].double_value) for event in line.events] for line in plane.lines}


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
    """--host PID.localhost chooses a program, for a client that has only an address."""
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
    """XProf's monitor() at the address PID.localhost shows that program."""
    with folder() as work, hosted(work, 2) as (host, (_, pipeline)):
        pid = pipeline.process.pid
        text = peer("xprof_client.py", "monitor", f"{pid}.localhost:{host.port}", work, 300).stdout
        assert re.search(rf"Program: pipeline \(pid {pid}\)", text), text


def test_continuous():
    """XProf's client takes two snapshots of a continuous session at the address PID.localhost."""
    with folder() as work, hosted(work, 2) as (host, (_, pipeline)):
        address = f"{pipeline.process.pid}.localhost:{host.port}"
        peer("xprof_client.py", "continuous", address, work / "logs", 300)
        paths = sorted((work / "logs").rglob("*.xplane.pb"))
        assert len(paths) == 2, paths
        for path in paths:
            assert shown_names(path) >= SPANS, path


def test_machine_in_xprof():
    """XProf's trace viewer draws what the machine used, with the samples' values and times."""
    with folder() as work, hosted(work, 1) as (host, _):
        path = capture(f"127.0.0.1:{host.port}", 300, work / "logs")
        expected = machine_samples(path)
        assert {"cpu busy %", "memory used bytes"} <= set(expected), set(expected)
        shown = {event["name"]: event for event in viewer.trace_events(path, "trace_viewer@") if event["ph"] == "C"}
        for name, samples in expected.items():
            drawn = [(round(at_us * 10**6), value) for at_us, value in shown[name]["entries"]]
            assert drawn == samples, (name, drawn, samples)
        assert shown_names(path) >= SPANS


def test_machine_in_perfetto():
    """trace_processor shows the machine's usage as counters of the process, at the times of the samples."""
    with folder() as work, hosted(work, 1) as (host, (pipeline,)):
        path = capture(f"127.0.0.1:{host.port}", 300, work / "logs")
        found = perfetto.check([path], work)
        for name, samples in machine_samples(path).items():
            of_it = [sample for sample in found.samples if sample[2] == name]
            assert {sample[1] for sample in of_it} == {pipeline.process.pid}, of_it
            times = sorted(at_ns for *_, at_ns, _ in of_it)
            assert times == sorted({ps // 1000 for ps, _ in samples}), (name, times, samples)
