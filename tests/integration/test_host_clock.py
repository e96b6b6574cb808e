#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a host daemon while somebody sets the machine's clock forward or back by an hour: nothing ends or
hangs, and no time is wrong."""
import os
import signal
import socket
import time

from calls import PROFILER, Calls, profile_request
from checks import in_time
from faked_clock import open_clock
from fixture import SESSION, check, equal, find_proftapd, run, test, timed, wait_until
from host_faults import count_errands
from hosts import Host, registry_path, start_target
from processes import Target, is_recording
from profiler import WAITING, Profiler
from web_api import Api

HOUR_S = 3600
STEPS = (HOUR_S, -HOUR_S)
LONG_MS = 60000
# The time from the request to the agreed start.
DELAY_MS = 2000


class Machine:
    """A daemon, a program and a client that share one clock."""

    def __init__(self, t, *options):
        self.case = t
        self.clock = open_clock(t)
        self.api = Api(t, *options, prefix=self.clock.prefix)
        self.host = self.api.host
        self.target = self.api.target(**self.clock.env)

    def start_capture(self, ms, *options, target=None):
        target = target or self.target
        return self.case.start_capture(f"127.0.0.1:{self.host.port}", ms, "--target", target.pid, *options,
                                       prefix=self.clock.prefix)

    def record(self):
        """Makes an ordinary capture."""
        begun = self.start_capture(LONG_MS, "-o", f"session_id={SESSION}")
        self.target.ask("await 1", "burst 7")
        equal(self.case.stop(self.target, begun).trace.count("burst"), 7, "spans of an ordinary capture")


@test
def a_running_capture_survives_clock_steps(t):
    machine = Machine(t)
    for step in STEPS:
        machine.clock.set(0)
        begun = machine.start_capture(LONG_MS, "-o", f"session_id={SESSION}")
        machine.target.ask("await 1", "burst 3")
        machine.clock.set(step)
        machine.target.ask("burst 4")
        trace = t.stop(machine.target, begun).trace
        equal(trace.count("burst"), 7, f"spans on both sides of {step} s")
        check(0 < trace.duration_ms < LONG_MS, f"{step} s: its duration: {trace.duration_ms} ms")
        check("/host:CPU machine" in trace.planes, f"{step} s: the machine's counters: {sorted(trace.planes)}")
        machine.record()


@test
def a_capture_lasts_for_its_duration_despite_clock_steps(t):
    machine = Machine(t)
    for step in STEPS:
        machine.clock.set(0)
        begun = machine.start_capture(1000)
        machine.target.ask("await 1")
        machine.clock.set(step)
        begun.finish()
        check(1000 <= begun.trace.duration_ms < LONG_MS, f"{step} s: its duration: {begun.trace.duration_ms} ms")


@test
def a_delayed_capture_begins_despite_clock_steps(t):
    """The capture begins DELAY_MS after its request, by the clock as it was at the request."""
    machine = Machine(t)
    for step in STEPS:
        machine.clock.set(0)
        with Profiler(machine.host.port) as profiler:
            asked = time.monotonic()
            stream = profiler.capture(50, start_timestamp_ns=time.time_ns() + DELAY_MS * 10**6)
            equal(profiler.await_phase(stream, WAITING)[-1].progress.phase, WAITING, "its state")
            machine.clock.set(step)
            trace = profiler.deliver(stream).trace
            took_s = time.monotonic() - asked
            check(took_s > DELAY_MS / 1000, f"{step} s: it took {took_s} s")
            late_ns = trace.environment["ptap_start_late_ns"].value
            check(trace.duration_ms < LONG_MS and late_ns < LONG_MS * 10**6, f"{step} s: {trace.duration_ms} ms, {late_ns} ns late")


@timed
def deadlines_pass_despite_clock_steps(t):
    """The program's server does not answer, and the client's deadline passes neither at once nor an hour later."""
    machine = Machine(t)
    server = find_proftapd(machine.target.pid)
    for step in STEPS:
        machine.clock.set(0)
        machine.record()
        os.kill(server, signal.SIGSTOP)
        try:
            begun = machine.start_capture(50, "--timeout", 3000)
            wait_until(lambda: count_errands(machine.host.pid) == 1, "the call to be passed on")
            machine.clock.set(step)
            begun.finish(6)
            check(begun.elapsed_s > 3, f"{step} s: timed out after {begun.elapsed_s} s")
            in_time(begun.elapsed_s, 10, f"{step} s: the client's end")
        finally:
            os.kill(server, signal.SIGCONT)
        wait_until(lambda: count_errands(machine.host.pid) == 0, "the daemon to have given the call up")


@timed
def deadlines_pass_at_a_programs_own_server(t):
    """The server is silent, and gRPC's own timers would sleep for an hour."""
    clock = open_clock(t)
    target = t.keep(Target(clock.env)).serve()
    server = find_proftapd(target.pid)
    for step in STEPS:
        clock.set(0)
        begun = t.start_capture(target, LONG_MS, "--timeout", 3000, prefix=clock.prefix)
        target.ask("await 1")
        os.kill(server, signal.SIGSTOP)
        try:
            clock.set(step)
            begun.finish(6)
            check(begun.elapsed_s > 3, f"{step} s: timed out after {begun.elapsed_s} s")
            in_time(begun.elapsed_s, 10, f"{step} s: the client's end")
        finally:
            os.kill(server, signal.SIGCONT)
        wait_until(lambda: not is_recording(target.pid), "the server to have given the capture up")


