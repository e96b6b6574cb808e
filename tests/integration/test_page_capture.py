#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures from the host daemon's page, in Chromium: with options, stopped, cancelled, forgotten, of several programs."""
import json
import time

from checks import contains, wait_until
from fixture import check, equal, run, test
from trace_file import Trace
from visit import Visit, start_pipeline

# This is long enough for some events on a loaded machine.
RUN_MS = 500
LONG_MS = 60000
# The form has other fields for these options, or the daemon sets them.
ELSEWHERE = ("duration_ms", "host_tracer_level", "session_id", "ptap_target")
LIST = "#capture-list .captures"


def visit_with(t, n=1):
    programs = [start_pipeline(t) for _ in range(n)]
    visit = Visit(t)
    pids = sorted(program.pid for program in programs)
    visit.await_answer(f"JSON.stringify(page.targets.list().map((one) => one.pid)) === '{json.dumps(pids, separators=(',', ':'))}'",
                       "the programs to be listed")
    return visit, programs


def begin(visit, ms=LONG_MS):
    """Starts a capture and returns the selector of its item in the list."""
    visit.page.write("#capture-duration", str(ms))
    visit.page.click("#capture-button")
    visit.page.wait_for(f"document.querySelector('{LIST} li[data-state=recording]') !== null", "the capture to record")
    number = visit.page.evaluate(f"document.querySelector('{LIST} li[data-state=recording]').dataset.capture")
    return f"{LIST} li[data-capture='{number}']"


def press(visit, item, text):
    """Presses the button |text| of an item."""
    visit.page.evaluate(f"""[...document.querySelectorAll("{item} button")]
        .forEach((button) => button.toggleAttribute("data-wanted", button.textContent === {json.dumps(text)}))""")
    visit.page.click(f"{item} button[data-wanted]")


def find_buttons(visit, item):
    return visit.page.evaluate(
        f"""[...document.querySelectorAll("{item} button")].filter((button) => button.checkVisibility()).map((button) => button.textContent)""")


def read_run(visit, name):
    """Returns the traces of a run."""
    return [Trace(path) for path in sorted((visit.logs / "plugins" / "profile" / name).glob("*.xplane.pb"))]


def ask_targets(visit):
    return json.loads(visit.fetch("/api/v1/targets"))["targets"]


@test
def options_are_sent_and_take_effect(t):
    visit, _ = visit_with(t)
    page = visit.page
    (plain,) = read_run(visit, visit.capture(RUN_MS))
    contains(plain.planes, "/host:CPU machine", "planes by default")
    check(plain.usage and plain.count("compress"), "no usage or no spans by default")
    equal(plain.count("checksum"), 0, "spans of level 3 by default")

    page.choose("#capture-level", "3")
    page.write("#capture-run", "with_options")
    page.click("#capture-form summary")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    page.write("#option-ptap_usage_interval_ms", "0")
    page.choose("#option-ptap_machine_usage", "false")
    page.write("#option-override_hostname", "somewhere")
    equal(visit.capture(RUN_MS), "with_options", "the name of the run")
    equal(visit.ask("page.captures.list()[0].options"),
          {"host_tracer_level": 3, "ptap_usage_interval_ms": "0", "ptap_machine_usage": "false", "override_hostname": "somewhere"},
          "the request's options")
    (trace,) = read_run(visit, "with_options")
    check("/host:CPU machine" not in trace.planes, f"planes without usage of the machine: {list(trace.planes)}")
    equal(trace.usage, {}, "usage at intervals of 0")
    check(trace.count("checksum") > 0, "spans of level 3")
    page.check_quiet()


@test
def options_can_be_searched_and_show_their_ranges(t):
    visit, _ = visit_with(t)
    page = visit.page
    page.click("#capture-form summary")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    table = [option for option in json.loads(visit.fetch("/api/v1/options"))["options"]
             if "capture" in option["uses"] and option["key"] not in ELSEWHERE]
    seen = "[...document.querySelectorAll('.option')].filter((e) => e.checkVisibility()).map((e) => e.querySelector('label').textContent)"
    equal(page.evaluate(seen), [option["key"] for option in table], "fields")
    for option in table:
        contains(page.text(f"#option-{option['key']}-help"), option["help"], f"help of {option['key']}")
    page.write("#capture-form input[type=search]", "counters of the WHOLE")
    equal(page.evaluate(seen), ["ptap_machine_usage"], "options found by help")
    page.write("#capture-form input[type=search]", "ptap_usage_interval")
    equal(page.evaluate(seen), ["ptap_usage_interval_ms"], "options found by key")
    contains(page.text("#option-ptap_usage_interval_ms-help"), "0 to 60000 ms; default 100", "its range")


