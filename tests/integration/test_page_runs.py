#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs on the host daemon's page, in Chromium: reported, handed to the Perfetto UI, downloaded, deleted."""
import base64

from checks import contains, wait_until
from fixture import check, equal, run, test
from visit import Visit, start_pipeline

# On a loaded machine, too, something happens in that.
RUN_MS = 500
# What stands for the Perfetto UI: it answers as that does, and keeps what it is given.
PERFETTO = """<!DOCTYPE html><title>stub</title><script>
addEventListener("message", (event) => {
	if (event.data === "PING") event.source.postMessage("PONG", event.origin);
	else { window.given = {title: event.data.perfetto.title, file: event.data.perfetto.fileName,
		bytes: [...new Uint8Array(event.data.perfetto.buffer, 0, 4)], size: event.data.perfetto.buffer.byteLength}; }
});
</script>"""


def visit_with_run(t):
    program = start_pipeline(t)
    visit = Visit(t)
    visit.select(program.pid)
    return visit, visit.capture(RUN_MS)


def stand_for_perfetto(visit):
    """Each page that opens from now on; those that were asked for https://ui.perfetto.dev."""
    pages = []

    def fulfil(page, params):
        page.tell("Fetch.fulfillRequest", requestId=params["requestId"], responseCode=200,
                          responseHeaders=[{"name": "Content-Type", "value": "text/html"}],
                          body=base64.b64encode(PERFETTO.encode()).decode())

    def adopt(page):
        page.handlers["Fetch.requestPaused"] = lambda params: fulfil(page, params)
        page.tell("Fetch.enable", patterns=[{"urlPattern": "https://ui.perfetto.dev/*"}])
        pages.append(page)

    visit.browser.await_windows(adopt)
    return pages


@test
def a_run_is_handed_to_the_perfetto_ui(t):
    visit, name = visit_with_run(t)
    pages = stand_for_perfetto(visit)
    visit.page.click("[data-action=perfetto]")
    wait_until(lambda: pages, "a window to open")
    given = pages[0].wait_for("window.given ?? null", "the trace to be handed over")
    equal((given["title"], given["file"]), (name, f"{name}.pftrace"), "what it is called")
    size = len(visit.fetch(f"/api/v1/runs/{name}/perfetto"))
    equal(given["size"], size, "bytes")
    visit.page.check_quiet()


@test
def a_report_opens_and_the_keyboard_goes_back(t):
    visit, name = visit_with_run(t)
    page = visit.page
    page.focus("[data-action=report]")
    page.press("Enter")
    page.wait_for_text("dialog", f"Report of {name}")
    for part in ("Where time went", "compress", "batch", "pipeline"):
        contains(page.text("dialog"), part, "the report")
    page.shoot("report", whole=False)
    page.press("Escape")
    page.wait_for("document.querySelector('dialog') === null", "the report to close")
    equal(page.evaluate("document.activeElement.dataset.action"), "report", "where the keyboard is")
    page.check_quiet()


@test
def a_place_that_cannot_be_read_is_said(t):
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#run-list", "No runs yet.")
    place = visit.logs / "plugins" / "profile"
    place.parent.mkdir(parents=True)
    place.write_text("", encoding="ascii")
    page.call("Page.reload")
    page.wait_for_text("#run-list", f"{place}: the runs cannot be read: not a directory")
    page.wait_for_text("#link", "live")
    visit.await_answer("page.targets.isLoaded && page.captures.isLoaded", "all else")


@test
def a_download_is_the_file(t):
    visit, name = visit_with_run(t)
    path = next((visit.logs / "plugins" / "profile" / name).glob("*.xplane.pb"))
    link = visit.page.evaluate("document.querySelector('.files a').getAttribute('href')")
    check(visit.fetch(link) == path.read_bytes(), f"{link} is not what {path} is")
    equal(visit.page.evaluate("document.querySelector('.files a').download"), path.name, "its name")


@test
def deleting_asks_first(t):
    visit, name = visit_with_run(t)
    page = visit.page
    place = visit.logs / "plugins" / "profile" / name
    page.click("[data-action=delete]")
    page.wait_for_text("dialog", f"Delete {name}?")
    page.press("Escape")
    page.wait_for("document.querySelector('dialog') === null", "the question to close")
    check(place.exists(), "it was deleted without a yes")
    page.click("[data-action=delete]")
    page.click("dialog .danger")
    page.wait_for(f"!document.querySelector('#run-list').textContent.includes('{name}')", "the run to go")
    check(not place.exists(), "it is still there")
    # What was open of it has gone, too.
    page.wait_for("!document.querySelector('.timeline').checkVisibility()", "the timeline to close")
    page.check_quiet()


if __name__ == "__main__":
    run()
