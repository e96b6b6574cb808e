#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of the manuals, of README.md and of docs/guide.md, run as they are printed: in network and mount namespaces of this test's own, where
port 9999 is free and no other program is in the list. Each block is in the table BLOCKS: a block that is new, or no longer there, is a failure."""
import ctypes
import fcntl
import json
import os
import re
import shlex
import signal
import socket
import struct
import subprocess

from checks import Skip, check, contains, equal, wait_until
from fixture import SANITIZERS, run, test
from processes import LIBRARY, PROFTAP, PROFTAPD, TOP_BUILD, TOP_SRC, Process, is_alive
from trace_file import Trace, find_traces

MANUALS = TOP_SRC / "docs" / "man"
MARKDOWN = (TOP_SRC / "README.md", TOP_SRC / "docs" / "guide.md")
ESCAPES = {"\\(dq": '"', "\\(aq": "'", "\\-": "-", "\\e": "\\", "\\(+-": "±", "\\&": "", "\\fR": "", "\\fP": ""}
CLONE_NEWNS, CLONE_NEWNET, MS_REC, MS_PRIVATE = 0x20000, 0x40000000, 0x4000, 1 << 18

# --- the blocks -------------------------------------------------------------------------------


def plain(line):
    for escape, text in ESCAPES.items():
        line = line.replace(escape, text)
    return line


def blocks_of_manual(path):
    """Yields each literal display (.Bd -literal, .nf, .EX) and each one-line display (.Dl)."""
    block = None
    for line in path.read_text().splitlines():
        if re.match(r"\.(Bd -literal|nf|EX)", line):
            block = []
        elif re.match(r"\.(Ed|fi|EE)", line) and block is not None:
            yield "\n".join(block)
            block = None
        elif block is not None:
            block.append(plain(line))
        elif line.startswith(".Dl "):
            text = plain(line[4:])
            yield text[1:-1] if text[0] == '"' and text[-1] == '"' else text


def blocks_of_markdown(path):
    return re.findall(r"^```\w*\n(.*?)\n```$", path.read_text(), re.M | re.S)


def all_blocks():
    """Returns [(document, block)] for the manuals and the Markdown files."""
    found = [(path.name, block) for path in sorted(MANUALS.glob("proftap*.[1-8]")) for block in blocks_of_manual(path)]
    return found + [(path.name, block) for path in MARKDOWN for block in blocks_of_markdown(path)]


# --- where they run ---------------------------------------------------------------------------


def isolate():
    """Moves this process into namespaces of its own. Returns None, or why it cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0 or libc.unshare(CLONE_NEWNET | CLONE_NEWNS):
        return "needs root and namespaces"
    libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    if libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, None):
        return "needs a mount namespace"
    with socket.socket() as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1 | 0x40))  # SIOCSIFFLAGS: up and running
    return None


why_not = isolate()

# A service: a loader with steps, requests and decodes, and a thread that waits in two spans; with "errors" its decodes fail.
SERVICE = r"""
#include <proftap/proftap.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static int has_flows, has_errors;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
	ptap_thread_name("worker-3");
	PTAP_SPAN_ARGS("serve", PTAP_I("id", 77), PTAP_S("path", "/v1/pay"));
	PTAP_SPAN_ARGS("lock", PTAP_I("n", 64));
	pthread_mutex_lock(&lock);
	return unused;
}
static void *load(void *unused)
{
	ptap_thread_name("loader");
	for (int i = 0;; i++) {
		PTAP_STEP("train", i);
		PTAP_SPAN_ARGS("request", PTAP_I("size", i % 3));
		PTAP_COUNTER("queue", i % 10);
		if (has_flows)
			PTAP_FLOW_OUT("hand", (unsigned)i);
		PTAP_SPAN("decode");
		if (has_flows)
			PTAP_FLOW_IN("hand", (unsigned)i);
		if (has_errors) {
			PTAP_SPAN("error");
		}
		usleep(i % 50 ? 1000 : 5000);
	}
	return unused;
}
int main(int argc, char **argv)
{
	struct ptap_server_options o = PTAP_SERVER_OPTIONS_INIT;
	pthread_t thread;
	o.port = 9999;
	o.recorder = argc > 1 && !strcmp(argv[1], "recorder");
	has_flows = argc > 1 && !strcmp(argv[1], "flows");
	has_errors = argc > 1 && !strcmp(argv[1], "errors");
	if (ptap_server_start_with(&o))
		return 1;
	pthread_mutex_lock(&lock);
	while (o.recorder && !ptap_enabled(1))
		usleep(1000);
	pthread_create(&thread, 0, load, 0);
	if (o.recorder)
		pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	return 0;
}
"""


