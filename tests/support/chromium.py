# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, through the pipes of its DevTools protocol; its pages: chromium_page.py."""
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

from checks import PATIENCE_S, Failure, Skip, wait_until
from chromium_page import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# The descriptors that --remote-debugging-pipe uses.
READ_FD, WRITE_FD = 3, 4
HIGH_FD = 10


def need_chromium():
    if not CHROMIUM:
        raise Skip("chromium is not installed")


def high(fd):
    """Returns a duplicate with a high number, apart from the descriptors that the child gets."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
    os.close(fd)
    return moved


class Browser:
    """A Chromium process, which t.keep() ends."""

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
        """Sends a request and returns the queue that will get its answer."""
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
        # A busy browser may still load the first document, which ends this request.
        wait_until(lambda: "errorText" not in page.call("Page.navigate", url=url), f"{url} to be loaded")
        return page

    def await_windows(self, adopt):
        """Calls adopt(page) for each page that opens from now on, before it loads anything."""
        self.adopt = adopt
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def attach(self, info, session):
        """Runs on the thread that reads messages, so it must not wait."""
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
