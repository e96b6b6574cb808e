#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests NVTX annotations of programs that do not use proftap: ranges become spans, and marks become instants."""
import collections
import os
import signal
import subprocess

from fixture import check, contains, equal, run, test, wait_until
from processes import LIBRARY, TOP_BUILD, is_recording
from running import finish, make_environment, need_preload, obey, record, start
from trace_file import Trace

NVTX_TARGET = TOP_BUILD / "tests" / "programs" / "nvtx_target"
# make interop sets the variable NVTX_TARGET to the same program, built with NVIDIA's headers.
NVTX_TARGET = os.environ.get("NVTX_TARGET", NVTX_TARGET)


NO_ROOM = "(more NVTX strings than there is room for)"


def recorded(t, *commands, code=0, **how):
    return record(t, NVTX_TARGET, stdin=obey(t, *commands), code=code, **how)


def events(trace, name=None):
    """Returns the events of all threads and async lines, by start."""
    found = [e for line in trace.threads for e in line.events if name in (None, e.name)]
    return sorted(found, key=lambda e: (e.start_ps, -e.duration_ps))


def one(trace, name):
    found = events(trace, name)
    equal(len(found), 1, f"events named {name} among {[e.name for e in events(trace)]}")
    return found[0]


def stats(event, *left_out):
    return {key: stat.value for key, stat in event.stats.items() if key not in left_out}


def end_ps(event):
    return event.start_ps + event.duration_ps


def within(inner, outer):
    check(outer.start_ps <= inner.start_ps and end_ps(inner) <= end_ps(outer), f"{inner} is not in {outer}")


@test
def ranges_are_spans_and_marks_are_instants(t):
    trace = recorded(t, "nest").trace
    outer, copied, known, mark = (one(trace, name) for name in
                                  ("outer", "lib: copied", "lib: known", "mark"))
    within(copied, outer)
    within(known, copied)
    within(mark, known)
    check(known.duration_ps > 0, f"{known} has no duration")
    equal(mark.duration_ps, 0, "duration of the mark")
    equal([stats(e) for e in (outer, copied, known, mark)], [{}] * 4, "arguments")


@test
def attributes_of_an_event_are_its_arguments(t):
    trace = recorded(t, "attribute").trace
    span, mark = events(trace, "lib: colored")
    equal(stats(span), {"category": 3, "color": "#76b900"}, "a category without a name")
    equal(stats(mark), {"category": "input", "color": "#76b90080"}, "a category with a name")
    payloads = [one(trace, f"payload {n}").stats["payload"] for n in range(1, 7)]
    equal(payloads, [("uint64_value", 2**64 - 1), ("int64_value", -2**63), ("double_value", 0.1),
                     ("uint64_value", 2**32 - 1), ("int64_value", -7), ("double_value", 0.5)], "payloads")


@test
def wide_texts_are_utf8(t):
    trace = recorded(t, "widen").trace
    equal(stats(one(trace, "w\u00efde: \u20ac")), {"category": "\U0001f600"}, "arguments")
    within(one(trace, "\u03b3"), one(trace, "\u03b1\u03b2"))
    one(trace, "\u03b4")


@test
def domains_have_stacks_of_their_own(t):
    trace = recorded(t, "interleave").trace
    first = one(trace, "one: first")
    parts = events(trace, "two: second")
    equal([stats(part) for part in parts], [{}, {"continued": 1}], "the parts of the second one")
    within(parts[0], first)
    check(parts[1].start_ps >= end_ps(first), f"{parts[1]} begins in {first}")


@test
def ends_without_begins_close_nothing(t):
    trace = recorded(t, "unbalance").trace
    kept, ended = one(trace, "kept"), one(trace, "ended")
    within(ended, kept)
    equal([stats(kept), stats(ended)], [{}, {}], "arguments")
    equal(list(trace.space.warnings), [], "warnings")


@test
def spans_and_ranges_nest(t):
    trace = recorded(t, "mix").trace
    outside, range_, inside = (one(trace, name) for name in ("span outside", "range", "span inside"))
    within(inside, range_)
    within(range_, outside)


@test
def ranges_of_no_thread_are_async_spans(t):
    trace = recorded(t, "start_and_end").trace
    request, other = one(trace, "lib: request"), one(trace, "other")
    equal(stats(request, "id", "_a"), {"payload": 42}, "arguments")
    equal(stats(other, "id", "_a"), {}, "arguments")
    check(request.stats["id"] != other.stats["id"], "two ranges have one id")
    equal(len(events(trace)), 2, f"events {events(trace)}")


@test
def numbers_of_ranges_differ(t):
    contains(recorded(t, "ids 1000").stdout, "0 done", "ids that are 0 or the one before")
    equal(finish(start(t, "-p", 0, "--", NVTX_TARGET, stdin=obey(t, "ids 1000"))).out[-1], "0 done\n",
          "while nobody records")