class Place:
    """A directory in which commands run, with what they need."""

    def __init__(self, t):
        if why_not:
            raise Skip(why_not)
        if SANITIZERS != "no":
            raise Skip("the examples' programs are built without sanitizers, and the library with them")
        self.t, self.dir = t, t.dir / "work"
        tools = t.dir / "bin"
        for path in (tools, self.dir, t.dir / "runtime"):
            path.mkdir(mode=0o700)
        (tools / "proftap").symlink_to(PROFTAP)
        (tools / "python").symlink_to("/usr/bin/python3")
        # Tools that are not installed everywhere: the fakes read their input.
        (tools / "flamegraph.pl").write_text("#!/bin/sh\necho '<svg>'; wc -l\n")
        (tools / "flamegraph.pl").chmod(0o755)
        (self.dir / "build").symlink_to(TOP_BUILD)
        self.env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PROFTAPD": str(PROFTAPD),
                    "LD_LIBRARY_PATH": str(LIBRARY.parent), "XDG_RUNTIME_DIR": str(t.dir / "runtime")}

    def build(self, source, name):
        path = self.dir / f"{name}.c"
        path.write_text(source)
        subprocess.run([*os.environ.get("CC", "cc").split(), "-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{TOP_SRC}/lib/include",
                        path, "-o", self.dir / name, LIBRARY, "-pthread"], check=True)
        return self.dir / name

    def start(self, *words):
        """Starts a program in the background, whose servers end with it."""
        process = self.t.keep(Process(str(words[0]), ["sh", "-c", 'cd "$0" && exec "$@"', self.dir, *words], self.env))
        return process

    def serve(self, *words, name="train"):
        """Starts the service under that name, and returns when it is listed."""
        process = self.start(self.build(SERVICE, name), *words)
        self.await_server()
        self.t.at_end.append(lambda: self.end(process))
        return process

    def end(self, process):
        subprocess.run(["proftap", "stop", "9999", "--discard"], env=self.env, capture_output=True, check=False)
        process.kill()
        self.await_free(9999)

    def await_port(self, port):
        def is_open():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        wait_until(is_open, f"port {port} to serve")

    def await_server(self):
        """A server's port is open before the server is listed."""
        listed = []

        def is_listed():
            listed[:] = [self.shell("proftap list")]
            return ":9999" in listed[0]
        wait_until(is_listed, lambda: f"the server to be listed, not {listed}")

    def await_spans(self):
        """Waits until the loader has been recorded for a while, so that the recorder holds ended spans."""
        for _ in range(2):
            wait_until(lambda: re.search("decode|load batch", self.shell("proftap ps 9999")), "a span to be recorded")

    def await_free(self, port):
        def is_free():
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                return s.connect_ex(("127.0.0.1", port)) != 0
        wait_until(is_free, f"port {port} to be free")

    def shell(self, command, codes=(0,)):
        """Returns the output of the command, including standard error."""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.dir, env=self.env, text=True, timeout=90,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check(done.returncode in codes, f"{command}: exit {done.returncode}: {done.stdout}")
        return done.stdout

    def traces(self):
        return [Trace(path) for path in find_traces(self.dir / "logs")]


def commands(block):
    """Returns the block's commands: the lines with a prompt, or all lines if none has a prompt."""
    lines = block.splitlines()
    return [line[2:] for line in lines if line.startswith("$ ")] or lines


