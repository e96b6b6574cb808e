#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap view: what it serves for the Perfetto UI, to which clients, when it ends, and how
it starts XProf instead."""
import base64
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

from conversions import GOLDEN, goldens, make_space
from fixture import check, contains, equal, free_port, run, test, wait_until
from processes import PROFTAP, count_connections
from viewing import ORIGIN, View, convert

# The receive buffer of a client that does not read; the sender's kernel keeps further bytes.
RECEIVE_BYTES = 1 << 18
TRACE = GOLDEN / "args.xplane.pb"


def says(text, *parts):
    for part in parts:
        contains(text, part, "its output")


def refuse(*words, code=1, env=None, cwd=None):
    """Runs proftap view, which must fail, and returns its standard error."""
    done = subprocess.run([PROFTAP, "view", *words], capture_output=True, text=True, timeout=60, cwd=cwd,
                          env={**os.environ, "SSH_CONNECTION": "", **(env or {})})
    equal((done.returncode, done.stdout), (code, ""), f"view {words}: {done.stderr}")
    return done.stderr


def make_large(t):
    """Makes a trace that exceeds what the kernel keeps for a peer that does not read, even when compressed."""
    names = [base64.b64encode(os.urandom(30000)).decode() for _ in range(240)]
    path = t.dir / "large.xplane.pb"
    path.write_bytes(make_space({"main": [(name, 10 * i, 5) for i, name in enumerate(names)]}))
    return path


@test
def the_link_opens_the_perfetto_ui(t):
    view = View(t, TRACE)
    url = f"http://127.0.0.1:{view.port}{view.path}"
    equal(view.said["link"], f"{ORIGIN}/#!/?url={url}&rpc_port={view.port}", "link")
    check(re.fullmatch(r"/[0-9a-f]{32}/args\.pftrace", view.path), f"path {view.path}")
    other = View(t, TRACE)
    check(other.path != view.path, "two views have one path")


@test
def fetched_trace_equals_convert_and_ends_the_server(t):
    for path in goldens()[:3]:
        view = View(t, path)
        equal(view.fetch(), convert(t, path), f"bytes of {path}")
        equal(view.wait(), 0, "exit")


@test
def options_of_convert_apply_to_the_served_trace(t):
    options = ("--name", "args", "--primary-group", "host")
    view = View(t, *options, TRACE)
    check(view.said["written"] < view.said["events"], f"all was written: {view.said}")
    equal(view.fetch(), convert(t, *options, TRACE), "bytes")


@test
def a_run_of_several_hosts_is_one_trace(t):
    run_dir = t.dir / "logs/plugins/profile/a_run"
    run_dir.mkdir(parents=True)
    for name in ("one", "two"):
        (run_dir / f"{name}.xplane.pb").write_bytes(make_space({"main": [(name, 0, 5)]}, host=name))
    view = View(t, t.dir / "logs")
    check(view.path.endswith("/a_run.pftrace"), f"path {view.path}")
    equal(view.fetch(), convert(t, run_dir), "bytes")


@test
def only_the_page_of_the_perfetto_ui_may_read(t):
    view = View(t, TRACE, "--keep")
    for method, path in (("GET", view.path), ("GET", "/"), ("OPTIONS", view.path), ("POST", "/status")):
        headers = view.ask(method, path)[1]
        equal(headers["Access-Control-Allow-Origin"], ORIGIN, f"{method} {path}")
        equal(headers["Cache-Control"], "no-cache", f"{method} {path}")


@test
def preflights_are_answered(t):
    view = View(t, TRACE)
    for path in (view.path, "/status"):
        status, headers, data = view.ask("OPTIONS", path)
        equal((status, data), (204, b""), "answer")
        check({"GET", "POST"} <= set(headers["Access-Control-Allow-Methods"].split(", ")), "methods")
        equal(headers["Access-Control-Allow-Headers"], "*", "headers")
        equal(headers["Access-Control-Allow-Private-Network"], "true", "private network")


@test
def everything_else_is_not_found(t):
    view = View(t, TRACE, "--keep")
    secret = view.path.split("/")[1]
    for method, path in (("POST", "/status"), ("GET", "/status"), ("GET", "/"), ("GET", "/args.pftrace"),
                         ("GET", f"/{secret}"), ("GET", f"/{secret}/"), ("GET", view.path[:-1]),
                         ("GET", f"{view.path}/../{view.path}"), ("POST", view.path), ("PUT", view.path),
                         ("DELETE", view.path)):
        body = b"x" * 100000 if method in ("POST", "PUT") else None
        equal(view.ask(method, path, body=body)[::2], (404, b""), f"{method} {path}")


@test
def a_broken_library_is_reported_with_a_remedy(t):
    """An empty file has the library's name, so it cannot be loaded."""
    (t.dir / "libmicrohttpd.so.12").touch()
    says(refuse(TRACE, env={"LD_LIBRARY_PATH": str(t.dir)}), f"libmicrohttpd.so.12 cannot be loaded ({t.dir}/libmicrohttpd.so.12: file too short), and serving pages needs it; install it",
         ", or write a file to open yourself: proftap convert -t perfetto")


