#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap monitor: it prints a line for each interval, or changes one line in place on a
terminal, until Ctrl-C."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from fake_server import FakeServer, field
from fixture import check, contains, equal, free_port, run, test
from processes import PATIENCE_S, PROFTAP, Process
from terminal import run_on_terminal

CLEAR = "\r\x1b[K"


def call(*words, code=0):
    done = subprocess.run([PROFTAP, "monitor", *map(str, words)], capture_output=True, text=True,
                          timeout=60)
    equal(done.returncode, code, f"exit status of {words}; {done.stderr!r}")
    return done


@test
def each_interval_has_a_line_of_measurements(t):
    target = t.target().serve()
    monitor = t.keep(Process("monitor", [PROFTAP, "monitor", str(target.port), "500", "--count", "2"]))
    target.ask("await 2", "burst 50", "step 1 100", "spin 200")
    first, second = monitor.read_line(), monitor.read_line()
    equal(monitor.wait(), 0, "exit status")
    for line in (first, second):
        contains(line, f" (pid {target.pid}): CPU ", "a line")
        check(re.search(r"memory [\d.]+ MB", line), f"no memory in {line!r}")
        check(re.search(r"annotations \d+/s", line), f"no annotations in {line!r}")
    rates = [int(re.search(r"annotations (\d+)/s", line)[1]) for line in (first, second)]
    # A busy machine makes the intervals and the step longer.
    check(max(rates) >= 10, f"51 spans in one of them: {rates}")
    times = [float(n) for n in re.findall(r"steps [\d.]+/s of ([\d.]+) ms", first + second)]
    check(len(times) == 1 and times[0] >= 100, f"one step of 100 ms: {times}")


@test
def a_step_longer_than_the_interval_is_counted_once_and_so_is_each_counter(t):
    target = t.target().serve()
    monitor = t.keep(Process("monitor", [PROFTAP, "monitor", str(target.port), "500", "--count", "2", "--json"]))
    target.ask("await 2", "gauge 1 2 3 4 5", "step 1 1500")
    rows = [json.loads(monitor.read_line()) for _ in range(2)]
    equal(monitor.wait(), 0, "exit status")
    counts = {key: [round(row[key] * row["seconds"]) for row in rows]
              for key in ("steps_per_s", "annotations_per_s")}
    equal(counts, {"steps_per_s": [1, 0], "annotations_per_s": [6, 0]}, "begun steps and annotations")
    equal([row["step_ms_avg"] for row in rows], [None, None], "no step ended")
    contains(rows[0]["text"], "1 step began, and none has ended", "words")


@test
def json_objects_have_the_measured_numbers(t):
    target = t.target().serve()
    lines = call(target.port, 200, "--count", 2, "--json").stdout.splitlines()
    equal(len(lines), 2, "objects")
    for row in map(json.loads, lines):
        equal((row["target"], row["pid"]), (f"127.0.0.1:{target.port}", target.pid), "their owners")
        check(0.2 <= row["seconds"] < 2, f"measured for {row['seconds']} s")
        check(0 <= row["cpu_percent"] < 90, f"an idle program: {row['cpu_percent']}")
        check(row["resident_bytes"] > 10**5, f"memory: {row['resident_bytes']}")
        equal(type(row["resident_bytes"]), int, "memory's type")
        equal(row["resident_bytes"] % os.sysconf("SC_PAGE_SIZE"), 0, "memory, in whole pages")
        equal((row["annotations_per_s"], row["steps_per_s"], row["step_ms_avg"]), (0, 0, None), "rates")
        equal(row["processors"], len(os.sched_getaffinity(target.pid)), "processors")


@test
def an_interrupt_ends_the_monitor_with_success(t):
    target = t.target().serve()
    monitor = t.keep(Process("monitor", [PROFTAP, "monitor", str(target.port), "100"]))
    monitor.read_line()
    monitor.signal(signal.SIGINT)
    equal(monitor.wait(), 0, "exit status")
    for thread in monitor.threads:
        thread.join(PATIENCE_S)
    equal(monitor.err, [], "standard error")