@test
def registering_again_is_the_same(t):
    contains(recorded(t, "register_again 1000000").stdout, "0 0 done", "other handles")


@test
def strings_beyond_the_room_are_reported(t):
    # Each hundredth string has a range, so that the ring has room for all ranges on a slow machine, too.
    names = [e.name for e in events(recorded(t, "register_many 100000").trace)]
    n_named = names.index(NO_ROOM)
    equal(names[:n_named], [f"lib: string {i * 100} {i * 100:0120}" for i in range(n_named)], "the strings with room")
    equal(set(names[n_named:]), {NO_ROOM}, "the other strings")
    equal(len(names), 1000, "ranges")
    check(n_named > 500, f"{n_named} ranges with their names")


@test
def async_ranges_keep_their_messages(t):
    # Unregistered texts have less room.
    spans = events(recorded(t, "start_many 4000").trace)
    names = {e.name for e in spans}
    check(f"text 0 {0:0380}" in names, "the first text")
    texts = {e.stats["message"].value for e in spans if e.name == NO_ROOM}
    check(f"text 3999 {3999:0380}" in texts, f"the last text among {len(texts)}")
    equal(len(names) - 1 + len(texts), 4000, "texts")


@test
def threads_are_lines_of_their_own(t):
    trace = recorded(t, "crowd 64 50").trace
    for number in range(64):
        line = trace.thread(f"worker {number}")
        equal(line.count(), {"lib: work": 50, "inner": 50}, f"spans of {line.name}")
        equal([e.stats["payload"].value for e in sorted(line.named("lib: work"))], list(range(50)), "payloads")


@test
def a_thread_can_be_named_by_another_one(t):
    equal(recorded(t, "name_other called").trace.thread("called").count(), {"of a named one": 1}, "its spans")


@test
def payloads_of_a_schema_are_arguments(t):
    trace = recorded(t, "pay").trace
    fields = {"port": 9021, "load": 0.25, "host": "machine0", "state": "busy", "inner.small": -1,
              "inner.big": 1e9, "string": "by payload", "text": "there", "numbers": "[1, 0, -3]"}
    span, mark, end = events(trace, "lib: by payload")
    equal(stats(span), fields, "the range")
    equal((stats(mark), mark.duration_ps), (fields, 0), "the mark")
    equal((stats(end), end.duration_ps), ({**fields, "port": 9022}, 0), "events at its end")
    within(end, span)
    equal(stats(one(trace, "lib: list")), {"n": 3, "list": "[1, 2.5, -3]"}, "a list")
    equal(stats(one(trace, "lib: union")), {"payload_bytes": 4}, "a union")
    equal(stats(one(trace, "lib: raw")), {"payload_bytes": 32}, "bytes")
    equal(stats(one(trace, "lib: plain")), {"payload": 2.5}, "a number")
    equal(stats(one(trace, "lib: unknown")), {"payload_bytes": 8}, "a schema that nobody registered")
    equal(stats(one(trace, "lib: short")), {"port": 9022, "load": 0.25}, "less than the schema says")


# --- recording on and off ----------------------------------------------------------------------


def capture_within(t, target, *options):
    """Begins a capture, and returns it when the target records."""
    capture = t.start_capture(target.pid, 20000, *options)
    ask(target, "await")
    return capture


def end_capture(capture):
    capture.signal(signal.SIGINT)
    return capture.finish().trace


def ask(target, *commands):
    target.popen.stdin.write("".join(f"{command}\n" for command in commands))
    target.popen.stdin.flush()
    return [target.read_line() for _ in commands]


def serve(t, **how):
    need_preload()
    target = start(t, "-p", 0, "--", NVTX_TARGET, stdin=subprocess.PIPE, **how)
    equal(target.read_line(), "ready", "the target's first line")
    os.environ.update(make_environment(t))
    return target


@test
def a_program_is_recorded_at_any_time(t):
    target = serve(t)
    ask(target, "nest", "open before", "start asynchronous")
    capture = capture_within(t, target)
    ask(target, "nest", "close", "open inside", "close", "end")
    trace = end_capture(capture)
    equal(len(events(trace, "lib: known")), 1, "ranges of the recorded call")
    equal(events(trace, "before"), [], "a range that began before")
    equal(stats(one(trace, "inside")), {}, "arguments of the range after that one")
    request = one(trace, "asynchronous")
    equal(stats(request, "id", "_a"), {"started_before": 1}, "an async range that began before")
    # The next recording still knows what was registered before.
    capture = capture_within(t, target)
    ask(target, "attribute", "nest")
    trace = end_capture(capture)
    equal(len(events(trace, "lib: known")), 1, "ranges of the second recording")
    equal(stats(events(trace, "lib: colored")[1])["category"], "input", "the category")


