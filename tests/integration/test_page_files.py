#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The served files of the host daemon's page: complete, with the right types, and sent again only after a change."""
import gzip
import re

from fixture import check, equal, run, test
from processes import TOP_SRC
from web import Web

SITE = TOP_SRC / "daemon" / "host" / "page" / "site"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml"}
# A page may refer only to its own files.
REFERENCE = re.compile(r'(?:src|href)="/page/([^"]+)"|(?:from |import\()"\./([^"]+)"')


def find_references(text):
    return {a or b for a, b in REFERENCE.findall(text)}


@test
def served_files_equal_the_source(t):
    web = Web(t)
    for path in sorted(SITE.iterdir()):
        answer = web.ask(f"/page/{path.name}")
        equal((answer.status, answer.headers["Content-Type"]), (200, TYPES[path.suffix]), path.name)
        equal(answer.body, path.read_bytes(), path.name)
    equal(web.ask("/").body, (SITE / "index.html").read_bytes(), "the page")


@test
def all_references_are_local_and_exist(t):
    web = Web(t)
    wanted, seen = {"index.html"}, set()
    while wanted:
        name = wanted.pop()
        seen.add(name)
        answer = web.ask(f"/page/{name}")
        equal(answer.status, 200, name)
        wanted |= find_references(answer.text) - seen
    equal(seen, {path.name for path in SITE.iterdir()}, "the files of the page")


@test
def the_page_has_no_inline_script_or_style(t):
    text = Web(t).ask("/").text
    for pattern in (r"<script(?![^>]*\bsrc=)", r"<style", r"\sstyle=", r"\son\w+=", r"javascript:", r"//(?!\S*svg)\S+\.\w+/"):
        check(not re.search(pattern, text), f"{pattern} in the page, which the policy forbids")


@test
def a_cached_file_is_not_sent_again(t):
    web = Web(t)
    for path in ("/", "/page/main.js"):
        first = web.ask(path)
        equal(first.headers["Cache-Control"], "no-cache", f"keeping {path}")
        tag = first.headers["ETag"]
        for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
            again = web.ask(path, headers={"If-None-Match": known})
            equal((again.status, again.body, again.headers["ETag"]), (304, b"", tag), f"{path}, known {known}")
        equal(web.ask(path, headers={"If-None-Match": '"other"'}).status, 200, f"{path}, with the ETag of another file")
    check(web.ask("/").headers["ETag"] != web.ask("/page/main.js").headers["ETag"], "two files have one tag")


@test
def clients_that_accept_gzip_get_gzip(t):
    """Other clients never get gzip. Each form has its own ETag, so that no cache mixes them up."""
    web = Web(t)
    whole = sent = 0
    for path in ["/", *(f"/page/{file.name}" for file in sorted(SITE.iterdir()))]:
        plain = web.ask(path)
        check("Content-Encoding" not in plain.headers, f"{path} is packed without Accept-Encoding")
        packed = web.ask(path, headers={"Accept-Encoding": "br;q=1.0, gzip, deflate"})
        equal((packed.headers["Content-Encoding"], plain.headers["Vary"], packed.headers["Vary"]), ("gzip", "Accept-Encoding", "Accept-Encoding"), path)
        equal(gzip.decompress(packed.body), plain.body, path)
        check(packed.headers["ETag"] != plain.headers["ETag"], f"{path}: two forms have one tag")
        whole, sent = whole + len(plain.body), sent + len(packed.body)
        for tag, encodings in ((packed.headers["ETag"], "gzip"), (plain.headers["ETag"], "identity")):
            headers = {"If-None-Match": tag, "Accept-Encoding": encodings}
            again = web.ask(path, headers=headers)
            equal((again.status, again.headers["ETag"], again.headers["Vary"]), (304, tag, "Accept-Encoding"), f"{path} again by {encodings}")
        equal(web.ask(path, headers={"If-None-Match": plain.headers["ETag"], "Accept-Encoding": "gzip"}).status, 200, f"{path}, with the ETag of the other form")
    # test_page_form.py limits the bytes of the first view, which has no flame graph.
    check(sent < 75000 and sent < whole / 2, f"{sent} of {whole} bytes are sent")
    for encodings, is_packed in (("", False), ("identity", False), ("br", False), ("gzip;q=0", False), ("GZIP", True), ("*", True), ("*;q=0", False),
                                 ("gzip;q=0, *", False), ("*;q=0, gzip;q=0.5", True), ("br , gzip ;q=0.001", True), ("gzipped", False)):
        answer = web.ask("/", headers={"Accept-Encoding": encodings})
        equal("Content-Encoding" in answer.headers, is_packed, f"packed for {encodings!r}")


@test
def other_paths_are_refused(t):
    web = Web(t)
    for path in ("/page", "/page/", "/page/nothing.js", "/page/embed", "/page/page.c", "/index.html", "/page/site/main.js"):
        web.refuses(404, path)
    web.refuses(403, "/", "POST")


if __name__ == "__main__":
    run()
