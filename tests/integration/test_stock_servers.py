#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the client with imitations of the servers of JAX and TensorFlow: its requests, traces that such servers keep, and
calls that the client tries again."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import stock_program
from checks import SLOWNESS, in_time
from doctors import expect, findings
from fake_server import FakeServer, field, space
from fixture import check, contains, equal, need_no_sanitizer, run, schema, test, timed, wait_until
from processes import PROFTAP, Process, free_port, halt
from running import LIBRARY, make_environment
from stock_program import StockProgram

MS = 20
BUSY = "Another profiling session active."


def serve(t, script, requests=None, methods=None, **how):
    """Starts a server that answers by |script|, and adds its requests and methods to the lists."""
    def answer(c):
        if requests is not None:
            requests.append(schema("profiler_service").ProfileRequest.FromString(c.bodies[c.stream][5:]))
        if methods is not None:
            methods.append(c.method())
        script(c)
    return FakeServer(t, answer, **how)


def ask(t, *options):
    """Returns the request of a capture with |options|, and the directory for its file."""
    requests = []
    c = t.capture(serve(t, lambda c: c.reply(field(8, space())), requests), MS, *options)
    return requests[0], c.path.parent


@test
def a_request_fills_every_field_that_stock_servers_read(t):
    request, run_dir = ask(t, "--delay", "5")
    check(request.emit_xspace, "the server was not asked for the data")
    equal((request.duration_ms, request.opts.duration_ms), (MS, MS), "durations")
    equal((request.session_id, request.opts.session_id), (run_dir.name, run_dir.name), "session ids")
    equal(request.repository_root, str(run_dir.parent.resolve()), "the repository")
    equal(request.opts.version, 1, "the options' version: 0 would mean defaults")
    late_ms = (request.opts.start_timestamp_ns - time.time_ns()) / 1e6
    check(-60000 < late_ms < 5, f"the start is {late_ms} ms ahead")


@test
def both_spellings_of_the_hosts_name_are_understood_and_sent(t):
    for options in (("--host_name", "a"), ("-o", "override_hostname=a"), ("--override-hostnames", "a")):
        request, _ = ask(t, *options)
        sent = request.opts.advanced_configuration
        equal((request.opts.override_hostname, sent["override_hostname"].string_value, len(sent)),
              ("a", "a", 1), f"the name with {options}")


@test
def a_trace_that_the_server_keeps_is_reported_with_its_path(t):
    os.chdir(t.dir)
    t.at_end.append(lambda: os.chdir("/"))
    c = t.capture(serve(t, lambda c: c.reply(b"")), MS, "--run", "mine", code=1, log_dir="logs")
    contains(c.stderr, "the server kept the trace: it wrote it to its own disk, under "
             f"{t.dir.resolve()}/logs/plugins/profile/mine of that machine\n", "standard error")
    equal(c.stdout, "", "standard output")


@test
def server_writes_makes_the_server_write(t):
    requests, methods = [], []
    server = serve(t, lambda c: c.reply(b""), requests, methods, unknown=None)
    log_dir = t.dir / "logs"
    c = t.capture(server, MS, "--server-writes", "--run", "mine", log_dir=log_dir)
    equal((methods, requests[0].emit_xspace), (["Profile"], False), "the request")
    place = f"{log_dir.resolve()}/plugins/profile/mine"
    equal(f"{requests[0].repository_root}/{requests[0].session_id}", place, "the directory")
    contains(c.stderr, f"the server kept the trace: it wrote it to its own disk, under {place} of", "standard error")
    equal((c.stdout, c.left()), ("", []), "standard output and what is left")
    result = json.loads(t.capture(server, MS, "--server_writes", "--run", "mine", "--json",
                                  log_dir=log_dir).stdout)
    equal((result["exit"], result["file"], result["files"], result["server_dir"]), (0, None, [], place), "JSON")


