#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of programs on the host daemon's page, in Chromium: changes, searching, selecting, measuring."""
import json
import signal

from checks import contains
from fixture import check, equal, run, test
from hosts import start_target
from visit import Visit, start_pipeline

NAMES = "[...document.querySelectorAll('#program-list tbody tr')].map((row) => row.cells[0].innerText.trim())"
PIDS = "[...document.querySelectorAll('#program-list tbody tr')].map((row) => Number(row.cells[1].innerText))"
SELECTED = "document.querySelector('#program-list tr[data-selected]')?.cells[1].textContent ?? ''"


# The pid in the row of the radio button with the focus, or null.
FOCUS = "(document.activeElement.name === 'program' ? Number(document.activeElement.closest('tr').cells[1].innerText) : null)"


def put(visit, pid, **more):
    """Adds a program as the daemon's events do."""
    target = {"id": 10**6 + pid, "pid": pid, "pid_inside": pid, "name": f"n{pid}", "user": "nobody", "uid": 65534, "path": f"/bin/n{pid}",
              "state": "idle", "recorder": False, "children": 0, "labels": {}, "container": None, "since_unix_ms": None, **more}
    visit.ask(f"page.take('target', {json.dumps(target)})")
    return target["id"]


def await_pids(visit, *pids):
    visit.page.wait_for(f"JSON.stringify({PIDS}) === '{json.dumps(pids, separators=(',', ':'))}'", f"programs {pids}, in this order")


def await_names(visit, *names):
    visit.page.wait_for(f"JSON.stringify({NAMES}.sort()) === '{json.dumps(sorted(names), separators=(',', ':'))}'", f"programs {names}")


@test
def programs_appear_and_disappear(t):
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list", "There is no program that can be recorded")
    pipeline = start_pipeline(t)
    await_names(visit, "pipeline")
    target = start_target(t)
    await_names(visit, "pipeline", "target")
    visit.select(pipeline.pid)
    equal(page.evaluate(SELECTED), str(pipeline.pid), "the selected program")
    page.wait_for("document.querySelector('[data-chart=program]').checkVisibility()", "the program's own chart")
    page.write("#program-search", "")
    pipeline.signal(signal.SIGKILL)
    await_names(visit, "target")
    equal([page.evaluate(SELECTED), page.evaluate("document.querySelector('#capture-target').value")], ["", ""], "the selection then")
    page.wait_for("!document.querySelector('[data-chart=program]').checkVisibility()", "the ended program's chart to disappear")
    target.kill()
    page.wait_for_text("#program-list", "There is no program that can be recorded")
    page.check_quiet()


@test
def a_search_finds_any_property(t):
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
def programs_are_in_the_order_of_their_pids(t):
    """Neither the time of arrival nor the state changes the order."""
    visit = Visit(t)
    for pid in (300, 1000000, 20, 4000):
        put(visit, pid)
    await_pids(visit, 20, 300, 4000, 1000000)
    put(visit, 300, state="recording")
    put(visit, 1000)
    await_pids(visit, 20, 300, 1000, 4000, 1000000)
    visit.page.write("#program-search", "n20 n")
    await_pids(visit, 20)
    visit.page.write("#program-search", "")
    await_pids(visit, 20, 300, 1000, 4000, 1000000)
    visit.page.check_quiet()


@test
def a_row_shows_all_facts_of_a_program(t):
    """The search finds a program by its container and its labels, too."""
    visit = Visit(t)
    page = visit.page
    inside = {"id": "0123456789abcdef", "cgroup": "/docker/0123456789abcdef", "name": None, "pod": None}
    put(visit, 300, state="recorder", recorder=True, stopped=True, children=2, labels={"job": "Night"}, container=inside, pid_inside=7)
    put(visit, 301, state="recording", recorder=True, container={**inside, "name": "inner", "pod": "web-0"})
    await_pids(visit, 300, 301)
    cells = page.evaluate("[...document.querySelectorAll('#program-list tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")
    equal(cells, [["n300", "300", "nobody", "flight recorder, stopped, 2 children Open spans", "–", "– Measure", "–", "/bin/n300 in 0123456789ab as 7"],
                  ["n301", "301", "nobody", "recording, flight recorder Open spans", "–", "– Measure", "–", "/bin/n301 in web-0"]], "rows")
    for words, pid in (("0123456789ab", 300), ("JOB=night", 300), ("web-0", 301)):
        page.write("#program-search", words)
        await_pids(visit, pid)
    labels = page.evaluate("[...document.querySelectorAll('#program-list tbody [name=program]')].map((e) => e.labels[0].innerText.trim())")
    equal(labels, ["n301"], "the labels of the radio buttons")
    equal(page.evaluate("document.querySelector('#program-list [data-action=measure]').getAttribute('aria-label')"),
          "Measure the memory of n301: its own, plus its share of memory that it shares with others (PSS)", "the label of the measure button")
    page.check_quiet()


