#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of programs on the host daemon's page, in Chromium: who comes and goes, searching, selecting, measuring."""
import json
import signal

from checks import contains
from fixture import check, equal, run, test
from hosts import start_target
from visit import Visit, start_pipeline

NAMES = "[...document.querySelectorAll('#program-list tbody tr')].map((row) => row.cells[0].innerText.trim())"
SELECTED = "document.querySelector('#program-list tr[data-selected]')?.cells[1].textContent ?? ''"


def await_names(visit, *names):
    visit.page.wait_for(f"JSON.stringify({NAMES}.sort()) === '{json.dumps(sorted(names), separators=(',', ':'))}'", f"programs {names}")


@test
def who_comes_and_goes_is_there_and_gone(t):
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list", "No program is here that can be recorded")
    pipeline = start_pipeline(t)
    await_names(visit, "pipeline")
    target = start_target(t)
    await_names(visit, "pipeline", "target")
    visit.select(pipeline.pid)
    equal(page.evaluate(SELECTED), str(pipeline.pid), "who is selected")
    page.wait_for("document.querySelector('[data-chart=program]').checkVisibility()", "the program's own chart")
    page.write("#program-search", "")
    pipeline.signal(signal.SIGKILL)
    await_names(visit, "target")
    equal([page.evaluate(SELECTED), page.evaluate("document.querySelector('#capture-target').value")], ["", ""], "who is selected then")
    page.wait_for("!document.querySelector('[data-chart=program]').checkVisibility()", "its chart to go")
    target.kill()
    page.wait_for_text("#program-list", "No program is here that can be recorded")
    page.check_quiet()


@test
def they_are_found_by_all_that_is_known_of_them(t):
    programs = {"pipeline": start_pipeline(t), "target": start_target(t)}
    visit = Visit(t)
    await_names(visit, *programs)
    rows = {row["name"]: row for row in json.loads(visit.fetch("/api/v1/targets"))["targets"]}
    for name, program in programs.items():
        row = rows[name]
        for words in (name, name.upper(), name[1:5], str(program.pid), f"pid={program.pid}", row["path"],
                      f"name={name} {row['user']}", f"{name} idle"):
            visit.page.write("#program-search", words)
            await_names(visit, name)
    visit.page.write("#program-search", "pipeline target")
    visit.page.wait_for_text("#program-list", "No program matches.")
    visit.page.write("#program-search", "")
    await_names(visit, *programs)
    visit.page.check_quiet()


@test
def what_they_do_is_seen(t):
    """As it changes, though nobody asks."""
    target = start_target(t)
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list tbody", "idle")
    t.begin(target)
    page.wait_for_text("#program-list tbody", "recording")
    page.check_quiet()


@test
def their_share_of_memory_is_measured_when_it_is_asked_for(t):
    target = start_target(t)
    visit = Visit(t)
    page = visit.page
    button = "#program-list [data-action=measure]"
    page.wait_for_text(button, "Measure")
    page.click(button)
    page.wait_for_text(button, "B")
    contains(page.evaluate(f"document.querySelector('{button}').title"), "measured at ", "when")
    target.ask("touch 100")
    page.click(button)
    page.wait_for(f"/^1\\d\\d MB$/.test(document.querySelector('{button}').textContent)", "100 MiB more")
    target.signal(signal.SIGKILL)
    page.wait_for_text("#program-list", "No program is here")
    equal(visit.ask("page.programs.memory.size"), 0, "what is kept of those that are gone")
    page.check_quiet()


@test
def that_it_cannot_be_measured_is_said(t):
    target = start_target(t)
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list tbody", "target")
    # As when it ends just then.
    visit.ask(f"page.targets.put({{...page.targets.list()[0], id: 1e6, pid: {target.pid + 1}, name: 'gone'}})")
    await_names(visit, "gone", "target")
    page.click("#program-list tbody tr:nth-child(2) [data-action=measure]")
    page.wait_for_text(".complaint", "program 1000000: no such program here")
    check(page.evaluate("document.querySelector('.complaint').getAttribute('role')") == "alert", "its role")
    page.click(".complaint button")
    page.wait_for("document.querySelector('.complaint') === null", "it to be put away")


if __name__ == "__main__":
    run()
