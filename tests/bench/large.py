# SPDX-License-Identifier: Apache-2.0
"""A trace that no memory holds."""
import contextlib
import glob
import os
import shutil
import threading

from common import BUSY, Failure, Target, kilobytes, read_fields, report

N_LARGE = 33_000_000
LARGE_BYTES = 3_000_000_000


class Watch(threading.Thread):
    """The most anonymous and shared memory, in kB, that a process had while this ran; rings of the target are not in it."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.is_over = pid, 0, threading.Event()

    def run(self):
        while not self.is_over.wait(0.02):
            with contextlib.suppress(OSError, KeyError):
                self.most = max(self.most, kilobytes(read_fields(f"/proc/{self.pid}/status"), "RssAnon"))

    def end(self):
        self.is_over.set()
        self.join()
        return self.most


def bench_large(out, directory):
    out.method(f"large: {N_LARGE:,} spans with eight arguments, paced, of one thread, by ptap_trace_start(): from "
               "ptap_trace_stop() until the file has its name, so written and not yet on the disk; the "
               "server's anonymous memory at most, looked at every 20 ms")
    if shutil.disk_usage(directory).free < 4 * LARGE_BYTES:
        out.line("  large: skipped, not enough room on the disk")
        return
    with Target("emit", "trace", str(N_LARGE)) as target:
        target.process.stdin.write(f"{directory} {4 * LARGE_BYTES}\n")
        target.process.stdin.flush()
        target.read("running")
        watch = Watch(target.find_server())
        watch.start()
        _, stop, end = map(float, target.read())
        most = watch.end()
        target.end()
    file, = glob.glob(f"{directory}/plugins/profile/*/*emit_{target.process.pid}.xplane.pb")
    show_large(out, file, end - stop, most)


def show_large(out, file, took_ns, most_kb):
    size = os.path.getsize(file)
    totals = report([file])["totals"]
    if totals["spans"] + totals["dropped"] != N_LARGE:
        raise Failure(f"large: emitted {N_LARGE:,}, in the file {totals['spans']:,}, "
                      f"dropped {totals['dropped']:,}{BUSY}")
    out.figure("large: the file", f"{size / 1e9:.2f}", "GB", "", f"dropped {totals['dropped']:,}")
    out.figure("large: after the recording", f"{size * 1e3 / took_ns:.0f}", "MB/s", ">= 500 MB/s")
    out.figure("large: proftapd, anonymous memory", f"{most_kb / 1024:.0f}", "MiB", "<= 128 MiB")