@test
def the_keyboard_stays_where_it_is(t):
    """The focus stays while programs arrive, leave and change. Arrow keys select another program."""
    visit = Visit(t)
    page = visit.page
    for pid in (200, 300, 400):
        put(visit, pid)
    await_pids(visit, 200, 300, 400)
    page.tab_to("#program-list tr:nth-child(1) [name=program]")
    page.press("ArrowDown")
    page.wait_for(f"{SELECTED} === '300'", "the next one to be selected")
    checked = "[...document.querySelectorAll('#program-list [name=program]')].filter((e) => e.checked).map((e) => e.closest('tr').cells[1].innerText)"
    for change in (lambda: put(visit, 100), lambda: put(visit, 300, state="recording"), lambda: put(visit, 350),
                   lambda: visit.ask("page.take('target_gone', {id: 1000200})")):
        change()
        page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 50))")
        equal([page.evaluate(FOCUS), page.evaluate(SELECTED), page.evaluate(checked)], [300, "300", ["300"]], "the row with the focus, the selected pid, and the checked pids")
    await_pids(visit, 100, 300, 350, 400)
    visit.ask("page.take('target_gone', {id: 1000300})")
    await_pids(visit, 100, 350, 400)
    equal([page.evaluate(SELECTED), page.evaluate(checked)], ["", []], "the selection after its end")
    # The page itself selects a program, as after a restart of the daemon.
    visit.ask("page.programs.select(1000350)")
    equal(page.evaluate(checked), ["350"], "the checked program")


@test
def events_win_over_an_older_answer(t):
    visit = Visit(t)
    gone, changed = put(visit, 200), put(visit, 300)
    visit.ask("""(async () => {
        const {targets} = page;
        const answer = targets.list();
        let give;
        targets.loadAll = () => new Promise((done) => { give = done; });
        const loading = targets.load();
        page.take("target_gone", {id: %d});
        page.take("target", {...targets.get(%d), state: "recording"});
        page.take("target", {...targets.get(%d), id: 5, pid: 5, name: "new"});
        give(answer);
        await loading;
    })()""" % (gone, changed, changed))
    await_pids(visit, 5, 300)
    visit.page.wait_for_text("#program-list tr:nth-child(2)", "recording")


@test
def state_changes_are_shown(t):
    """The page shows changes without a request of the user."""
    target = start_target(t)
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list tbody", "idle")
    t.begin(target)
    page.wait_for_text("#program-list tbody", "recording")
    page.check_quiet()


@test
def the_list_shows_usage(t):
    """The list shows each program's processor time and memory each second, selected or not."""
    program, idle = start_pipeline(t), start_target(t)
    visit = Visit(t)
    page = visit.page
    cells = "(pid) => [...document.querySelectorAll('#program-list tbody tr')].find((row) => row.cells[1].innerText === String(pid))?.cells ?? []"
    heads = page.evaluate("[...document.querySelectorAll('#program-list th[scope=col]')].map((e) => e.textContent)")
    cpu, memory = heads.index("CPU"), heads.index("Memory")
    for pid in (program.pid, idle.pid):
        page.wait_for(f"/^[0-9.]+ %$/.test(({cells})({pid})[{cpu}]?.innerText)", f"the CPU of {pid}")
        page.wait_for(f"/^[0-9.]+ MB\\s/.test(({cells})({pid})[{memory}]?.innerText)", f"the memory of {pid}")
    idle.ask("touch 100")
    page.wait_for(f"/^1\\d\\d MB\\s/.test(({cells})({idle.pid})[{memory}]?.innerText)", "100 MiB more, without being asked")
    equal(page.evaluate(SELECTED), "", "the selected program")
    page.check_quiet()


@test
def the_share_of_memory_is_measured_on_request(t):
    target = start_target(t)
    visit = Visit(t)
    page = visit.page
    button = "#program-list [data-action=measure]"
    page.wait_for_text(button, "Measure")
    page.click(button)
    page.wait_for_text(button, "B")
    contains(page.evaluate(f"document.querySelector('{button}').title"), "measured at ", "when")
    told = page.text(button)
    equal(page.evaluate(f"document.querySelector('{button}').getAttribute('aria-label')").split(", memory of target: ")[0] + " share", told, "how much, in words")
    contains(page.evaluate(f"document.querySelector('{button}').getAttribute('aria-label')"), "; measure again", "the actions, in words")
    target.ask("touch 100")
    page.click(button)
    page.wait_for(f"/^1\\d\\d MB share$/.test(document.querySelector('{button}').textContent)", "100 MiB more")
    target.signal(signal.SIGKILL)
    page.wait_for_text("#program-list", "There is no program")
    equal(visit.ask("page.programs.memory.size"), 0, "data kept of ended programs")
    page.check_quiet()


@test
def a_failed_measurement_is_reported(t):
    target = start_target(t)
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list tbody", "target")
    # The page gets a program that the daemon does not know, as if the program had just ended.
    visit.ask(f"page.targets.put({{...page.targets.list()[0], id: 1e6, pid: {target.pid + 1}, name: 'gone'}})")
    await_names(visit, "gone", "target")
    page.click("#program-list tbody tr:nth-child(2) [data-action=measure]")
    page.wait_for_text(".complaint", "program 1000000: no such program here")
    check(page.evaluate("document.querySelector('.complaint').getAttribute('role')") == "alert", "its role")
    page.click(".complaint button")
    page.wait_for("document.querySelector('.complaint') === null", "the complaint to be closed")


if __name__ == "__main__":
    run()
