# SPDX-License-Identifier: Apache-2.0
"""Measures how long the start takes, and the cost of an idle server."""
import contextlib
import glob
import os
import statistics
import time

from common import BENCH, EMIT, Target, kilobytes, read_fields, read_text, run_lines

N_STARTS = 11
N_RUNS = 201
BIG_GIGABYTES = 4
IDLE_S = 10


def bench_start(out, _):
    out.method(f"start: {N_STARTS} new targets each; times count from the call of "
               "ptap_server_start; another process, told the port by the target, connects and waits "
               "for the SETTINGS frame, then makes a 1 ms Profile call through gRPC; medians")
    for gigabytes in (0, BIG_GIGABYTES):
        what = f"{gigabytes} GB touched" if gigabytes else "empty target"
        if gigabytes and not has_memory(gigabytes):
            out.skip(f"start, {what}: not enough memory")
            continue
        line, = run_lines("bench_start", EMIT, gigabytes, N_STARTS)
        returned, settings, profile = map(float, line.split())
        out.figure(f"start returns, {what}", f"{returned:.2f}", "ms", "<= 8 ms", "JAX 0.8-7, LTTng +2, Tracy +212 ms")
        out.figure(f"start to first answer, {what}", f"{settings:.2f}", "ms", "<= 20 ms")
        out.figure(f"start to 1 ms Profile, {what}", f"{profile:.2f}", "ms", "<= 20 ms")


def time_run(program):
    """Returns the milliseconds from exec to exit."""
    start = time.perf_counter()
    pid = os.posix_spawn(program, [program], os.environ)
    os.waitpid(pid, 0)
    return (time.perf_counter() - start) * 1000


def bench_not_asked(out, _):
    out.method(f"start not asked for: from exec to exit of a program that does nothing else, {N_RUNS} times in turns "
               "with the same without the library; medians, and the median of the differences")
    pairs = [[time_run(os.path.join(BENCH, name)) for name in ("with", "without")] for _ in range(N_RUNS)]
    runs = [statistics.median(column) for column in zip(*pairs)]
    added = statistics.median(run - other for run, other in pairs)
    out.figure("start not asked for", f"{added:.3f}", "ms", "<= 0.1 ms",
               f"{runs[0]:.2f} ms with the library, {runs[1]:.2f} ms without")


def has_memory(gigabytes):
    """Returns whether the machine and the cgroup have one gigabyte more than requested."""
    free = [kilobytes(read_fields("/proc/meminfo"), "MemAvailable") << 10]
    for limit, used in (("memory.max", "memory.current"),
                        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            free.append(int(read_text(f"/sys/fs/cgroup/{limit}"))
                        - int(read_text(f"/sys/fs/cgroup/{used}")))
    return min(free) > (gigabytes + 1) << 30


def count_switches(pid):
    n = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        fields = read_fields(path)
        n += int(fields["voluntary_ctxt_switches"]) + int(fields["nonvoluntary_ctxt_switches"])
    return n


def read_memory(pid):
    fields = read_fields(f"/proc/{pid}/smaps_rollup")
    return (kilobytes(fields, "Rss"), kilobytes(fields, "Private_Clean", "Private_Dirty"),
            kilobytes(fields, "Pss"))


def read_shared_text(pid):
    """Returns the resident pages of files that are not writable: the code of libraries, which all processes share."""
    total, is_text = 0, False
    for line in read_text(f"/proc/{pid}/smaps").splitlines():
        words = line.split()
        if "-" in words[0]:
            is_text = len(words) > 5 and words[5].startswith("/") and "w" not in words[1]
        elif words[0] == "Rss:" and is_text:
            total += int(words[1])
    return total


def count_threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def bench_idle(out, _):
    out.method(f"idle: one target, that nobody connected to or listed; threads and smaps_rollup before and after "
               f"the start; context switches of all threads over {IDLE_S} s")
    with Target("emit", "idle") as target:
        pid = target.process.pid
        target.read("running")
        before, threads_before = read_memory(pid), count_threads(pid)
        text_before = read_shared_text(pid)
        target.write_line()
        target.read()
        server = target.find_server()
        time.sleep(1)
        after, threads_after = read_memory(pid), count_threads(pid)
        text = read_shared_text(pid) - text_before
        switches = count_switches(pid), count_switches(server)
        time.sleep(IDLE_S)
        switches = count_switches(pid) - switches[0], count_switches(server) - switches[1]
        out.figure("target: threads added", threads_after - threads_before, "", "1")
        out.figure("target: wake-ups", f"{switches[0] / IDLE_S:.1f}", "/s", "0")
        out.figure("target: memory added, RSS", after[0] - before[0], "kB", "",
                   f"of which libraries' code, in memory once for all processes: {text} kB")
        out.figure("target: memory added, without that", after[0] - before[0] - text, "kB", "<= 300 kB")
        out.figure("target: memory added, its share (PSS)", after[2] - before[2], "kB")
        out.figure("target: memory added, private", after[1] - before[1], "kB")
        show_server(out, server, switches[1])
        target.end()


def show_server(out, server, n_switches):
    rss, private, _ = read_memory(server)
    out.figure("proftapd: threads", count_threads(server), "", "<= 2")
    out.figure("proftapd: wake-ups", f"{n_switches / IDLE_S:.1f}", "/s", "0")
    out.figure("proftapd: memory, RSS", rss, "kB", "<= 5120 kB")
    out.figure("proftapd: memory, private", private, "kB")