@test
def every_option_can_be_filled_in(t):
    """Each option gets its minimum, its default text, or "true", and the daemon accepts each request."""
    visit, _ = visit_with(t)
    page = visit.page
    page.click("#capture-form summary")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    # Each option is one request to the browser, because one for all of them could take too long.
    for i in range(visit.ask("page.form.options.fields.length")):
        refused = visit.ask(f"""(async () => {{
            const {{option, input}} = page.form.options.fields[{i}];
            input.value = option.type === "bool" ? "true" : option.type === "int" ? option.min ?? 0 : option.default ?? "word";
            try {{
                const {{id}} = await page.api.post("/captures", {{next: "nobody", duration_ms: 1, options: page.form.options.read()}});
                await page.api.delete(`/captures/${{id}}`);
            }} catch (error) {{
                return `${{option.key}}: ${{error.message}}`;
            }} finally {{
                input.value = "";
            }}
            return null;
        }})()""")
        equal(refused, None, "the refusal")


@test
def a_wrong_value_is_shown_wherever_it_is(t):
    """A wrong value is shown even if its field was folded away or filtered out by the search."""
    visit, _ = visit_with(t)
    page = visit.page
    page.click("#capture-form summary")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    page.write("#option-ptap_usage_interval_ms", "60001")
    page.write("#capture-form input[type=search]", "machine_usage")
    page.click("#capture-form summary")
    page.click("#capture-button")
    page.wait_for("document.activeElement.id === 'option-ptap_usage_interval_ms' && document.activeElement.checkVisibility()",
                  "the wrong value to be shown")
    equal(visit.ask("page.captures.list().length"), 0, "captures")
    page.write("#option-ptap_usage_interval_ms", "60000")
    visit.capture(RUN_MS)
    page.check_quiet()


@test
def a_capture_can_be_stopped_and_kept(t):
    visit, _ = visit_with(t)
    item = begin(visit)
    equal(find_buttons(visit, item), ["Stop and keep", "Cancel"], "actions of a recording capture")
    check(visit.page.wait_for(f"document.querySelector(\"{item} progress\").value > 0", "progress"), "progress")
    press(visit, item, "Stop and keep")
    visit.page.wait_for(f"document.querySelector(\"{item}\").dataset.state === 'done'", "the capture to be done")
    contains(visit.page.text("#said"), ": done", "its message")
    name = visit.await_answer("page.events.run?.run", "its events")
    (trace,) = read_run(visit, name)
    check(0 < trace.duration_ms < LONG_MS and trace.count("compress"), f"{trace.duration_ms} ms of {LONG_MS}")
    equal(find_buttons(visit, item), ["Events", "Forget"], "actions of a finished capture")
    press(visit, item, "Forget")
    visit.page.wait_for(f"document.querySelector(\"{item}\") === null", "the capture to be forgotten")
    equal(json.loads(visit.fetch("/api/v1/captures"))["captures"], [], "the daemon's captures")
    contains(visit.page.text("#run-list"), name, "the runs")
    check(read_run(visit, name), "the forgotten capture's run is gone, too")
    visit.page.check_quiet()


@test
def an_answer_that_is_older_than_the_events_changes_nothing(t):
    """The daemon answers "Stop and keep" at once; on a busy machine the page gets the answer after the event "done"."""
    visit, _ = visit_with(t)
    item = begin(visit)
    visit.ask("""(() => {
        const post = page.api.post.bind(page.api);
        page.api.post = async (...words) => {
            const answer = await post(...words);
            while (!page.captures.list()[0].is_over)
                await new Promise((done) => setTimeout(done, 10));
            setTimeout(() => (window.hasAnswered = true));
            return answer;
        };
    })()""")
    press(visit, item, "Stop and keep")
    visit.page.wait_for("window.hasAnswered === true", "the answer")
    equal(visit.ask("page.captures.list()[0].state"), "done", "the state")
    visit.page.check_quiet()