@test
def server_writes_takes_traces_that_are_sent(t):
    kept = serve(t, lambda c: c.reply(b""))
    ours = t.target().serve()
    c = t.start_capture(f"{kept.port},{ours.port}", 100, "--server_writes")
    ours.ask("await 1", "burst 10")
    c.finish()
    contains(c.stderr, "captured 2 of 2 targets\n", "the headline")
    contains(c.stderr, f"127.0.0.1:{kept.port}: the server kept the trace: ",
             "message about the server that kept the trace")
    equal(c.trace.count("burst"), 10, "spans of the server that sent the trace")


@test
def server_writes_takes_a_url(t):
    """proftap's servers cannot write to a URL, and get no request. No file is here unless a server sends data."""
    url, work = "gs://bucket/x", t.dir / "work"
    work.mkdir()

    def capture(*words, code=0):
        done = subprocess.run([PROFTAP, "capture", *map(str, words)], env={**os.environ, "TMPDIR": str(work)}, cwd=work,
                              capture_output=True, text=True)
        equal(done.returncode, code, f"exit status of {words}: {done.stderr}")
        return done

    contains(capture(1, MS, "--log_dir", url, code=1).stderr, "; with --server_writes the target's server writes there if it can, ",
             "message without --server_writes")
    requests = []
    kept = serve(t, lambda c: c.reply(b""), requests)
    ours, sent = t.target().serve(), serve(t, lambda c: c.reply(field(8, space())))
    where = (MS, "--server_writes", "--run", "mine", "--log_dir")
    for said in (url, f"{url}/"):
        done = capture(kept.port, *where, said)
        contains(done.stderr, f"the server kept the trace: it wrote it to {url}/plugins/profile/mine\n", "the message")
        request = requests.pop()
        equal((request.repository_root, request.session_id, request.emit_xspace), (f"{url}/plugins/profile", "mine", False),
              "directory, session and emit_xspace of the request")
    equal(json.loads(capture(kept.port, *where, url, "--json").stdout)["server_dir"], f"{url}/plugins/profile/mine", "JSON")
    refused = f"127.0.0.1:{ours.port}: proftap's servers do not write to {url}; leave --server_writes out and give a path"
    contains(capture(ours.port, *where, url, code=1).stderr, refused, "message about proftap's server")
    done = capture(f"{ours.port},{kept.port}", *where, url, code=7)
    contains(done.stderr, refused, "message about proftap's server of two")
    check("view:" not in done.stderr, f"a view command without a local file: {done.stderr}")
    equal(list(work.iterdir()), [], "remaining files")
    done = capture(sent.port, *where, url)
    contains(done.stderr, f"  warning: {url}: the server sent the trace instead of writing it there\n",
             "warning about the server that sent the trace")
    check(done.stdout.startswith(f"{work}/proftap-") and Path(done.stdout.strip()).exists(), done.stdout)


@test
def options_unknown_to_stock_servers_are_named(t):
    """The warning names only proftap's options, and comes only for a target whose trace is from a stock server."""
    options = ("--max_bytes", "2000000", "-o", "ptap_usage_interval_ms=0", "-o", "host_tracer_level=3",
               "-o", "gpu_max_annotation_strings=5")
    words = "ptap_usage_interval_ms, ptap_max_capture_bytes (--max_bytes): without effect: this server is not one of proftap's"
    stock, kept = serve(t, lambda c: c.reply(field(8, space()))), serve(t, lambda c: c.reply(b""), unknown=None)
    ours = t.target().serve()
    for warned in (t.capture(stock, MS, *options), t.capture(kept, MS, *options, "--server_writes")):
        equal(warned.stderr.count(f"\n  warning: {words}\n"), 1, f"warnings in {warned.stderr}")
    equal(json.loads(t.capture(kept, MS, *options, "--server_writes", "--json").stdout)["warnings"], [words], "JSON")
    check("without effect" not in t.capture(stock, MS, *options[4:]).stderr,
          "options that the stock server knows are named")
    for how in ((), ("--server_writes",)):
        said = t.capture(ours, 200, *options[:2], *how).stderr
        check("without effect" not in said, f"a warning about proftap's own server with {how}: {said}")
    said = t.capture(f"{stock.port},{ours.port}", 200, *options[:2]).stderr
    equal(said.count("  warning: ptap_max_capture_bytes (--max_bytes): without effect"), 1, f"message about two targets: {said}")
    session = FakeServer(t, lambda c: c.reply(b""), unknown=b"/proftap.v1.")
    done = subprocess.run([PROFTAP, "start", str(session.port), *options], capture_output=True, text=True)
    contains(done.stderr, f"  warning: {words}\n", "warnings at the begin of a session")