def normal(text):
    """The part of an output that does not depend on time and place."""
    text = re.sub(r"\d\d:\d\d:[\d.]+|\d{4}(_\d\d){5}|\d[\d,.]*( [nmu]?s\b)?", "N", re.sub(r" +", " ", text))
    text = text.replace("· CPU samples N ", "")  # a program that sleeps has none
    return re.sub(r"\b[kMG]?B\b", "B", re.sub(r"\b(thread)s?\b", r"\1", text.replace(socket.gethostname(), "nodeN")))


def check_printed(block, printed):
    """Checks that the block's lines without a prompt were printed in this order, apart from numbers."""
    rest = [normal(line) for line in printed.splitlines()]
    for line in block.splitlines():
        if line.startswith("$ "):
            continue
        check(normal(line) in rest, f"{line!r} was not printed, from here on: {rest}")
        rest = rest[rest.index(normal(line)) + 1:]


def strip(command):
    """Returns the command without the comment after it."""
    return command.partition("  #")[0].rstrip()


# --- how each is run --------------------------------------------------------------------------


def records(place, block):
    """Runs the commands while a program serves. All succeed, and together they leave traces."""
    place.serve()
    for command in commands(block):
        place.shell(command)
    check(place.traces() and all(trace.count("decode") for trace in place.traces()), "no trace with what the program did")


def reads(place, block):
    """Runs the commands after a capture."""
    place.serve()
    place.shell("proftap capture 9999 1500 --log_dir logs")
    for command in commands(block):
        check(place.shell(command).strip(), f"{command} printed nothing")


def reads_files(place, block):
    """Like reads(), but the block makes one file."""
    place.serve()
    place.shell("proftap capture 9999 500 --log_dir logs")
    before = set(place.dir.rglob("*"))
    place.shell(block)
    made = [path for path in set(place.dir.rglob("*")) - before if path.stat().st_size]
    equal(len(made), 1, f"files that {block} made")


def reads_samples(place, block):
    """Like reads(), after a capture with CPU samples. The block prints lines, or writes them into an .svg."""
    place.serve()
    place.shell("proftap capture 9999 1500 -o ptap_sample_hz=4999 --log_dir logs")
    if not json.loads(place.shell("proftap report --json logs"))["cpu_samples"]["samples"]:
        raise Skip("no CPU samples here; tests/integration/test_samples.py tests the reasons")
    printed = place.shell(block) + "".join(path.read_text() for path in place.dir.glob("*.svg"))
    check(re.search(r"^ *[1-9]\d*\b", printed, re.M), f"{block} found nothing: {printed!r}")


def prints(place, block):
    place.serve()
    check_printed(block, place.shell(commands(block)[0]))


def has_open_spans(place, block):
    place.serve("recorder", name="checkout")
    wait_until(lambda: re.search(r"worker-3 .* waiting in futex.*\n.*serve.*\n.*lock", place.shell("proftap ps checkout")), "the worker to wait")
    printed = place.shell(commands(block)[0])
    # The program also has a thread "loader", so the line "no open span" may differ.
    check_printed("\n".join(line for line in block.splitlines() if not line.startswith("no open")), printed)


def examines(place, block):
    process = place.serve()
    for command in commands(block):
        printed = place.shell(command.replace("4242", str(process.pid)), codes=(0, 1))
        check(printed.strip() or "jq" in command, f"{command} printed nothing")


def compares(place, block):
    """Makes the two runs that the example names, and also directories and files of the other names."""
    place.serve()
    for name in ("yesterday", "today"):
        place.shell(f"proftap capture 9999 500 --log_dir logs --run {name}")
    for name in ("main", "branch"):
        place.shell(f"mkdir {name} && cp logs/plugins/profile/yesterday/*.pb {name}/ && cp {name}/*.pb {name}.xplane.pb")
    for command in commands(block):
        contains(place.shell(command), "decode" if "yesterday" in command else "no difference", command)


