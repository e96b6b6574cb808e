#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run's events on the host daemon's page, in Chromium: all depths, flows, whole names, counters of the trace, and a million spans."""
import json

from checks import contains
from conversions import make_space
from fixture import check, equal, run, test
from visit import Visit, start_pipeline

TIMELINE = "page.eventsSection.timeline"
# Returns the colours along the middle of a timeline row, from left to right.
ROW_COLOURS = """((lane, depth, timeline) => {
    const {canvas, scroller} = timeline;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const ratio = canvas.width / scroller.clientWidth;
    const css = parseFloat(getComputedStyle(document.documentElement).fontSize) / 15;
    const y = Math.round(20 * css) + lane.top + Math.round(17 * css) + (depth + 0.8) * Math.round(18 * css) - scroller.scrollTop;
    const {data} = copy.getImageData(0, Math.floor(y * ratio), canvas.width, 1);
    return Array.from({length: canvas.width}, (_, i) => "#" + [0, 1, 2, 3].map((k) => data[4 * i + k].toString(16).padStart(2, "0")).join(""));
})"""
N_DEEP = 90
N_MANY = 1_000_000
# A frame with some thousand pixels in a few rows reads at most this many of a million spans, searches included.
MOST_LOOKED_AT = 200_000


def open_space(t, visit, space, name="made"):
    """Puts a run into the log directory and opens it."""
    folder = visit.logs / "plugins" / "profile" / name
    folder.mkdir(parents=True)
    (folder / "host.xplane.pb").write_bytes(space)
    visit.ask(f"await page.openRun('{name}')")
    visit.page.wait_for("document.querySelector('.timeline').checkVisibility()", "the timeline")
    settle(visit.page)


