# SPDX-License-Identifier: Apache-2.0
"""A user's visit to the host daemon's page: the daemon, an example program, and a browser that shows the page."""
import signal
import urllib.request

from checks import PATIENCE_S, check, equal
from chromium import Browser, need_chromium
from examples import EXAMPLES
from hosts import Host, runtime
from processes import PROFTAPD, Process, free_port

# This expression returns the page's main object inside the page.
MAIN = "(await import('/page/main.js')).page"
# The narrowest width is that of a page of 1280 px at a zoom of 400 % (WCAG 1.4.10).
SCREENS = {"narrow": (320, 640), "phone": (400, 800), "laptop": (1280, 900), "4k": (3840, 2160)}


def settle(page):
    """Waits until requested frames are drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")


def check_width(page, what):
    """Checks that the page needs no horizontal scrolling. On a phone the window's inner width grows with overflowing content."""
    wide = page.evaluate("""[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
        !e.closest(".scroll, .unseen, .skip, .plot, .options") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map((e) => e.outerHTML.slice(0, 80))""")
    equal(wide, [], f"content wider than the page: {what}")
    check(page.evaluate("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), f"the page can be scrolled sideways: {what}")
    page.evaluate("document.querySelectorAll('.options, #program-list, dialog').forEach((e) => (e.scrollLeft = 1000))")
    equal(page.evaluate("[...document.querySelectorAll('.options, #program-list, dialog')].filter((e) => e.scrollLeft > 0).map((e) => e.id)"),
          [], f"elements that scroll sideways: {what}")


def start_pipeline(t):
    """Starts the example program and waits until it can be recorded. Its batches are short, so that a run has whole ones on a slow machine, too."""
    files = t.dir / "files"
    if not files.exists():
        t.public_dir("files")
        for i in range(64):
            (files / str(i)).write_text("line of text\n" * 1000)
    program = t.keep(Process("pipeline", [EXAMPLES / "pipeline", "--port", "0", files],
                             {"PROFTAPD": str(PROFTAPD), **runtime(t)}))
    program.read_line()
    return program


class Visit:
    """An open page, connected to a daemon."""

    def __init__(self, t, width=1280, height=900):
        need_chromium()
        self.t = t
        self.ports = {"port": free_port(), "web": free_port()}
        self.logs = t.dir / "logs"
        self.serve()
        self.browser = Browser(t)
        self.page = self.browser.open(f"http://127.0.0.1:{self.ports['web']}/", width, height)
        self.page.wait_for_text("#link", "live")
        # After this the layout does not move any more.
        self.await_answer("page.charts.main[0].drawn !== null && page.targets.isLoaded && page.runs.isLoaded", "the first chart")

    def serve(self):
        """Starts the daemon, also again after stop()."""
        self.host = Host(self.t, "--log_dir", self.logs, **self.ports)

    def stop(self, number=signal.SIGKILL):
        self.host.signal(number)
        self.host.wait()

    def ask(self, expression):
        """Evaluates an expression that uses the page's main object, |page|."""
        return self.page.evaluate(f"(async () => {{ const page = {MAIN}; return {expression}; }})()")

    def await_answer(self, expression, what):
        return self.page.wait_for(f"(async () => {{ const page = {MAIN}; return {expression}; }})()", what)

    def fetch(self, path):
        """Returns the bytes that another client gets."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['web']}{path}", timeout=PATIENCE_S) as answer:
            return answer.read()

    def select(self, pid):
        """Selects the program in the list."""
        self.page.write("#program-search", str(pid))
        self.page.click("#program-list tbody input")
        self.page.wait_for(f"document.querySelector('#capture-target').value === '{pid}'", "the program in the form")
        self.await_chart()

    def await_chart(self):
        """Waits for the chart of the selected program. It appears with the next sample and moves everything below, even under the mouse."""
        self.await_answer("!page.programs.selected || document.querySelector('[data-chart=program]').checkVisibility()", "the program's own chart")

    def capture(self, ms):
        """Captures the selected program and returns the run, whose events are open then."""
        self.await_chart()
        before = self.ask("[...page.captures.items.keys()]")
        self.page.write("#capture-duration", str(ms))
        self.page.click("#capture-button")
        run = self.await_answer(
            f"page.captures.list().find((one) => !{before}.includes(one.id) && one.is_over)?.run ?? null", "the capture to be done")
        self.await_answer(f"page.events.run?.run === '{run}' && page.events.answer !== null", "its events")
        self.page.wait_for("document.querySelector('.timeline').checkVisibility()", "the timeline")
        return run