def counts_errors(place, block):
    """The comparison passes while neither trace has an error, and fails with the first errors."""
    command, = commands(block)
    process = place.serve()
    place.shell("proftap capture 9999 500 --log_dir logs --run plain")
    place.shell("mkdir main branch && cp logs/plugins/profile/plain/*.pb main/ && cp main/*.pb branch/")
    contains(place.shell(command), 'count of "error": no trace has "error" (the nearest name is "train"): passed\n', command)
    place.end(process)
    place.serve("errors")
    place.shell("proftap capture 9999 500 --log_dir logs --run failing")
    place.shell("cp logs/plugins/profile/failing/*.pb branch/")
    path, = (place.dir / "branch").iterdir()
    n = Trace(path).count("error")
    check(n, "no error was recorded")
    contains(place.shell(command, codes=(1,)), f'count of "error": 0 before, {n:,} after: new; the limit is +0 %\n', command)


def runs_a_program(place, block):
    (place.dir / "Makefile").write_text("all:\n\t@sleep 0.3\n")
    (place.dir / "train.py").write_text("import time\ntime.sleep(0.5)\n")
    for command in commands(block):
        place.shell(command)
    check(place.traces(), "no trace")


def follows_a_server(place, block):
    """The first line starts a server in the background, and the second line calls it."""
    place.build(SERVICE, "server")
    first, second = commands(block)
    background = place.start(*shlex.split(first.removesuffix(" &")))
    place.t.at_end.append(lambda: place.end(background))
    place.await_server()
    if "--recorder" in first:
        place.await_spans()
    place.shell(second)
    check(any(trace.count("decode") for trace in place.traces()), "no trace with what the program did")


def is_two_terminals(place, block):
    first, second = block.splitlines()
    background = place.start(*shlex.split(first))
    place.t.at_end.append(lambda: place.end(background))
    place.await_port(9999)
    place.shell(second)
    check(place.traces()[0].count("compress"), "no span of the pipeline")


def runs_once(place, block):
    for command in commands(block):
        place.shell(command)
    check(place.traces()[0].count("compress"), "no span of the pipeline")


def holds_a_session(place, block):
    """Runs the commands. Those that would go on until somebody ends them are ended."""
    place.serve()
    for command in commands(block):
        if command.startswith("proftap monitor"):
            place.shell(f"{command} --count 1")
        elif command.startswith("proftap ps"):
            place.shell("proftap start 9999 --recorder && " + command)
        else:
            place.shell(command)
    check(len(place.traces()) == 2, f"{len(place.traces())} traces")


def asks_a_session(place, block):
    """Runs the commands beside a session; beside a recorder, if they ask for the last milliseconds."""
    process = place.serve(*["recorder"] * ("--last" in block or "4242" in block))
    if not block.startswith("proftap start"):
        place.shell("proftap start 9999" + " || true" * ("--last" in block))
    if not block.startswith("proftap start"):
        place.await_spans()
    place.shell(block.replace("4242", str(process.pid)))
    equal(len(place.traces()), 0 if "proftap start" in block else 1, "traces")


def reads_pprof(place, block):
    """go's tool reads the file that the line before this block writes."""
    if not place.shell("command -v go || true"):
        raise Skip("no go here")
    place.serve()
    place.shell("proftap capture 9999 1500 --log_dir logs && proftap convert -o trace.pprof logs")
    contains(place.shell(block), "decode", "go tool pprof")


def declares(place, block):
    """The prototypes agree with the header: a compiler accepts both."""
    prototypes = re.findall(r"^(?!#|PTAP_|\s)[^;]*;", block, re.M)
    check(prototypes, "no prototypes")
    place.build(block.splitlines()[0] + "\n" + "\n".join(prototypes) + "\nint main(void)\n{\n\treturn 0;\n}\n", "declares")


def draws_a_link(place, block):
    """The commands print a link for each trace that view serves; nothing fetches it here."""
    place.serve()
    place.shell("proftap capture 9999 1500 --log_dir logs")
    for command in commands(block):
        if "--xprof" in command:
            continue  # xprof is not installed here; tests/interop/test_view.py
        viewer = place.start("sh", "-c", "exec " + strip(command) + " 2>&1")
        while "http" not in viewer.read_line():
            pass  # read_line() fails if there is no link
        viewer.kill()