@test
def other_names_of_this_machine_are_refused(t):
    view = View(t, TRACE, "--keep")
    for host in ("evil.example", f"evil.example:{view.port}", "127.0.0.1", f"127.0.0.1:{view.port}0",
                 f"127.0.0.1.evil.example:{view.port}"):
        for method in ("GET", "OPTIONS"):
            status, headers, data = view.ask(method, host=host)
            equal((status, data), (403, b""), f"{method} as {host}")
            check("Access-Control-Allow-Origin" not in headers, "a stranger may read")
    for host in (f"localhost:{view.port}", f"127.0.0.1:{view.port}", "127.0.0.1:9001"):
        equal(view.ask(host=host)[0], 200, f"GET as {host}")
    with view.connect() as s:
        s.sendall(f"GET {view.path} HTTP/1.0\r\n\r\n".encode())
        says(s.recv(1000).decode(), " 403 ")


@test
def a_stranger_gets_nothing_and_spends_nothing(t):
    """Strangers are pages of other sites, even one that knows the link. Afterwards the view
    still has its one answer for the Perfetto UI."""
    view = View(t, TRACE)
    expected = convert(t, TRACE)
    strangers = [{"origin": origin} for origin in ("https://evil.example", "null", f"{ORIGIN}.evil.example", ORIGIN.replace("https", "http"),
                                                   f"http://127.0.0.1:{view.port}", f"{ORIGIN}:8443", "https://ui.perfetto.de")]
    strangers += [{"origin": None, "more": {"Sec-Fetch-Site": site}} for site in ("cross-site", "same-site")]
    for asked in strangers:
        for method, path in (("GET", view.path), ("HEAD", view.path), ("OPTIONS", view.path), ("POST", "/status"), ("GET", "/"),
                             ("GET", "/%ff")):
            status, headers, data = view.ask(method, path, **asked)
            equal((status, data), (403, b""), f"{method} {path} as {asked}")
            equal([name for name in headers if name.startswith("Access-Control-")], [], f"CORS headers of {method} {path} for {asked}")
    check(view.popen.poll() is None, "the view ended")
    equal(view.ask(origin=None, more={"Sec-Fetch-Site": "none"}, method="HEAD")[0], 200, "a person who types the address")
    equal(view.fetch() == expected, True, "the bytes that the Perfetto UI gets")
    equal(view.wait(), 0, "exit")