@test
def a_capture_can_be_cancelled(t):
    visit, _ = visit_with(t)
    item = begin(visit)
    visit.page.wait_for_text("#program-list", "recording")
    press(visit, item, "Cancel")
    visit.page.wait_for(f"document.querySelector(\"{item}\") === null", "the item to go")
    visit.page.wait_for_text("#program-list", "idle")
    equal([row["state"] for row in ask_targets(visit)], ["idle"], "the program")
    equal(visit.ask("page.runs.list().length"), 0, "runs")
    visit.page.check_quiet()


@test
def a_waiting_capture_can_be_cancelled(t):
    visit, _ = visit_with(t)
    page = visit.page
    page.click("[name=capture-mode][value=next]")
    page.write("#capture-next", "nobody")
    page.click("#capture-button")
    page.wait_for_text("#capture-list", "waiting for the program")
    equal(find_buttons(visit, f"{LIST} li"), ["Cancel"], "actions of a waiting capture")
    press(visit, f"{LIST} li", "Cancel")
    page.wait_for(f"document.querySelector('{LIST} li') === null", "the item to go")
    page.check_quiet()


@test
def a_name_that_is_taken_is_refused(t):
    visit, _ = visit_with(t)
    page = visit.page
    page.write("#capture-run", "mine")
    equal(visit.capture(RUN_MS), "mine", "the name of the run")
    page.click("#capture-button")
    page.wait_for_text("#capture-form .problem", "run mine: exists; choose another name")
    page.write("#capture-run", "other")
    equal(visit.capture(RUN_MS), "other", "the name of the next")
    equal(page.text("#capture-form .problem"), "", "the earlier problem")


@test
def data_of_a_flight_recorder_is_captured(t):
    """The data comes from a flight recorder. If none runs, the page says so."""
    visit, (program,) = visit_with(t)
    page = visit.page
    visit.select(program.pid)
    fields = "[...document.querySelectorAll('#capture-form input[id], #capture-form select, #capture-form details')].filter((e) => e.checkVisibility()).map((e) => e.id.slice(8))"
    page.write("#capture-duration", "0")  # this is invalid, but a snapshot has no duration
    page.click("[name=capture-mode][value=held]")
    equal(page.evaluate(fields), ["target", "last", "run"], "fields")
    page.click("#capture-button")
    page.wait_for_text(f"{LIST} li", "neither a continuous session nor a flight recorder runs")
    equal(page.text(f"{LIST} li .problem").count("neither a"), 1, "how often the problem is shown")
    visit.ask("page.api.post(`/targets/${page.targets.list()[0].id}/session`, {recorder: true})")
    page.wait_for_text("#program-list", "flight recorder")
    visit.select(program.pid)
    page.write("#capture-last", str(RUN_MS))
    before = time.monotonic()
    page.click("#capture-button")
    name = visit.await_answer("page.captures.list().find((one) => one.run)?.run ?? null", "the run")
    taken_ms = 1000 * (time.monotonic() - before)
    visit.await_answer(f"page.events.run?.run === '{name}' && page.events.answer !== null", "its events")
    contains(page.text(f"{LIST} li"), f"Snapshot of pipeline ({program.pid})", "its name")
    (trace,) = read_run(visit, name)
    check(trace.count("compress") and trace.duration_ms <= RUN_MS + taken_ms, f"{trace.duration_ms} ms of the last {RUN_MS}, in {taken_ms} ms")
    # Selecting a program keeps the mode "held".
    equal(visit.ask("page.form.mode"), "held", "the mode")
    page.shoot("held")
    visit.ask("page.api.delete(`/targets/${page.targets.list()[0].id}/session`)")
    page.wait_for_text("#program-list", "idle")
    page.check_quiet()