def settle(page):
    """Waits until requested frames are drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@test
def the_deepest_span_is_shown_and_found(t):
    """All depths are shown by default: the span that takes the time is the innermost one."""
    visit = Visit(t)
    page = visit.page
    spans = [(f"level {i}", 1000 * i, 10**9 - 2000 * i) for i in range(N_DEEP)] + [("culprit", 10**8, 8 * 10**8)]
    open_space(t, visit, make_space({"main": spans}))
    contains(page.text("#events-note"), f"{N_DEEP + 1} events shown", "the note")
    equal(visit.ask(f"{TIMELINE}.lanes.lanes[0].nRows"), N_DEEP + 1, "rows")
    page.write("#span-search", "culprit")
    page.press("Enter")
    page.wait_for_text("#span-detail", "culprit: 800 ms")
    # The culprit's row is drawn after scrolling to the bottom.
    page.evaluate("document.querySelector('.timeline').scrollTop = 1e6")
    settle(page)
    drawn = visit.ask(f"{ROW_COLOURS}({TIMELINE}.lanes.lanes[0], {N_DEEP}, {TIMELINE})")
    check(sum(colour.endswith("ff") for colour in drawn) > len(drawn) / 2, "the culprit is not drawn")
    # The user can limit the depth.
    page.evaluate("document.querySelector('#span-search').value = ''")
    page.write("#span-depth", "2")
    page.press("Enter")
    page.wait_for_text("#events-note", "2 events shown")
    page.write("#span-depth", "")
    page.press("Enter")
    page.wait_for_text("#events-note", f"{N_DEEP + 1} events shown")
    page.check_quiet()


@test
def below_ten_seconds_the_charts_show_the_counters_of_the_trace(t):
    program = start_pipeline(t)
    visit = Visit(t)
    visit.select(program.pid)
    visit.capture(1000)
    visit.await_answer("page.charts.main[1].series[0]?.isHeld", "the trace's counters")
    fine = visit.ask("page.charts.main[1].series.map(({name, at, isHeld}) => ({name, isHeld, n: at.length}))")
    equal([(one["name"], one["isHeld"]) for one in fine], [(f"pipeline ({program.pid})", True)], "its owner")
    check(fine[0]["n"] >= 8, f"a second of samples taken ten times a second: {fine}")
    memory = visit.ask("page.charts.main.find(({kind}) => kind.id === 'memory').series.map(({name, isHeld}) => [name, isHeld])")
    check([f"pipeline ({program.pid})", True] in memory, f"memory: {memory}")
    contains(visit.page.text("[data-chart=program] .legend"), f"pipeline ({program.pid})", "the legend")
    # Between two samples the chart shows the value that holds there.
    visit.ask("page.timeWindow.show(page.events.toMs(430e6), page.events.toMs(440e6))")
    visit.await_answer("page.events.question === undefined && page.charts.main[1].drawn.from === page.timeWindow.from", "the charts")
    visit.await_answer("page.charts.main[1].series[0]?.isHeld && page.charts.main[1].findValue(page.charts.main[1].series[0]) >= 0", "a value between two samples")
    # A window of ten seconds or more shows the daemon's samples.
    visit.ask("page.timeWindow.show(-9000, 3000)")
    visit.await_answer("page.charts.main[1].series.every(({isHeld}) => !isHeld) && page.charts.main[0].series[0].at.length > 0", "samples a second")
    visit.page.check_quiet()


@test
def flows_are_arrows(t):
    visit = Visit(t)
    page = visit.page
    make = {"producer": [("put", 10**8, 10**8), ("job", 15 * 10**7, 0, {"_p": 17})],
            "consumer": [("take", 6 * 10**8, 10**8), ("job", 65 * 10**7, 0, {"_c": 17})]}
    open_space(t, visit, make_space(make))
    (arrow,) = visit.await_answer(f"{TIMELINE}.arrows?.length ? {TIMELINE}.arrows : null", "an arrow")
    lanes = visit.ask(f"{TIMELINE}.lanes.lanes.map(({{name}}) => name)")
    equal([name.split()[0] for name in lanes], ["producer", "consumer"], "threads")
    check(arrow["x2"] - arrow["x1"] > 300 and arrow["y2"] > arrow["y1"], f"from the producer down to the consumer, later: {arrow}")
    for middle, expected in ((0.15, "x1"), (0.65, "x2")):
        at = visit.ask(f"{TIMELINE}.toPx(page.events.toMs({middle} * 1e9))")
        check(abs(at - arrow[expected]) < 1, f"the arrow's {expected} is at {arrow}, and its mark at {at}")
    # The arrow is visible between the two spans, where nothing else is drawn.
    colours = visit.ask("""(() => {
        const {canvas, arrows: [{x1, x2, y1, y2}]} = TIMELINE;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
        copy.drawImage(canvas, 0, 0);
        const {data, width} = copy.getImageData((x1 + x2) / 2 - 3, y1, 6, y2 - y1);
        return Array.from({length: y2 - y1}, (_, row) => data[4 * (row * width + 3) + 3]).filter((alpha) => alpha > 120).length;
    })()""".replace("TIMELINE", TIMELINE))
    check(colours > 0, "no arrow is drawn between the two spans")
    page.shoot("events-flows")
    page.check_quiet()


@test
def tooltips_show_whole_names(t):
    visit = Visit(t)
    page = visit.page
    long = "a_name_of_a_function_" * 6
    spans = [("outer", 10**6, 998 * 10**6), (long, 2 * 10**8, 10**7), ("second", 5 * 10**8, 10**8)]
    open_space(t, visit, make_space({"main": spans, "a thread with a name of some length " * 4: [("other", 2 * 10**8, 10**8)]}))
    box = page.evaluate("(() => { const {left, top} = document.querySelector('.timeline').getBoundingClientRect(); return [left, top]; })()")
    x = visit.ask(f"{TIMELINE}.toPx(page.events.toMs(205e6))")
    page.mouse("mouseMoved", box[0] + x, box[1] + 20 + 17 + 18 + 9)
    page.wait_for_text("#span-tip", long)
    contains(page.text("#span-tip"), "10 ms", "how long it is")
    page.shoot("events-tip")
    # A thread's name is shown in full, too.
    page.mouse("mouseMoved", box[0] + 40, box[1] + 20 + 8)
    page.wait_for_text("#span-tip", "main · ")
    page.mouse("mouseMoved", 2, 2)
    page.wait_for("document.querySelector('#span-tip').hidden", "the tip to disappear when the mouse leaves")
    # The keyboard goes from span to span.
    page.focus(".timeline")
    for keys, name in (("ArrowRight", "outer"), ("ArrowDown", long), ("ArrowRight", "second"), ("ArrowLeft", long), ("ArrowDown", "other"),
                       ("ArrowUp", long), ("ArrowUp", "outer")):
        page.press(keys, shift=True)
        page.wait_for(f"document.querySelector('#span-tip strong').textContent === {json.dumps(name)} && !document.querySelector('#span-tip').hidden",
                      f"{name} after {keys}")
        contains(page.text("#span-detail"), f"{name}: ", "its message")
    window = visit.ask("[page.timeWindow.from, page.timeWindow.to]")
    page.press("Escape")
    page.wait_for("document.querySelector('#span-tip').hidden", "Escape to hide the tip")
    page.press("ArrowRight")
    visit.await_answer(f"page.timeWindow.from > {window[0]}", "arrows without Shift to move the time")
    page.check_quiet()


@test
def a_frame_reads_few_of_a_million_spans(t):
    """Drawing and hit tests use binary search, so their work depends on the visible part only."""
    visit = Visit(t)
    open_space(t, visit, make_space({"main": [("a", 0, 10**9)]}))
    visit.ask(f"""(() => {{
        const {{events}} = page;
        const spans = [];
        for (let i = 0; i < {N_MANY} / 4; i++)
            for (let depth = 0; depth < 4; depth++)
                spans.push([depth, 4000 * i + 100 * depth, 3900 - 200 * depth, depth, null]);
        clearTimeout(events.timer);
        events.suffices = () => true;
        events.take({{...events.answer, names: ["a", "b", "c", "d"], tracks: [{{...events.answer.tracks[0], spans}}]}});
        page.timeWindow.show(events.toMs(0), events.toMs(1e9));
    }})()""")
    settle(visit.page)
    looked = visit.ask("""((timeline) => {
        let n = 0;
        for (const row of timeline.lanes.lanes[0].rows)
            for (const key of ["spans", "starts", "ends"])
                row[key] = new Proxy(row[key], {get(of, at) { n++; const value = of[at]; return typeof value === "function" ? value.bind(of) : value; }});
        const counts = [];
        const {left, top} = timeline.scroller.getBoundingClientRect();
        const ms = (ns) => page.events.toMs(ns);
        for (const [from, to] of [[0, 1e9], [4e8, 6e8], [5e8, 5e8 + 1e5]]) {
            page.timeWindow.from = ms(from);
            page.timeWindow.to = ms(to);
            n = 0;
            timeline.draw();
            counts.push(n);
        }
        n = 0;
        const found = timeline.hit({clientX: left + 600, clientY: top + 20 + 17 + 3 * 18 + 9});
        return {counts, hit: n, found: found?.name ?? null};
    })(TIMELINE)""".replace("TIMELINE", TIMELINE))
    check(all(0 < n < MOST_LOOKED_AT for n in looked["counts"]), f"spans that were read in frames: {looked}")
    check(looked["hit"] < 1000 and looked["found"] == "d", f"spans that were read to find one: {looked}")
    drawn = visit.ask(f"{ROW_COLOURS}({TIMELINE}.lanes.lanes[0], 0, {TIMELINE})")
    check(sum(colour.endswith("ff") for colour in drawn) > 0.8 * len(drawn), "spans are missing")
    visit.page.check_quiet()


@test
def a_frame_full_of_short_spans_takes_few_calls_of_the_canvas(t):
    """One call for each of tens of thousands of spans would take longer than a frame (16.7 ms). The pixels still have the spans' colours."""
    visit = Visit(t)
    open_space(t, visit, make_space({"main": [("a", 0, 10**9)]}))
    visit.ask("""(() => {
        const {events} = page;
        const tracks = Array.from({length: 10}, (_, k) => ({...events.answer.tracks[0], tid: k + 1, thread: `t${k}`, spans: []}));
        for (const {spans} of tracks)
            for (let i = 0; i < 10000; i++)
                for (let depth = 0; depth < 10; depth++)
                    spans.push([(i * 7 + depth) % 10, 100000 * i + 10 * depth, 99000 - 20 * depth, depth, null]);
        clearTimeout(events.timer);
        events.suffices = () => true;
        events.take({...events.answer, names: Array.from({length: 10}, (_, i) => `name ${i}`), tracks});
        page.timeWindow.show(events.toMs(0), events.toMs(1e9));
    })()""")
    settle(visit.page)
    calls = visit.ask("""((timeline) => {
        const kind = CanvasRenderingContext2D.prototype;
        const {fillRect} = kind;
        let n = 0;
        kind.fillRect = function (...box) { n++; fillRect.apply(this, box); };
        timeline.draw();
        kind.fillRect = fillRect;
        return n;
    })(TIMELINE)""".replace("TIMELINE", TIMELINE))
    check(calls < 2000, f"calls in a frame: {calls}")
    drawn = visit.ask(f"{ROW_COLOURS}({TIMELINE}.lanes.lanes[0], 3, {TIMELINE})")
    of_names = set(visit.ask(f"""{TIMELINE}.colours.map((css) => {{
        const context = document.createElement("canvas").getContext("2d");
        context.fillStyle = css;
        return context.fillStyle + "ff";
    }})"""))
    check(sum(colour in of_names for colour in drawn) > 0.8 * len(drawn), f"pixels with the colours of spans: {drawn[200:230]}, {of_names}")
    check(len(set(drawn) & of_names) > 1, "colours that are seen")
    visit.page.check_quiet()


@test
def spans_that_cross_on_a_stream_are_all_drawn(t):
    """In one row a span may end after the next one has ended, and must still be found."""
    visit = Visit(t)
    open_space(t, visit, make_space({"Stream #7": [("a", 0, 100_000), ("long", 90_000, 800_000), ("c", 120_000, 10_000), ("d", 600_000, 1000)]},
                                    plane="/device:GPU:0"))
    visit.ask("page.timeWindow.show(page.events.toMs(400e3), page.events.toMs(500e3))")
    settle(visit.page)
    lane = f"{TIMELINE}.lanes.lanes[0]"
    depth = visit.ask(f"{lane}.track.spans.find((span) => page.events.answer.names[span[0]] === 'long')[3]")
    drawn = visit.ask(f"{ROW_COLOURS}({lane}, {depth}, {TIMELINE})")
    check(sum(colour.endswith("ff") for colour in drawn) > 0.8 * len(drawn), "the long one is not drawn")
    found = visit.ask(f"{lane}.rows[{depth}].shortestIn(450e3, 451e3)?.[2] ?? null")
    equal(found, 800_000, "the length of the span found")


if __name__ == "__main__":
    run()
