# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of devices for the server, with a fake collector (tests/programs/fake_collector.c)."""
import contextlib
import glob
import os
import re
import statistics
import subprocess
import tempfile

from common import BUILD, BUSY, PROFTAP, Failure, Target, run_lines
from memory_watch import MemoryWatch
from skew import serve
from trace_file import load_schemas, read_stats, schema

N_KERNELS = 1000000
N_RUNS = 3
N_SHAPES = 50
COLLECTOR = os.path.join(BUILD, "tests", "programs", "fake_collector.so")
TICKS_S = os.sysconf("SC_CLK_TCK")


# --- alone ------------------------------------------------------------------------------------

def bench_parts(out):
    out.method("Kernels without a server: from a ring's slots to memory that is kept until the recording is over "
               "(read), and from that memory to bytes (encoded). A million kernels have 200 names and grids in turn, "
               "or one each; a span has ten calls. Beside them as many plain spans. Processor time; medians of 5.")
    found = {name: float(number) for name, number in map(str.split, run_lines("bench_devices"))}
    spans = f"a plain span, read and encoded, {found['spans']:.1f} ns"
    out.figure("kernels, read", f"{1e3 / found['few_read']:.1f}", "M/s", ">= 10 M/s", f"{found['few_read']:.1f} ns; {spans}")
    out.figure("kernel, encoded", f"{found['few_encoded']:.1f}", "ns", "", f"{found['few_bytes']:.0f} bytes with its call")
    out.figure("kernel of its own shape, read", f"{found['own_read']:.1f}", "ns")
    out.figure("kernel of its own shape, encoded", f"{found['own_encoded']:.1f}", "ns", "",
               f"{found['own_bytes']:.0f} bytes with its call")
    out.figure("call that launches one, read and encoded", f"{found['calls']:.1f}", "ns")


# --- from end to end --------------------------------------------------------------------------

def read_processor_ms(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) * 1000 / TICKS_S


@contextlib.contextmanager
def fake_device(directory, **script):
    path = os.path.join(directory, "script")
    with open(path, "w", encoding="ascii") as f:
        f.writelines(f"{key} {value}\n" for key, value in script.items())
    os.environ.update(FAKE_COLLECTOR=path, PROFTAP_COLLECTOR=COLLECTOR)
    try:
        yield
    finally:
        del os.environ["FAKE_COLLECTOR"], os.environ["PROFTAP_COLLECTOR"]


def check_kernels(directory):
    """Checks that all kernels are in the file, or counted there if they ran before or after the recording."""
    path, = glob.glob(f"{directory}/plugins/profile/*/*.xplane.pb")
    with open(path, "rb") as f:
        space = schema("xplane").XSpace.FromString(f.read())
    n = sum(len(line.events) for plane in space.planes if plane.name.startswith("/device:") for line in plane.lines)
    host, = (plane for plane in space.planes if plane.name == "/host:CPU")
    stats = read_stats(host, host.stats)
    n_outside = stats["ptap_device_outside"].value if "ptap_device_outside" in stats else 0
    if n + n_outside != N_KERNELS or n < N_KERNELS / 2:
        raise Failure(f"of {N_KERNELS:,} kernels {n:,} are in the file, and {n_outside:,} are counted as outside of it")


def capture(target, port, directory, duration_ms):
    """Returns the time from the end of the recording to the file and the server's processor time in all of it, in ms,
    and its greatest memory, in MiB."""
    server = target.find_server()
    watch = MemoryWatch(server)
    before_ms = read_processor_ms(server)
    words = [PROFTAP, "capture", port, str(duration_ms), "--log_dir", directory]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    watch.end()
    took_ms = re.search(r" in ([\d,.]+) ms after the end", done.stderr)
    if done.returncode or "gpu: " in done.stderr or " dropped 0\n" not in done.stderr or not took_ms:
        raise Failure(f"proftap capture: {done.stderr}{BUSY}")
    return float(took_ms[1].replace(",", "")), read_processor_ms(server) - before_ms, watch.whole_kib / 1024


def capture_kernels(directory, n_shapes):
    log_dir = tempfile.mkdtemp(dir=directory)
    with fake_device(directory, info=1, drain=N_KERNELS, shapes=n_shapes), Target("emit", "pulse") as target:
        found = capture(target, serve(target), log_dir, 200)
    check_kernels(log_dir)
    return found


def capture_spans(directory):
    with Target("emit", "burst", str(N_KERNELS)) as target:
        port, = target.read()
        return capture(target, port, tempfile.mkdtemp(dir=directory), 1000)


def show_ends(out, name, ends, aim=""):
    took_ms, server_ms, memory_mib = (statistics.median(end) for end in zip(*ends))
    out.figure(f"{name}, from the end to the file", f"{took_ms:.0f}", "ms", aim,
               f"processor time of the server {server_ms:.0f} ms, its memory at most {memory_mib:.0f} MiB{BUSY}")


def bench_ends(out, directory):
    out.method(f"A capture of 200 ms in which {N_KERNELS:,} kernels were executed, by {N_SHAPES} grids in turn or each by its own, "
               f"all of which the collector hands on when it is over; and one of a second with {N_KERNELS:,} plain spans, which are "
               f"read meanwhile. In turns; medians of {N_RUNS}. Each kernel is in the file, or counted there.")
    ends = [(capture_kernels(directory, N_SHAPES), capture_kernels(directory, N_KERNELS), capture_spans(directory))
            for _ in range(N_RUNS)]
    few, own, spans = zip(*ends)
    show_ends(out, f"{N_KERNELS:,} kernels", few, "<= 1000 ms")
    show_ends(out, f"{N_KERNELS:,} kernels of their own shapes", own)
    show_ends(out, f"{N_KERNELS:,} spans", spans)


def bench_devices(out, directory):
    reason = load_schemas()
    if reason:
        raise Failure(f"devices: {reason}")
    bench_parts(out)
    bench_ends(out, directory)
