#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests collectors that hang, and captures that end early because the client, the program, its
server, or the control thread ends. The program continues, and nobody waits for it for long.
"""
import os
import signal
import time

from checks import SLOWNESS, in_time, not_void
from devices import SANITIZER_THREADS, THREAD, Device, check_gone, check_warnings, count_events, gpu_warnings
from fixture import SANITIZERS, check, contains, equal, find_proftapd, is_alive, run, staged, test, timed, wait_until
from processes import halt
from recorded import files, record
from trace_file import Trace

# Each hang at an end of a capture costs two seconds; PATIENCE_S adds a margin.
HANG_S = 2
PATIENCE_S = 2.8 * SLOWNESS
STUCK = ("devices are not recorded: the collectors of an earlier recording have not returned; restart the program to "
         "record them again")


def hang(step):
    return (f"fake ({step}) has not returned within two seconds; records that it had not handed on are missing, and recordings have no devices until it returns")


# The fake's start() emits records from before the recording.
OUTSIDE = ("5 records of devices left out, and no others arrived: their times are outside of the recording; a collector must "
           "time its records between its anchors")


@timed
def a_stop_that_hangs_costs_two_seconds_once(t):
    """Devices are recorded again after the collector has returned."""
    device = Device(t, "hang stop", info=1, start=5)
    target = device.target(t)
    capture = t.begin(target)
    target.ask("burst 3")
    before = time.monotonic()
    t.stop(target, capture)
    in_time(time.monotonic() - before, PATIENCE_S, "a capture whose collector hangs")
    check_warnings(capture, OUTSIDE, hang("stop"))
    equal(capture.trace.count("burst"), 3, "spans")
    equal(sorted(target.thread_names().values()), sorted([THREAD, "ptap-control", "target", *SANITIZER_THREADS]), "threads")
    for _ in range(2):
        before = time.monotonic()
        capture = t.emit(target, 50, "burst 3")
        in_time(time.monotonic() - before, HANG_S, "a capture behind it")
        check_warnings(capture, STUCK)
        equal(capture.trace.count("burst"), 3, "spans")
    equal(device.count("probe"), 1, "collectors that were asked")
    device.write(info=1)
    check_gone(target)
    check_warnings(t.emit(target, 50))
    equal([device.count("probe"), device.count("close")], [2, 2], "steps")


@test
def records_of_a_late_collector_are_discarded(t):
    device = Device(t, "hang drain", drain=9)
    target = device.target(t)
    check_warnings(t.emit(target, 50), hang("drain"))
    device.write(drain=9)
    check_gone(target)
    contains("".join(line for line in device.log() if line.startswith("emitted ")), "refused ", "the collector's log")
    words = [line.split() for line in device.log() if line.startswith("emitted ")][-1]
    check(int(words[3]) >= 1, f"{words[3]} were refused")


@timed
def a_begin_that_hangs_costs_two_seconds_once(t):
    for step in ("probe", "open", "arm", "start"):
        device = Device(t, f"hang {step}")
        target = device.target(t)
        before = time.monotonic()
        capture = t.emit(target, 300, "burst 3")
        in_time(time.monotonic() - before, PATIENCE_S + 0.3, f"a capture whose {step} hangs")
        check_warnings(capture, hang(step))
        equal(capture.trace.count("burst"), 3, "spans")
        check(250 < capture.trace.duration_ms, f"{capture.trace.duration_ms} ms")
        in_time(capture.trace.duration_ms / 1000, 1, "300 ms of recording")
        target.kill()


@test
def a_poll_that_hangs_keeps_earlier_records(t):
    device = Device(t, "hang poll", info=1, start=5)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll")
    target.ask("launch 3 k")
    t.stop(target, capture)
    check_warnings(capture, OUTSIDE, hang("poll"))
    equal(capture.trace.count("fakeLaunch"), 3, "calls")


@test
def a_client_that_goes_leaves_no_collector(t):
    device = Device(t, info=1, rate=100000)
    target = device.target(t)
    for n in range(1, 4):
        capture = t.record(target, 60000)
        device.await_step("poll", n)
        capture.signal(signal.SIGKILL)
        capture.wait()
        device.await_step("close", n)
        check_gone(target)
    check_warnings(t.emit(target, 50))


@test
def a_capture_waits_for_a_cancelled_collector(t):
    """The collector of the second capture starts as soon as the cancelled one has ended; then the
    recording begins.
    """
    device = Device(t, "hang stop", info=1)
    target = device.target(t)
    capture = t.record(target, 60000)
    capture.signal(signal.SIGKILL)
    capture.wait()
    device.await_step("stop")
    second = t.start_capture(target, 100)
    time.sleep(0.2)  # now it waits, or has started without devices
    device.write(info=1)
    second.finish()
    check_warnings(second)
    equal(device.count("close"), 2, "collectors that were asked")


@test
def records_emitted_before_the_programs_death_are_kept(t):
    device = Device(t, info=1, start=7)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll")
    target.ask("launch 3 k")
    device.await_step("poll", 3)
    target.send("crash")
    target.wait()
    capture.finish()
    contains(capture.stderr, "everything recorded until then is here", "the summary")
    equal(capture.trace.count("fakeLaunch"), 3, "calls")
    equal(gpu_warnings(capture), [], "warnings of devices")


@timed
def a_collector_runs_to_its_end_after_a_server_stop(t):
    """ptap_server_stop() does not wait, and the collector runs to its end, with more records than
    its ring holds. A new server finds it ended or waits for it.
    """
    device = Device(t, info=1, start=7, drain=20000)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll")
    target.ask("launch 3 k")
    before = time.monotonic()
    equal(target.ask("stop"), "0", "ptap_server_stop")
    in_time(time.monotonic() - before, 1, "ptap_server_stop")
    capture.finish()
    contains(capture.stderr, "the program stopped its server", "the summary")
    equal(gpu_warnings(capture), [], "warnings of devices")
    device.await_step("close")
    target.serve()
    check_warnings(t.emit(target, 50))
    check_gone(target)


@test
def a_program_that_is_halted_while_it_begins_is_left_alone(t):
    """The capture fails. When the program continues, the collector ends."""
    device = Device(t, "hang start")
    target = device.target(t)
    capture = t.start_capture(target, 100)
    device.await_step("start")
    halt(target.pid)
    capture.finish(1)
    contains(capture.stderr, "is stopped (SIGSTOP or a debugger) and cannot record", "standard error")
    device.write(info=1)
    target.signal(signal.SIGCONT)
    device.await_step("close")
    check_gone(target)
    check_warnings(t.emit(target, 50))


@timed
def a_server_stops_and_starts_beside_a_hanging_collector(t):
    device = Device(t, "hang poll")
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll")
    for step in ("stop", "start 0"):
        before = time.monotonic()
        equal(target.ask(step).split()[0], "0", f"ptap_server_{step}")
        in_time(time.monotonic() - before, 1, f"ptap_server_{step}")
    capture.finish()
    target.port = int(target.ask("port"))
    capture = t.emit(target, 50, "burst 3")
    check_warnings(capture, "the collectors of an earlier recording have not returned; restart the program to record devices")
    equal(capture.trace.count("burst"), 3, "spans")
    device.write(info=1)
    check_gone(target)
    check_warnings(t.emit(target, 50))


@test
def the_servers_death_ends_the_collector(t):
    device = Device(t, info=1, rate=100000)
    target = device.target(t)
    t.begin(target)
    device.await_step("poll")
    os.kill(find_proftapd(target.pid), signal.SIGKILL)
    device.await_step("close")
    check_gone(target)
    wait_until(lambda: target.ask("port") == "0", "the program to see that its server is gone")
    target.serve()
    check_warnings(t.emit(target, 50))


@timed
def an_exit_in_mid_capture_waits_for_nothing(t):
    for script in ("info 1", "hang poll"):
        device = Device(t, script)
        target = device.target(t)
        capture = t.begin(target)
        device.await_step("poll")
        before = time.monotonic()
        target.send("exit")
        equal(target.wait(), 3, "exit status")
        in_time(time.monotonic() - before, 1 if SANITIZERS != "thread" else 3, "the exit")  # TSan sleeps 1 s itself
        capture.finish()
        device.script.with_suffix(".log").unlink()


@staged
def a_flood_loses_nothing(t):
    """Records that arrive faster than the server reads them wait in the program. Here they
    would fill the ring 27 times.
    """
    n = 300000
    device = Device(t, info=1, drain=n)
    target = device.target(t)
    capture = t.start_capture(target, 50)
    capture.finish(patience_s=60)
    words = [line.split() for line in device.log() if line.startswith("emitted ")][-1]
    not_void(not gpu_warnings(capture), "the collector had no processor for two seconds")
    check(int(words[1]) >= n and words[3] == "0", f"{words[1]} emitted, {words[3]} refused")
    # The collector began before the recording.
    n_outside = capture.trace.host_stat("ptap_device_outside")
    equal(count_events(capture.trace, "fake_kernel") + n_outside, n, "kernels")
    check(n_outside < n // 2, f"{n_outside} kernels outside of the recording")


# --- beside others ----------------------------------------------------------------------------


@test
def a_flight_recorder_has_no_devices(t):
    """A recorder has no devices, neither during a capture of devices nor after it. The capture
    beside it has all of them.
    """
    device = Device(t, info=1, start=5, poll=5)
    target = record(t, t.dir / "logs", **device.env)
    capture = t.begin(target)
    device.await_step("poll", 2)
    target.ask("launch 3 k", "snapshot now")
    wait_until(lambda: len(files(t.dir / "logs")) == 1, "the snapshot")
    t.stop(target, capture)
    check_warnings(capture)
    equal(capture.trace.count("fakeLaunch"), 3, "calls in the capture")
    device.await_step("close")
    check_gone(target)
    target.ask("snapshot again")
    wait_until(lambda: len(files(t.dir / "logs")) == 2, "the second snapshot")
    equal(device.count("probe"), 1, "collectors that were asked")
    for path in files(t.dir / "logs"):
        trace = Trace(path)
        equal([line.name for line in trace.threads], ["target"], f"threads in {path}")
        equal([name for name in trace.planes if name.startswith("/device")], [], f"planes in {path}")
        equal(trace.count("fakeLaunch"), 3, f"calls in {path}")


@test
def a_capture_of_devices_alone_has_no_spans_of_a_flight_recorder(t):
    device = Device(t, info=1, rate=1000)
    target = record(t, t.dir / "logs", **device.env)
    capture = t.start_capture(target, 400, "--host_tracer_level", "0")
    device.await_step("poll")
    target.ask("burst 10")
    device.await_step("poll", 2)
    capture.finish()
    check_warnings(capture)
    equal(capture.trace.count("burst"), 0, "spans")


@test
def a_followed_child_has_a_collector_of_its_own(t):
    """A child does not use a collector opened before the fork, unless the collector declares that
    it can.
    """
    for flags, expected in ((0, 1), (64, 2)):
        device = Device(t, info=1, flags=flags)
        target = device.target(t, PROFTAP_FOLLOW_FORK="1")
        check_warnings(t.emit(target, 50))
        child = int(target.ask("prefork steady").split()[0])
        t.at_end.append(lambda pid=child: is_alive(pid) and os.kill(pid, signal.SIGKILL))
        capture = t.emit(target, 200)
        refused = f"in the child target [{child}]: fake: was in use in the parent process, and " \
                  "cannot be used after fork()"
        check_warnings(capture, *([] if flags else [refused]))
        equal([device.log(target.pid).count("close"), device.log(child).count("close")], [2, expected - 1],
              "collectors that were closed, of the program and the child")
        device.script.with_suffix(".log").unlink()
        target.kill()


@test
def a_child_that_is_not_followed_records_and_hinders_nothing(t):
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll")
    target.ask("fork 3", "launch 2 k")
    t.stop(target, capture)
    equal(capture.trace.count("fakeLaunch"), 2, "calls")
    equal(device.count("close"), 1, "collectors that were closed")


run()
