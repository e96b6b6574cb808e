#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The form of the host daemon's page in Chromium: screens of all sizes, dark theme, screen readers, a fast first paint, and no growth over a day."""
import re

from fixture import check, equal, run, test, wait_until
from processes import SUPPORT
from visit import SCREENS, Visit, check_width, settle, start_pipeline


# This is long enough for some events on a loaded machine.
RUN_MS = 500
HOUR_S = 3600
# The growth allowed after a day includes the browser's own caches.
GROWTH_BYTES = 1 << 20
GROWTH_NODES = 500
# Returns the left part of a canvas as bytes. It reads a copy, because the browser warns about canvases that are read.
READ = """(canvas, width) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    return copy.getImageData(0, 0, width, canvas.height).data;
}"""
# The line of this chart is neither at the top nor at the bottom, where part of it would be cut off.
MEMORY = "page.charts.main.find(({kind}) => kind.id === 'memory').canvas"
# A screen reader announces elements with these roles by their names alone.
NAMED = {"button", "textbox", "searchbox", "combobox", "radio", "spinbutton", "link", "image", "table", "dialog", "progressbar"}


def with_run(t):
    program = start_pipeline(t)
    visit = Visit(t)
    visit.select(program.pid)
    visit.capture(RUN_MS)
    return visit


@test
def the_page_fits_every_screen(t):
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


def check_gutters(visit, what):
    """Checks that the labels fit beside the charts, and that each chart is drawn in its full size, for the visible time."""
    found = visit.ask("""page.charts.main.filter((chart) => chart.element.checkVisibility()).map(({canvas, drawn, plot, area, ...chart}) => {
        const context = canvas.getContext("2d");
        return [Math.max(...drawn.yLabels.map((label) => context.measureText(label).width)) + 6 <= parseFloat(context.font) * 58 / 12 + 1,
            canvas.width === Math.round(plot.clientWidth * devicePixelRatio), drawn.from === page.timeWindow.from, drawn.to === page.timeWindow.to];
    })""")
    check(found and all(map(all, found)), f"charts that are not drawn anew, or have marks that do not fit: {what}: {found}")


# Opens everything that can be unfolded, and waits until it is drawn.
def open_all(visit):
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    page.wait_for("document.querySelectorAll('#span-table tbody tr').length > 5", "the table of events")
    page.wait_for("document.querySelectorAll('#usage-table tbody tr').length > 5", "the table of usage")
    settle(page)


def add_long_names(visit):
    """Adds names of the greatest length that a daemon sends."""
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
    cut = page.evaluate("[...document.querySelectorAll('dialog .scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute('aria-label'))")
    equal(cut, [], "tables of the report that are cut at the side")
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
def text_has_contrast_in_light_and_dark(t):
    visit = with_run(t)
    page = visit.page
    open_all(visit)
    add_long_names(visit)
    check_width(page, "long names on a laptop")
    page.shoot("laptop-long")
    script = (SUPPORT / "contrast.js").read_text()
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
def canvases_use_the_dark_colours(t):
    visit = with_run(t)
    visit.await_answer("page.samples.next > 2", "something to be drawn")
    visit.ask("page.feed.close()")
    # The time of the run may have no sample yet.
    visit.ask("page.timeWindow.follow(3000)")
    drawn = {is_dark: find_drawn_colours(visit, is_dark) for is_dark in (False, True)}
    for canvas in drawn[True]:
        by_day, by_night = drawn[False][canvas], drawn[True][canvas]
        for colour, colours in (by_day, by_night):
            check(colour in colours, f"{canvas}: no {colour} in {colours[:50]}")
        check(by_day[0] not in by_night[1], f"{canvas}: it still has the colour of the light theme")


def find_drawn_colours(visit, is_dark):
    """Returns {canvas: (the colour that it should have, the colours that it has)}."""
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
def numbers_have_three_digits(t):
    told = {0: "0", 1: "1", 1.25: "1.25", 9.996: "10", 12.34: "12.3", 99.96: "100", 99.94: "99.9", 120.4: "120", 999.6: "1 s"}
    words = Visit(t).page.evaluate(f"import('/page/words.js').then((words) => {list(told)}.map((ms) => words.durationMs(ms)))")
    equal(words, [text if " " in text or text == "0" else f"{text} ms" for text in told.values()], "durations")


@test
def times_of_today_omit_the_day(t):
    told = Visit(t).page.evaluate("import('/page/words.js').then(({dayTime}) => [dayTime(Date.now()), dayTime(Date.now() - 3 * 86400e3), dayTime(null)])")
    for text, pattern in zip(told, (r"\d\d:\d\d:\d\d", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "–"), strict=True):
        check(re.fullmatch(pattern, text), f"a time: {text}")


@test
def every_element_has_an_accessible_name(t):
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
def the_first_paint_waits_for_nothing(t):
    """The first paint waits neither for modules nor for the daemon's answers. `make bench` measures how fast it is."""
    page = Visit(t).page
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.reload")
    page.wait_for_text("#link", "connecting")
    page.wait_for("performance.getEntriesByName('first-contentful-paint').length > 0", "the first paint")
    check(page.text("#time-title") == "Usage", "the page's frame")


@test
def the_page_comes_in_few_bytes(t):
    """The browser receives each file as gzip."""
    page = Visit(t).page
    sent = page.evaluate("""[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
        .filter(({name}) => !name.includes("/api/")).map(({name, encodedBodySize, decodedBodySize}) => [name, encodedBodySize, decodedBodySize])""")
    check(len(sent) > 20, f"files: {sent}")
    check(sum(n for _, n, _ in sent) < 60000 and all(packed < plain for _, packed, plain in sent), f"bytes: {sent}")