@test
def server_writes_needs_a_log_dir(t):
    done = subprocess.run([PROFTAP, "capture", "h:1", str(MS), "--server_writes"], capture_output=True, text=True)
    equal(done.returncode, 2, "exit status")
    contains(done.stderr, "--server_writes needs --log_dir", "standard error")


@test
def temporary_failure_is_tried_again_with_growing_pauses(t):
    times = []

    def script(c):
        times.append(time.monotonic())
        if len(times) < 3:
            c.fail(13, BUSY)
        else:
            c.reply(field(8, space()))
    c = t.capture(serve(t, script), MS, "--attempts", "3")
    equal(len(times), 3, "attempts")
    pauses = [later - sooner for sooner, later in zip(times, times[1:])]
    check(pauses[0] >= 0.5 and pauses[1] >= 1, f"pauses: {pauses}")
    for i in (1, 2):
        contains(c.stderr, f" (attempt {i} of 3)\n", "standard error")


@test
def lack_of_resources_is_tried_again(t):
    for status in (8, 14):
        methods = []
        t.capture(serve(t, lambda c: c.fail(status, "later"), methods=methods), MS, "--attempts", "2",
                  code=1)
        equal(methods, ["Profile"] * 2, f"calls that were answered with {status}")


@test
def permanent_failure_is_not_tried_again(t):
    for status in (3, 5, 7, 12, 13, 16):
        methods = []
        t.capture(serve(t, lambda c: c.fail(status, "no"), methods=methods), MS, "--attempts", "3",
                  code=5 if status == 12 else 1)
        equal(methods, ["Profile"], f"calls that were answered with {status}")


def listed(t):
    """{(pid, port): row}, as proftap list prints it."""
    done = subprocess.run([PROFTAP, "list", "--json"], env={**os.environ, **make_environment(t)}, check=True,
                          capture_output=True)
    return {(row["pid"], row["port"]): row for row in json.loads(done.stdout)["targets"]}


@test
def servers_of_this_machine_are_listed_without_a_recording(t):
    name = f"jax-{os.getpid()}"
    stock = StockProgram(t, name)
    row = listed(t)[stock.pid, stock.port]
    equal((row["name"], row["address"], row["server"], row["state"], row["uid"], row["socket"]),
          (name, "127.0.0.1", "JAX", "unknown", os.geteuid(), ""), "the row")
    check(0 < time.time_ns() - row["since_unix_ns"] < 600e9, f"since {row['since_unix_ns']}")
    equal(set(stock.calls), {"Monitor"}, "calls of the stock server")
    text = subprocess.run([PROFTAP, "list"], check=True, capture_output=True, text=True).stdout
    row, = (line.split() for line in text.splitlines() if line.split()[0] == str(stock.pid))
    script = stock_program.__file__
    equal((*row[1:3], *row[6:9]), (name, f"127.0.0.1:{stock.port}", "JAX", "python3", script), "the line")


