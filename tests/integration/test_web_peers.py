#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Access to the host daemon's HTTP: users of this machine, and no pages of other sites."""
import http.client
import os
import signal
import socket
import stat

from checks import contains
from fixture import NOBODY, check, equal, need_readable_tree, need_root, run, test, wait_until
from hosts import registry_path, runtime
from manager import Manager
from processes import PROFTAPD, Process, free_port, halt
from web import Web

TOKEN = "X-Proftap-Token"


@test
def other_names_of_loopback_are_refused(t):
    web = Web(t)
    for host in ("localhost", f"localhost:{web.port}", "127.0.0.1", "train.localhost", "[::1]:80"):
        equal(web.ask("/healthz", headers={"Host": host}).status, 200, host)
    for host in ("evil.example", f"evil.example:{web.port}", "localhost.evil.example", "192.168.1.1", "localhost@evil.example"):
        contains(web.refuses(421, "/healthz", headers={"Host": host}), f'the host "{host}" is not one of', host)


@test
def names_that_are_set_are_answered(t):
    """Requests for other names are refused, also after a reload of the settings."""
    manager = Manager(t, "web_names = proftap.example,10.0.0.7\n")
    daemon = manager.start()
    web = Web.at(manager.web_port)

    def ask(host, **headers):
        return web.ask("/healthz", headers={"Host": host, **headers}).status

    for host in ("proftap.example", "Proftap.Example:443", "10.0.0.7:8080", "localhost"):
        equal(ask(host), 200, host)
    for host in ("evil.example", "proftap.example.evil.example", "evil.proftap.example", "proftap.example,10.0.0.7", "10.0.0.70", ""):
        equal(ask(host), 421, host)
    equal(ask("proftap.example", Origin="https://proftap.example"), 200, "our own page, by a proxy that speaks https")
    equal(ask("proftap.example", Origin="https://evil.example"), 403, "another page")
    equal(ask("localhost", Origin="https://localhost"), 403, "a page that has https on loopback")
    manager.config.write_text("web_names = other.example\n")
    daemon.signal(signal.SIGHUP)
    manager.await_word("READY", "1", 2)
    equal((ask("other.example"), ask("proftap.example"), ask("localhost")), (200, 421, 200), "after the reload")


@test
def a_wildcard_name_is_refused(t):
    for names in ("*", "*.example", "a,,b", ",", "a,", "a b", "a:80", "http://a", "[a", "a/b"):
        ended = t.keep(Process("proftapd", [PROFTAPD, "--host", "--config", "/dev/null", "--web_names", names]))
        equal(ended.wait(), 2, f"exit status of {names!r}")
        for thread in ended.threads:
            thread.join()
        contains("".join(ended.err), f'web_names: bad value "{names}": must be names', names)


@test
def a_request_without_a_host_is_refused(t):
    web = Web(t)
    for request in (b"GET /healthz HTTP/1.0\r\n\r\n", b"GET /healthz HTTP/1.1\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"):
        with web.connect() as s:
            s.sendall(request)
            check(s.recv(100).split()[1] in (b"400", b"421"), f"{request} was answered")


@test
def pages_of_other_sites_are_refused(t):
    web = Web(t)
    ours = f"http://localhost:{web.port}"
    host = {"Host": f"localhost:{web.port}"}
    equal(web.ask("/healthz", headers={**host, "Origin": ours}).status, 200, "our own page")
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://localhost:{web.port + 1}"},
                    {"Origin": f"http://127.0.0.1:{web.port}"}, {"Sec-Fetch-Site": "cross-site"},
                    {"Sec-Fetch-Site": "same-site", "Origin": ours}):
        for path in ("/healthz", "/metrics"):
            contains(web.refuses(403, path, headers={**host, **headers}), "pages of other sites", headers)
    answer = web.ask("/healthz", headers={**host, "Origin": ours})
    check(not [name for name in answer.headers if name.startswith("Access-Control")], "another page may read it")


@test
def a_link_may_be_followed(t):
    web = Web(t)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    equal(web.ask("/healthz", headers=link).status, 200, "a link")
    equal(web.ask("/healthz", headers={**link, "Sec-Fetch-Dest": "iframe"}).status, 403, "a frame")


@test
def writes_need_a_token(t):
    web = Web(t)
    for method in ("POST", "PUT", "PATCH", "DELETE", "STRANGE"):
        for path in ("/healthz", "/nothing"):
            contains(web.refuses(403, path, method), f"needs the header {TOKEN}", method)
    contains(web.refuses(403, "/healthz", "POST", headers={TOKEN: "0" * 32}), "not known any more", "a wrong one")


@test
def the_kernel_names_the_owner_of_a_socket(t):
    need_root()
    need_readable_tree()
    web = Web(t)
    equal(web.ask_as(NOBODY, "/healthz"), ("200", "ok\n"), "as nobody")


@test
def a_peer_without_an_owner_is_disconnected(t):
    web = Web(t)
    refused = 'proftap_http_hangups_total{reason="refused"} %d\n'
    contains(web.ask("/metrics").text, refused % 0, "before")
    halt(web.pid)
    # The peer closes its socket before the daemon sees the connection, so the socket has no owner any more.
    with web.connect() as late:
        late.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    os.kill(web.pid, signal.SIGCONT)
    wait_until(lambda: refused % 1 in web.ask("/metrics").text, "the peer to be turned away")


@test
def the_daemon_serves_http_on_a_unix_socket(t):
    path = t.dir / "web.sock"
    host = t.keep(Process("proftapd --host", [
        PROFTAPD, "--host", "--config", "/dev/null", "--listen", f"127.0.0.1:{free_port()}", "--web", f"unix:{path}",
        "--registry", registry_path(t)], runtime(t)))
    wait_until(lambda: any("serving on" in line for line in host.err), "the host daemon to serve")
    check(stat.S_ISSOCK(path.stat().st_mode), "no socket")
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    connection.request("GET", "/healthz")
    equal(connection.getresponse().read(), b"ok\n", "the answer")
    connection.close()
    host.signal(signal.SIGTERM)
    equal(host.wait(), 0, "its end")
    check(not path.exists(), "its socket is left")


if __name__ == "__main__":
    run()
