#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hosts (host.py) of extreme use, each with a flight recorder: the records in the trace of the host's last moments,
those overwritten and those lost add up to the emitted ones, exactly."""
from host import HOSTS, Host, check, equal, need_no_tsan, run, timed

from trace_file import Trace

MIN_RING = 64 << 10
MAX_RING = 16 << 20
PLUGIN = str(HOSTS / "plugin.so")
N_ABANDONED = sum(i % 3 + 1 for i in range(200))  # of jump


def record(t, name, *args, ring_bytes=MIN_RING):
    """Runs a host. Returns the trace of its last moments, and the number in its file "emitted" (None: it wrote none)."""
    process = Host(t, name, "recording", *map(str, args), PROFTAP_RECORDER="1", GUEST_RING_BYTES=str(ring_bytes),
                   GUEST_LOG_DIR=str(t.public_dir(f"logs-{len(t.processes)}")))
    equal(process.behaviour()[0], 0, f"exit status of {name}")
    process.check_servers_are_gone()
    path, = (process.dir.parent / f"logs-{len(t.processes) - 1}").glob("plugins/profile/*/*.xplane.pb")
    said = process.dir / "emitted"
    return Trace(path), int(said.read_text()) if said.exists() else None


def check_sum(trace, emitted):
    """Checks the sum, to which guest.h adds one instant. Returns the number of overwritten records."""
    received = sum(len(line.events) for line in trace.threads)
    lost = trace.host_stat("dropped_traces")
    overwritten = trace.host_stat("ptap_overwritten")
    equal(received + lost + overwritten, emitted + 1,
          f"received ({received}), lost ({lost}) and overwritten ({overwritten})")
    return overwritten


@timed
def every_ring_size_counts_what_it_overwrites(t):
    n_overwritten = []
    ring_bytes = MIN_RING
    while ring_bytes <= MAX_RING:
        n_overwritten.append(check_sum(*record(t, "flood", "threads", 2, 20000, ring_bytes=ring_bytes)))
        ring_bytes *= 4
    print(f"# overwritten, by ring size: {n_overwritten}")
    check(n_overwritten[0] > 0, "nothing was overwritten: the test is void")
    equal(n_overwritten[-1], 0, "overwritten with the largest rings")


@timed
def any_number_of_threads_is_counted(t):
    for n in (1, 8, 64):
        check(check_sum(*record(t, "flood", "threads", n, 400000 // n)) > 0, "nothing was overwritten")


@timed
def threads_in_turn_share_the_rings(t):
    trace, _ = record(t, "crowd", 3000, 50)
    check_sum(trace, 3000 * 10)


@timed
def a_hundred_thousand_names_lose_nothing_uncounted(t):
    trace, emitted = record(t, "flood", "names", 100000, ring_bytes=1 << 20)
    check(check_sum(trace, emitted) > 0, "nothing was overwritten")
    names = [e.name for line in trace.threads for e in line.events]
    equal(names, [f"name {i}" for i in range(emitted - len(names), emitted)], "the newest names")


@timed
def names_of_64_kib_are_cut_and_counted(t):
    trace, emitted = record(t, "flood", "long", 500)
    check(check_sum(trace, emitted) > 0, "nothing was overwritten")
    equal(trace.host_stat("ptap_cut_texts"), emitted, "cut")


@timed
def spans_nested_too_deep_are_counted(t):
    trace, emitted = record(t, "flood", "deep", 10000)
    check_sum(trace, emitted)
    equal((trace.count("deep"), trace.host_stat("ptap_lost_too_deep")), (128, 10000 - 128), "kept, and too deep")


@timed
def names_beyond_a_full_string_table_are_counted(t):
    trace, emitted = record(t, "flood", "sites", 2000)
    equal(check_sum(trace, emitted), 0, "overwritten")
    equal(trace.count("(too many names)"), trace.host_stat("ptap_lost_names"), "without a name")
    check(trace.host_stat("ptap_lost_names") > 0, "the table was never full")


@timed
def spans_of_coroutines_are_received_or_counted(t):
    trace, emitted = record(t, "flood", "coroutines", 500)
    check_sum(trace, emitted)
    check(trace.host_stat("ptap_lost_left_open") > 0, "none of the spans that interleave was dropped")


@timed
def spans_left_by_longjmp_are_received_or_counted(t):
    trace, _ = record(t, "jump")
    check_sum(trace, 3 * 200 + N_ABANDONED)


@timed
def constant_forks_lose_nothing_uncounted(t):
    trace, emitted = record(t, "flood", "forks", 20000)
    check_sum(trace, emitted)
    equal(trace.count("child"), 0, "spans of children")


@timed
def a_reloaded_plugin_loses_nothing_uncounted(t):
    check_sum(*record(t, "flood", "plugin", 300, PLUGIN))


@timed
def a_storm_of_signals_loses_nothing_uncounted(t):
    need_no_tsan("runs no handler within an annotation")
    trace, emitted = record(t, "handlers", ring_bytes=1 << 20)
    check_sum(trace, emitted)
    check(trace.count("handler") > 0, "the handlers recorded nothing")


@timed
def cancelled_threads_keep_their_records(t):
    trace, _ = record(t, "cancel", "goes on")
    check_sum(trace, 50 * 4 + 1)  # it waits for the recording twice, with an instant each
    equal([trace.count(name) for name in ("outer", "explicit", "done", "inner")], [50] * 4, "spans")


run()
