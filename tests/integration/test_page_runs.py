#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs on the host daemon's page, in Chromium: reported, handed to the Perfetto UI, downloaded, deleted."""
import base64

from checks import contains, wait_until
from fixture import check, equal, run, test
from recorded import files, record
from visit import Visit, start_pipeline

# This is long enough for some events on a loaded machine.
RUN_MS = 500
# A fake of the Perfetto UI, which answers like it and keeps the trace.
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
    """Turns each page that opens from now on into the fake. Returns the pages that were opened for https://ui.perfetto.dev."""
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
    equal((given["title"], given["file"]), (name, f"{name}.pftrace"), "its name")
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
def the_report_of_a_program_that_crashed_begins_with_its_death(t):
    """Like proftap report, the page's report names the thread that received the signal and the open spans of each thread."""
    visit = Visit(t)
    page = visit.page
    target = record(t, visit.logs)
    tid = int(target.ask("hang stuck"))
    visit.await_answer(f"page.targets.list().some((one) => one.pid === {target.pid})", "the program in the list")
    target.send("crash")
    target.wait()
    file = wait_until(lambda: files(visit.logs), "the run of its death")[0].name
    page.wait_for_text("#run-list tbody", file.removesuffix(".xplane.pb"))
    page.click("[data-action=report]:not(:disabled)")
    page.wait_for_text("dialog h3", f"At death: target ({target.pid}) was killed by SIGSEGV in the thread target ({target.pid}).")
    threads = page.evaluate("[...document.querySelectorAll('dialog .thread')].map((e) => [...e.querySelectorAll('h4, li > :not(.age)')].map((e) => e.textContent))")
    equal(threads, [[f"target ({target.pid})", "doomed", ""], [f"stuck ({tid})", "serve", "id=-77 path=/v1/x", "lock", "n=64 load=0.5"]], "threads")
    page.check_quiet()


@test
def slow_steps_are_taken_apart(t):
    visit, _ = visit_with_run(t)
    page = visit.page
    page.click("[data-action=report]:not(:disabled)")
    page.wait_for_text("dialog", "Where time went")
    rows = "[...document.querySelectorAll('dialog table[aria-label=\"Differences of slow spans\"] tbody tr')].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent))"
    slow = visit.ask("(await page.api.get(`/runs/${page.runs.list()[0].run}/report`)).slow")
    equal(page.evaluate(rows), [[one["name"], f"{one['slow']['count']:,} of {one['count']:,}"] for one in slow], "number of slow spans, and of all spans, by name")
    page.check_quiet()


@test
def dialogs_close_with_their_view(t):
    """A change of the address, as by the back button, closes a dialog. A closed confirmation is not a yes."""
    visit, name = visit_with_run(t)
    page = visit.page
    for action, text in (("report", f"Report of {name}"), ("delete", f"Delete {name}?")):
        page.click(f"[data-action={action}]")
        page.wait_for_text("dialog", text)
        page.evaluate("location.hash = '#doctor-view'")
        page.wait_for("document.querySelector('dialog') === null", f"the {action} to close")
        check(page.evaluate("document.querySelector('#doctor-view').checkVisibility()"), "the other view is not there")
        page.evaluate("location.hash = '#machine-view'")
        page.wait_for("document.querySelector('#machine-view').checkVisibility()", "the view")
    check((visit.logs / "plugins" / "profile" / name).exists(), "it was deleted without a yes")
    page.check_quiet()


@test
def an_unreadable_log_directory_is_reported(t):
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
    check(not place.exists(), "the directory of the deleted run is still there")
    # The events of the deleted run are closed, too.
    page.wait_for("!document.querySelector('.timeline').checkVisibility()", "the timeline to close")
    page.check_quiet()


if __name__ == "__main__":
    run()
