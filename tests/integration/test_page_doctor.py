#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The doctor on the host daemon's page, in Chromium."""
import json

from checks import contains
from fixture import check, equal, run, test
from visit import Visit

CELLS = "[...document.querySelectorAll('#doctor tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"


def open_doctor(visit):
    visit.page.click("nav a[href='#doctor-view']")
    visit.page.wait_for("document.querySelectorAll('#doctor tbody tr').length > 0", "the checks")


@test
def the_page_shows_the_commands_findings(t):
    visit = Visit(t)
    page = visit.page
    open_doctor(visit)
    report = json.loads(visit.fetch("/api/v1/doctor"))
    rows = page.evaluate(CELLS)
    equal([row[0] for row in rows], [check["name"] for check in report["checks"]], "checks")
    for row, check_ in zip(rows, report["checks"], strict=True):
        equal(row[1], check_["state"], f"state of {row[0]}")
        for key in ("command", "reason"):
            contains(row[3], check_[key] or "", f"{key} of {row[0]}")
    contains(page.text("#doctor p"), f"{report['hostname']}, Linux {report['kernel']}", "the machine")
    check(any(check_["command"] for check_ in report["checks"]) == page.evaluate("document.querySelector('#doctor code') !== null"),
          "commands to copy")
    page.shoot("doctor")
    page.check_quiet()


@test
def checks_can_be_refreshed(t):
    visit = Visit(t)
    page = visit.page
    open_doctor(visit)
    page.evaluate("document.querySelector('#doctor tbody').dataset.old = 'yes'")
    page.click("#doctor-again")
    page.wait_for("document.querySelector('#doctor tbody') && !document.querySelector('#doctor tbody').dataset.old", "new answers")
    visit.stop()
    page.click("#doctor-again")
    page.wait_for_text("#doctor", "the daemon does not answer")


@test
def charts_follow_a_window_resized_in_the_other_view(t):
    """The window gets larger or smaller while the other view is shown."""
    visit = Visit(t)
    page = visit.page
    for width in (700, 1600):
        open_doctor(visit)
        page.wait_for("!document.querySelector('#machine-view').checkVisibility()", "the doctor's view alone")
        page.resize(width, 900)
        page.wait_for(f"innerWidth === {width}", f"{width} px")
        # Hidden charts are drawn, too.
        seen = visit.ask("page.samples.next")
        visit.await_answer(f"page.samples.next > {seen}", "a sample")
        page.click("nav a[href='#machine-view']")
        sizes = visit.await_answer("""(() => {
            const sizes = page.charts.main.filter(({drawn, plot}) => drawn && plot.clientWidth).map(({canvas, plot}) =>
                [plot.clientWidth, canvas.clientWidth, canvas.width / devicePixelRatio]);
            return sizes.length && sizes.every((one) => new Set(one).size === 1) ? sizes : null;
        })()""", f"charts as large as their place of {width} px")
        check(all(0.3 * width < one[0] <= width for one in sizes), f"sizes at {width} px: {sizes}")
    page.check_quiet()


@test
def one_view_is_shown_at_a_time(t):
    """The links, the address, and the browser's back button change the view."""
    visit = Visit(t)
    page = visit.page
    seen = "[...document.querySelectorAll('main')].filter((e) => e.checkVisibility()).map((e) => e.id).join()"
    current = "[...document.querySelectorAll('nav [aria-current]')].map((e) => e.textContent).join()"
    equal([page.evaluate(seen), page.evaluate(current)], ["machine-view", "Machine"], "at first")
    open_doctor(visit)
    equal([page.evaluate(seen), page.evaluate(current)], ["doctor-view", "Doctor"], "the doctor's")
    page.evaluate("history.back()")
    page.wait_for(f"{seen} === 'machine-view'", "the way back")
    equal(page.evaluate(current), "Machine", "the current view in the navigation")
    visit.await_answer("page.charts.main[0].canvas.clientWidth === document.querySelector('[data-chart=cpu] .plot').clientWidth",
                       "charts as large as their place")
    page.evaluate("location.hash = '#doctor-view'")
    page.call("Page.reload")
    page.wait_for("document.querySelectorAll('#doctor tbody tr').length > 0", "the checks by the address")
    equal(page.evaluate(seen), "doctor-view", "by the address")
    page.click("nav a[href='#machine-view']")
    page.wait_for(f"{seen} === 'machine-view'", "the machine's")
    visit.await_answer("page.charts.main[0].drawn !== null", "a chart that was not seen before")
    page.check_quiet()


if __name__ == "__main__":
    run()