@test
def stock_servers_are_recognised_by_library_or_threads(t):
    """A program with XLA linked in is recognised by gRPC's threads, and other programs by the name of the library."""
    libraries = (("PyTorch/XLA", "_XLAC.cpython-311-x86_64-linux-gnu.so"), ("TensorFlow", "libtensorflow_framework.so.2"),
                 ("TensorFlow", "libtensorflow_cc.so.2"), ("JAX", "xla_extension.so"))
    linked = StockProgram(t, "linked", "libapp.so", thread="grpc_global_tim")
    programs = [("XLA", linked), *((make, StockProgram(t, f"maps {i}", library)) for i, (make, library) in enumerate(libraries))]
    rows = listed(t)
    for make, program in programs:
        equal(rows[program.pid, program.port]["server"], make, f"the make of {program.name}")
        wait_until(lambda: program.calls, f"{program.name} to report its calls")
        equal(set(program.calls), {"Monitor"}, f"calls of {program.name}")
    contains(t.capture(linked.pid, MS).stderr, "spans 3 on 1 thread", "the summary")


@test
def names_and_pids_select_stock_programs(t):
    name = f"jax-{os.getpid()}"
    stock = StockProgram(t, name)
    for how in (name, stock.pid):
        contains(t.capture(how, MS).stderr, f"of 127.0.0.1:{stock.port}", f"the summary of {how}")
    equal(stock.calls.count("Profile"), 2, "recordings")


@test
def the_next_program_may_have_a_stock_server(t):
    """A program that already runs is not the next one."""
    name = f"jax-{os.getpid()}"
    old = StockProgram(t, f"{name}-a")
    waiting = t.keep(Process("proftap", [PROFTAP, "capture", "--next", f"{name}-*", str(MS), "--log_dir", t.dir / "next"]))
    wait_until(lambda: "Monitor" in old.calls, "proftap to look for running programs")
    new = StockProgram(t, f"{name}-b")
    equal(waiting.wait(), 0, f"exit status of proftap: {waiting.err}")
    for thread in waiting.threads:
        thread.join()
    contains("".join(waiting.err), f":{new.port}", "recorded programs")
    equal((old.calls.count("Profile"), new.calls.count("Profile")), (0, 1), "recordings")


@test
def a_stock_server_is_not_listed_as_a_host_daemon(t):
    stock, port = StockProgram(t, f"jax-{os.getpid()}"), free_port()
    for where, words in ((stock.port, "no host daemon: it is the profiler server of one program"),
                         (f"localhost:{port}", f"no host daemon there; start one with proftapd --host --listen 127.0.0.1:{port}")):
        done = subprocess.run([PROFTAP, "list", str(where)], capture_output=True, text=True)
        check(done.returncode, "proftap list has succeeded")
        contains(done.stderr, words, f"message about {where}")


@test
def a_program_with_two_servers_is_recorded_once(t):
    """The list has both servers; the program's name selects proftap's."""
    need_no_sanitizer("cannot be preloaded into other programs")
    name = f"both-{os.getpid()}"
    env = {**make_environment(t), "PROFTAP_SERVER": "0", "LD_PRELOAD": str(LIBRARY)}
    programs = []
    for place in ("one", "other"):  # the name of the process is that of the file
        (t.public_dir(place) / name).symlink_to("/usr/bin/python3")
        programs.append(StockProgram(t, name, python=t.dir / place / name, env=env))
    wait_until(lambda: sorted(row["pid"] for row in listed(t).values() if row["name"] == name) ==
               sorted([p.pid for p in programs] * 2), "both servers of both programs to be listed")
    how = {"env": {**os.environ, **make_environment(t)}, "capture_output": True, "text": True}
    done = subprocess.run([PROFTAP, "capture", name, str(MS)], **how)
    equal(done.returncode, 2, "exit status")
    contains(done.stderr, f"(pids {', '.join(str(pid) for pid in sorted(p.pid for p in programs))}); give a pid", "the error")
    done = subprocess.run([PROFTAP, "capture", name, "200", "--all", "--log_dir", t.dir / "all"], **how)
    equal([p.calls.count("Profile") for p in programs], [0, 0], f"recordings by the stock servers: {done.stderr}")
    contains(done.stderr, "2 targets", "how many were recorded")


