# SPDX-License-Identifier: Apache-2.0
"""Measures proftap convert and proftap report with large traces: their time, their output, and the memory of each."""
import glob
import os
import re
import shutil
import subprocess
import time

from common import BENCH, BUSY, PROFTAP, Failure, Target
from large import LARGE_BYTES, N_LARGE
from memory_watch import LOOK_S, MemoryWatch

N_TEN = 10_000_000
# While a database is written it takes twice its final size: its indexes are sorted in files.
FREE_BYTES = 8 * LARGE_BYTES
NOWHERE = "/dev/null"


def find_formats():
    """Returns the formats of the help, in its order, without those of kernels: the trace has no kernel."""
    text = subprocess.run([PROFTAP, "convert", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^  (\S+) +\S+ +\S", text.split("\nFormats:\n")[1], re.M)
    return [name for name in names if not name.startswith("csv-kernel")]


def measure(words):
    """Returns (wall seconds, processor seconds, MiB of anonymous memory at most, messages)."""
    start = time.monotonic()
    with subprocess.Popen([PROFTAP, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        watch = MemoryWatch(process.pid)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    watch.end()
    if process.returncode != 0:
        raise Failure(f"proftap {' '.join(map(str, words))}: {said}")
    return wall, usage.ru_utime + usage.ru_stime, watch.whole_kib / 1024, said


def show(out, name, found, n_bytes):
    wall, cpu, most_mib, said = found
    size = re.search(r": ([\d.]+) MB\n", said)
    to = f", {float(size[1]) / 1000:.2f} GB" if size else ""
    out.figure(name, f"{wall:.1f}", "s", "",
               f"processor {cpu:.1f} s; {n_bytes / 1e6 / wall:.0f} MB/s of the trace{to}{BUSY}")
    out.figure(f"{name}, memory", f"{most_mib:.0f}", "MiB", "<= 256 MiB")


def convert(out, name, path, directory):
    """Only a database needs a file. All other output goes to /dev/null, so that the disk is not measured."""
    for form in find_formats():
        output = os.path.join(directory, "out.sqlite") if form == "sqlite" else NOWHERE
        show(out, f"{name} to {form}", measure(["convert", "-t", form, "-o", output, path]), os.path.getsize(path))
        if output != NOWHERE:
            os.unlink(output)
    show(out, f"report of {name}", measure(["report", path]), os.path.getsize(path))


def make_large(directory):
    with Target("emit", "trace", str(N_LARGE)) as target:
        target.process.stdin.write(f"{directory} {4 * LARGE_BYTES}\n")
        target.process.stdin.flush()
        target.read("running")
        target.read()
        target.end()
    file, = glob.glob(f"{directory}/plugins/profile/*/*.xplane.pb")
    return file


def make_ten(directory):
    path = os.path.join(directory, "ten.xplane.pb")
    subprocess.run([os.path.join(BENCH, "bench_convert"), str(N_TEN), path], check=True)
    return path


def bench_large_conversions(out, directory):
    out.method(f"large conversions: proftap convert to /dev/null, as it is (a database: to a file), and proftap report; "
               f"{N_TEN:,} spans with two arguments on 8 threads, and {N_LARGE:,} with eight on one; one run each; "
               f"memory: anonymous, read every {LOOK_S * 1000:.0f} ms; the file is mapped")
    if shutil.disk_usage(directory).free < FREE_BYTES:
        out.skip("large conversions: not enough room on the disk")
        return
    for name, make in (("10 M events", make_ten), ("3 GB", make_large)):
        path = make(directory)
        convert(out, name, path, directory)
        os.unlink(path)
