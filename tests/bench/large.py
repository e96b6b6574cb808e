# SPDX-License-Identifier: Apache-2.0
"""Measures recordings and captures of gigabytes, of which proftapd may hold little in memory."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

from common import BUSY, PROFTAP, Failure, Target, report
from memory_watch import LOOK_S, MemoryWatch

N_LARGE = 33_000_000
LARGE_BYTES = 3_000_000_000
# The sizes of the captures, and their numbers of spans.
CAPTURES = (("1 GB", 11_000_000), ("3 GB", N_LARGE))


def has_room(out, name, directory):
    if shutil.disk_usage(directory).free >= 4 * LARGE_BYTES:
        return True
    out.skip(f"{name}: not enough room on the disk")
    return False


def check_spans(name, file, n_spans):
    """Returns the number of dropped spans. Fails if the spans in the file and the dropped ones
    are not |n_spans| together."""
    totals = report([file])["totals"]
    if totals["spans"] + totals["dropped"] != n_spans:
        raise Failure(f"{name}: emitted {n_spans:,}, in the file {totals['spans']:,}, "
                      f"dropped {totals['dropped']:,}{BUSY}")
    return totals["dropped"]


def show_memory(out, name, watch, aim):
    watch.end()
    out.figure(f"{name}, memory at most", f"{watch.whole_kib / 1024:.0f}", "MiB", aim,
               f"anonymous {watch.anonymous_kib / 1024:.0f} MiB")


def bench_large(out, directory):
    out.method(f"large: one thread emits {N_LARGE:,} paced spans with eight arguments; "
               "ptap_trace_start() records them. The time is from ptap_trace_stop() until the "
               "file, which is written but not yet on the disk, has its name. The memory is "
               "anonymous and shared memory, including the target's rings, read every "
               f"{LOOK_S * 1000:.0f} ms")
    if not has_room(out, "large", directory):
        return
    with Target("emit", "trace", str(N_LARGE)) as target:
        target.process.stdin.write(f"{directory} {4 * LARGE_BYTES}\n")
        target.process.stdin.flush()
        target.read("running")
        watch = MemoryWatch(target.find_server())
        _, stop, end = map(float, target.read())
        watch.end()
        target.end()
    file, = glob.glob(f"{directory}/plugins/profile/*/*emit_{target.process.pid}.xplane.pb")
    size, dropped = os.path.getsize(file), check_spans("large", file, N_LARGE)
    out.figure("large: the file", f"{size / 1e9:.2f}", "GB", "", f"dropped {dropped:,}")
    out.figure("large: after the recording", f"{size * 1e3 / (end - stop):.0f}", "MB/s", ">= 500 MB/s")
    show_memory(out, "large: proftapd", watch, "<= 128 MiB")


def capture(port, target, directory):
    """Runs proftap capture; returns its JSON output, the seconds from Ctrl-C until it ended, and
    the memory watches of the client and the server."""
    client = subprocess.Popen(
        [PROFTAP, "capture", port, str(3600 * 1000), "--log_dir", directory, "--max_bytes",
         str(4 * LARGE_BYTES), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    watches = [MemoryWatch(pid) for pid in (client.pid, target.find_server())]
    target.read("emitted")
    client.send_signal(signal.SIGINT)
    start = time.monotonic()
    said = client.communicate()[0]
    took_s = time.monotonic() - start
    if client.returncode != 0:
        raise Failure(f"proftap capture ended with {client.returncode}")
    return json.loads(said), took_s, watches


def bench_large_capture(out, name, n_spans, directory):
    with Target("emit", "large", str(n_spans)) as target:
        port, = target.read()
        result, took_s, watches = capture(port, target, directory)
        target.end()
    size, dropped = result["bytes"], check_spans(name, result["file"], n_spans)
    os.unlink(result["file"])
    name = f"capture of {name}"
    out.figure(f"{name}: the file", f"{size / 1e9:.2f}", "GB", "", f"dropped {dropped:,}")
    out.figure(f"{name}: end to end", f"{size / 1e3 / max(result['transfer_ms'], 1):.0f}", "MB/s",
               ">= 500 MB/s", f"{result['transfer_ms'] / 1000:.2f} s; {took_s:.2f} s until proftap "
               "ends, including fsync and summary")
    for side, watch, aim in zip(("proftap", "proftapd"), watches, ("< 64 MiB", "< 128 MiB")):
        show_memory(out, f"{name}: {side}", watch, aim)


def bench_large_captures(out, directory):
    out.method("large captures: proftap capture records the same spans over loopback. The time "
               "is from Ctrl-C until the last byte is in the file, without fsync; the memory is "
               "measured as above")
    if has_room(out, "large captures", directory):
        for name, n_spans in CAPTURES:
            bench_large_capture(out, name, n_spans, directory)
