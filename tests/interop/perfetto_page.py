# SPDX-License-Identifier: Apache-2.0
"""A stub of the Perfetto UI under the UI's origin: its page treats a link as the real page does, under the same policy
(CSP), and hands us the data that it has fetched.
"""
import http.server
import ssl
import threading
import urllib.parse

import browser
from processes import PATIENCE_S, run

# The page looks for trace_processor, and then reads the trace piece by piece. Its picture arrives after that: until
# then the browser considers the page as loading, and waits.
PAGE = """<!doctype html><img src="/done"><script>
async function load() {
	const url = new URLSearchParams(location.hash.slice(4)).get("url");
	const status = await fetch(new URL("/status", url), {method: "post", cache: "no-cache"});
	const reader = (await fetch(url)).body.getReader();
	const pieces = [];
	for (let piece; !(piece = await reader.read()).done;)
		pieces.push(piece.value);
	await fetch("/fetched", {method: "post", body: new Blob(pieces)});
	return `trace processor ${status.status}, trace fetched`;
}
load().catch((e) => `failed: ${e.message}`).then((text) => fetch("/said", {method: "post", body: text}));
</script>"""


def make_certificate(work, host):
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}", "-keyout", work / "key.pem",
        "-out", work / "cert.pem")


class Page:
    """The page at https://|host|/ in a browser that ignores errors of certificates."""

    def __init__(self, work, link, host=None):
        self.link = urllib.parse.urlsplit(link)
        self.host = host or self.link.hostname
        self.fetched = self.said = None
        self.done = threading.Event()
        loopback = urllib.parse.urlsplit(urllib.parse.parse_qs(self.link.fragment[3:])["url"][0]).netloc
        self.policy = f"default-src 'self' 'unsafe-inline'; connect-src 'self' https: http://{loopback}"
        make_certificate(work, self.host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(work / "cert.pem", work / "key.pem")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.make_handler())
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def make_handler(page):
        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, body):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Security-Policy", page.policy)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/done":
                    page.done.wait(PATIENCE_S)
                self.answer(PAGE.encode())

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/fetched":
                    page.fetched = body
                else:
                    page.said = body.decode()
                    page.done.set()
                self.answer(b"")

            def log_message(self, *unused):
                pass

        return Handler

    def open(self, name):
        """Returns the page's final text."""
        port = self.server.server_address[1]
        browser.show(self.link._replace(netloc=self.host).geturl(), name, 400,
                     f"--host-resolver-rules=MAP {self.host}:443 127.0.0.1:{port}",
                     "--ignore-certificate-errors")
        return self.said

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.shutdown()
        self.server.server_close()