def captures_for_gpus(place, block):
    """Runs the commands on a machine without a GPU, where all of them work, too."""
    (place.dir / "train.py").write_text("import time\ntime.sleep(0.5)\n")
    for command in commands(block):
        if " run " in command:
            place.shell(command)
    place.serve()
    for command in commands(block):
        if " run " not in command:
            place.shell(command, codes=(0, 1) if "doctor" in command else (0,))
    equal(len(place.traces()), 6, "traces")


def converts(place, block):
    place.serve()
    place.shell("proftap capture 9999 500 --log_dir logs")
    for command in commands(block):
        place.shell(command)
    run = place.dir / "logs/plugins/profile"
    found = {path.suffix for path in [*run.rglob("*"), *place.dir.glob("trace.*")]}
    check({".pftrace", ".json", ".sqlite", ".csv", ".svg"} <= found, f"files: {found}")


def sees_it(place, block):
    """Runs the report. draws_a_link() tests the command that waits for a browser."""
    place.serve()
    place.shell("proftap capture 9999 500 --log_dir logs")
    contains(place.shell(commands(block)[0]), "decode", "the report")


def asks_a_host_daemon(place, block):
    place.serve()
    daemon = place.start(TOP_BUILD / "daemon" / "proftapd", "--host", "--config", "/dev/null", "--stock_servers", "no")
    place.await_port(9021)
    wait_until(lambda: "train" in place.shell("proftap list localhost"), "the program to be listed")
    for command in commands(block):
        contains(place.shell(f"cd logs 2>/dev/null || mkdir -p logs && cd logs; {command}"), "train", command)
    check(is_alive(daemon.pid), "the daemon ended")


def asks_the_page(place, block):
    place.start(*shlex.split(commands(block)[0].partition("#")[0]))
    place.await_port(9022)
    contains(place.shell("curl -sS http://localhost:9022/"), "<!DOCTYPE html>", "the page")


def queries(place, block):
    """The query finds something."""
    if place.shell("command -v sqlite3 || true") == "":
        raise Skip("no sqlite3 here")
    if not (place.dir / "trace.sqlite").exists():
        place.serve("flows")
        place.shell("proftap capture 9999 500 --log_dir logs && proftap convert -o trace.sqlite logs")
    rows = place.shell("sqlite3 -header trace.sqlite " + shlex.quote(block)).splitlines()
    # Nothing was lost, so the table "loss" is empty.
    check(len(rows) > 1 or "FROM loss" in block, f"the query found nothing: {rows}")


def trains(place, block):
    """Runs the block as a program, whose spans are then in a capture."""
    program = place.start(place.build(block, "train"))
    place.t.at_end.append(lambda: place.end(program))
    place.await_port(9999)
    place.shell("proftap capture 9999 300 --log_dir logs")
    trace = place.traces()[0]
    check(trace.count("load batch") > 10 and trace.count("train") > 10, f"spans {[line.count() for line in trace.threads]}")


def traces_itself(place, block):
    place.shell(str(place.build(block, "train")))
    equal(place.traces()[0].count("train"), 100, "steps")


def tells_of_a_slow_request(place, block):
    program = place.start(place.build(block, "train"))
    place.t.at_end.append(lambda: place.end(program))
    wait_until(place.traces, "the run")
    trace = place.traces()[0]
    equal(trace.environment["ptap_reason"].value, "a slow request", "the reason")
    check(trace.count("request") > 900, f"{trace.count('request')} requests")


def records_what_came_before(place, block):
    """./train is the program of README.md. The last command is for a running program without a recorder."""
    place.build(find_block("README.md", "PTAP_SPAN_ARGS"), "train")
    first, second, third = [line.partition("#")[0].strip() for line in commands(block)]
    background = place.start(*shlex.split(first.removesuffix(" &")))
    place.await_port(9999)
    wait_until(lambda: "recorder" in place.shell("proftap list"), "the recorder")
    place.await_spans()
    place.shell(second)
    check(place.traces()[0].count("load batch"), "no span")
    place.end(background)
    place.serve()
    place.shell(third)