def listeners(port):
    """Returns the listening addresses in /proc/net, of both families."""
    rows = [line.split() for table in ("tcp", "tcp6")
            for line in Path("/proc/net", table).read_text().splitlines()[1:]]
    return [row[1].split(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]


@test
def the_server_listens_on_this_machine_only(t):
    equal(listeners(View(t, TRACE).port), ["0100007F"], "addresses that it listens on")


@test
def a_head_request_does_not_count_as_a_fetch(t):
    view = View(t, TRACE)
    status, headers, data = view.ask("HEAD")
    expected = convert(t, TRACE)
    equal((status, data, int(headers["Content-Length"])), (200, b"", len(expected)), "HEAD")
    equal(view.fetch(), expected, "bytes")
    equal(view.wait(), 0, "exit")


@test
def view_with_keep_serves_until_interrupted(t):
    view = View(t, TRACE, "--keep")
    equal(view.fetch(), view.fetch(), "the second fetch")
    view.signal(signal.SIGINT)
    equal(view.wait(), 0, "exit")


@test
def an_interrupt_before_a_fetch_exits_with_130(t):
    for number in (signal.SIGINT, signal.SIGTERM):
        view = View(t, TRACE)
        view.signal(number)
        equal(view.wait(), 130, "exit")


@test
def a_fetch_that_was_cut_does_not_count(t):
    view = View(t, make_large(t))
    with view.connect(RECEIVE_BYTES) as s:
        view.request(s)
        check(len(s.recv(1000)) > 0, "nothing came")
    wait_until(lambda: count_connections(view.pid) == 0, "the view to see the end of the connection")
    data = view.fetch()
    equal(len(data), view.said["bytes"], "bytes of the whole trace")
    equal(view.wait(), 0, "exit")


def read_answer(s, n_body):
    """Reads the answer to its end, in however many pieces it comes."""
    data = b""
    while b"\r\n\r\n" not in data or len(data.split(b"\r\n\r\n", 1)[1]) < n_body:
        piece = s.recv(1 << 20)
        if not piece:
            break
        data += piece
    return data.split(b"\r\n\r\n", 1)[1]


@test
def a_slow_fetch_is_waited_for(t):
    view = View(t, make_large(t))
    with view.connect(RECEIVE_BYTES) as s:
        view.request(s)
        check(len(s.recv(1, socket.MSG_PEEK)) > 0, "nothing came")
        expected = view.fetch()
        check(view.popen.poll() is None, "the view ended while it was sending")
        equal(read_answer(s, len(expected)) == expected, True, "whether the slow client got the same bytes")
    equal(view.wait(), 0, "exit")


@test
def silent_clients_are_dropped_and_others_served(t):
    view = View(t, TRACE)
    silent = [view.connect() for _ in range(20)]
    for s in silent[::2]:
        s.sendall(b"GET / HTTP/1.1\r\nX: ")
    # All places are taken, so this client has to wait for one.
    data = view.fetch()
    for s in silent[:10]:
        equal(s.recv(1000), b"", "answer to a silent client")
    equal(data, convert(t, TRACE), "bytes")
    equal(view.wait(), 0, "exit")
    for s in silent:
        s.close()


@test
def a_port_in_use_is_reported(t):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        said = refuse("--port", str(port), TRACE)
        # The port is checked before any conversion.
        early = refuse("--port", str(port), TRACE, env={"TMPDIR": "/dev/null"})
    says(said, f"127.0.0.1:{port}: address in use", "another with --port (", "port 9001")
    equal(early, said, "its output")


@test
def a_remote_machine_gets_the_tunnel(t):
    for connection, user, ssh in (
            ("10.0.0.1 50000 10.0.0.7 22", "ann.b", "ssh -N -L {} ann.b@10.0.0.7"),
            ("10.0.0.1 50000 10.0.0.7 2222", "", "ssh -N -p 2222 -L {} 10.0.0.7"),
            ("fe80::1 50000 2001:db8::7 22", "_ann", "ssh -N -L {} _ann@2001:db8::7"),
            ("10.0.0.1 50000 10.0.0.7 22", "-oProxyCommand=x", "ssh -N -L {} 10.0.0.7"),
            ("$(reboot) x ;reboot 22", "$(reboot)", f"ssh -N -L {{}} {socket.gethostname()}")):
        view = View(t, TRACE, env={"SSH_CONNECTION": connection, "USER": user})
        equal(view.said["tunnel"], ssh.format(f"9001:127.0.0.1:{view.port}"), "tunnel")
        equal(view.said["link"], f"{ORIGIN}/#!/?url=http://127.0.0.1:9001{view.path}", "link")
        equal(view.ask(host="127.0.0.1:9001")[0], 200, "as the browser there asks")
    check(View(t, TRACE).said["tunnel"] is None, "a tunnel without ssh")


@test
def the_output_is_the_link_and_the_tunnel(t):
    port = free_port()
    done = subprocess.Popen([PROFTAP, "view", "--port", str(port), TRACE], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "SSH_CONNECTION": "10.0.0.1 1 10.0.0.7 22", "USER": "ann"})
    lines = [done.stdout.readline().rstrip("\n") for _ in range(2)]
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=60)
    check(lines[0].startswith(f"{ORIGIN}/#!/?url=http://127.0.0.1:9001/"), f"first line {lines[0]}")
    equal((lines[1], out), (f"ssh -N -L 9001:127.0.0.1:{port} ann@10.0.0.7", ""), "the rest")
    says(err, "serving ", "until it was fetched once", "Ctrl-C")


@test
def an_empty_trace_is_served_with_a_message(t):
    path = t.dir / "empty.xplane.pb"
    path.write_bytes(make_space({}))
    view = View(t, path)
    equal((view.said["events"], view.said["written"]), (0, 0), "events")
    equal(view.fetch(), convert(t, path), "bytes")
    port = free_port()
    process = subprocess.Popen([PROFTAP, "view", "--port", str(port), path], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    says(process.communicate(timeout=60)[1], "there are no events in it")


@test
def trace_too_large_for_a_browser_is_not_served(t):
    # Without --name an estimate suffices, so nothing is converted.
    for options, env in (((), {"TMPDIR": "/dev/null"}), (("--name", "."), {})):
        said = refuse("--max_events", "1", *options, TRACE, env=env)
        says(said, " events are too many for a browser", "--from", "trace_processor", ORIGIN)
    view = View(t, "--max_events", "1", "--name", "^no such", TRACE)
    equal(view.said["written"], 0, "events")


def run_line(t, line):
    """Runs the line by a shell, with a trace_processor that keeps its input, and returns that input."""
    programs = t.dir / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "trace_processor").write_text('#!/bin/sh\n[ "$1 $2 $#" = "server http 3" ] && cp "$3" served\n')
    (programs / "trace_processor").chmod(0o755)
    subprocess.run(line, shell=True, check=True, capture_output=True, cwd=t.dir,
                   env={**os.environ, "PATH": f"{programs}:{PROFTAP.parent}:{os.environ['PATH']}"})
    return (t.dir / "served").read_bytes()


