#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host daemon's page in Chromium for everybody: on small and large screens, in the dark, for ears; soon there, and no larger after a day."""
from pathlib import Path

from fixture import check, equal, run, test, wait_until
from visit import Visit, start_pipeline

HERE = Path(__file__).parent

# On a loaded machine, too, something happens in that.
RUN_MS = 500
# The narrowest that is asked for is that of a page of 1280 px which is magnified four times (WCAG 1.4.10).
SCREENS = {"narrow": (320, 640), "phone": (400, 800), "laptop": (1280, 900), "4k": (3840, 2160)}
HOUR_S = 3600
# After a day; caches of the browser's own are in it.
GROWTH_BYTES = 1 << 20
GROWTH_NODES = 500
# The left part of a canvas, as bytes; of a copy, since the browser complains of those that are read.
READ = """(canvas, width) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    return copy.getImageData(0, 0, width, canvas.height).data;
}"""
# Its line is neither at the top nor at the bottom, where a part of it is cut off.
MEMORY = "page.charts.main.find(({kind}) => kind.id === 'memory').graph.hidden_"
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
    for name, (width, height) in SCREENS.items():
        page.resize(width, height)
        page.wait_for(f"innerWidth === {width}", f"{width} px")
        for is_dark in (False, True):
            page.prefer_dark(is_dark)
            settle(page)
            check_width(page, name)
            check_gutters(visit, name)
            page.shoot(f"{name}-{'dark' if is_dark else 'light'}")
    page.check_quiet()


