# SPDX-License-Identifier: Apache-2.0
"""A page in Chromium (chromium.py), driven by mouse and keyboard, as by a user. fingers.py adds touch."""
import base64
import json

from checks import PATIENCE_S, Failure, check, wait_until
from processes import TOP_BUILD

# Screenshots are kept after the test, for people.
SCREENSHOTS = TOP_BUILD / "tests" / "screenshots"
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
# No page has more elements that Tab can reach.
MANY_TABS = 300
HIT_MS = 50


class Page:
    """One page of |browser|."""

    def __init__(self, browser, target, session=None):
        self.browser = browser
        self.target = target
        self.complaints = []  # errors of scripts, and requests that the browser refused
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
        """Sends without waiting for an answer, so the thread that reads messages may call it, too."""
        self.browser.send(method, self.session, **params)

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer_dark(self, is_dark=True):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def prefer(self, **features):
        """Sets media features, for example prefer(prefers_reduced_motion="reduce", forced_colors="active")."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def evaluate(self, expression):
        """Returns the value of the expression, or of its promise, if JSON can hold it."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait_for(self, expression, what=None, patience_s=PATIENCE_S):
        """Waits until |expression| is true, and returns its value."""
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
                             lambda: f"{part!r} in {selector}, which has {self.text(selector)!r}, at {self.evaluate('location.href')}", patience_s)

    def place(self, selector):
        """Waits until the element can be hit, scrolls to it, and returns (x, y) of its middle."""
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

    def note_clicks(self, selector):
        """Notes clicks on the element from now on; has_noted() returns whether one came."""
        self.evaluate(f"""window.wasHit = false;
            document.querySelector({json.dumps(selector)})?.addEventListener("click", () => {{ window.wasHit = true; }}, {{capture: true, once: true}})""")

    def has_noted(self):
        # The browser may report the click of a touch a little later.
        return self.evaluate(f"window.wasHit || new Promise((done) => setTimeout(() => done(window.wasHit), {HIT_MS}))")

    def click(self, selector):
        """Clicks, again if the element moved away meanwhile, as a user would."""
        def hit():
            x, y = self.place(selector)
            self.note_clicks(selector)
            self.click_at(x, y)
            return self.has_noted()

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
        """Replaces the text of a field."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select?.()")
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        """Chooses an item of a select element, whose pop-up window no test can reach."""
        self.place(selector)
        self.evaluate(f"""(() => {{
            const list = document.querySelector({json.dumps(selector)});
            list.value = {json.dumps(value)};
            for (const name of ["input", "change"])
                list.dispatchEvent(new Event(name, {{bubbles: true}}));
        }})()""")

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
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **({"windowsVirtualKeyCode": code} if code else {}))

    def type(self, text):
        """Types key by key into the focused field, and replaces its text."""
        self.evaluate("document.activeElement.select()")
        for key in text:
            self.press(key)

    def focus(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def tab_to(self, selector, shift=False):
        """Presses Tab until the element has the focus."""
        for _ in range(MANY_TABS):
            if self.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
                return
            self.press("Tab", shift)
        raise Failure(f"no number of Tab keys leads to {selector}")

    def shoot(self, name, whole=True):
        """Saves a screenshot under SCREENSHOTS."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]))
        return path

    def check_quiet(self):
        check(not self.complaints, f"the page complained: {self.complaints}")
