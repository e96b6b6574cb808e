# SPDX-License-Identifier: Apache-2.0
"""proftap view: a page with the origin and the policy of the Perfetto UI gets the trace, and no other page does."""
import contextlib
import json
import subprocess

import perfetto
from perfetto_page import Page
from processes import PROFTAP, SOURCE, Pipeline, capture, folder, free_port, stop

TRACE = SOURCE / "tests/golden/args.xplane.pb"


@contextlib.contextmanager
def view(*words):
    process = subprocess.Popen([PROFTAP, "view", "--json", "--port", str(free_port()), *words],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        yield process, json.loads(process.stdout.readline())["link"]
    finally:
        stop(process, "view")
        process.stdout.close()


def test_page_of_the_perfetto_ui_opens_the_trace():
    """A page of the Perfetto UI's origin fetches a capture by the link, and trace_processor opens what it fetched."""
    with folder() as work, Pipeline(work) as pipeline:
        path = capture(pipeline.port, 300, work / "logs")
        with view(work / "logs") as (process, link), Page(work, link) as page:
            text = page.open("perfetto-page")
            assert text == "trace processor 404, trace fetched", text
            assert process.wait(60) == 0, process.returncode
        (work / "fetched.pftrace").write_bytes(page.fetched)
        found, expected = perfetto.Found(work / "fetched.pftrace"), perfetto.Expected([path], ())
        assert found.trouble == {}, found.trouble
        for what in ("spans", "samples", "arrows"):
            perfetto.assert_same(getattr(found, what), getattr(expected, what), what)


def test_page_of_another_origin_gets_nothing():
    """A page of another origin that knows the link may not read the trace, nor whether it is there."""
    with folder() as work, view("--keep", TRACE) as (process, link):
        with Page(work, link, "ui.perfetto.example") as page:
            text = page.open("perfetto-stranger")
            assert text.startswith("failed: ") and page.fetched is None, text
        with Page(work, link) as page:
            text = page.open("perfetto-keep")
            assert text.endswith("trace fetched") and page.fetched, text
