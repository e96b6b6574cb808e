#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's visit to the host daemon's page in Chromium."""
import signal

from checks import contains
from fixture import check, equal, run, test
from processes import halt
from visit import Visit, start_pipeline

WINDOW = "[page.timeWindow.from, page.timeWindow.to]"


def chart_of(kind):
    return f"page.charts.all.find((chart) => chart.kind.id === '{kind}')"


def check_places(visit):
    """Checks that equal times are at equal places in all charts and the timeline."""
    places = visit.await_answer("""(() => {
        const {from, to, spanMs} = page.timeWindow;
        const middle = from + spanMs / 3;
        const left = (e) => e.getBoundingClientRect().left;
        const {timeline} = page.eventsSection;
        const charts = page.charts.main.filter((chart) => chart.element.checkVisibility());
        if (charts.some(({drawn}) => drawn.from !== from || drawn.to !== to))
            return null; // not drawn again yet
        return [left(timeline.scroller) + timeline.scroller.clientLeft + timeline.toPx(middle),
            ...charts.map((chart) => left(chart.plot) + chart.toPx(middle))];
    })()""", "the charts to show the time of the timeline")
    check(len(places) >= 3 and max(places) - min(places) < 2, f"one time is at {places} px")


@test
def a_person_sees_the_machine_records_a_program_and_finds_a_span(t):
    program = start_pipeline(t)
    visit = Visit(t)
    page = visit.page

    # The values change.
    first = visit.await_answer("page.samples.next || null", "the first sample")
    visit.await_answer(f"page.samples.next > {first + 1}", "two samples more")
    contains(page.text("[data-chart=cpu] .legend"), "busy", "the legend of the CPU chart")
    check(page.evaluate("document.querySelector('[data-chart=memory] canvas').width") > 300, "the memory chart is not drawn")

    # The page shows a program's own usage when the program is selected.
    visit.select(program.pid)
    page.wait_for("document.querySelector('[data-chart=program]').checkVisibility()", "the program's own chart")

    marks = [float(text.split()[0]) for text in visit.await_answer(f"{chart_of('program')}.drawn?.yLabels", "marks of the program's CPU")]
    top = max(marks)
    check(sorted(marks) == [0, top / 2, top] and f"{top:e}"[0] in "1245" and float(f"{top:.0e}") == top, f"marks of the program's CPU: {marks}")

    # A capture of 500 ms becomes a run, which opens by itself.
    name = visit.capture(500)
    page.wait_for_text("#run-list", name)
    page.wait_for_text("#events-note", f"{name}: 500 ms")
    page.wait_for("document.querySelector('.timeline').checkVisibility()", "the timeline")
    names = visit.ask("page.events.answer.names")
    check({"batch", "compress", "write"} <= set(names), f"names {names}")
    page.shoot("person-events")

    # The charts above and the timeline below show the same range.
    begin, end = visit.ask(WINDOW)
    check(500 <= end - begin < 600, f"the window is {begin} to {end} ms")
    check_places(visit)
    marks = visit.ask(f"{chart_of('cpu')}.drawn.xLabels")
    check({"0", "100 ms"} <= set(marks), f"marks of the time since the run's begin: {marks}")

    # Zooming works, and a search finds names.
    for _ in range(3):
        page.wheel(".timeline", -400, ctrl=True)
    visit.await_answer("page.timeWindow.spanMs < 100", "a smaller window")
    check_places(visit)
    page.click("#whole-run")
    visit.await_answer("page.timeWindow.spanMs >= 500", "the whole run")
    page.write("#span-search", "compress")
    page.press("Enter")
    page.wait_for_text("#span-detail", "compress: ")
    contains(page.text("#span-detail"), "worker-", "where it is")
    page.shoot("person-span")
    page.check_quiet()


