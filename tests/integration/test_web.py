#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The host daemon's HTTP: answers, and the methods of each path."""
from checks import contains
from fixture import check, equal, run, test
from hosts import registry_path, runtime
from processes import PROFTAPD, Process, free_port
from web import Web


@test
def healthz_reports_that_the_daemon_is_alive(t):
    web = Web(t)
    answer = web.ask("/healthz")
    equal((answer.status, answer.text), (200, "ok\n"), "the answer")
    equal(web.ask("/healthz", "HEAD").body, b"", "the body of HEAD")
    equal(web.ask("/healthz", "HEAD").headers["Content-Length"], "3", "Content-Length of HEAD")


@test
def unknown_paths_are_not_found(t):
    web = Web(t)
    for path in ("/nothing", "/healthz/", "/healthz/x", "//healthz"):
        answer = web.ask(path)
        equal((answer.status, answer.json["error"]["code"]), (404, "NOT_FOUND"), path)


@test
def options_lists_the_methods_of_a_path(t):
    web = Web(t)
    answer = web.ask("/healthz", "OPTIONS")
    equal((answer.status, answer.headers["Allow"]), (204, "GET, HEAD, OPTIONS"), "OPTIONS")
    equal(web.ask("/nothing", "OPTIONS").status, 404, "OPTIONS of nothing")


@test
def paths_that_lead_elsewhere_are_refused(t):
    web = Web(t)
    for path in ("/../etc/passwd", "/a/../healthz", "/%2e%2e/etc/passwd", "/..%2fetc", "/a%2fb", "/%00", "/%zz", "/%4",
                 "/%ff", "/a%0ab", "/./healthz", "healthz", "http://localhost/healthz", "/healthz#x", "/?a=%"):
        equal(web.ask(path).status, 400, path)
    equal(web.ask("/" + "a" * 3000).status, 414, "a long one")
    equal(web.ask("/a" * 20).status, 414, "one of many parts")
    equal(web.ask("/healthz?a=b&c=%20+&&").status, 200, "a query that this path does not use")


@test
def answers_have_security_headers(t):
    web = Web(t)
    for path in ("/healthz", "/nothing"):
        headers = web.ask(path).headers
        equal(headers["X-Content-Type-Options"], "nosniff", "sniffing")
        equal(headers["Cache-Control"], "no-store", "keeping")
        policy = headers["Content-Security-Policy"]
        contains(policy, "default-src 'none'", "the policy")
        contains(policy, "script-src 'self';", "the policy")
        check("unsafe" not in policy, f"{policy}: something unsafe is allowed")


@test
def only_loopback_is_served(t):
    ended = t.keep(Process("proftapd", [PROFTAPD, "--host", "--config", "/dev/null", "--web", "0.0.0.0:9022"]))
    equal(ended.wait(), 2, "exit with an address of all interfaces")


@test
def a_broken_library_is_reported_with_a_remedy(t):
    """An empty file has the library's name, so it cannot be loaded."""
    (t.dir / "libmicrohttpd.so.12").touch()
    ended = t.keep(Process("proftapd", [
        PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{free_port()}", "--registry", registry_path(t),
        "--web", f"127.0.0.1:{free_port()}"], {**runtime(t), "LD_LIBRARY_PATH": str(t.dir)}))
    equal(ended.wait(), 1, "exit status")
    for thread in ended.threads:
        thread.join()
    said = "".join(ended.err)
    contains(said, f"web: libmicrohttpd.so.12 cannot be loaded ({t.dir}/libmicrohttpd.so.12: file too short), and "
             "serving pages needs it; install it", "the missing library")
    contains(said, ", or serve without a page: --web none", "the actions")


if __name__ == "__main__":
    run()
