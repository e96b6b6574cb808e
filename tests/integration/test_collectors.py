#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests collectors in a capture, from the program to the trace: when they are called, what they
receive and report, and how they fail. No real device is involved; see fake_collector.c.
"""
import errno
import os
import re
import shutil
import struct
import subprocess
import time
from pathlib import Path

from calls import PROFILER, Calls, profile_request
from checks import in_time
from devices import COLLECTOR, SANITIZER_THREADS, THREAD, Device, check_gone, check_warnings, gpu_warnings, library
from fixture import (NOBODY, Skip, check, contains, equal, need_namespaces, need_no_sanitizer, need_readable_tree, run, test, timed,
                     wait_until)
from processes import PROFTAPD, TARGET, TOP_SRC, Target
from running import need_preload

AT_SECURE = 23
# Bind-mounts $1 over /usr/local in a mount namespace, and starts a program there as another user.
INSTALLED = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
             f'mount --bind "$1" /usr/local && shift && exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "$@"', "sh")
STEPS = ["probe", "open", "arm", "start", "poll", "stop", "drain", "stats", "close"]
LEAD_MS = 250


def steps_of(device):
    return [what for what in device.log() if what in STEPS]


@test
def steps_come_in_their_order_and_calls_are_spans_of_their_thread(t):
    device = Device(t, info=1, start=3, drain=4)
    target = device.target(t)
    capture = t.begin(target)
    target.ask("launch 5 k", "burst 2")
    device.await_step("poll")
    t.stop(target, capture)
    check_warnings(capture)
    steps = steps_of(device)
    equal(list(dict.fromkeys(steps)), STEPS, "steps")
    equal({what: steps.count(what) for what in STEPS if what != "poll"},
          {what: 1 for what in STEPS if what != "poll"}, "how often")
    line = capture.trace.thread("target")
    equal([line.count()[name] for name in ("work", "fakeLaunch", "burst")], [5, 5, 2], "spans")
    for work, call in zip(line.named("work"), line.named("fakeLaunch")):
        check(work.start_ps <= call.start_ps and
              call.start_ps + call.duration_ps <= work.start_ps + work.duration_ps, "the call is not in its span")
    check_gone(target)


@test
def all_that_was_emitted_was_taken(t):
    """Records are emitted before the start, at each poll and after the stop; with a device and
    anchors there are at least 26.
    """
    device = Device(t, info=2, streams=3, start=5, poll=2, drain=9)
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll")
    t.stop(target, capture)
    words = [line.split() for line in device.log() if line.startswith("emitted ")][0]
    equal(words[3], "0", "records that were refused")
    check(int(words[1]) >= 26, f"{words[1]} were emitted")


@test
def collectors_receive_the_options_as_they_were_given(t):
    device = Device(t)
    target = device.target(t)
    t.emit(target, 50, options=("-o", "gpu_max_callback_api_events=-1", "-o", "gpu_enable_nvtx_tracking=1",
                                "-o", "gpu_pm_sample_counters=a.sum,b.avg", "-o", "fake_option=some words"))
    told = [line.split(" ", 1)[1] for line in device.log() if line.startswith("option ")]
    equal(told, ["device_tracer_level=1", "gpu_max_callback_api_events=-1", "gpu_enable_nvtx_tracking=true",
                 "gpu_pm_sample_counters=a.sum,b.avg", "fake_option=some words"], "options")


@test
def device_tracer_level_0_calls_no_collector(t):
    device = Device(t, info=1)
    target = device.target(t)
    capture = t.emit(target, 100, "launch 5 k", "burst 2", options=("--device_tracer_level", "0"))
    check_warnings(capture)
    equal(device.log(), [], "the collector's log")
    equal(capture.trace.thread("target").count()["burst"], 2, "spans")


@test
def devices_are_recorded_without_spans_of_threads(t):
    """No thread records during the capture either."""
    device = Device(t, info=1, rate=1000)
    target = device.target(t)
    capture = t.start_capture(target, 400, "--host_tracer_level", "0")
    device.await_step("poll")
    equal(target.ask("enabled 1"), "0", "ptap_enabled(1)")
    target.ask("burst 10")
    capture.finish()
    check_warnings(capture)
    equal(capture.trace.count("burst"), 0, "spans")
    equal(steps_of(device)[-1], "close", "the last step")


# --- messages and failures of collectors ------------------------------------------------------


@test
def collector_message_is_a_warning_of_the_trace(t):
    """The collector repeats the message at each poll; the trace has it once, in printable form."""
    device = Device(t, warn="counters need \x1b[31m rights")
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("poll", 2)
    t.stop(target, capture)
    check_warnings(capture, "fake: counters need ?[31m rights")
    equal([w for w in capture.trace.space.warnings if w.startswith("gpu: ")],
          ["gpu: fake: counters need ?[31m rights"], "warnings of the trace")


@test
def a_step_that_fails_ends_the_collectors_part_and_no_other(t):
    device = Device(t)
    target = device.target(t)
    behind = {"probe": [], "open": [], "arm": ["close"], "start": ["close"],
              "poll": ["stop", "drain", "stats", "close"], "stop": ["drain", "stats", "close"],
              "drain": ["stats", "close"]}
    for step, others in behind.items():
        for said, expected in ((" it is broken; mend it", "fake: it is broken; mend it"),
                               ("", f"fake: {step} failed and gave no reason: input/output error")):
            device.write(f"fail {step}{said}")
            seen = len(device.log())
            capture = t.begin(target)
            if step not in ("stop", "drain"):
                wait_until(lambda: step in device.log()[seen:], f"the collector to {step}")
            target.ask("burst 3")
            t.stop(target, capture)
            check_warnings(capture, expected)
            equal(capture.trace.count("burst"), 3, f"spans, when {step} fails")
            done = [what for what in device.log()[seen:] if what in STEPS]
            equal(done[done.index(step) + 1:], others, f"steps behind {step}")
            check_gone(target)


@test
def reason_of_a_collector_that_never_begins_is_a_warning(t):
    device = Device(t, again="CUDA is not in use")
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("probe again", 2)
    t.stop(target, capture)
    check_warnings(capture, "fake: CUDA is not in use")
    device.write("again")
    check_warnings(t.emit(target, 100))
    equal(device.count("probe"), 0, "probes that were answered")


@test
def collector_that_begins_late_is_recorded_from_then_on(t):
    device = Device(t, "again")
    target = device.target(t)
    capture = t.begin(target)
    device.await_step("probe again", 2)
    device.write(info=1)
    device.await_step("poll")
    target.ask("launch 3 k")
    t.stop(target, capture)
    found = gpu_warnings(capture)
    equal(len(found), 1, f"warnings: {found}")
    late_ms = float(re.fullmatch(r"gpu: recorded from ([\d.]+) ms after the start on", found[0])[1])
    check(100 <= late_ms <= capture.trace.duration_ms, f"recorded {late_ms} ms after the start")
    equal(capture.trace.count("fakeLaunch"), 3, "calls")


@test
def a_plug_in_that_cannot_be_used_is_reported(t):
    wrong = t.dir / "wrong.so"
    wrong.write_text("no library")
    plain = library(t, "plain.so")
    for path, script, said in (
            (t.dir / "none.so", {}, "none.so: cannot be opened: "),
            (wrong, {}, "wrong.so: cannot be opened: "),
            (plain, {}, f"plain.so: {plain} is not a collector: it has no ptap_collector_get()"),
            ("fake.so", {}, 'fake.so: PROFTAP_COLLECTOR: "fake.so" is not an absolute path'),
            (COLLECTOR, {"null": ""}, "is made for another version of libproftap, which speaks version 1"),
            (COLLECTOR, {"abi": 7}, "is made for another version of libproftap, which speaks version 1"),
            (COLLECTOR, {"size": 16}, "describes itself incompletely")):
        device = Device(t, collector=path, **script)
        target = device.target(t)
        capture = t.emit(target, 50, "burst 1")
        contains("".join(gpu_warnings(capture)), said, f"warnings of {path} {script}")
        equal(capture.trace.count("burst"), 1, "spans")
        equal(device.log(), [], "steps")
        check_gone(target)


def is_secure(pid):
    """Returns whether the kernel gave the process more rights than those of its starter
    (AT_SECURE).
    """
    auxv = Path(f"/proc/{pid}/auxv").read_bytes()
    return dict(struct.iter_unpack("@LL", auxv))[AT_SECURE] == 1


@test
def a_set_user_id_program_opens_no_named_collector(t):
    need_namespaces("--mount")
    need_readable_tree()
    need_no_sanitizer("find their libraries by variables of the environment")
    program, root = t.dir / "target", t.dir / "local"
    shutil.copy(TARGET, program)
    program.chmod(0o4755)
    # A setuid program starts only an installed server.
    (root / "sbin").mkdir(parents=True)
    shutil.copy(PROFTAPD, root / "sbin")
    device = Device(t)
    target = t.keep(Target(device.env, program=program, prefix=(*INSTALLED, root)))
    check(is_secure(target.pid), "the program is not set-user-ID")
    if target.start() == -errno.ENOENT:
        raise Skip("this proftapd is configured for another prefix")
    capture = t.emit(target, 50, "burst 1")
    check_warnings(capture)
    equal(capture.trace.count("burst"), 1, "spans")
    equal(device.log(), [], "steps")


@test
def only_one_of_two_equal_collectors_records(t):
    second = t.dir / "second.so"
    second.write_bytes(COLLECTOR.read_bytes())
    device = Device(t, collector=f"{COLLECTOR}::{second}", flags=5)
    target = device.target(t)
    capture = t.emit(target, 50)
    check_warnings(capture, "fake: does not record beside fake: a process can have only one such collector")
    equal([device.count(step) for step in ("probe", "open", "close")], [2, 1, 1], "steps of both")


@test
def more_than_seven_collectors_give_a_warning(t):
    device = Device(t, collector=":".join([str(COLLECTOR)] * 10))
    target = device.target(t)
    contains("".join(gpu_warnings(t.emit(target, 50))),
             "PROFTAP_COLLECTOR names more than 7 collectors; 3 were left out", "warnings")


# --- the time of the start --------------------------------------------------------------------


@timed
def the_recording_begins_when_the_collector_has_started(t):
    """The collector takes half a second to start. The recording still has its full length."""
    device = Device(t, "hang start", info=1)
    target = device.target(t)
    capture = t.start_capture(target, 300)
    device.await_step("start")
    before = time.monotonic()
    while time.monotonic() < before + 0.5:
        equal(target.ask("enabled 1"), "0", "ptap_enabled(1) before it has begun")
        time.sleep(0.02)
    device.write(info=1)
    capture.finish()
    check_warnings(capture)
    check(300 <= capture.trace.duration_ms, f"{capture.trace.duration_ms} ms")
    in_time(capture.trace.duration_ms / 1000, 0.42, "300 ms of recording")


@test
def an_agreed_start_does_not_wait_for_a_collector(t):
    device = Device(t, "hang start")
    target = device.target(t)
    t.at_end.append(lambda: device.write(info=1))
    with Calls(target) as calls:
        start_ns = time.time_ns() + LEAD_MS * 1000000
        stream = calls.start(PROFILER + "Profile", profile_request(2000, {"start_timestamp_ns": start_ns, "device_tracer_level": 1}))
        device.await_step("start")
        wait_until(lambda: target.ask("enabled 1") == "1", "ptap_enabled(1) while the collector starts")
        device.write(info=1)
        answer = calls.finish(stream)
    space = answer.message.xspace
    late = [w for w in space.warnings if w.startswith("gpu: recorded from ")]
    equal(len(late), 1, f"warnings: {list(space.warnings)}")
    starts = [stat.uint64_value for plane in space.planes if plane.name == "Task Environment"
              for stat in plane.stats if plane.stat_metadata[stat.metadata_id].name == "profile_start_time"]
    equal(starts, [start_ns], "the start")


@timed
def collectors_start_half_a_second_before_an_agreed_start(t):
    """The collector is called half a second before the start, so that the device's library has
    time.
    """
    device = Device(t)
    target = device.target(t)
    with Calls(target) as calls:
        start_ns = time.time_ns() + 1500 * 1000000
        stream = calls.start(PROFILER + "Profile", profile_request(50, {"start_timestamp_ns": start_ns, "device_tracer_level": 1}))
        device.await_step("start")
        enabled = target.ask("enabled 1")
        ahead_ms = (start_ns - time.time_ns()) / 1e6
        calls.finish(stream)
    in_time(1.5 - ahead_ms / 1000, 1.0, "the collector's start")
    equal(enabled, "0", "ptap_enabled(1)")
    check(ahead_ms < 1200, f"asked {ahead_ms} ms before the start")


# --- the device's library ---------------------------------------------------------------------


def known(t, device, has_collector=True):
    """Returns the environment for a libproftap beside which the fake collector is installed as CUDA's
    collector, or none is.
    """
    need_preload()
    place = t.dir / "lib"
    place.mkdir()
    real = os.path.realpath(os.environ["top_builddir"] + "/lib/.libs/libproftap.so.1")
    (place / "libproftap.so.1").write_bytes(open(real, "rb").read())
    if has_collector:
        (place / "proftap-cuda.so").write_bytes(COLLECTOR.read_bytes())
    return {"FAKE_COLLECTOR": str(device.script), "LD_LIBRARY_PATH": str(place),
            "LD_PRELOAD": str(place / "libproftap.so.1")}


@test
def a_known_collector_starts_if_its_library_is_mapped(t):
    device = Device(t, info=1)
    target = t.target(**known(t, device)).serve()
    capture = t.emit(target, 100)
    check_warnings(capture)
    equal(device.log(), [], "the collector's log without the library")
    equal(target.ask(f"load {library(t)}"), "0", "dlopen")
    check_warnings(t.emit(target, 100))
    equal([device.count(step) for step in ("start", "close")], [1, 1], "steps")


@test
def a_known_collector_is_not_called_without_its_library(t):
    """The CUDA collector is not called even though the capture calls another one."""
    device = Device(t, info=1)
    target = t.target(**{**device.env, **known(t, device)}).serve()
    check_warnings(t.emit(target, 100))
    equal(device.count("probe"), 1, "collectors that were asked")


@test
def a_library_that_comes_in_mid_capture_is_seen(t):
    device = Device(t, info=1)
    target = t.target(**known(t, device)).serve()
    capture = t.begin(target)
    equal(target.ask(f"load {library(t)}"), "0", "dlopen")
    device.await_step("poll")
    t.stop(target, capture)
    found = gpu_warnings(capture)
    check(len(found) == 1 and found[0].startswith("gpu: recorded from "), f"warnings: {found}")
    equal(device.count("close"), 1, "closes")


@test
def missing_plug_in_names_the_places_searched(t):
    target = t.target(**known(t, Device(t), has_collector=False)).serve()
    equal(target.ask(f"load {library(t)}"), "0", "dlopen")
    contains("".join(gpu_warnings(t.emit(target, 50))),
             "cuda: proftap-cuda.so was not found beside libproftap or in ", "warnings")


@test
def a_program_without_the_library_notices_nothing(t):
    """It gets no collector thread, and no memory is allocated for the pages that collectors share.
    """
    target = t.target().serve()
    t.emit(target, 50)
    names = sorted(target.thread_names().values())
    equal(names, sorted(["ptap-control", "target", *SANITIZER_THREADS]), "threads")
    capture = t.begin(target)
    seen = set()
    deadline = time.monotonic() + 0.6  # time for two checks
    while time.monotonic() < deadline:
        seen |= set(target.thread_names().values())
    t.stop(target, capture)
    check(THREAD not in seen, f"threads: {seen}")
    equal(find_collect_pages(target.pid), [0, 0], "pages of what collectors share")


def find_collect_pages(pid):
    """Returns whether pages 2 and 3 of the arena's head are present in pagemap. A page that is a hole
    in the file is never present there.
    """
    server = [line.split() for line in open(f"/proc/{pid}/maps") if "memfd:proftap" in line][0]
    first = int(server[0].split("-")[0], 16)
    with open(f"/proc/{pid}/pagemap", "rb") as f:
        f.seek((first // 4096 + 2) * 8)
        words = [int.from_bytes(f.read(8), "little") for _ in range(2)]
    return [word >> 63 & 1 for word in words]


# --- the manual -------------------------------------------------------------------------------


def build_example(t, change=lambda source: source):
    page = (TOP_SRC / "docs" / "man" / "proftap-collector.3").read_text()
    source = page.split(".SH EXAMPLE\n.nf\n")[1].split(".fi\n")[0].replace("\\e", "\\")
    (t.dir / "example.c").write_text(change(source))
    made = t.dir / "example.so"
    subprocess.run([*os.environ.get("CC", "cc").split(), "-Wall", "-Werror", "-shared", "-fPIC",
                    f"-I{TOP_SRC}/lib/include", t.dir / "example.c", "-o", made], check=True)
    return t.target(PROFTAP_COLLECTOR=str(made)).serve()


@test
def the_manuals_example_works(t):
    """The example's kernel lasts as long as the recording, and the trace has it."""
    capture = t.emit(build_example(t), 50)
    check_warnings(capture)
    device = capture.trace.planes["/device:GPU:0"]
    events = [(device.event_metadata[e.metadata_id].name, e.duration_ps) for line in device.lines for e in line.events]
    equal([name for name, _ in events], ["a kernel"], "events of the device")
    check(events[0][1] >= 50 * 10**9, f"it lasted {events[0][1]} ps")


@test
def records_that_are_all_outside_of_the_recording_are_reported(t):
    """The kernels of the collector carry the time at which it stops. The recording does not include that, so the plane is
    empty and there is a warning."""
    target = build_example(t, lambda source: source.replace("(uint64_t)started_ns", "(uint64_t)now - 1000"))
    capture = t.emit(target, 50)
    capture.find_warning("1 record of devices left out, and no others arrived: their times are outside of the recording")


run()