@test
def the_time_moves_by_mouse_and_keys(t):
    visit = Visit(t)
    page = visit.page
    visit.await_answer("page.samples.next > 0 && page.charts.main[0].drawn !== null", "a chart")

    page.drag("[data-chart=cpu] .plot", 200)
    begin, end = visit.ask(WINDOW)
    check(not visit.ask("page.timeWindow.isLive"), "the charts still follow the current time")
    check(end < visit.ask("page.timeWindow.lastUnixMs - page.timeWindow.originUnixMs"), "dragging to the right does not go back")
    page.drag("[data-chart=memory] .plot", 100, shift=True)
    chosen = visit.ask("page.timeWindow.spanMs")
    check(chosen < (end - begin) / 4, f"of {end - begin} ms choosing a tenth leaves {chosen}")

    page.focus("[data-chart=cpu] .plot")
    for key, question in (("-", "spanMs > {span} * 1.4"), ("+", "spanMs < {span} / 1.4"), ("ArrowLeft", "to < {end}"),
                          ("ArrowRight", "to > {end}"), ("Home", "spanMs === 600000"), ("End", "isLive && page.timeWindow.spanMs < 600000")):
        begin, end = visit.ask(WINDOW)
        page.press(key)
        visit.await_answer("page.timeWindow." + question.format(span=end - begin, end=end), f"{question} after {key}")
    # A live window stays live.
    seen = visit.ask("page.timeWindow.to")
    visit.await_answer(f"page.timeWindow.to > {seen}", "the next sample to be followed")
    page.check_quiet()


@test
def the_page_says_that_the_daemon_is_lost_and_recovers(t):
    program = start_pipeline(t)
    visit = Visit(t)
    page = visit.page
    visit.select(program.pid)
    # The page acts as if the daemon had run for long, so the next one's numbers are smaller.
    visit.ask("page.take('usage', {n: page.samples.next + 1000, at_unix_ms: page.samples.lastMs + 1000, values: {}})")
    visit.stop()
    page.wait_for("!document.querySelector('#lost').hidden", "the banner")
    contains(page.text("#lost"), "proftapd has not answered since ", "the banner")
    equal(page.text("#link"), "lost", "the state")
    page.shoot("lost", whole=False)
    page.complaints.clear()  # the browser itself reports refused connections

    visit.serve()
    page.wait_for_text("#link", "live", patience_s=30)
    check(page.evaluate("document.querySelector('#lost').hidden"), "the banner stays")
    # The program is found again, and can be recorded with the new daemon's token.
    visit.await_answer(f"page.programs.selected?.pid === {program.pid}", "the same program to be selected")
    page.wait_for_text("#run-list", visit.capture(500))
    visit.await_answer("page.samples.next > 1 && page.samples.next < 1000", "samples of the new daemon")


@test
def an_expired_token_is_replaced(t):
    program = start_pipeline(t)
    visit = Visit(t)
    visit.select(program.pid)
    visit.ask("(page.api.session.token = '0'.repeat(32))")
    visit.capture(500)
    check(all("403" in line for line in visit.page.complaints), f"the page complained: {visit.page.complaints}")


@test
def a_daemon_that_sends_nothing_is_shown_as_silent(t):
    visit = Visit(t)
    halt(visit.host.pid)
    visit.page.wait_for_text("#link", "silent")
    contains(visit.page.text("#lost"), "has been silent since ", "the banner")
    visit.host.signal(signal.SIGCONT)
    visit.page.wait_for_text("#link", "live")
    visit.page.check_quiet()


@test
def the_next_program_that_starts_is_recorded(t):
    visit = Visit(t)
    page = visit.page
    fields = "[...document.querySelectorAll('#capture-form input[id]')].filter((e) => e.checkVisibility()).map((e) => e.id.slice(8))"
    equal(page.evaluate(fields), ["target", "duration", "run"], "fields for one that runs")
    page.click("[name=capture-mode][value=next]")
    equal(page.evaluate(fields), ["next", "wait", "duration", "run"], "fields for one that is to come")
    page.write("#capture-next", "pipe*")
    page.write("#capture-duration", "200")
    page.click("#capture-button")
    page.wait_for_text("#capture-list", "waiting for the program")
    start_pipeline(t)
    page.wait_for("document.querySelector('.captures li[data-state=done]') !== null", "the capture to be done")
    # The recording starts at the first annotation.
    visit.await_answer("page.events.answer && page.events.bounds.end >= 200e6", "its events")
    page.check_quiet()


@test
def refusals_show_the_daemons_words(t):
    start_pipeline(t)
    visit = Visit(t)
    page = visit.page
    page.write("#capture-target", "no_such_program")
    page.click("#capture-button")
    page.wait_for_text("#capture-form .problem", "no_such_program: ")
    equal(page.evaluate("document.querySelector('#capture-form .problem').getAttribute('role')"), "alert", "role")
    check(all("404" in line for line in page.complaints), f"the page complained: {page.complaints}")


if __name__ == "__main__":
    run()
