# SPDX-License-Identifier: Apache-2.0
"""The pages of XProf and TensorBoard in a browser: our run is listed, and our spans are drawn."""
import browser
from page_servers import tensorboard, xprof
from processes import Pipeline, capture, folder

THREADS = {"reader", "worker-1", "worker-2", "writer"}
# A page without events has some hundred coloured pixels, in its buttons.
MANY_PIXELS = 5000
FEW_PIXELS = 1000


def record(work):
    """Returns (run, host) of a trace with spans alone."""
    with Pipeline(work) as pipeline:
        path = capture(pipeline.port, 200, work / "logs", "-o", "ptap_usage_interval_ms=0", "-o", "ptap_sample_hz=0")
    return path.parent.name, path.name.removesuffix(".xplane.pb")


def trace_viewer(server, run_name, host):
    """Returns the address of the frame in which the trace viewer draws, as its page would load it."""
    data = (f"{server.PREFIX}data?run={run_name}&tag=trace_viewer@&host={host}&hosts={host}")
    return server.url("trace_viewer_index.html", is_streaming="true", is_oss="true",
                      trace_data_url=data, source_code_service="false")


def check_drawing(server, run_name, host):
    text, picture = browser.show(trace_viewer(server, run_name, host), f"{server.name}-trace")
    words = set(text.split())
    assert THREADS <= words and host in words, text
    drawn = browser.count_colourful(picture)
    _, empty = browser.show(trace_viewer(server, "no_such_run", host), f"{server.name}-nothing")
    undrawn = browser.count_colourful(empty)
    assert undrawn < FEW_PIXELS < MANY_PIXELS < drawn, (undrawn, drawn)


def check_listing(server, page, run_name, host, name):
    text, _ = browser.show(page, name)
    assert run_name in text and host in text and "Trace Viewer" in text, text


def test_xprof_page_draws_our_spans():
    """XProf's page in Chromium lists our run, its host and its threads, and draws the spans."""
    with folder() as work:
        run_name, host = record(work)
        with xprof(work / "logs", work) as server:
            check_listing(server, f"http://127.0.0.1:{server.port}/?run={run_name}"
                          f"&tag=trace_viewer@&host={host}", run_name, host, "xprof-page")
            check_drawing(server, run_name, host)


def test_tensorboard_page_draws_our_spans():
    """TensorBoard's page in Chromium has the Profile tab, our run and host, and draws the spans."""
    with folder() as work:
        run_name, host = record(work)
        with tensorboard(work / "logs", work) as server:
            text, _ = browser.show(f"http://127.0.0.1:{server.port}/#profile", "tensorboard-page")
            assert "TensorBoard" in text and "Profile" in text, text
            check_listing(server, server.url("index.html", run=run_name, tag="trace_viewer@",
                                             host=host), run_name, host, "tensorboard-profile")
            check_drawing(server, run_name, host)
