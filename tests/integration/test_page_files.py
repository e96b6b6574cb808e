#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host daemon's page, as it is served: all of its parts, of the right types, asked for again only when they are others."""
import re

from checks import contains
from fixture import check, equal, run, test
from processes import TOP_SRC
from web import Web

SITE = TOP_SRC / "daemon" / "page" / "site"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml"}
# What a page may name: its own files.
REFERENCE = re.compile(r'(?:src|href)="/page/([^"]+)"|from "\./([^"]+)"')


def find_references(text):
    return {a or b for a, b in REFERENCE.findall(text)}


@test
def it_is_what_the_source_says(t):
    web = Web(t)
    for path in sorted(SITE.iterdir()):
        answer = web.ask(f"/page/{path.name}")
        equal((answer.status, answer.headers["Content-Type"]), (200, TYPES[path.suffix]), path.name)
        equal(answer.body, path.read_bytes(), path.name)
    equal(web.ask("/").body, (SITE / "index.html").read_bytes(), "the page")
    contains(web.ask("/page/dygraph.js").text[:200], "dygraphs", "the chart library")


@test
def nothing_that_it_names_is_missing_and_nothing_is_elsewhere(t):
    web = Web(t)
    wanted, seen = {"index.html"}, set()
    while wanted:
        name = wanted.pop()
        seen.add(name)
        answer = web.ask(f"/page/{name}")
        equal(answer.status, 200, name)
        if name != "dygraph.js":
            wanted |= find_references(answer.text) - seen
    equal(seen, {path.name for path in SITE.iterdir()} | {"dygraph.js"}, "what the page consists of")


@test
def no_script_and_no_style_stands_in_the_page(t):
    text = Web(t).ask("/").text
    for pattern in (r"<script(?![^>]*\bsrc=)", r"<style", r"\sstyle=", r"\son\w+=", r"javascript:", r"//(?!\S*svg)\S+\.\w+/"):
        check(not re.search(pattern, text), f"{pattern} in the page, which the policy forbids")


@test
def what_a_browser_has_is_not_sent_again(t):
    web = Web(t)
    for path in ("/", "/page/main.js"):
        first = web.ask(path)
        equal(first.headers["Cache-Control"], "no-cache", f"keeping {path}")
        tag = first.headers["ETag"]
        for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
            again = web.ask(path, headers={"If-None-Match": known})
            equal((again.status, again.body, again.headers["ETag"]), (304, b"", tag), f"{path}, known {known}")
        equal(web.ask(path, headers={"If-None-Match": '"other"'}).status, 200, f"{path}, known another")
    check(web.ask("/").headers["ETag"] != web.ask("/page/main.js").headers["ETag"], "two files have one tag")


@test
def nothing_else_is_there(t):
    web = Web(t)
    for path in ("/page", "/page/", "/page/nothing.js", "/page/embed", "/page/page.c", "/index.html", "/page/site/main.js"):
        web.refuses(404, path)
    web.refuses(403, "/", "POST")


if __name__ == "__main__":
    run()