@test
def on_a_terminal_one_line_changes_in_place(t):
    target = t.target().serve()
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        os.execv(PROFTAP, [str(PROFTAP), "monitor", str(target.port), "100"])
    data = b""
    deadline = time.monotonic() + PATIENCE_S
    while data.count(CLEAR.encode()) < 3 and time.monotonic() < deadline:
        if select.select([fd], [], [], 0.1)[0]:
            data += os.read(fd, 65536)
    # The last bytes may end within a character.
    screen = re.sub("\x1b\\[\\d+m", "", data.decode(errors="ignore"))
    os.write(fd, b"\x03")
    equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, "exit status")
    os.close(fd)
    check(screen.count(CLEAR) >= 3, f"the screen: {screen!r}")
    equal(screen.count("\n"), 0, "line breaks")
    check(all(len(line) < 60 for line in screen.split(CLEAR)), f"longer than the line: {screen!r}")
    # The target's line takes more than 60 columns.
    check(all(line.endswith("…") for line in screen.split(CLEAR)[1:-1]), f"cut without a mark: {screen!r}")


@test
def server_without_monitor_is_named(t):
    port = FakeServer(t, None, unknown=b"Monitor").port
    contains(call(port, code=1).stderr,
             f"127.0.0.1:{port}: this server has no Monitor (UNIMPLEMENTED), just as JAX's has none", "the sentence")
    call(free_port(), code=5)
    contains(call(port, 0, code=2).stderr, 'MS: bad value "0"', "an interval")


@test
def a_strangers_text_is_shown_as_it_is(t):
    server = FakeServer(t, lambda c: c.reply(field(1, b"TPU v9\nidle: \x1b[1m7 %\n")))
    equal(call(server.port, 50, "--count", 1).stdout, "TPU v9\nidle: ?[1m7 %\n", "the shown line")
    row = json.loads(call(server.port, 50, "--count", 1, "--json").stdout)
    equal((row["process"], row["pid"], row["cpu_percent"]), (None, 0, None), "unknown values")


@test
def a_terminal_shows_the_line_in_colors(t):
    target = t.target().serve()

    def monitor(**env):
        return run_on_terminal("monitor", str(target.port), "100", "--count", "1", columns=200, **env)

    line = monitor()
    contains(line, f"\x1b[1mtarget (pid {target.pid})\x1b[0m\x1b[2m: CPU \x1b[0m", "the line")
    contains(line, "\x1b[2m · memory \x1b[0m", "the line")
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        screen = monitor(**plain)
        contains(screen, f"target (pid {target.pid}): CPU ", "the line without colours")
        check("\x1b[" not in screen.replace(CLEAR, ""), f"colours with {plain}: {screen!r}")


@test
def a_step_without_an_end_is_yellow_on_a_terminal(t):
    text = b"Program: train (pid 7), measured for 1.0 s\nStep time: not known: 1 step began, and none has ended\n"
    server = FakeServer(t, lambda c: c.reply(field(1, text)))

    def monitor(columns):
        return run_on_terminal("monitor", str(server.port), "100", "--count", "1", columns=columns).strip()

    equal(monitor(200), CLEAR.strip() + "\x1b[1mtrain (pid 7)\x1b[0m\x1b[2m · steps \x1b[0m\x1b[33m1.0/s, none has ended\x1b[0m",
          "the line")
    equal(monitor(10), CLEAR.strip() + "\x1b[1mtrain (p…\x1b[0m", "a line that is cut in the name")
    equal(monitor(20), CLEAR.strip() + "\x1b[1mtrain (pid 7)\x1b[0m\x1b[2m · st…\x1b[0m", "a line that is cut in a label")


@test
def the_programs_end_is_reported(t):
    target = t.target().serve()
    monitor = t.keep(Process("monitor", [PROFTAP, "monitor", str(target.port), "100"]))
    monitor.read_line()
    target.kill()
    equal(monitor.wait(), 1, "exit status")
    for thread in monitor.threads:
        thread.join(PATIENCE_S)
    check(re.search(r"program|died", "".join(monitor.err)), f"the sentence: {monitor.err}")


run()