@test
def several_programs_are_one_run(t):
    visit, programs = visit_with(t, 2)
    page = visit.page
    pids = sorted(program.pid for program in programs)
    # Without a selection all programs are captured.
    name = visit.capture(RUN_MS)
    equal(sorted(row["pid"] for row in visit.ask("page.captures.list()[0].targets")), pids, "the recorded programs")
    for pid in pids:
        contains(page.text("#run-list tbody tr"), f"pipeline ({pid})", "the run's programs")
    links = page.evaluate("[...document.querySelectorAll('.files a')].map((link) => [link.textContent, link.getAttribute('href')])")
    files = sorted((visit.logs / "plugins" / "profile" / name).glob("*.xplane.pb"))
    equal(sorted(text for text, _ in links), [f"Download {path.name}" for path in files], "downloads")
    for (_, link), path in zip(sorted(links), files, strict=True):
        check(visit.fetch(link) == path.read_bytes(), f"{link} is not what {path} is")

    shown = "[...new Set(page.events.answer.tracks.map((track) => track.pid))].sort((a, b) => a - b)"
    equal(visit.ask(shown), pids, "programs of the timeline")
    chooser = "#events-tools select"
    page.choose(chooser, str(pids[0]))
    visit.await_answer(f"String({shown}) === '{pids[0]}'", "events of one program")
    page.choose(chooser, "")
    visit.await_answer(f"String({shown}) === '{pids[0]},{pids[1]}'", "events of both")

    # The next run of the same programs shows all of them, and the menu is back at "All programs".
    page.choose(chooser, str(pids[1]))
    visit.await_answer(f"String({shown}) === '{pids[1]}'", "events of one program")
    visit.capture(RUN_MS)
    equal([visit.ask(shown), page.evaluate(f"document.querySelector('{chooser}').value")], [pids, ""], "the next run")
    page.check_quiet()


@test
def pids_names_and_paths_select_programs(t):
    """Commas separate several programs, given by pid or label. A path that fits several is refused with their pids."""
    visit, programs = visit_with(t, 2)
    pids = sorted(program.pid for program in programs)
    row = ask_targets(visit)[0]
    visit.page.write("#capture-target", row["path"])
    visit.page.click("#capture-button")
    visit.page.wait_for_text("#capture-form .problem", f"2 programs are meant: {row['name']} ({pids[0]}), {row['name']} ({pids[1]})")
    for words, expected in ((f"{pids[0]}, pid={pids[1]}", pids), (f"name={row['name']}", pids), (str(pids[1]), pids[1:])):
        visit.page.write("#capture-target", words)
        visit.capture(300)
        equal(sorted(row["pid"] for row in visit.ask("page.captures.list()[0].targets")), expected, f"who is meant by {words}")


@test
def the_keyboard_alone_suffices(t):
    visit, programs = visit_with(t, 2)
    page = visit.page
    pid = programs[1].pid
    page.tab_to("#program-search")
    page.type(str(pid))
    wait_until(lambda: page.evaluate("document.querySelectorAll('#program-list tbody tr').length") == 1, "one program to be found")
    page.tab_to("#program-list tbody input")
    page.press(" ")
    page.wait_for(f"document.querySelector('#capture-target').value === '{pid}'", "the program in the form")
    page.tab_to("#capture-duration")
    page.type(str(RUN_MS))
    page.tab_to("#capture-level")
    page.press("ArrowDown")
    page.tab_to("#capture-form summary")
    page.press("Enter")
    page.wait_for("document.querySelectorAll('.option').length > 5", "the options")
    page.tab_to("#option-ptap_usage_interval_ms")
    page.type("20")
    page.tab_to("#option-ptap_machine_usage")
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.tab_to("#capture-button")
    page.press("Enter")
    page.wait_for(f"document.querySelector('{LIST} li[data-state=done]') !== null", "the capture to be done")
    capture = visit.ask("page.captures.list()[0]")
    equal([capture["target"], capture["duration_ms"], capture["options"]],
          [str(pid), RUN_MS, {"host_tracer_level": 3, "ptap_usage_interval_ms": "20", "ptap_machine_usage": "false"}], "the request")
    # Focus stays here: Enter starts another capture.
    equal(page.evaluate("document.activeElement.id"), "capture-button", "the focused element")

    page.wait_for("document.querySelector('.timeline').checkVisibility()", "the timeline")
    page.tab_to(".timeline", shift=True)
    before = visit.ask("page.timeWindow.spanMs")
    page.press("+")
    visit.await_answer(f"page.timeWindow.spanMs < {before}", "a smaller window")
    page.tab_to("#run-list [data-action=delete]")
    page.press("Enter")
    page.wait_for_text("dialog", "Delete ")
    page.tab_to("dialog .danger")
    page.press("Enter")
    page.wait_for_text("#run-list", "No runs yet.")
    page.check_quiet()


if __name__ == "__main__":
    run()
