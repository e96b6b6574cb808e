#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Open spans on the host daemon's page, in Chromium, of a program that hangs, is stopped, is not recorded, or has ended."""
import json
import os
import re
import signal
import subprocess

from checks import contains
from fixture import check, equal, run, test
from hosts import runtime, start_target
from processes import PROFTAP, SUPPORT, halt
from recorded import record
from visit import SCREENS, Visit, check_width, settle

BUTTON = "#program-list [data-action=open-spans]"
# Counts the dialog's requests, and holds the timer of its next one so that a test can end the wait of two seconds.
DRIVE = """(() => {
    const [ask, start, clear] = [fetch, setTimeout, clearTimeout];
    const held = -1;
    globalThis.looks = {begun: 0, next: null, isHeld: true};
    globalThis.fetch = (url, ...rest) => {
        looks.begun += String(url).endsWith("/open_spans");
        return ask(url, ...rest);
    };
    globalThis.setTimeout = (f, ms, ...rest) => {
        if (ms !== 2000 || !looks.isHeld)
            return start(f, ms === 2000 ? 0 : ms, ...rest);
        looks.next = f;
        return held;
    };
    globalThis.clearTimeout = (id) => (id === held ? (looks.next = null) : clear(id));
})()"""
# Removes the time of the last answer. The next answer writes it again.
FORGET = "document.querySelector('dialog p.help').textContent = ''"
ANSWERED = "document.querySelector('dialog p.help').textContent !== ''"
# Sets whether the browser reports the page as hidden.
HIDE = """(isHidden) => {
    Object.defineProperty(document, "hidden", {configurable: true, value: isHidden});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def recorded(t):
    """Starts a target with a flight recorder; nothing of it is held after the test."""
    return record(t, t.dir / "logs")


def open_spans(t, target, **window):
    visit = Visit(t, **window)
    visit.page.wait_for_text("#program-list tbody", str(target.pid))
    visit.page.click(BUTTON)
    visit.page.wait_for_text("dialog", f"(pid {target.pid})")
    return visit


@test
def a_program_that_hangs_shows_where(t):
    target = recorded(t)
    tid = int(target.ask("hang stuck"))
    visit = open_spans(t, target)
    page = visit.page
    page.wait_for_text("dialog h2", f"Open spans of target ({target.pid})")
    contains(page.text("dialog .process > p"), "Running. Recorded by the recorder at level ", "the state of the program")
    contains(page.text("dialog .thread:first-child h4"), f"stuck ({tid}) waiting", "the thread that has waited longest")
    rows = page.evaluate(f"[...document.querySelectorAll('dialog [data-tid=\"{tid}\"] li')].map((row) => [...row.children].map((e) => e.textContent))")
    equal([row[1:3] for row in rows], [["serve", "id=-77 path=/v1/x"], ["lock", "n=64 load=0.5"]], "its spans, the outermost first")
    for age, _, _, since in rows:
        check(re.fullmatch(r"[\d.]+ (ms|s)", age), f"an age: {age}")
        check(re.fullmatch(r"since \d\d:\d\d:\d\d\.\d{3}", since), f"since when: {since}")
    indents = page.evaluate("[...document.querySelectorAll('dialog li')].slice(0, 2).map((e) => parseFloat(getComputedStyle(e).paddingLeft))")
    check(indents[0] < indents[1], f"indents of the outer and the inner one: {indents}")
    contains(page.text("dialog details"), "ptap-control (", "threads without an open span")
    page.check_quiet()


@test
def a_stopped_program_is_shown_as_stopped_until_it_continues(t):
    """The page shows the second state without a request of the user."""
    target = recorded(t)
    target.ask("hang stuck")
    halt(target.pid)
    try:
        visit = open_spans(t, target)
        visit.page.wait_for_text("dialog .process > p", "Stopped (SIGSTOP or a debugger)")
        contains(visit.page.text("dialog .thread:first-child"), "stopped", "the state of a thread")
        contains(visit.page.text("dialog .thread:first-child"), "lock", "its span")
    finally:
        target.signal(signal.SIGCONT)
    visit.page.wait_for_text("dialog .process > p", "Running.")
    visit.page.check_quiet()


@test
def the_remedy_for_an_unrecorded_program_works(t):
    target = start_target(t)
    visit = open_spans(t, target)
    page = visit.page
    told = page.text("dialog .process .none")
    contains(told, "Nothing records it, so its open spans are not known.", "why there are none")
    remedy = re.fullmatch(r"proftap (start \d+ --recorder)", page.text("dialog .process code"))
    check("without" not in page.text("dialog summary"), "the page says that threads have no open span, though nothing records the program")
    subprocess.run([PROFTAP, *remedy[1].split()], env={**os.environ, **runtime(t)}, check=True, capture_output=True)
    page.wait_for_text("dialog", "No span is open. Only spans that began while it was recorded are known.")
    target.ask("hang stuck")
    page.wait_for_text("dialog .thread", "lock")
    page.check_quiet()
    subprocess.run([PROFTAP, "stop", str(target.pid), "--discard"], env={**os.environ, **runtime(t)}, check=True, capture_output=True)


@test
def open_spans_refresh_only_while_the_page_is_visible(t):
    target = recorded(t)
    target.ask("hang stuck")
    visit = open_spans(t, target)
    page = visit.page
    page.evaluate(DRIVE)
    page.wait_for("looks.next !== null", "the dialog to have asked again by itself, and to have planned a third request")
    equal(page.evaluate("looks.begun"), 1, "requests that the dialog made by itself")

    page.evaluate(f"{FORGET}; looks.next(); ({HIDE})(true)")
    page.wait_for(ANSWERED, "the answer that was on its way when the page was hidden")
    equal(page.evaluate("[looks.begun, looks.next]"), [2, None], "requests, and the timer of the next one, while the page is hidden")

    page.evaluate(f"{FORGET}; ({HIDE})(false)")
    equal(page.evaluate("looks.begun"), 3, "requests as soon as the page is visible again")
    page.wait_for(f"{ANSWERED} && looks.next !== null", "its answer and a plan for the next")

    page.click("dialog input[type=checkbox]")
    equal(page.evaluate("[looks.begun, looks.next]"), [3, None], "requests, and the timer of the next one, after refreshing was switched off")
    page.click("dialog [data-action=refresh]")
    page.wait_for_text("dialog [role=status]", "1 thread has open spans. stuck (")
    equal(page.evaluate("[looks.begun, looks.next]"), [4, None], "requests after a click on refresh, and no timer")

    # Without user input the refreshes stop after the one of the checkbox and 150 more.
    page.evaluate("looks.isHeld = false")
    page.click("dialog input[type=checkbox]")
    page.wait_for("document.querySelector('dialog input[type=checkbox]').checked === false", "the refreshes to end by themselves")
    equal(page.evaluate("looks.begun"), 4 + 151, "requests of a page that was left open")

    page.evaluate("looks.isHeld = true")
    page.click("dialog input[type=checkbox]")
    page.wait_for("looks.next !== null", "a planned request")
    page.press("Escape")
    page.wait_for("document.querySelector('dialog') === null", "Escape to close it")
    equal(page.evaluate("[looks.begun, looks.next]"), [4 + 151 + 1, None], "requests after the dialog was closed, and no timer")
    page.check_quiet()


@test
def the_keyboard_alone_suffices(t):
    target = recorded(t)
    target.ask("hang stuck")
    visit = Visit(t)
    page = visit.page
    page.wait_for_text("#program-list tbody", str(target.pid))
    page.evaluate(DRIVE)
    page.tab_to(BUTTON)
    equal(page.evaluate("document.activeElement.getAttribute('aria-label')"), f"Open spans of target ({target.pid})", "the button, in words")
    page.press("Enter")
    page.wait_for_text("dialog", "lock")
    equal(page.evaluate("document.activeElement.textContent"), "Close", "where the keyboard is")
    page.tab_to("dialog [data-action=refresh]", shift=True)
    page.press("Enter")
    page.wait_for_text("dialog [role=status]", "stuck (")
    page.tab_to("dialog summary", shift=True)
    page.press("Enter")
    page.wait_for("document.querySelector('dialog details').open", "threads without open spans")
    page.evaluate("document.activeElement.dataset.mine = 'yes'")
    for _ in range(2):
        page.wait_for("looks.next !== null", "the next refresh")
        page.evaluate(f"{FORGET}; looks.next()")
        page.wait_for(ANSWERED, "its answer")
    equal(page.evaluate("document.activeElement.dataset.mine"), "yes", "where the keyboard is after refreshes")
    page.press("Escape")
    page.wait_for("document.querySelector('dialog') === null", "Escape to close it")
    check(page.evaluate(f"document.activeElement.matches('{BUTTON}')"), "the focus does not go back to the button")
    page.check_quiet()


@test
def async_spans_are_shown_too(t):
    target = recorded(t)
    for command in ("begin 18446744073709551615", "begin 8", "end 8"):
        target.ask(f"async {command}")
    visit = open_spans(t, target)
    page = visit.page
    rows = page.evaluate("[...document.querySelectorAll('dialog [data-asyncs] li')].map((row) => [...row.children].map((e) => e.textContent).slice(1, 3))")
    equal(rows, [["request", f"id 18446744073709551615, begun by target ({target.pid})"]], "async spans")
    page.check_quiet()


@test
def an_ended_program_is_shown_as_ended(t):
    """A program with a recorder is held and shows the spans that were open at its end. A program without one is gone."""
    held = record(t)
    held.ask("hang stuck")
    visit = open_spans(t, held)
    held.signal(signal.SIGKILL)
    visit.page.wait_for_text("dialog .process > p", "killed by SIGKILL; ages are those at the program's end.")
    contains(visit.page.text("dialog .thread"), "lock", "its last span")
    visit.page.check_quiet()
    subprocess.run([PROFTAP, "snapshot", str(held.pid), "--log_dir", t.dir / "logs"], env={**os.environ, **runtime(t)}, check=True,
                   capture_output=True)


@test
def a_program_that_is_gone_is_reported(t):
    target = start_target(t)
    visit = open_spans(t, target)
    target.kill()
    visit.page.wait_for_text("dialog [role=alert]", f"target ({target.pid}) has ended, and its open spans are not kept.")
    contains(visit.page.text("dialog"), "not refreshed since", "the shown time")
    equal(visit.page.evaluate("document.querySelector('dialog input[type=checkbox]').checked"), False, "whether it is asked again")


@test
def a_lost_daemon_is_reported(t):
    target = recorded(t)
    target.ask("hang stuck")
    visit = open_spans(t, target)
    visit.stop()
    visit.page.click("dialog [data-action=refresh]")
    visit.page.wait_for_text("dialog [role=alert]", "the daemon does not answer")
    contains(visit.page.text("dialog .thread"), "lock", "the earlier view")


@test
def numbers_of_64_bits_keep_their_digits(t):
    visit = Visit(t)
    told = visit.ask("""(async () => {
        const real = window.fetch;
        window.fetch = async () => new Response('{"list": [{"value": 18446744073709551615}, {"value": -9223372036854775807}, {"value": 12}, {"value": 0.5}]}');
        try { return await page.api.getExactly("/anything"); } finally { window.fetch = real; }
    })()""")
    equal([one["value"] for one in told["list"]], ["18446744073709551615", "-9223372036854775807", 12, 0.5], "values")


@test
def names_and_values_are_never_markup(t):
    target = recorded(t)
    visit = open_spans(t, target)
    page = visit.page
    evil = "<img src=x onerror=alert(1)>"
    span = {"name": evil, "depth": 90, "age_ns": 10**9, "since_unix_ns": 1.7e18, "step": None, "arguments": [{"name": evil, "value": evil}]}
    thread = {"tid": 1, "name": evil * 8, "state": "S", "syscall": 202, "syscall_name": evil, "wait_channel": evil, "moving": True, "spans": [span] * 90}
    process = {"pid": 7, "name": evil, "state": "running", "recording": "recorder", "level": 2, "ending": None, "ended_ago_ns": None,
               "async_spans": [{**span, "id": 7, "tid": 1, "thread": evil, "may_have_ended": True}] * 9, "async_left_out": 4,
               "async_known_since_unix_ns": 1.7e18, "signal_tid": None, "signal_thread": None, "left_out": 3, "threads": [thread, {**thread, "tid": 2, "spans": []}]}
    page.evaluate("window.fetch = async () => new Response(%s)" % json.dumps(json.dumps({"id": 1, "at_unix_ns": 1.7e18, "processes": [process]})))
    page.click("dialog [data-action=refresh]")
    page.wait_for_text("dialog", "3 more open spans do not fit into the answer.")
    equal(page.evaluate("document.querySelectorAll('dialog img').length"), 0, "elements that a name made")
    equal(page.text("dialog li strong"), evil, "the name")
    page.evaluate("document.querySelector('dialog details').open = true")
    for name in ("narrow", "phone", "laptop"):
        page.resize(*SCREENS[name], mobile=name != "laptop")
        settle(page)
        check_width(page, f"open spans: {name}")
    page.check_quiet()


@test
def open_spans_are_readable_on_every_screen(t):
    target = recorded(t)
    target.ask("hang stuck")
    visit = open_spans(t, target)
    page = visit.page
    page.evaluate("document.querySelector('dialog details').open = true")
    for name in ("narrow", "phone", "laptop"):
        page.resize(*SCREENS[name], mobile=name != "laptop")
        for is_dark in (False, True):
            page.prefer_dark(is_dark)
            settle(page)
            check_width(page, f"open spans: {name}")
            equal(page.evaluate((SUPPORT / "contrast.js").read_text())["faint"], [], f"texts that are hard to read: {name}")
            page.shoot(f"{name}-open-spans-{'dark' if is_dark else 'light'}", whole=False)
    page.check_quiet()


if __name__ == "__main__":
    run()