@test
def absent_hardware_has_no_chart(t):
    visit = Visit(t)
    visit.await_answer("page.samples.next > 1", "samples")
    there = visit.ask("[...new Set([...page.samples.columns.values()].map(({column}) => column.group))]")
    text = visit.page.evaluate("document.querySelector('#time').innerText")
    for group in {"gpu", "npu"} - set(there):
        check(group.upper() not in text, f"there is no {group}, and the page says: {text}")


@test
def reduced_motion_is_respected(t):
    visit = Visit(t)
    page = visit.page
    page.prefer(prefers_reduced_motion="reduce")
    visit.ask("page.timeWindow.follow()")
    visit.ask("page.take('capture', {id: 77, state: 'waiting', is_over: false, targets: [], target: 'x', snapshot: null, warnings: [], error: null})")
    page.wait_for("document.querySelector('.captures li progress') !== null", "a capture under way")
    equal(page.evaluate("document.querySelectorAll('progress:indeterminate').length"), 0, "bars that move by themselves")
    visit.await_answer("page.timeWindow.to > 0", "the first sample")
    # The charts stand still while samples come, and move on in steps.
    before, seen = visit.ask("page.timeWindow.to"), visit.ask("page.samples.next")
    visit.ask("[1, 2, 3, 4, 5, 6, 7, 8].forEach((i) => page.timeWindow.advance(page.timeWindow.originUnixMs + page.timeWindow.to - 900 + 100 * i))")
    equal(visit.ask("page.timeWindow.to"), before, "where the window ends")
    visit.ask("page.timeWindow.advance(page.timeWindow.originUnixMs + page.timeWindow.to + 1)")
    check(visit.ask("page.timeWindow.to") >= before + 10000, "the next step")
    page.prefer(prefers_reduced_motion="no-preference")
    visit.await_answer(f"page.samples.next > {seen} && page.timeWindow.to !== {before}", "samples to move the window again")
    equal(visit.ask("page.timeWindow.to === page.samples.lastMs - page.timeWindow.originUnixMs"), True, "whether the window follows each sample")


@test
def forced_colours_are_respected(t):
    """Canvas drawings, too, have only a few system colours, and lines differ by their dashes."""
    visit = with_run(t)
    page = visit.page
    canvases = ("document.querySelector('.timeline canvas')", MEMORY)
    for canvas in canvases:
        wait_until(lambda canvas=canvas: len(list_colours(visit, canvas)) > 5, f"{canvas} to be drawn")
    ours = {canvas: set(list_colours(visit, canvas)[:8]) for canvas in canvases}
    for is_dark in (False, True):
        page.prefer(forced_colors="active", prefers_color_scheme="dark" if is_dark else "light")
        settle(page)
        page.shoot(f"forced-{'dark' if is_dark else 'light'}")
        system = page.evaluate("""["Canvas", "CanvasText", "Highlight", "GrayText", "LinkText"].map((name) => {
            const context = new OffscreenCanvas(1, 1).getContext("2d");
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.cssText = `forced-color-adjust: none; color: ${name}`;
            context.fillStyle = getComputedStyle(probe).color;
            probe.remove();
            return context.fillStyle;
        })""")
        for canvas in canvases:
            drawn = list_colours(visit, canvas)
            check(drawn and drawn[0] in system, f"{canvas}: {drawn}, of the system's {system}")
            own = {c for c in ours[canvas] if not is_between(c, system)}
            check(own, f"{canvas}: {ours[canvas]} are all mixed of the system's {system}")
            equal(own & set(drawn), set(), f"{canvas}: colours of the page's own")
    dashes = page.evaluate("import('/page/colours.js').then(({seriesDash}) => [0, 1, 2].map((i) => JSON.stringify(seriesDash(i))))")
    equal(len(set(dashes)), 3, f"dashes of lines: {dashes}")
    marks = page.evaluate("[...document.querySelectorAll('[data-chart=cpu] .legend i')].map((e) => getComputedStyle(e).borderTopStyle)")
    equal(marks, ["solid", "dashed", "dotted"], "marks in the legend")


def is_between(colour, system):
    """Returns whether |colour| is one of the system's colours, or a mix of two of them, as at the edge of a letter."""
    def read(text):
        return [int(text[i:i + 2], 16) for i in (1, 3, 5)]

    def is_mixed(a, b):
        x, y, z = max(zip(a, b, read(colour)), key=lambda channel: abs(channel[0] - channel[1]))
        share = (x - z) / (x - y) if x != y else 0
        return 0 <= share <= 1 and all(abs(x + share * (y - x) - z) <= 2 for x, y, z in zip(a, b, read(colour)))
    # Some system colours are partly transparent.
    colours = [read(c) for c in system if c.startswith("#")]
    return any(is_mixed(a, b) for a in colours for b in colours)


def list_colours(visit, canvas):
    """Returns the colours of a canvas, the most frequent first."""
    return visit.ask(f"""(() => {{
        const canvas = {canvas};
        const data = ({READ})(canvas, canvas.width);
        const counts = new Map();
        for (let i = 0; i < data.length; i += 4) {{
            const colour = "#" + [0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, "0")).join("");
            if (data[i + 3] === 255)
                counts.set(colour, (counts.get(colour) ?? 0) + 1);
        }}
        return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 20).map(([colour]) => colour);
    }})()""")


def feed_hour(visit, hour):
    """Feeds an hour of samples at once, as events would, with another program each minute."""
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
    """Returns the bytes of objects and typed arrays, and the number of elements, detached ones included."""
    page.call("HeapProfiler.collectGarbage")
    heap = page.call("Runtime.getHeapUsage")
    return {"bytes": heap["usedSize"] + heap["backingStorageSize"], "nodes": page.call("Memory.getDOMCounters")["nodes"]}


@test
def a_day_of_samples_does_not_grow_the_page(t):
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