def settle(page):
    """What was asked to be drawn is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")


def check_width(page, what):
    """That nothing of the page has to be scrolled to from side to side. On a phone the window's inner width grows with what hangs out."""
    wide = page.evaluate("""[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
        !e.closest(".scroll, .unseen, .skip, .plot, .options") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map((e) => e.outerHTML.slice(0, 80))""")
    equal(wide, [], f"what hangs out of the page: {what}")
    check(page.evaluate("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), f"the page can be scrolled sideways: {what}")
    page.evaluate("document.querySelectorAll('.options, #program-list, dialog').forEach((e) => (e.scrollLeft = 1000))")
    equal(page.evaluate("[...document.querySelectorAll('.options, #program-list, dialog')].filter((e) => e.scrollLeft > 0).map((e) => e.id)"),
          [], f"what can be scrolled sideways: {what}")


def check_gutters(visit, what):
    """That charts draw nothing where their marks stand, as they would if a window of another size had left something there."""
    drawn = visit.ask("""page.charts.main.filter((chart) => chart.element.checkVisibility()).map((chart) => {
        const [{width}, {left}] = [chart.graph.canvas_, chart.area()];
        const ratio = width / chart.plot.clientWidth;
        return [chart.graph.canvas_, chart.graph.hidden_].some((canvas) =>
            (READ)(canvas, Math.floor((left - 3) * ratio)).some((value) => value !== 0));
    })""".replace("READ", READ))
    check(not any(drawn), f"beside the charts something is drawn: {what}")


# What a phone may show: long names, and all that can be unfolded.
def open_all(visit):
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    page.wait_for("document.querySelectorAll('#span-table tbody tr').length > 5", "the table of events")
    page.wait_for("document.querySelectorAll('#usage-table tbody tr').length > 5", "the table of usage")
    settle(page)


def add_long_names(visit):
    """As daemons tell them at their longest."""
    visit.ask("""(() => {
        const long = "a_very_long_name_that_can_be_broken_nowhere_".repeat(4).slice(0, 127);
        const [run] = page.runs.list();
        page.runs.put({...run, run: long, warnings: [`${long}: ${long}`], targets: [{pid: 4194304, name: long.slice(0, 63)}],
            files: [{name: `${long}.xplane.pb`, size_bytes: 1}, {name: "b.xplane.pb", size_bytes: 1}]});
        const [target] = page.targets.list();
        page.targets.put({...target, id: 1e6, pid: 4194304, name: long.slice(0, 63), path: `/${long}/${long}`,
            container: {cgroup: `/${long}`, id: null, name: long, pod: null}, pid_inside: 1});
        page.take("capture", {...page.captures.list()[0], id: 1e6, state: "failed", is_over: true, run: null,
            target: long, targets: [], error: {code: "NOT_FOUND", message: `${long}: no such program`}, warnings: [long]});
        page.link.complain(`${long} ${long}`);
        for (const id of ["runs-place", "machine"])
            document.getElementById(id).textContent = `/${long}/${long}`;
    })()""")
    visit.page.wait_for_text("#run-list", "very_long")
    visit.page.wait_for_text("#program-list", "very_long")
    visit.page.wait_for_text("#capture-list", "very_long")


@test
def nothing_is_wider_than_a_phone(t):
    visit = with_run(t)
    page = visit.page
    page.resize(*SCREENS["phone"], mobile=True)
    open_all(visit)
    add_long_names(visit)
    for name in ("narrow", "phone"):
        page.resize(*SCREENS[name], mobile=True)
        settle(page)
        check_width(page, f"all that is unfolded: {name}")
        page.shoot(f"{name}-long")
    page.click("[data-action=report]:not(:disabled)")
    page.wait_for_text("dialog", "Where time went")
    check_width(page, "a report")
    page.shoot("phone-report", whole=False)
    page.press("Escape")
    page.click("#run-list tr:last-of-type [data-action=delete]")
    page.wait_for_text("dialog", "Delete ")
    check_width(page, "a question")
    page.press("Escape")
    page.evaluate("location.hash = '#doctor-view'")
    page.wait_for("document.querySelectorAll('#doctor tbody tr').length > 0", "the doctor")
    for name in ("narrow", "phone"):
        page.resize(*SCREENS[name], mobile=True)
        settle(page)
        check_width(page, f"the doctor: {name}")
        page.shoot(f"{name}-doctor")
    page.check_quiet()


@test
def all_text_can_be_read_by_day_and_by_night(t):
    visit = with_run(t)
    page = visit.page
    open_all(visit)
    add_long_names(visit)
    check_width(page, "long names on a laptop")
    page.shoot("laptop-long")
    script = (HERE / "contrast.js").read_text()
    for is_dark in (False, True):
        page.prefer_dark(is_dark)
        bright = sum(map(int, page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g)")))
        check(bright < 150 if is_dark else bright > 600, f"the page is {bright} bright by {'night' if is_dark else 'day'}")
        for view in ("machine-view", "doctor-view"):
            page.evaluate(f"location.hash = '#{view}'")
            page.wait_for(f"document.querySelector('#{view}').checkVisibility()", view)
            page.wait_for("document.querySelectorAll('#doctor tbody tr').length > 0 || location.hash === '#machine-view'", "the checks")
            faint = page.evaluate(script)
            check(faint["n"] > 50, f"few texts: {faint}")
            equal(faint["faint"], [], f"texts that are hard to read: {view}, {'night' if is_dark else 'day'}")


@test
def what_is_drawn_is_drawn_in_the_colours_of_the_night(t):
    visit = with_run(t)
    wait_until(lambda: visit.ask("page.charts.main.find(({kind}) => kind.id === 'memory').graph?.numRows() ?? 0") > 2, "something to be drawn")
    visit.ask("page.feed.close()")
    # A run's own time may have no sample yet.
    visit.ask("page.timeWindow.follow(3000)")
    drawn = {is_dark: find_drawn_colours(visit, is_dark) for is_dark in (False, True)}
    for canvas in drawn[True]:
        by_day, by_night = drawn[False][canvas], drawn[True][canvas]
        for colour, colours in (by_day, by_night):
            check(colour in colours, f"{canvas}: no {colour} in {colours[:50]}")
        check(by_day[0] not in by_night[1], f"{canvas}: it is drawn as by day")


def find_drawn_colours(visit, is_dark):
    """{canvas: (a colour that it should have, those that it has)}"""
    visit.page.prefer_dark(is_dark)
    settle(visit.page)
    return {canvas: tuple(visit.ask(f"""(() => {{
        const canvas = {canvas};
        const data = ({READ})(canvas, canvas.width);
        const colours = new Set();
        for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] === 255)
                colours.add("#" + [0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, "0")).join(""));
        return [getComputedStyle(document.documentElement).getPropertyValue("{colour}"), [...colours]];
    }})()""")) for canvas, colour in (("document.querySelector('.timeline canvas')", "--grid"),
                                      (MEMORY, "--series-1"))}


@test
def numbers_are_told_in_three_digits(t):
    told = {0: "0", 1: "1", 1.25: "1.25", 9.996: "10", 12.34: "12.3", 99.96: "100", 99.94: "99.9", 120.4: "120", 999.6: "1 s"}
    words = Visit(t).page.evaluate(f"import('/page/words.js').then((words) => {list(told)}.map((ms) => words.durationMs(ms)))")
    equal(words, [text if " " in text or text == "0" else f"{text} ms" for text in told.values()], "durations")


@test
def everything_has_a_name(t):
    visit = with_run(t)
    page = visit.page
    open_all(visit)
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


def feed_hour(visit, hour):
    """An hour of samples at once, as events bring them, in which there is another program each minute."""
    visit.ask(f"""(async () => {{
        const {{samples}} = page;
        const programs = /^process/;
        for (let i = 0; i < {HOUR_S}; i++) {{
            const there = [...samples.columns.keys()].filter((key) => !programs.test(key));
            const values = Object.fromEntries(there.map((key, k) => [key, (i * (k + 1)) % 97]));
            const gone = `process/${{60 * {hour} + Math.floor(i / 60)}}/cpu`;
            values[gone] = i % 100;
            page.take("usage", {{n: samples.next, at_unix_ms: samples.lastMs + 1000, values,
                columns: [{{key: gone, group: "process", name: "short", metric: "cpu", unit: "%", detail: "", id: 1, pid: 1}}]}});
            if (i % 600 === 0) await new Promise((done) => requestAnimationFrame(done));
        }}
    }})()""")


def measure(page):
    """Bytes of objects, and of typed arrays; and elements, also of those that are in no document any more."""
    page.call("HeapProfiler.collectGarbage")
    heap = page.call("Runtime.getHeapUsage")
    return {"bytes": heap["usedSize"] + heap["backingStorageSize"], "nodes": page.call("Memory.getDOMCounters")["nodes"]}


@test
def after_a_day_it_is_no_larger(t):
    visit = Visit(t)
    visit.await_answer("page.samples.next > 0", "a sample")
    visit.page.evaluate("document.querySelector('#usage-table-box').open = true")
    visit.ask("page.feed.close()")
    feed_hour(visit, 0)
    before = measure(visit.page)
    for hour in range(1, 24):
        feed_hour(visit, hour)
    after = measure(visit.page)
    check(after["bytes"] - before["bytes"] < GROWTH_BYTES and after["nodes"] - before["nodes"] < GROWTH_NODES,
          f"after an hour {before}, after a day {after}")
    check(visit.ask("[...page.samples.columns.keys()].filter((key) => key.startsWith('process')).length") <= 11,
          "columns of programs that are gone are kept")
    visit.page.check_quiet()


if __name__ == "__main__":
    run()
