#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The content security policy of the host daemon's page, in Chromium: injected markup neither runs nor sends requests,
and the browser reports it."""
import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from checks import wait_until
from chromium import Browser, need_chromium
from fixture import check, equal, run, test
from visit import Visit

# For each attack: the injected markup, and the directive of the policy that forbids it. {url} is a resource of another host, with the attack's name as its path.
ATTACKS = {
    "inline": ("<script>ran.push('inline')</script>", "script-src-elem"),
    "onerror": ("<img src='data:,' onerror=\"ran.push('onerror')\">", "script-src-attr"),
    "onclick": ("<button id='attack-onclick' onclick=\"ran.push('onclick')\">x</button>", "script-src-attr"),
    "link": ("<a id='attack-link' href=\"javascript:void ran.push('link')\">x</a>", "script-src-elem"),
    "script": ("<script src='{url}'></script>", "script-src-elem"),
    "image": ("<img src='{url}'>", "img-src"),
    "sheet": ("<link rel='stylesheet' href='{url}'>", "style-src-elem"),
    "attribute": ("<p style=\"background: url('{url}')\">x</p>", "style-src-attr"),
    "frame": ("<iframe src='{url}'></iframe>", "frame-src"),
    "object": ("<object data='{url}' type='text/html'></object>", "object-src"),
    "fetch": ("", "connect-src"),
    # This attack is the last one, because it would load another page if it worked.
    "form": ("<form id='attack-form' method='post' action='{url}'></form>", "form-action"),
}
# These attacks need an action.
ACTS = {
    "onclick": "document.getElementById('attack-onclick').click()",
    "link": "document.getElementById('attack-link').click()",
    "fetch": "fetch('{url}').catch(() => null)",
    "form": "document.getElementById('attack-form').requestSubmit()",
}


class Elsewhere:
    """Another host, which answers every request and notes it."""

    def __init__(self):
        self.asked = asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path[1:])
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Content-Type", "text/javascript" if self.path == "/script" else "text/html")
                self.end_headers()
                self.wfile.write(b"ran.push('script')" if self.path == "/script" else b"<!DOCTYPE html><title>elsewhere</title><body>")

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def prepare(page):
    page.evaluate("""window.ran = []; window.violations = [];
        document.addEventListener("securitypolicyviolation", (e) => violations.push([e.effectiveDirective, e.blockedURI])); null""")


def attack(page, name, url):
    html, _ = ATTACKS[name]
    page.evaluate(f"""document.body.append(document.createRange().createContextualFragment(
        {json.dumps(html.replace("{url}", url))})); {ACTS.get(name, "").replace("{url}", url)}; null""")


def has_worked(page, elsewhere, name):
    return name in elsewhere.asked or name in page.evaluate("window.ran ?? []")


@test
def attacks_work_without_a_policy(t):
    """Without this the next test would prove nothing."""
    need_chromium()
    with contextlib.closing(Elsewhere()) as elsewhere:
        page = Browser(t).open(f"{elsewhere.url}/page")
        page.wait_for("document.title === 'elsewhere'")
        prepare(page)
        for name in ATTACKS:
            attack(page, name, f"{elsewhere.url}/{name}")
            wait_until(lambda name=name: has_worked(page, elsewhere, name), f"{name} to work")


@test
def injected_content_does_nothing(t):
    visit = Visit(t)
    page = visit.page
    prepare(page)
    with contextlib.closing(Elsewhere()) as elsewhere:
        for name, (html, directive) in ATTACKS.items():
            url = f"{elsewhere.url}/{name}"
            is_foreign = "{url}" in html + ACTS.get(name, "") and directive != "style-src-attr"
            blocked = elsewhere.url if is_foreign else "inline"
            attack(page, name, url)
            page.wait_for(f"violations.some(([what, whose]) => what === '{directive}' && whose.startsWith('{blocked}'))",
                          f"{name} to be forbidden by {directive}")
            page.evaluate("violations.length = 0")
        equal(elsewhere.asked, [], "requests to the other host")
    equal(page.evaluate("window.ran"), [], "the attacks that ran")
    check(any("Content Security Policy" in complaint for complaint in page.complaints), f"said on the console: {page.complaints}")
    # The page itself still works.
    seen = visit.ask("page.samples.next")
    visit.await_answer(f"page.samples.next > {seen + 1}", "the page to go on")


if __name__ == "__main__":
    run()
