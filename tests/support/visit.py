# SPDX-License-Identifier: Apache-2.0
"""A person in front of the host daemon's page: the daemon, an example program, and a browser that shows the page."""
import signal
import urllib.request

from checks import PATIENCE_S, check, equal
from chromium import Browser, need_chromium
from examples import EXAMPLES
from hosts import Host, runtime
from processes import PROFTAPD, Process, free_port

# How a module of the page's own is had in it.
MAIN = "(await import('/page/main.js')).page"
# The narrowest that is asked for is that of a page of 1280 px which is magnified four times (WCAG 1.4.10).
SCREENS = {"narrow": (320, 640), "phone": (400, 800), "laptop": (1280, 900), "4k": (3840, 2160)}


def settle(page):
    """What was asked to be drawn is drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")


def check_width(page, what):
    """That nothing of the page has to be scrolled to from side to side. On a phone the window's inner width grows with what hangs out."""
    wide = page.evaluate("""[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
        !e.closest(".scroll, .unseen, .skip, .plot, .options") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map((e) => e.outerHTML.slice(0, 80))""")
    equal(wide, [], f"what hangs out of the page: {what}")
    check(page.evaluate("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"), f"the page can be scrolled sideways: {what}")
    page.evaluate("document.querySelectorAll('.options, #program-list, dialog').forEach((e) => (e.scrollLeft = 1000))")
    equal(page.evaluate("[...document.querySelectorAll('.options, #program-list, dialog')].filter((e) => e.scrollLeft > 0).map((e) => e.id)"),
          [], f"what can be scrolled sideways: {what}")


def start_pipeline(t):
    """The example program, when it can be recorded."""
    program = t.keep(Process("pipeline", [EXAMPLES / "pipeline", "--port", "0", "/usr/share/doc"],
                             {"PROFTAPD": str(PROFTAPD), **runtime(t)}))
    program.read_line()
    return program


class Visit:
    """The page, live."""

    def __init__(self, t, width=1280, height=900):
        need_chromium()
        self.t = t
        self.ports = {"port": free_port(), "web": free_port()}
        self.logs = t.dir / "logs"
        self.serve()
        self.browser = Browser(t)
        self.page = self.browser.open(f"http://127.0.0.1:{self.ports['web']}/", width, height)
        self.page.wait_for_text("#link", "live")
        # What is drawn then moves nothing any more.
        self.await_answer("page.charts.main[0].drawn !== null && page.targets.isLoaded && page.runs.isLoaded", "the first chart")

    def serve(self):
        """Also once more, after stop()."""
        self.host = Host(self.t, "--log_dir", self.logs, **self.ports)

    def stop(self, number=signal.SIGKILL):
        self.host.signal(number)
        self.host.wait()

    def ask(self, expression):
        """Of the page's own objects: an expression of |page|."""
        return self.page.evaluate(f"(async () => {{ const page = {MAIN}; return {expression}; }})()")

    def await_answer(self, expression, what):
        return self.page.wait_for(f"(async () => {{ const page = {MAIN}; return {expression}; }})()", what)

    def fetch(self, path):
        """The bytes, as another client gets them."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['web']}{path}", timeout=PATIENCE_S) as answer:
            return answer.read()

    def select(self, pid):
        """The program in the list."""
        self.page.write("#program-search", str(pid))
        self.page.click("#program-list tbody input")
        self.page.wait_for(f"document.querySelector('#capture-target').value === '{pid}'", "the program in the form")
        self.await_chart()

    def await_chart(self):
        """Of the program that is selected: it comes with the next sample, and moves what is below, also away from under the mouse."""
        self.await_answer("!page.programs.selected || document.querySelector('[data-chart=program]').checkVisibility()", "the program's own chart")

    def capture(self, ms):
        """Its run, of the program that is selected, open."""
        self.await_chart()
        before = self.ask("[...page.captures.items.keys()]")
        self.page.write("#capture-duration", str(ms))
        self.page.click("#capture-button")
        run = self.await_answer(
            f"page.captures.list().find((one) => !{before}.includes(one.id) && one.is_over)?.run ?? null", "the capture to be done")
        self.await_answer(f"page.events.run?.run === '{run}' && page.events.answer !== null", "its events")
        self.page.wait_for("document.querySelector('.timeline').checkVisibility()", "the timeline")
        return run
