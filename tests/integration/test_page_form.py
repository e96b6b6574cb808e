#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host daemon's page in Chromium for everybody: on small and large screens, in the dark, for ears; soon there, and no larger after a day."""
from fixture import check, equal, run, test
from visit import Visit, start_pipeline

# On a loaded machine, too, something happens in that.
RUN_MS = 500
SCREENS = {"phone": (400, 800), "laptop": (1280, 900), "4k": (3840, 2160)}
HOUR_S = 3600
# Of the heap, after a day; caches of the browser's own are in it.
GROWTH_BYTES = 1 << 20
# Elements with these roles are told by their names alone.
NAMED = {"button", "textbox", "searchbox", "combobox", "radio", "spinbutton", "link", "image", "table", "dialog", "progressbar"}


def with_run(t):
    program = start_pipeline(t)
    visit = Visit(t)
    visit.select(program.pid)
    visit.capture(RUN_MS)
    return visit


@test
def it_fits_every_screen(t):
    visit = with_run(t)
    page = visit.page
    for is_dark in (False, True):
        page.prefer_dark(is_dark)
        for name, (width, height) in SCREENS.items():
            page.resize(width, height)
            page.wait_for(f"innerWidth === {width}", f"{width} px")
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")
            wide = page.evaluate("""[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
                !e.closest(".scroll, .unseen, .skip, .plot, .options") && e.getBoundingClientRect().right > innerWidth + 1)
                .map((e) => e.outerHTML.slice(0, 80))""")
            equal(wide, [], f"what hangs out of the page at {width} px")
            page.shoot(f"{name}-{'dark' if is_dark else 'light'}")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.prefer_dark(False)
    page.wait_for(f"getComputedStyle(document.body).backgroundColor !== {dark!r}", "another background by day")
    page.check_quiet()


@test
def everything_has_a_name(t):
    visit = with_run(t)
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    page.wait_for("document.querySelectorAll('#span-table tbody tr').length > 5", "the table of events")
    page.wait_for("document.querySelectorAll('#usage-table tbody tr').length > 5", "the table of usage")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    told = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    check(len(told) > 100, f"few elements: {told}")
    equal([role for role, name in told if role in NAMED and not name.strip()], [], "elements without a name")
    images = [name for role, name in told if role == "image"]
    check(any(name.startswith("CPU: busy ") for name in images), f"charts in words: {images}")
    check(any(name.startswith("Timeline: ") for name in images), f"the timeline in words: {images}")
    page.check_quiet()


@test
def all_can_be_reached_by_the_tab_key(t):
    visit = Visit(t)
    page = visit.page
    page.evaluate("document.activeElement.blur()")
    wanted = {"capture-button", "capture-target", "capture-duration", "program-search"}
    seen = set()
    for _ in range(60):
        page.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.closest('[data-chart]')?.dataset.chart || ''"))
    check(wanted | {"cpu", "memory"} <= seen, f"reached: {seen}")


@test
def what_is_seen_first_waits_for_nothing(t):
    """Neither for its modules nor for the daemon's answers. How soon that is, is a figure of `make bench`."""
    page = Visit(t).page
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.reload")
    page.wait_for_text("#link", "connecting")
    page.wait_for("performance.getEntriesByName('first-contentful-paint').length > 0", "the first paint")
    check(page.text("#time-title") == "Usage", "the page's frame")


def feed(visit, hours):
    """So many hours of samples at once, as events bring them."""
    for _ in range(hours):
        feed_seconds(visit, HOUR_S)


def feed_seconds(visit, seconds):
    visit.ask(f"""(async () => {{
        const {{samples}} = page;
        for (let i = 0; i < {seconds}; i++) {{
            const values = Object.fromEntries([...samples.columns.keys()].map((key, k) => [key, (i * (k + 1)) % 97]));
            const gone = `process/${{1000 + Math.floor(i / 60)}}/cpu`; // a program a minute
            values[gone] = i % 100;
            page.take("usage", {{n: samples.next, at_unix_ms: samples.lastMs + 1000, values,
                columns: [{{key: gone, group: "process", name: "short", metric: "cpu", unit: "%", detail: "", id: 1, pid: 1}}]}});
            if (i % 600 === 0) await new Promise((done) => requestAnimationFrame(done));
        }}
    }})()""")


def measure_heap(page):
    page.call("HeapProfiler.collectGarbage")
    return page.call("Runtime.getHeapUsage")["usedSize"]


@test
def after_a_day_it_is_no_larger(t):
    visit = Visit(t)
    visit.await_answer("page.samples.next > 0", "a sample")
    visit.page.evaluate("document.querySelector('#usage-table-box').open = true")
    visit.ask("page.feed.close()")
    feed(visit, 1)
    before = measure_heap(visit.page)
    feed(visit, 23)
    after = measure_heap(visit.page)
    check(after - before < GROWTH_BYTES, f"heap: {before} bytes after an hour, {after} after a day")
    check(visit.ask("page.samples.columns.size") < 200, "columns of programs that are gone are kept")
    nodes = visit.page.evaluate("document.querySelectorAll('*').length")
    check(nodes < 3000, f"{nodes} elements")
    visit.page.check_quiet()


if __name__ == "__main__":
    run()
