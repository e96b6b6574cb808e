# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven as a person would by mouse and keyboard, through the pipes of its DevTools protocol."""
import base64
import contextlib
import fcntl
import itertools
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading

from checks import PATIENCE_S, Failure, Skip, check, wait_until
from processes import TOP_BUILD

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Kept after the test, to be looked at.
SCREENSHOTS = TOP_BUILD / "tests" / "screenshots"
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}
# Its two descriptors, as --remote-debugging-pipe has them.
READ_FD, WRITE_FD = 3, 4
HIGH_FD = 10


def need_chromium():
    if not CHROMIUM:
        raise Skip("chromium is not installed")


def high(fd):
    """The same descriptor, out of the way of those that the child gets."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
    os.close(fd)
    return moved


class Browser:
    """One Chromium; t.keep() ends it."""

    def __init__(self, t, *options):
        need_chromium()
        self.name = "chromium"
        self.profile = tempfile.mkdtemp(prefix="profile-", dir=t.dir)
        self.pages = {}  # by session
        self.adopt = None
        self.answers = {}  # by number
        self.numbers = itertools.count(1)
        self.start(options)
        t.keep(self)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def start(self, options):
        commands, self.commands = map(high, os.pipe())
        self.events, events = map(high, os.pipe())

        def lay():
            os.dup2(commands, READ_FD)
            os.dup2(events, WRITE_FD)

        self.log = open(f"{self.profile}/log", "w+b")
        self.popen = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--no-proxy-server", "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", *options, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=lay, pass_fds=(READ_FD, WRITE_FD),
            start_new_session=True)
        self.pid = self.popen.pid
        os.close(commands)
        os.close(events)

    def read(self):
        rest = b""
        with open(self.events, "rb", buffering=0) as stream:
            while part := stream.read(1 << 16):
                *messages, rest = (rest + part).split(b"\0")
                for message in messages:
                    self.take(json.loads(message))
        for answer in list(self.answers.values()):
            answer.put({"error": {"message": "chromium ended"}})

    def take(self, message):
        if "id" in message:
            self.answers[message["id"]].put(message)
        elif message["method"] == "Target.attachedToTarget" and self.adopt:
            self.attach(message["params"]["targetInfo"], message["params"]["sessionId"])
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].take(message["method"], message["params"])

    def send(self, method, session=None, **params):
        """The queue in which the answer will be."""
        number = next(self.numbers)
        self.answers[number] = queue.Queue()
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        return self.answers[number]

    def call(self, method, session=None, **params):
        try:
            answer = self.send(method, session, **params).get(timeout=PATIENCE_S)
        except queue.Empty:
            raise Failure(f"chromium: no answer to {method} within {PATIENCE_S} s") from None
        if "error" in answer:
            raise Failure(f"chromium: {method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url, width=1280, height=900):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, target)
        page.resize(width, height)
        page.call("Page.navigate", url=url)
        return page

    def await_windows(self, adopt):
        """adopt(page) for each that a page opens from now on, before anything of it is loaded."""
        self.adopt = adopt
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def attach(self, info, session):
        """Where messages are read: nothing is waited for."""
        page = Page(self, info["targetId"], session)
        if info["type"] == "page" and info.get("openerId"):
            self.adopt(page)
        page.tell("Runtime.runIfWaitingForDebugger")

    def signal(self, number):
        if self.popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.popen.wait()

    def describe(self):
        yield f"chromium (pid {self.pid}), exit {self.popen.poll()}"
        self.log.seek(0)
        lines = [line for line in self.log.read().decode(errors="replace").splitlines() if "dbus" not in line]
        yield from (f"  {line}"[:300] for line in lines[-10:])
        for page in self.pages.values():
            yield from (f"  page: {line}"[:600] for line in page.complaints)


class Page:
    """One of its pages."""

    def __init__(self, browser, target, session=None):
        self.browser = browser
        self.target = target
        self.complaints = []  # errors of scripts, and what the browser refused
        self.handlers = {}  # by method
        self.session = session or browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log"):
            self.tell(f"{domain}.enable")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def take(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{params['entry']['source']}: {params['entry']['text']} {params['entry'].get('url', '')}")
        if method in self.handlers:
            self.handlers[method](params)

    def tell(self, method, **params):
        """Without waiting for an answer: also where messages are read."""
        self.browser.send(method, self.session, **params)

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer_dark(self, is_dark=True):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def evaluate(self, expression):
        """What it comes to, as JSON; of a promise what that comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait_for(self, expression, what=None, patience_s=PATIENCE_S):
        """Until |expression| is true; its value."""
        found = []

        def look():
            found[:] = [self.evaluate(expression)]
            return found[0]

        wait_until(look, what or expression, patience_s)
        return found[0]

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def wait_for_text(self, selector, part, patience_s=PATIENCE_S):
        return self.wait_for(f"(document.querySelector({json.dumps(selector)})?.textContent ?? '').includes({json.dumps(part)})",
                             f"{part!r} in {selector}", patience_s)

    def place(self, selector):
        """(x, y) of its middle, when it is there, large enough to be hit, and scrolled to."""
        box = self.wait_for(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            if (!e || e.disabled || !e.checkVisibility()) return null;
            e.scrollIntoView({{block: "center"}});
            const b = e.getBoundingClientRect();
            const [x, y] = [b.left + b.width / 2, b.top + b.height / 2];
            const hit = document.elementFromPoint(x, y);
            return hit && (e.contains(hit) || hit.contains(e)) ? [x, y] : null;
        }})()""", f"{selector} to be seen")
        return box

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        """Again if something moved it away meanwhile, as a person would."""
        quoted = json.dumps(selector)

        def hit():
            x, y = self.place(selector)
            self.evaluate(f"""window.wasHit = false;
                document.querySelector({quoted})?.addEventListener("click", () => {{ window.wasHit = true; }}, {{capture: true, once: true}})""")
            self.click_at(x, y)
            return self.evaluate("window.wasHit")

        wait_until(hit, f"{selector} to be hit")

    def click_at(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, selector, by_x, shift=False):
        x, y = self.place(selector)
        modifiers = 8 if shift else 0
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1, modifiers=modifiers)
        for part in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x + by_x * part, y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x + by_x, y, button="left", clickCount=1, modifiers=modifiers)

    def wheel(self, selector, delta, ctrl=False):
        x, y = self.place(selector)
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta, modifiers=2 if ctrl else 0)

    def write(self, selector, text):
        """In place of what stands there."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select?.()")
        self.call("Input.insertText", text=text)

    def press(self, key, shift=False):
        code = KEYS.get(key)
        more = {"key": key, "modifiers": 8 if shift else 0}
        if code:
            more["windowsVirtualKeyCode"] = code
        if key == "Enter":
            more["text"] = "\r"
        elif len(key) == 1:
            more["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def focus(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def shoot(self, name, whole=True):
        """A picture of it, under SCREENSHOTS."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]))
        return path

    def check_quiet(self):
        check(not self.complaints, f"the page complained: {self.complaints}")
