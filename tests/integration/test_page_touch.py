#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Touch on the host daemon's page, in Chromium as on a phone: moving and zooming charts and the timeline, scrolling, picking."""
from checks import contains, wait_until
from fingers import on_touch_screen, pinch, report, swipe, tap, tap_at
from fixture import check, run, test
from visit import Visit, start_pipeline

CHART = "[data-chart=memory] .plot"
TIMELINE = ".timeline"
# This is long enough for some events on a loaded machine.
RUN_MS = 500
WINDOW = "[page.timeWindow.from + page.timeWindow.originUnixMs, page.timeWindow.to + page.timeWindow.originUnixMs]"


# Returns the middle of the longest visible span of "compress".
PLACE = """(() => {
    const {timeline, events} = page.eventsSection;
    const [widest] = events.find("compress").sort((a, b) => b.durationNs - a.durationNs);
    const box = timeline.element.getBoundingClientRect();
    const x = box.left + timeline.toPx((widest.fromMs + widest.toMs) / 2);
    for (let y = box.top; y < box.bottom; y++)
        if (timeline.hit({clientX: x, clientY: y})?.span === widest.span)
            return [x, y + 5];
    return null;
})()"""


def is_near(a, b, share):
    return abs(a - b) <= share * max(abs(a), abs(b))


def visit_on_phone(t):
    visit = Visit(t)
    on_touch_screen(visit.page)
    visit.page.wait_for("innerWidth === 400", "400 px")
    return visit


def check_fingers(visit, selector):
    """Checks that fingers on the element move and zoom the time."""
    page = visit.page
    width = page.evaluate(f"document.querySelector('{selector}').clientWidth - 66")

    begin, end = visit.ask(WINDOW)
    swipe(page, selector, by_x=100)
    moved = visit.ask(WINDOW)
    check(not visit.ask("page.timeWindow.isLive"), f"{selector}: the window still follows the current time")
    check(is_near(moved[1] - moved[0], end - begin, 0.01), f"{selector}: moved, {end - begin} ms became {moved[1] - moved[0]}")
    check(is_near(begin - moved[0], (end - begin) * 100 / width, 0.1), f"{selector}: 100 of {width} px are {begin - moved[0]} ms")

    pinch(page, selector, 60, 180)
    near = visit.ask(WINDOW)
    check(is_near(near[1] - near[0], (moved[1] - moved[0]) / 3, 0.05),
          f"{selector}: the window is not a third as long: {moved} became {near}")
    check(moved[0] < near[0] and near[1] < moved[1],
          f"{selector}: the window has left the former one: {moved} became {near}")
    pinch(page, selector, 180, 60)
    far = visit.ask(WINDOW)
    check(is_near(far[1] - far[0], moved[1] - moved[0], 0.05),
          f"{selector}: the window is not as long as before: {near} became {far}")
    check(is_near(far[0], moved[0], 1e-9) or abs(far[0] - moved[0]) < (end - begin) / 10, f"{selector}: {moved} became {far}")

    pinch(page, selector, 100, 100, by_x=-80)
    later = visit.ask(WINDOW)
    check(is_near(later[1] - later[0], far[1] - far[0], 0.01), f"{selector}: two fingers that move together zoom: {far}, {later}")
    check(is_near(later[0] - far[0], (end - begin) * 80 / width, 0.1),
          f"{selector}: two fingers do not move the window by 80 px: {far}, {later}")


def check_one_finger(visit):
    """Checks that one finger moves the time and does not zoom, as two fingers would."""
    span = visit.ask("page.timeWindow.spanMs")

    def moves():
        """Swipes, and returns whether the time moved. A page that still scrolls takes the first touch for itself."""
        swipe(visit.page, CHART, by_x=100)
        return not visit.ask("page.timeWindow.isLive")

    wait_until(moves, "the time to be moved")
    moved = visit.ask("page.timeWindow.spanMs")
    check(is_near(moved, span, 0.01), f"the window has {moved} ms after one finger, before {span}")