@test
def capture_names_the_server_that_records_annotations(t):
    """JAX's own server records the program's annotations, and proftap's server in the same program does not."""
    need_no_sanitizer("cannot be preloaded into other programs")
    words = "which jax.profiler.start_server(PORT) starts"
    stock = StockProgram(t, f"jax-{os.getpid()}", env={**make_environment(t), "PROFTAP_SERVER": "0",
                                                       "PROFTAP_RECORDER": "1", "LD_PRELOAD": str(LIBRARY)})
    how = {"env": {**os.environ, **make_environment(t)}, "capture_output": True, "text": True}
    wait_until(lambda: sum(pid == stock.pid for pid, _ in listed(t)) == 2, "both servers to be listed")
    done = subprocess.run([PROFTAP, "capture", str(stock.pid), str(MS), "-o", "ptap_usage_interval_ms=0",
                           "-o", "ptap_sample_hz=0"], **how)
    equal(done.returncode, 3, f"exit status: {done.stderr}")
    contains(done.stderr, words, "reason why nothing was recorded")
    contains(subprocess.run([PROFTAP, "ps", str(stock.pid)], **how).stderr, words, "output of ps")
    contains(subprocess.run([PROFTAP, "ps", str(stock.port)], **how).stderr,
             f"do not report open spans; record the program instead: proftap capture 127.0.0.1:{stock.port} 1000",
             "output of ps for the port of JAX's server")


@test
def reports_name_the_processes_of_stock_servers(t):
    """Traces of stock servers have no name and no pid. The client adds both, because it knows which process listens."""
    programs = [StockProgram(t, f"jax-{i}-{os.getpid()}") for i in range(2)]
    t.capture(",".join(str(p.port) for p in programs), MS, "--run", "two", log_dir=t.dir / "logs")
    t.capture(programs[0].port, MS, "--run", "one", log_dir=t.dir / "logs")
    for which, (run_name, wanted) in enumerate((("two", programs), ("one", programs[:1]))):
        place = t.dir / "logs/plugins/profile" / run_name
        done = subprocess.run([PROFTAP, "report", "--json", place], check=True, capture_output=True, text=True)
        found = {(p["name"], p["pid"]) for p in json.loads(done.stdout)["processes"]}
        equal(found, {(p.name, p.pid) for p in wanted}, f"processes of {run_name}")
        for word in (wanted[0].name, wanted[0].pid):
            done = subprocess.run([PROFTAP, "report", "--json", "--pid", str(word), place], check=True,
                                  capture_output=True, text=True)
            equal(sum(p["n_spans"] for p in json.loads(done.stdout)["processes"]), 3, f"spans of {word}")


LISTENS = """
import mmap, signal, socket, sys
with open(sys.argv[1], "rb") as f:
    mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
listener = socket.create_server(("0.0.0.0", 0))
print(listener.getsockname()[1], flush=True)
signal.pause()
"""


@timed
def other_listeners_are_left_alone(t):
    """The list connects to no program without a sign of a stock server. A silent program with one delays nobody."""
    other = StockProgram(t, "other", "libother.so")
    (t.dir / "libjax_common.so").write_bytes(b"no library")
    silent = t.keep(Process("silent", ["/usr/bin/python3", "-c", LISTENS, t.dir / "libjax_common.so"]))
    silent.port = int(silent.read_line())
    start = time.monotonic()
    found = listed(t)
    in_time(time.monotonic() - start, 1 * SLOWNESS, "the list")
    check((other.pid, other.port) not in found, "the program without a library is listed")
    check((silent.pid, silent.port) not in found, "the silent program is listed")
    equal(other.calls, [], "calls of the program without a library")


STOPPED = {"thread": "grpcpp_sync_ser"}


