#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the terminal's output during a capture: progress, then a countdown; Ctrl-C."""
import os
import re
import time

from checks import PATIENCE_S
from fake_server import FakeServer, field, space
from fake_stream import COLLECTING, Flood, chunk, progress, stream_server
from fixture import check, contains, equal, run, test
from terminal import CLEAR, Terminal

def never_answer(connection):
    pass


@test
def progress_counts_up_and_the_countdown_down(t):
    port = FakeServer(t, never_answer).port
    terminal = Terminal(t, port, 400, "--delay", 300, "--timeout", 2900)
    screen = terminal.finish()
    equal(terminal.code, 6, "exit status")
    lines = [line for line in screen.split(CLEAR) if line]
    phases = {"starts in": [], "recording": [], "gives up in": []}
    for line in lines[:-1]:
        contains(line, f"127.0.0.1:{port}: ", "a line of the progress")
        found = [words for words in phases if words in line]
        equal(len(found), 1, f"phases in {line!r}")
        phases[found[0]].append(float(re.search(found[0] + r" ([\d.]+)", line)[1]))
    check(all(phases.values()), f"phases: {phases}")
    for words in ("starts in", "gives up in"):
        equal(phases[words], sorted(phases[words], reverse=True), words)
    equal(phases["recording"], sorted(phases["recording"]), "recording")
    check(phases["recording"][-1] > 0, f"recording: {phases['recording']}")
    contains(screen, " / 0.4 s", "the total")
    check(max(phases["gives up in"]) <= 3 and min(phases["gives up in"]) == 0,
          f"the countdown: {phases['gives up in']}")
    # The line is cleared before the sentence.
    contains(lines[-1], "timed out: no whole answer within 2900 ms", "the last line")


@test
def received_bytes_are_shown_during_the_wait(t):
    def script(c):
        c.headers()
        c.data(b"\0\0\4\0\0" + bytes(100000))
        c.read_frame()  # a window update, at least, has come: the client took the data
        time.sleep(PATIENCE_S)
    terminal = Terminal(t, FakeServer(t, script).port, 1)
    terminal.read(r"waiting for the data: 1\d\d\.\d kB, gives up in (60|59|58) s")


@test
def a_streaming_server_says_how_much_there_is(t):
    def script(c):
        c.headers()
        c.message(progress(recorded_bytes=5 << 20))
        while len(seen) < 1:
            time.sleep(0.01)
        c.message(progress(COLLECTING))
        while len(seen) < 2:
            time.sleep(0.01)
        c.message(progress(COLLECTING, xspace_bytes=3 << 20))
        c.message(chunk(bytes(1 << 20)))
        time.sleep(PATIENCE_S)
    seen = []
    terminal = Terminal(t, stream_server(t, script).port, 2000)
    terminal.read(r"recording \d\.\d / 2\.0 s, 5\.2 MB\r")
    seen.append("recording")
    terminal.read(r"collecting…, gives up in")
    seen.append("collecting")
    terminal.read(r"waiting for the data: 1\.0 MB of 3\.1 MB, gives up in")


@test
def progress_of_large_traces_is_shown(t):
    flood = Flood(32 << 20)
    terminal = Terminal(t, stream_server(t, flood.script).port, 1)
    terminal.read(r"3\d\.\d MB are here, reading them back…")
    terminal.read(r"3\d\.\d MB are here, writing them to the disk…")
    screen = terminal.finish()
    equal(terminal.code, 0, "exit status")
    check(screen.rsplit(CLEAR, 1)[1].startswith("captured 1 ms of "), f"the screen: {screen!r}")


@test
def the_progress_is_erased_at_the_end(t):
    def script(c):
        time.sleep(0.5)  # several updates of the progress
        c.reply(field(8, space(3)))
    terminal = Terminal(t, FakeServer(t, script).port, 400)
    screen = terminal.finish()
    equal(terminal.code, 0, "exit status")
    before, after = screen.rsplit(CLEAR, 1)
    contains(before, "recording 0.", "the progress")
    check(after.startswith("captured 400 ms of "), f"after the progress: {after!r}")


@test
def ctrl_c_explains_a_second_ctrl_c(t):
    port = FakeServer(t, never_answer).port
    terminal = Terminal(t, port, 60000)
    terminal.read("recording 0")
    os.write(terminal.fd, b"\x03")
    terminal.read(r"ended early, waiting for the data: .* \(Ctrl-C again gives up\)")
    os.write(terminal.fd, b"\x03")
    screen = terminal.finish()
    equal(terminal.code, 130, "exit status")
    contains(screen, f"127.0.0.1:{port}: interrupted twice: nothing was written", "the sentence")


@test
def ctrl_c_before_its_time_writes_nothing(t):
    target = t.target().serve()
    terminal = Terminal(t, target.port, 200, "--delay", 60000)
    terminal.read("starts in")
    os.write(terminal.fd, b"\x03")
    screen = terminal.finish()
    equal(terminal.code, 130, "exit status")
    contains(screen, f"127.0.0.1:{target.port}: interrupted before anything was recorded: nothing was "
             "written", "the sentence")
    equal(t.record(target, 200, commands=("burst 10",)).finish().trace.count("burst"), 10,
          "spans of the next capture")


@test
def without_a_terminal_there_is_no_progress(t):
    def script(c):
        time.sleep(0.3)  # several turns of the progress
        c.reply(field(8, space(3)))
    capture = t.capture(FakeServer(t, script), 100)
    check(capture.stderr.startswith("captured 100 ms of "), f"standard error: {capture.stderr!r}")


run()