@test
def the_command_for_a_large_trace_serves_the_same(t):
    run_dir = t.dir / "it's a $(long) way/plugins/profile/2026_01_01_00_00_00_with_a_name_of_some_length"
    run_dir.mkdir(parents=True)
    spans = {"main": [("it's", 0, 5), ("it's 2", 10, 5), ("more", 20, 5)]}
    (run_dir / "one.xplane.pb").write_bytes(make_space(spans))
    (t.dir / "-t.xplane.pb").write_bytes(make_space(spans, host="two"))
    for options in ((), ("--name", "it's", "--primary-group=host", "--truncate-kernels")):
        for places in (["it's a $(long) way"], ["--", run_dir / "one.xplane.pb", "-t.xplane.pb"]):
            words = (*options, *places)
            said = refuse("--max-events=1", "-p9001", *words, cwd=t.dir).splitlines()
            equal(len(said), 2, "lines")
            equal(run_line(t, said[1]) == convert(t, *words, cwd=t.dir), True, f"{said[1]} serves the same")


@test
def a_full_device_is_reported_once(t):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROFTAP, "view", "--json", "--port", str(free_port()), TRACE], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    equal((done.returncode, done.stderr), (1, "standard output: cannot write: no space left on device\n"), "the message")


@test
def nothing_stays_in_the_directory_of_temporary_files(t):
    view = View(t, TRACE, env={"TMPDIR": str(t.public_dir("temporary"))})
    equal(os.listdir(t.dir / "temporary"), [], "files while it serves")
    view.fetch()
    says(refuse(TRACE, env={"TMPDIR": "/dev/null"}), "/dev/null: ", "TMPDIR")


@test
def a_trace_that_cannot_be_read_is_reported(t):
    says(refuse(t.dir / "none.xplane.pb"), "none.xplane.pb")
    says(refuse(code=2), "no run or file given")
    says(refuse("--port", "0", TRACE, code=2), "--port")


def fake_xprof(t):
    """Returns a PATH with an xprof that prints its arguments."""
    programs = t.dir / "programs"
    programs.mkdir()
    (programs / "xprof").write_text('#!/bin/sh\necho "$0" "$@"\nexit 7\n')
    (programs / "xprof").chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}"}


@test
def xprof_is_started_on_the_log_directory(t):
    env = {**os.environ, **fake_xprof(t)}
    run_dir = t.dir / "logs/plugins/profile/a_run"
    run_dir.mkdir(parents=True)
    (run_dir / "one.xplane.pb").write_bytes(TRACE.read_bytes())
    log_dir = (t.dir / "logs").resolve()
    for place in (t.dir / "logs", run_dir, run_dir / "one.xplane.pb"):
        for options, more in (((), ""), (("--port", "8791"), " --port 8791")):
            done = subprocess.run([PROFTAP, "view", "--xprof", *options, place], env=env, text=True,
                                  capture_output=True)
            equal((done.returncode, done.stdout),
                  (7, f"{t.dir}/programs/xprof --logdir {log_dir}{more}\n"), f"{place} {done.stderr}")
            says(done.stderr, "listens on all interfaces of this machine, port 8791, ", "127.0.0.1 alone")
            equal(done.stderr.count("\n"), 1, "lines")


@test
def missing_xprof_is_reported_with_a_remedy(t):
    said = refuse("--xprof", t.dir, env={"PATH": str(t.dir)})
    says(said, "xprof: not found", "pip install xprof")
    equal(said.count("\n"), 1, "lines: nothing listens")
    said = refuse("--xprof", TRACE, env={"PATH": str(t.dir)})
    says(said, "not in a log directory")


@test
def xprof_shows_all_or_nothing(t):
    for option in ("--keep", "--json", "--max_events=1", "--from=1s", "--name=x", "--align=start",
                   "--truncate_kernels", "--primary_group=host"):
        for words in (("--xprof", option), (option, "--xprof")):
            says(refuse(*words, t.dir, code=2), f"--xprof excludes {option.split('=')[0]}: ")


@test
def json_describes_the_served_trace(t):
    said = View(t, TRACE).said
    equal(set(said), {"link", "url", "tunnel", "port", "format", "bytes", "events", "written", "lost", "notes"},
          "keys")
    equal(json.dumps(said["lost"]), "{}", "lost")


run()