def watches(place, block):
    first, second = commands(block)
    place.build(SERVICE, "train")
    words = shlex.split(first.removesuffix(" &"))
    settings = [word for word in words if re.match(r"PROFTAP_\w+=", word)]
    background = place.start("env", *settings, *words[len(settings):])
    place.await_port(9999)
    wait_until(lambda: "recorder" in place.shell("proftap list"), "the recorder")
    place.end(background)
    # The log directory is that of the server's environment, whichever client calls.
    background = place.start("env", "PROFTAP_LOG_DIR=logs", "proftap", "run", "-p", "9999", "--", "./train")
    place.t.at_end.append(lambda: place.end(background))
    place.await_server()
    contains(place.shell(second), "recorder", "the start")


def outlives_the_program(place, block):
    process = place.serve("recorder")
    place.await_spans()
    pid = process.pid
    process.signal(signal.SIGSEGV)
    process.wait()
    wait_until(lambda: "ended" in place.shell("proftap list"), "the ended program to be listed")
    lines = [line.partition("#")[0] for line in commands(block)]
    contains(place.shell(lines[0]), "ended", "the list")
    contains(place.shell(lines[1].replace("4242", str(pid))), "SIGSEGV", "the snapshot")


# --- the table --------------------------------------------------------------------------------

# (document, words that only this block of the document has, how the block is run or why it is not).
BLOCKS = (
    ("proftap-capture.1", "ssh -N -L", "another machine; tests/integration/test_ssh.py"),
    ("proftap-capture.1", "$ proftap capture 9999 500", prints),
    ("proftap-capture.1", "node1:9999", "another machine; tests/integration/test_many.py"),
    ("proftap-capture.1", "node[01-16]", "other machines; tests/integration/test_many.py, test_ssh.py"),
    ("proftap-collector.3", "const struct ptap_collector *ptap_collector_get(uint32_t abi);", declares),
    ("proftap-collector.3", "static int probe", "tests/integration/test_collectors.py the_manuals_example_works"),
    ("proftap-convert.1", "-t chrome", reads_files),
    ("proftap-convert.1", "trace.svg", reads_files),
    ("proftap-convert.1", "cpu.svg", reads_samples),
    ("proftap-convert.1", "select(.cpu)", reads_samples),
    ("proftap-convert.1", "-o trace.pprof", reads_files),
    ("proftap-convert.1", "go tool pprof", reads_pprof),
    ("proftap-convert.1", "select(.duration_ns)", reads),
    ("proftap-diff.1", "yesterday", compares),
    ("proftap-diff.1", "--thread", compares),
    ("proftap-diff.1", "p99:decode", compares),
    ("proftap-diff.1", "count:error", counts_errors),
    ("proftap-doctor.1", "proftap doctor\n", examines),
    ("proftap-doctor.1", "doctor 4242", examines),
    ("proftap-doctor.1", "doctor --json", examines),
    ("proftap-errors.7", "options nvidia", "a line for the driver of a GPU"),
    ("proftap-flame.1", "proftap capture 9999 2000", reads),
    ("proftap-flame.1", "-o flame.html", reads_files),
    ("proftap-ps.1", "proftap ps checkout", has_open_spans),
    ("proftap-report.1", "slow steps, requests and async spans", "an output; tests/integration/test_report_slow.py asserts its form"),
    ("proftap-report.1", "flow `answer` into `wait`", "an output; tests/integration/test_report_slow.py asserts its form"),
    ("proftap-report.1", "blocked in read", "an output; tests/integration/test_report.py asserts its form"),
    ("proftap-report.1", "proftap report logs", reads),
    ("proftap-report.1", "--sort p99", reads),
    ("proftap-report.1", "--slow 2", reads),
    ("proftap-run.1", "-- make", runs_a_program),
    ("proftap-run.1", "-p 9999 -- ./server", follows_a_server),
    ("proftap-run.1", "--recorder -- ./server", follows_a_server),
    ("proftap-snapshot.1", "snapshot train --last", asks_a_session),
    ("proftap-snapshot.1", "snapshot 4242", asks_a_session),
    *(("proftap-sqlite.7", text, queries) for text in (
        "FROM items WHERE duration_ns IS NOT NULL GROUP BY name ORDER BY ms DESC;", "WITH inside AS", "ORDER BY duration_ns DESC LIMIT 10;",
        "WITH ranked AS", "WITH slow AS", "AS percent", "AS idle_since_ns FROM events", "FROM arrows", "FROM counters JOIN names",
        "FROM args JOIN keys", "FROM loss JOIN hosts")),
    ("proftap-sqlite.7", "-o trace.sqlite", reads_files),
    ("proftap-sqlite.7", "sqlite3 -box", "an interactive program; the queries above run in it"),
    ("proftap-start.1", "proftap start 9999\n", asks_a_session),
    ("proftap-start.1", "snapshot 9999 --log_dir", asks_a_session),
    ("proftap-start.1", "proftap stop 9999", asks_a_session),
    ("proftap-start.1", "start 9999 --recorder", asks_a_session),
    ("proftap-start.1", "snapshot 9999 --last", asks_a_session),
    ("proftap-view.1", "trace_processor server", "trace_processor is not installed here; tests/interop/test_perfetto.py"),
    ("proftap-view.1", "the newest run", draws_a_link),
    ("proftap.h.3", "int ptap_server_start(uint16_t port);", declares),
    ("proftap.h.3", "static void load_batch", trains),
    ("proftap.hpp.3", "namespace ptap", "an outline of classes; tests/compile/use.cc uses each"),
    ("proftapd.8", "audit: Capture", "a line of a log; tests/integration/test_host_audit.py asserts its form"),
    ("proftapd.8", "journalctl", "systemd; tests/systemd"),
    ("proftapd.8", "systemd-sysusers", "systemd; tests/systemd"),
    ("README.md", "make demo", "it builds all anew; the CI runs it"),
    ("README.md", "PTAP_SPAN_ARGS", trains),
    ("README.md", "one ring per thread", "a picture"),
    ("guide.md", "pipeline --port 9999", is_two_terminals),
    ("guide.md", "pipeline --seconds 2", runs_once),
    ("guide.md", "proftap report logs", sees_it),
    ("guide.md", "-t speedscope", converts),
    ("guide.md", "make install", "tests/install/test_install.py"),
    ("guide.md", "FetchContent_Declare", "tests/install/test_build_systems.py"),
    ("guide.md", "ptap_trace_start", traces_itself),
    ("guide.md", "proftap monitor", holds_a_session),
    ("guide.md", "the README's program", records_what_came_before),
    ("guide.md", "ptap_trigger_span=decode", watches),
    ("guide.md", "ptap_snapshot(", tells_of_a_slow_request),
    ("guide.md", "state: ended", outlives_the_program),
    ("guide.md", "node[01-16]", "other machines; tests/integration/test_many.py, test_ssh.py"),
    ("guide.md", "proftap list localhost", asks_a_host_daemon),
    ("guide.md", "systemctl enable", "systemd; tests/systemd"),
    ("guide.md", "proftapd --host --log_dir logs", asks_the_page),
    ("guide.md", "no option is needed", captures_for_gpus),
    ("guide.md", "proftap doctor train", examines),
)


def find_block(document, text):
    found = [block for name, block in all_blocks() if name == document and text in block + "\n"]
    equal(len(found), 1, f"blocks of {document} with {text!r}")
    return found[0]


@test
def each_example_is_in_the_table(t):
    known = [(document, find_block(document, text)) for document, text, _ in BLOCKS]
    equal([block for block in all_blocks() if block not in known], [], "examples that nobody runs, without a reason")


def add_test(document, text, how):
    def body(t):
        how(Place(t), find_block(document, text))
    body.__name__ = re.sub(r"\W+", "_", f"{document} {text}").strip("_").lower()
    test(body)


for row in BLOCKS:
    if callable(row[2]):
        add_test(*row)

run()