@test
def charts_follow_fingers(t):
    visit = visit_on_phone(t)
    check_fingers(visit, CHART)
    tap(visit.page, "#time-buttons button:last-of-type")
    check(visit.ask("page.timeWindow.isLive"), "a tap on the last time button does not make the window live")
    visit.page.check_quiet()


@test
def the_timeline_follows_fingers(t):
    program = start_pipeline(t)
    visit = visit_on_phone(t)
    visit.select(program.pid)
    visit.capture(RUN_MS)
    check_fingers(visit, TIMELINE)
    visit.page.check_quiet()


@test
def a_finger_picks_a_span(t):
    program = start_pipeline(t)
    visit = visit_on_phone(t)
    page = visit.page
    visit.select(program.pid)
    visit.capture(RUN_MS)
    page.place(TIMELINE)
    name = visit.ask("""(() => {
        const {events, timeWindow} = page;
        const [widest] = events.find("compress").sort((a, b) => b.durationNs - a.durationNs);
        timeWindow.show(widest.fromMs - 1, widest.toMs + 1);
        return widest.name;
    })()""")

    def hit():
        """Taps at the span's position, which may change while the page adds text. Returns whether this picked it."""
        x, y = visit.await_answer(PLACE, "the longest span to be seen")
        tap_at(page, x, y)
        return page.text("#span-detail").startswith(f"{name}: ")

    wait_until(hit, "the span to be picked")
    contains(page.text("#span-detail"), "worker-", "the thread in the detail")
    visit.await_answer(f"page.eventsSection.timeline.picked?.name === '{name}'", "the span to stay picked")
    page.check_quiet()


@test
def a_finger_that_moves_up_scrolls_the_page(t):
    visit = visit_on_phone(t)
    page = visit.page
    page.evaluate("scrollTo(0, 0)")
    at = page.evaluate("scrollY")
    swipe(page, CHART, by_y=-200)
    page.wait_for(f"scrollY > {at} + 50", "the page to scroll")
    check(visit.ask("page.timeWindow.isLive"), "the time was moved")
    # The browser cancelled the touch that scrolled, so the next finger is the only one.
    check_one_finger(visit)
    page.check_quiet()


@test
def cancelled_touches_leave_nothing_behind(t):
    """The system cancels two touches, as when another program covers the screen."""
    visit = visit_on_phone(t)
    page = visit.page
    x, y = page.place(CHART)
    report(page, "touchStart", (x - 30, y), (x + 30, y))
    report(page, "touchMove", (x - 60, y), (x + 60, y))
    report(page, "touchCancel")
    check(not visit.ask("page.timeWindow.isLive"), "the two touches did not zoom")
    visit.ask("page.timeWindow.follow()")
    check_one_finger(visit)
    page.check_quiet()


@test
def a_cancelled_choice_selects_nothing(t):
    """The window system may cancel a drag of the mouse, too."""
    visit = Visit(t)
    page = visit.page
    x, y = page.place(CHART)
    chosen = f"!document.querySelector('{CHART} .choice').hidden"
    page.mouse("mousePressed", x, y, button="left", clickCount=1, modifiers=8)
    page.mouse("mouseMoved", x + 80, y, button="left", buttons=1, modifiers=8)
    check(page.evaluate(chosen), "nothing is being chosen")
    page.evaluate(f"document.querySelector('{CHART}').dispatchEvent(new PointerEvent('pointercancel', {{pointerId: 1, bubbles: true}}))")
    check(not page.evaluate(chosen), "the cancelled choice is still drawn")
    page.mouse("mouseMoved", x + 120, y, button="left", buttons=1, modifiers=8)
    page.mouse("mouseReleased", x + 120, y, button="left", clickCount=1, modifiers=8)
    check(visit.ask("page.timeWindow.isLive"), "the time was moved all the same")
    page.check_quiet()


if __name__ == "__main__":
    run()
