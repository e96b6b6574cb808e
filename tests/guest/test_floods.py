#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floods, and other extreme use: the records received and the losses counted add up to the emitted ones, exactly."""
from host import HOSTS, check, equal, host, run, run_host, timed

MIN_RING = 64 << 10
MAX_RING = 64 << 20
PLUGIN = str(HOSTS / "plugin.so")


def record(t, *args, ring_bytes=0):
    """The capture of one run, and how many spans it emitted."""
    process, seen, captures = run_host(t, "flood", "recording", [str(a) for a in args],
                                       {"GUEST_RING_BYTES": str(ring_bytes)})
    equal(seen, (0, "done\n"), "(exit status, output)")
    equal(len(captures), 1, "captures")
    return captures[0], int((process.dir / "emitted").read_text())


def check_sum(capture, names, emitted):
    """Checks that the received spans of these names (None: of all names) and the losses add up to |emitted|."""
    trace = capture.trace
    received = sum(len(line.events) for line in trace.threads) - trace.count("guest awaited") \
        if names is None else sum(trace.count(name) for name in names)
    lost = trace.host_stat("dropped_traces")
    equal(received + lost, emitted, f"received ({received}) and lost ({lost})")
    return received, lost


@timed
def every_ring_size_loses_nothing_uncounted(t):
    n_lost = []
    ring_bytes = MIN_RING
    while ring_bytes <= MAX_RING:
        capture, emitted = record(t, "threads", 2, 20000, ring_bytes=ring_bytes)
        n_lost.append(check_sum(capture, ["flood"], emitted)[1])
        ring_bytes *= 2
    print(f"# lost of {emitted}, by ring size: {n_lost}")
    equal(n_lost[-1], 0, "lost with the largest rings")


@timed
def any_number_of_threads_loses_nothing_uncounted(t):
    total_lost = 0
    for n in (1, 3, 8, 64):
        capture, emitted = record(t, "threads", n, 300000 // n, ring_bytes=MIN_RING)
        total_lost += check_sum(capture, ["flood"], emitted)[1]
    check(total_lost > 0, "nothing was lost: the test is void")


@timed
def a_hundred_thousand_names_lose_nothing_uncounted(t):
    capture, emitted = record(t, "names", 100000, ring_bytes=16 << 20)
    equal(emitted, 100000, "emitted")
    received, lost = check_sum(capture, None, emitted)
    line, = (line for line in capture.trace.threads if line.named("name 0"))
    equal(len({e.name for e in line.events} - {"guest awaited"}), received, "different names")
    equal(lost, 0, "lost")


@timed
def names_of_64_kib_are_cut_and_counted(t):
    n = 500
    capture, emitted = record(t, "long", n)
    # 255 bytes, of which the mark of the cut takes three.
    check_sum(capture, ["n" * 252 + "…", "long"], emitted)
    trace = capture.trace
    equal(trace.host_stat("ptap_cut_texts"), 2 * n, "cut")
    for line in trace.threads:
        for i, span in enumerate(line.named("long")):
            equal(span.stats["number"].value, i, "the argument after the long one")
            check(len(span.stats["text"].value) > 400, "the text was cut to less than there is room for")


@timed
def spans_nested_too_deep_are_counted(t):
    capture, emitted = record(t, "deep", 10000)
    equal(check_sum(capture, ["deep"], emitted), (128, 10000 - 128), "(received, lost)")
    equal(capture.trace.host_stat("ptap_lost_too_deep"), 10000 - 128, "too deep")


@timed
def names_beyond_a_full_string_table_are_counted(t):
    capture, emitted = record(t, "sites", 2000)
    received, _ = check_sum(capture, None, emitted)
    nameless = capture.trace.count("(too many names)")
    equal(received, emitted, "received")
    check(900 < nameless < 1100, f"{nameless} of 2,000 sites had no name; the table has room for 1,043 names")
    equal(capture.trace.host_stat("ptap_lost_names"), nameless, "counted")
    capture.find_warning(f"{nameless} names or keys left out")


@timed
def spans_of_coroutines_are_received_or_counted(t):
    rounds = 500
    capture, emitted = record(t, "coroutines", rounds)
    trace = capture.trace
    received, lost = check_sum(capture, ["coroutine", "inner", "other thread"], emitted)
    equal(lost, trace.host_stat("ptap_lost_left_open"), "lost for another reason")
    check(lost > 0, "none of the spans that interleave was dropped")
    check(trace.host_stat("ptap_foreign_ends") > 0, "no end came from another thread")
    equal(trace.count("other thread"), rounds, "spans around the resumed coroutine")


@timed
def spans_left_by_longjmp_are_received_or_counted(t):
    rounds = 200
    _, seen, captures = run_host(t, "jump", "recording", (), {})
    equal(seen, (0, f"{rounds} rounds\n"), "(exit status, output)")
    abandoned = sum(i % 3 + 1 for i in range(rounds))
    check_sum(captures[0], ["iteration", "after", "abandoned", "stray"], 3 * rounds + abandoned)


@timed
def constant_forks_lose_nothing_uncounted(t):
    capture, emitted = record(t, "forks", 20000)
    check_sum(capture, ["flood"], emitted)
    equal(capture.trace.count("child"), 0, "spans of children")


@timed
def a_reloaded_plugin_loses_nothing_uncounted(t):
    rounds = 300
    capture, emitted = record(t, "plugin", rounds, PLUGIN)
    check_sum(capture, ["in the plug-in", "point in the plug-in"], emitted)
    turns = [e.stats["turn"].value for line in capture.trace.threads for e in line.named("in the plug-in")]
    equal(turns, list(range(rounds)), "turns")


host("flood", "coroutines", "50", title="coroutines")
host("flood", "threads", "4", "1000", title="flood", spans={"flood": 4000})

run()
