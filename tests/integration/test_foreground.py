#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a program in the foreground of a terminal: the signals that end it do not reach its server."""
import os
import pty
import signal

from checks import SLOWNESS, wait_in_time
from fixture import equal, find_proftapd, is_alive, run, timed
from processes import PROFTAPD, TARGET, Process, Target

GONE_S = 2 * SLOWNESS


class Foreground(Target):
    """A target that leads a session with the terminal |self.terminal|."""

    def __init__(self):
        self.terminal, inside = pty.openpty()
        Process.__init__(self, "target", ["setsid", "--ctty", TARGET], {"PROFTAPD": str(PROFTAPD)},
                         stdin=inside)
        os.close(inside)
        equal(self.read_line(), "ready", "the target's first line")

    def send(self, *commands):
        os.write(self.terminal, "".join(f"{command}\n" for command in commands).encode())

    def hang_up(self):
        os.close(self.terminal)


def end_in_mid_capture(t, end, number):
    target = t.keep(Foreground()).serve()
    server = find_proftapd(target.pid)
    capture = t.record(target, 15000)
    target.ask("burst 100")
    end(target)
    equal(target.wait(), -number, "end of the target")
    capture.finish()
    capture.find_warning(f"pid {target.pid}", "ended")
    equal(capture.trace.count("burst"), 100, "spans")
    wait_in_time(lambda: not is_alive(server), "the server to end", GONE_S)


@timed
def ctrl_c_ends_the_program_and_not_the_recording(t):
    end_in_mid_capture(t, lambda target: os.write(target.terminal, b"\x03"), signal.SIGINT)


@timed
def a_hangup_ends_the_program_and_not_the_recording(t):
    end_in_mid_capture(t, Foreground.hang_up, signal.SIGHUP)


@timed
def a_signal_to_the_group_ends_the_program_and_not_the_recording(t):
    end_in_mid_capture(t, lambda target: os.killpg(target.pid, signal.SIGTERM), signal.SIGTERM)


run()
