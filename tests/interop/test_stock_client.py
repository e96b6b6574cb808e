# SPDX-License-Identifier: Apache-2.0
"""The clients that users have: JAX's command, and the capture button of XProf's page."""
import contextlib
import gzip
import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import viewer
from processes import (PATIENCE_S, Pipeline, capture, folder, free_port, one_file, run,
                       wait_until)

SPANS = {"batch", "read", "open", "load", "compress", "deflate", "write"}

# Listed for every run, and the old form of the first.
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


class XProf:
    """XProf's own web server."""

    def __init__(self, log_dir, work):
        self.port = free_port()
        self.errors = open(work / "xprof.err", "w+")
        self.process = subprocess.Popen(
            [pathlib.Path(sys.executable).with_name("xprof"), "--logdir", log_dir,
             "--port", str(self.port), "--grpc_port", str(free_port())],
            stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)

    def get(self, route, **parameters):
        url = (f"http://127.0.0.1:{self.port}/data/plugin/profile/{route}?"
               + urllib.parse.urlencode(parameters))
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:
                return reply.status, gzip.decompress(reply.read())  # asked for or not
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def get_json(self, route, **parameters):
        status, body = self.get(route, **parameters)
        assert status == 200, (route, parameters, status, body)
        return json.loads(body)

    def is_up(self):
        assert self.process.poll() is None, "xprof ended"
        try:
            return self.get("runs")[0] == 200
        except OSError:
            return False

    def close(self):
        self.process.kill()  # it may take its time with SIGTERM
        self.process.wait()
        self.errors.close()


@contextlib.contextmanager
def xprof(log_dir, work):
    server = XProf(log_dir, work)
    try:
        wait_until(server.is_up, "xprof's page")
        yield server
    finally:
        server.close()


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


def test_xprof_capture_button():
    """XProf's page captures from us, and shows the run."""
    with folder() as work, Pipeline(work) as pipeline:
        (work / "logs").mkdir()
        with xprof(work / "logs", work) as server:
            answer = server.get_json("capture_profile", duration=300, num_retry=0,
                                     service_addr=f"127.0.0.1:{pipeline.port}")
            assert "successfully" in answer.get("result", ""), answer
            run_name, = server.get_json("runs")
            page = server.get_json("data", run=run_name, tag="trace_viewer@",
                                   host=f"127.0.0.1_{pipeline.port}", resolution=0)
            assert SPANS <= shown_names([e for e in page["traceEvents"] if e])
