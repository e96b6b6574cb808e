# SPDX-License-Identifier: Apache-2.0
"""Tests traces beyond 2 GiB, the limit of gRPC's messages and of XProf's files, with peers that have these limits."""
import json
import mmap
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import page_servers
from processes import HERE, PROFTAP, Target, folder, one_file, run

LIMIT_BYTES = 2**31 - 1
# Spans of about 136 bytes each: a busy machine may drop a seventh, and the rest is still enough.
N_SPANS = 18_500_000
MAX_CAPTURE_BYTES = 16 << 30
RING_BYTES = 16 << 20
NEEDED_BYTES = 8 << 30
# The size of parts by --split that XProf can read.
PART_BYTES = 700_000_000
# XProf takes about seven times the size of a file, and must not use all of the machine's memory.
XPROF_BYTES = 12 << 30
# XProf takes half a minute for one of the files, and longer on a busy machine.
PATIENCE_S = 600
page_servers.PATIENCE_S = PATIENCE_S


def large_folder():
    free = shutil.disk_usage("/var/tmp").free
    assert free > NEEDED_BYTES, f"/var/tmp has only {free / 1e9:.1f} GB"
    return folder("/var/tmp")


def large_target():
    """Starts a target whose own limit for captures is large, whatever the client asks for."""
    return Target(0, RING_BYTES, 0, "127.0.0.1", 0, 0, "-", MAX_CAPTURE_BYTES)


def report(path):
    return json.loads(run(PROFTAP, "report", "--json", "--whole", path).stdout)


def start(*command):
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """Waits for a process that must succeed, and returns its standard output."""
    out, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, f"exit {process.returncode}: {out}\n{errors}"
    return out


def emit(target):
    assert target.ask("await 1") == "recording"
    assert target.ask(f"heavy {N_SPANS}") == str(N_SPANS)


def first_argument(number):
    """Returns the bytes of span |number|'s first argument in a file: the int64_value -|number|."""
    value, out = 2**64 - number, bytearray(b"\x20")
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def holds(data, numbers, find):
    return any(find(first_argument(number)) >= 0 for number in numbers)


def check_newest(path):
    """Checks that the last span in the file is one of the newest, and that the oldest is not there."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        assert holds(data, range(N_SPANS - 1, N_SPANS - 100, -1), data.rfind), "none of the newest spans"
        assert not holds(data, (1, 2), data.find), "one of the oldest spans"


def test_stock_client_gets_the_newest():
    """XProf's client, asking for more than 2 GiB, gets the newest events that fit, and a warning."""
    with large_folder() as work, large_target() as target:
        client = start(sys.executable, HERE / "xprof_client.py", "trace", f"127.0.0.1:{target.port}",
                       work / "logs", 1000 * 100)
        emit(target)
        # This ends the capture early; its data goes to the client that began it.
        stopped = run(PROFTAP, "stop", target.port, "--log_dir", work / "none", check=False)
        assert stopped.returncode == 3, stopped
        finish(client)
        path = one_file(work / "logs")
        size = path.stat().st_size
        assert 0.95 * LIMIT_BYTES < size <= LIMIT_BYTES, size
        trace = report(path)
        left_out = [int(found[1]) for found in (
            re.match(r"(\d+) events of the first [\d.]+ s are left out: the whole trace is larger "
                     r"than this client can take", warning) for warning in trace["warnings"]) if found]
        assert len(left_out) == 1, trace["warnings"]
        totals = trace["totals"]
        # Samples of usage are left out in the same way.
        missing = N_SPANS - totals["spans"] - totals["dropped"]
        assert 0 < missing <= left_out[0] < missing + 10_000, (left_out, totals)
        check_newest(path)
        print(f"# {size} bytes of {N_SPANS * size // totals['spans']}, {left_out[0]} events left out")


def read_peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) >> 10


def check_drawing(server, run_name, host):
    """Checks that the trace viewer has spans of the host, and none of the other hosts."""
    page = server.get_json("data", run=run_name, tag="trace_viewer@", hosts=host)
    events = [event for event in page["traceEvents"] if event]
    processes = {event["args"]["name"].split()[0] for event in events
                 if event["ph"] == "M" and event["name"] == "process_name"}
    assert processes == {host}, processes
    drawn = sum(1 for event in events if event["ph"] == "X")
    assert drawn > 100, drawn
    return f"{drawn} spans drawn"


def check_overview(server, run_name, host):
    assert server.get_json("data", run=run_name, tag="overview_page", host=host)
    return "an overview page"


def open_in_xprof(log_dir, run_name, hosts, host, check_tool):
    """Opens the trace in a server of its own, because a server keeps what it has read."""
    with folder() as work, page_servers.xprof(log_dir, work) as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_DATA, (XPROF_BYTES, XPROF_BYTES))
        found = [row["hostname"] for row in server.get_json("hosts", run=run_name, tag="trace_viewer@")]
        assert sorted(found) == sorted(hosts), found
        began = time.monotonic()
        shown = check_tool(server, run_name, host)
        print(f"# {host}: {shown} after {time.monotonic() - began:.0f} s; xprof's memory at most "
              f"{read_peak_mib(server.process.pid)} MiB", flush=True)


def test_split_files_open_in_xprof():
    """XProf shows the parts of a split trace of more than 2 GiB as hosts of one run, each with its spans."""
    with large_folder() as work, large_target() as target:
        client = start(PROFTAP, "capture", target.port, 1000 * 100, "--log_dir", work / "logs",
                       "--split", "--json")
        emit(target)
        client.send_signal(signal.SIGINT)
        files = [pathlib.Path(path) for path in json.loads(finish(client))["files"]]
        sizes = [path.stat().st_size for path in files]
        assert len(files) > 1 and max(sizes) <= PART_BYTES and sum(sizes) > LIMIT_BYTES, sizes
        print(f"# files of {sizes} bytes")
        totals = [report(path)["totals"] for path in files]
        # Each file has the number of dropped spans.
        assert sum(t["spans"] for t in totals) + totals[0]["dropped"] == N_SPANS, totals
        hosts = [path.name.removesuffix(".xplane.pb") for path in files]
        for host in hosts:
            open_in_xprof(work / "logs", files[0].parent.name, hosts, host, check_drawing)
        open_in_xprof(work / "logs", files[0].parent.name, hosts, hosts[-1], check_overview)