@test
def clients_that_go_away_are_noticed(t):
    machine = Machine(t)
    for step in STEPS:
        machine.clock.set(0)
        with Calls(machine.host) as calls:
            calls.start(PROFILER + "Profile", profile_request(LONG_MS))
            machine.target.ask("await 1")
            machine.clock.set(step)
        wait_until(lambda: machine.host.list()[machine.target.pid]["state"] == "idle", f"{step} s: the program to be free")


@test
def the_stop_limit_holds_despite_clock_steps(t):
    """The daemon gives running captures the time that it promised, and no more."""
    clock = open_clock(t)
    for step in STEPS:
        clock.set(0)
        host = Host(t, "--stop_limit_s", 2, prefix=clock.prefix)
        target = start_target(t, **clock.env)
        host.await_pids(target.pid)
        begun = t.start_capture(f"127.0.0.1:{host.port}", LONG_MS, prefix=clock.prefix)
        target.ask("await 1")
        host.signal(signal.SIGTERM)
        wait_until(lambda: any("are under way, and have 2 s" in line for line in host.err), "the daemon to log its captures and stop_limit_s")
        clock.set(step)
        equal(host.wait(), 0, f"{step} s: its exit status")
        begun.finish(1)
        target.kill()


@test
def a_silent_client_is_disconnected_despite_clock_steps(t):
    machine = Machine(t)
    for step in STEPS:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
            silent.settimeout(20)
            silent.connect(str(registry_path(t)))
            machine.clock.set(step)
            equal(silent.recv(1), b"", f"{step} s: answer to the silent client")


def apart(times):
    return [later - earlier for earlier, later in zip(times, times[1:])]


@test
def samples_are_sent_again_after_a_clock_step(t):
    """Samples from before the step are sent again with times of the new clock, after an event "reset"."""
    machine = Machine(t)
    events = machine.api.events("?topics=usage")
    events.wait("usage", lambda data: data["n"] >= 2)
    for step in STEPS:
        n_reset = len(events.of("reset"))
        machine.clock.set(step)
        wait_until(lambda n=n_reset: len(events.of("reset")) > n, f"{step} s: a reset")
        last = events.of("usage")[-1]["n"]
        events.wait("usage", lambda data, last=last: data["n"] > last + 1)
        usage = machine.api.get("usage?groups=cpu")
        check(all(500 < ms < 20000 for ms in apart(usage["at_unix_ms"])), f"{step} s: times: {usage['at_unix_ms']}")
        now = machine.api.get("session")["now_unix_ms"]
        check(abs(now - usage["at_unix_ms"][-1]) < 20000, f"{step} s: the last of them, and now: {usage['at_unix_ms'][-1]}, {now}")
        numbers = [data["n"] for data in events.of("usage")]
        equal(numbers, list(range(numbers[0], numbers[-1] + 1)), f"{step} s: numbers of samples")


@test
def reconnected_client_hears_of_the_clock_step(t):
    machine = Machine(t)
    events = machine.api.events("?topics=usage")
    events.wait("usage")
    last = events.events[-1][1]
    events.close()
    machine.clock.set(HOUR_S)
    now = machine.api.events("?topics=usage")
    wait_until(lambda: now.of("reset") or len(now.of("usage")) > 2, "a reset")
    again = machine.api.events("?topics=usage", Last_Event_ID=last)
    again.wait("usage")
    equal([name for name, _, _ in again.events[:2]], ["hello", "reset"], "the first events of the new connection")


@test
def times_of_a_capture_by_http_are_of_one_clock(t):
    machine = Machine(t)
    for step in STEPS:
        machine.clock.set(0)
        number = machine.api.capture(target=machine.target.pid, duration_ms=LONG_MS)
        machine.target.ask("await 1", "burst 7")
        machine.clock.set(step)
        machine.api.post(f"captures/{number}/stop", status=200)
        made = machine.api.await_capture(number)
        equal(made["state"], "done", f"{step} s: the state: {made['error']}")
        times = [made[f"{key}_unix_ms"] for key in ("created", "started", "ended")]
        check(all(0 <= ms < LONG_MS for ms in apart(times)), f"{step} s: times: {times}")


@test
def a_wait_for_a_program_survives_clock_steps(t):
    """The step ends neither the wait nor the recording, which begins with the first annotation."""
    machine = Machine(t)
    for step in STEPS:
        machine.clock.set(0)
        number = machine.api.capture(next="target", duration_ms=1000, wait_ms=LONG_MS)
        machine.clock.set(step)
        target = start_target(t, **machine.clock.env)
        target.ask("await 1", "burst 7")
        machine.clock.set(0)
        made = machine.api.await_capture(number)
        equal(made["state"], "done", f"{step} s: the state: {made['error']}")
        check(1000 <= made["ended_unix_ms"] - made["started_unix_ms"] < LONG_MS, f"{step} s: {made}")
        target.kill()


if __name__ == "__main__":
    run()