@test
def a_stopped_stock_program_is_listed_as_stopped(t):
    """The stopped program cannot answer, so the list needs both signs: the library and gRPC's threads."""
    name = f"jax-{os.getpid()}"
    stock = StockProgram(t, name, **STOPPED)
    others = [StockProgram(t, "plain"), StockProgram(t, "linked", "libapp.so", **STOPPED)]
    for program in (stock, *others):
        halt(program.pid)
    rows = listed(t)
    row = rows[stock.pid, stock.port]
    equal((row["name"], row["address"], row["server"], row["state"], row["stopped"]),
          (name, "127.0.0.1", "JAX", "unknown", True), "the row")
    for other in others:
        check((other.pid, other.port) not in rows, f"{other.name} is listed")
    text = subprocess.run([PROFTAP, "list"], check=True, capture_output=True, text=True).stdout
    line, = (line for line in text.splitlines() if line.split()[0] == str(stock.pid))
    contains(line, "unknown, stopped", "the line")
    how = f"is stopped, and its profiler server with it; kill -CONT {stock.pid} lets them go on"
    for word in (stock.pid, name):
        contains(t.capture(word, MS, code=5).stderr, how, f"message about {word}")
    for program in (stock, others[1]):
        contains(t.capture(program.port, MS, code=5).stderr, f"{program.name} (pid {program.pid}), which listens on that port, "
                 f"is stopped; kill -CONT {program.pid}", f"message about the port of {program.name}")
    os.kill(stock.pid, signal.SIGCONT)
    contains(t.capture(name, MS).stderr, "spans 3 on 1 thread", "the summary after the program was continued")
    equal(stock.calls.count("Profile"), 1, "recordings")


@test
def the_doctor_reports_a_stopped_stock_program(t):
    stock, linked = StockProgram(t, "jax", **STOPPED), StockProgram(t, "linked", "libapp.so", **STOPPED)
    for program, word in ((stock, stock.port), (stock, stock.pid), (linked, linked.port), (linked, linked.pid)):
        halt(program.pid)
        found = findings(t, str(word), code=5)
        for key in ("target_server", "target_process"):
            expect(found, key, "no", f"kill -CONT {program.pid}")
            contains(found[key]["text"], "stopped", f"{key} of {word}")
        contains(found["target_process"]["text"], program.name, f"program of {word}")


@test
def reports_keep_the_thread_ids_of_stock_servers(t):
    """JAX's ids are hashes of pthread_self(), and no tids."""
    recorded = schema("xplane").XSpace()
    plane = recorded.planes.add(id=1, name="/host:CPU")
    plane.event_metadata[1].id, plane.event_metadata[1].name = 1, "work"
    plane.stat_metadata[1].id, plane.stat_metadata[1].name = 1, "process_id"
    plane.stats.add(metadata_id=1, int64_value=4242)
    given = {"python": 6049086945694769375, "tf_XLAEigen": -8214966739773997, "loader": 77}
    for name, number in given.items():
        line = plane.lines.add(id=number, name=name, timestamp_ns=1000)
        line.events.add(metadata_id=1, offset_ps=1000, duration_ps=2000000)
    c = t.capture(serve(t, lambda c: c.reply(field(8, recorded.SerializeToString()))), MS, "--format", "ndjson")
    path = Path(c.stdout.split()[0])
    rows = [json.loads(line) for line in Path(c.stdout.split()[-1]).read_text().splitlines()]
    equal({row["thread"]: row["tid"] for row in rows if row.get("name") == "work"}, given, "the ids in ndjson")
    done = subprocess.run([PROFTAP, "report", "--json", path], check=True, capture_output=True, text=True)
    threads = {thread["name"]: thread["id"] for plane in json.loads(done.stdout)["planes"] for thread in plane["threads"]}
    equal(threads, given, "the ids in the report")
    text = subprocess.run([PROFTAP, "report", path], check=True, capture_output=True, text=True).stdout
    for name, number in given.items():
        contains(text, f"{name} ({number})", "the thread in the report's text")


@test
def the_doctor_recognises_a_stock_server(t):
    name = f"jax-{os.getpid()}"
    stock = StockProgram(t, name)
    found = findings(t, str(stock.port), code=0)
    expect(found, "target_server", "yes")
    contains(found["target_server"]["text"], f"127.0.0.1:{stock.port}: JAX profiler server of {name}", "the program")
    expect(found, "target_process", "yes")
    expect(found, "target_library", "none")
    equal(set(stock.calls), {"Monitor"}, "calls of the stock server")


run()
