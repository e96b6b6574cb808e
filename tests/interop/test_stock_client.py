# SPDX-License-Identifier: Apache-2.0
"""Tests the clients that users have: JAX's command, and the capture button of XProf's page."""
import json
import sys

import viewer
from page_servers import tensorboard, xprof
from processes import Pipeline, capture, folder, one_file, run

SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}

# Tools that XProf lists for every run.
TOOLS = {"trace_viewer@", "overview_page", "input_pipeline_analyzer", "framework_op_stats",
         "memory_profile", "op_profile", "hlo_stats", "roofline_model"}


def shown_names(events):
    return {name for _, name in viewer.counts(events)}


def test_collect_profile():
    """python -m jax.collect_profile leaves a run that XProf opens, at its first attempt."""
    with folder() as work, Pipeline(work) as pipeline:
        done = run(sys.executable, "-m", "jax.collect_profile", pipeline.port, 500,
                   "--log_dir", work / "logs", "--no_perfetto_link")
        path = one_file(work / "logs")
        assert path.name == f"127.0.0.1_{pipeline.port}.xplane.pb", path
        assert path.parent.parent == work / "logs/plugins/profile", path
        assert (path.parent / "remote.trace.json.gz").exists()
        assert "retrying" not in done.stdout, done.stdout
        for tool in ("trace_viewer", "trace_viewer@"):
            assert SPANS <= shown_names(viewer.trace_events(path, tool)), tool


def test_collect_profile_of_nobody_recorded():
    """jax.collect_profile of a program without annotations gets what the program used."""
    with folder() as work, Pipeline(work) as pipeline:
        done = run(sys.executable, "-m", "jax.collect_profile", pipeline.port, 20,
                   "--log_dir", work / "logs", "--no_perfetto_link", "--host_tracer_level=0")
        assert "No trace event" not in done.stderr, done.stderr
        events = viewer.trace_events(one_file(work / "logs"), "trace_viewer@")
        assert not viewer.counts(events), viewer.counts(events)
        assert "process cpu %" in viewer.usage_samples(events), events


def test_xprof_server_opens_every_tool():
    """XProf's server lists our run and its host, and answers for each tool that it lists."""
    with folder() as work, Pipeline(work) as pipeline:
        path = capture(pipeline.port, 200, work / "logs")
        with xprof(work / "logs", work) as server:
            name = path.parent.name
            assert server.get_json("runs") == [name]
            tools = set(server.get_json("run_tools", run=name))
            assert TOOLS <= tools, tools
            host = path.name.removesuffix(".xplane.pb")
            hosts = server.get_json("hosts", run=name, tag="trace_viewer@")
            assert [h["hostname"] for h in hosts] == [host], hosts
            for tool in sorted(tools | {"trace_viewer"}):
                status, body = server.get("data", run=name, tag=tool, host=host,
                                          use_saved_result="false")
                assert status == 200 and body, (tool, status, body)
                json.loads(body)


def check_capture_button(start):
    with folder() as work, Pipeline(work) as pipeline:
        (work / "logs").mkdir()
        with start(work / "logs", work) as server:
            answer = server.get_json("capture_profile", duration=300, num_retry=0,
                                     service_addr=f"127.0.0.1:{pipeline.port}")
            assert "successfully" in answer.get("result", ""), answer
            run_name, = server.get_json("runs")
            page = server.get_json("data", run=run_name, tag="trace_viewer@",
                                   host=f"127.0.0.1_{pipeline.port}", resolution=0)
            assert SPANS <= shown_names([e for e in page["traceEvents"] if e])


def test_xprof_capture_button():
    """XProf's page captures from us, and shows the run."""
    check_capture_button(xprof)


def test_tensorboard_capture_button():
    """TensorBoard's Profile page captures from us, and shows the run."""
    check_capture_button(tensorboard)