@test
def open_ranges_are_cut_at_the_end_of_the_recording(t):
    target = serve(t)
    capture = capture_within(t, target)
    ask(target, "open left open", "start never ended")
    trace = end_capture(capture)
    for name in ("left open", "never ended"):
        equal(stats(one(trace, name), "id", "_a"), {"unfinished": 1}, name)


@test
def a_program_that_ends_within_a_range_keeps_it(t):
    for how, code in (("", 5), ("kill", 128 + signal.SIGKILL)):
        process = recorded(t, "nest", f"end_within {how}", code=code)
        one(process.trace, "lib: known")
        for name in ("last", "last request"):
            equal(stats(one(process.trace, name), "id", "_a"), {"unfinished": 1}, f"{name} of {how!r}")
        process.path.unlink()
        process.path.parent.rmdir()


@test
def ranges_obey_the_levels_of_spans(t):
    target = serve(t)
    capture = capture_within(t, target, "--host_tracer_level", 1)
    ask(target, "nest")
    equal(len(events(end_capture(capture), "lib: known")), 1, "ranges at level 1")
    capture = t.start_capture(target.pid, 20000, "--host_tracer_level", 0)
    wait_until(lambda: is_recording(target.pid), "the capture to begin")
    ask(target, "nest")
    equal(events(end_capture(capture)), [], "events at level 0")


@test
def a_forked_child_annotates_nothing_and_goes_on(t):
    process = recorded(t, "fork", "nest")
    contains(process.stdout, "3 done", "the child's status")
    one(process.trace, "parent")
    one(process.trace, "lib: known")
    equal([e.name for e in events(process.trace) if "child" in e.name], [], "the child's ranges")


@test
def a_forked_child_that_is_followed_is_recorded(t):
    process = recorded(t, "fork", env={"PROFTAP_FOLLOW_FORK": "1"})
    contains(process.stdout, "3 done", "the child's status")
    planes = process.trace.children
    equal(len(planes), 1, f"children among {list(process.trace.planes)}")
    child = process.trace.process(int(planes[0].rsplit("[", 1)[1][:-1]))
    one(child, "child's: child")
    one(child, "child too")


# --- the variables that switch NVTX on ---------------------------------------------------------


@test
def without_the_variable_nothing_is_annotated(t):
    off = ["--nvtx", "off"]
    for mode, env in ((off, {}), (off, {"NVTX_INJECTION64_PATH": str(LIBRARY.resolve())}),
                      ([], {"NVTX_INJECTION64_PATH": "./."}), ([], {"PROFTAP_NVTX": "off"})):
        process = recorded(t, "nest", "tsl", options=mode, env=env)
        equal(events(process.trace), [], f"events with {mode} {env}")
        contains(process.stdout, "0 0 done", "domains")
        process.path.unlink()
        process.path.parent.rmdir()


@test
def a_variable_that_the_user_has_set_stays(t):
    process = recorded(t, "nest", env={"NVTX_INJECTION64_PATH": "/none.so", "CUDA_INJECTION64_PATH": "none"})
    equal(events(process.trace), [], "events")
    contains(process.stderr, "NVTX_INJECTION64_PATH=/none.so: left as it is: ", "standard error")
    contains(process.stderr, "CUDA_INJECTION64_PATH=none: left as it is: ", "standard error")


@test
def a_variable_that_is_ours_already_is_not_mentioned(t):
    ours = str(LIBRARY.resolve())
    process = recorded(t, "nest", env={"NVTX_INJECTION64_PATH": ours, "CUDA_INJECTION64_PATH": ours})
    one(process.trace, "outer")
    check("left as it is" not in process.stderr, process.stderr)


@test
def xla_gets_its_domain_when_asked_for_only(t):
    for options, answer in (([], "0 1 done"), (["--nvtx", "on"], "0 1 done"), (["--nvtx", "xla"], "1 1 done")):
        process = finish(start(t, "-p", 0, *options, "--", NVTX_TARGET, stdin=obey(t, "tsl")))
        equal(process.out[-1], f"{answer}\n", f"domains with {options}")


@test
def an_unknown_nvtx_mode_is_refused(t):
    need_preload()
    contains(finish(start(t, "--nvtx", "yes", "--", "true"), 2).stderr,
             "--nvtx: must be off, on or xla, not \"yes\"", "the option")
    contains(finish(start(t, "--", "true", env={"PROFTAP_NVTX": "1"}), 125).stderr,
             "PROFTAP_NVTX: must be off, on or xla, not \"1\"", "the variable")


run()
