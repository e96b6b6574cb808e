# SPDX-License-Identifier: Apache-2.0
"""Tests NVIDIA's real NVTX in programs that do not use proftap, and their traces in XProf and Perfetto."""
import collections
import os
import pathlib
import shlex
import sys

import nvtx
import perfetto
import viewer
from processes import HERE, PROFTAP, SOURCE, folder, one_file, run
from protos import XSpace

N_STEPS = 20
N_THREADS = 2
PACKAGES = pathlib.Path(nvtx.__file__).parents[1]
HEADERS = PACKAGES / "nvidia/cu13/include"
NVTX_2 = PACKAGES / "nvidia/nvtx/lib/libnvToolsExt.so.1"


def record(work, *words, **env):
    """Returns the trace of a program's whole run, and the standard output."""
    done = run(PROFTAP, "run", "--log_dir", work / "logs", "--", *words, env={**os.environ, **env})
    return one_file(work / "logs"), done.stdout


def count(path):
    """Counts the events of all lines by their names in the file."""
    host = next(p for p in XSpace.FromString(path.read_bytes()).planes if p.name == "/host:CPU")
    names = [host.event_metadata[e.metadata_id].name for line in host.lines for e in line.events]
    return collections.Counter(names)


EXPECTED = {"train: Step": N_STEPS, "train: load": N_STEPS, "compute": N_STEPS, "computed": N_STEPS,
            "train: request": N_STEPS, "list": 1, "struct": 1, "pushed": 1}


def recorded_python(work):
    return record(work, sys.executable, HERE / "nvtx_program.py", N_STEPS)[0]


def test_python_ranges_are_there():
    """Python's nvtx: each range, mark and async range of each thread is in the trace."""
    with folder() as work:
        counts = count(recorded_python(work))
    assert {name: counts[name] for name in EXPECTED} == {
        name: n * N_THREADS for name, n in EXPECTED.items()}, counts
    assert any(name.startswith("nvtx.py: ") for name in counts), f"nothing of nvtx.Profile: {counts}"


def test_xprof_shows_them():
    """trace_viewer: ranges nest on their threads, with category, payload and color; no domain is an operation."""
    with folder() as work:
        path = recorded_python(work)
        events = viewer.trace_events(path, "trace_viewer")
        operations = viewer.show(path, "framework_op_stats")
    spans = [((e["pid"], e["tid"]), e) for _, e in viewer.complete(events)]
    loads = [(thread, e) for thread, e in spans if e["name"] == "train: load"]
    assert len(loads) == N_STEPS * N_THREADS, len(loads)
    for thread, load in loads:
        assert load["args"]["category"] == "input" and load["args"]["color"] == "#008000", load
        around = [e for t, e in spans if t == thread and e["name"] == "train: Step"
                  and e["ts"] <= load["ts"] + 1e-3 and load["ts"] + load["dur"] <= e["ts"] + e["dur"] + 1e-3]
        assert len(around) == 1, (load, around)
    steps = sorted(int(e["args"]["payload"]) for _, e in spans if e["name"] == "train: Step")
    assert steps == sorted(list(range(N_STEPS)) * N_THREADS), steps
    types = {row["c"][2]["v"] for table in operations for row in table["rows"]}
    assert types <= {"IDLE"}, types


def test_trace_processor_reads_them():
    """trace_processor: SQL finds the same ranges, with typed arguments."""
    with folder() as work:
        path = recorded_python(work)
        run(PROFTAP, "convert", path, "-t", "perfetto", "-o", work / "out.pftrace")
        trouble, steps, lists, structs, requests = perfetto.query(
            work / "out.pftrace", perfetto.TROUBLE,
            """select extract_arg(arg_set_id, 'debug.payload') from slice where name = 'train: Step' order by 1""",
            "select extract_arg(arg_set_id, 'debug.data') from slice where name = 'list'",
            """select extract_arg(arg_set_id, 'debug.rank'), extract_arg(arg_set_id, 'debug.share') from slice
                where name = 'struct'""",
            "select count(*), min(dur) from slice where name = 'train: request'")
    assert not trouble, trouble
    assert [row[0] for row in steps] == sorted(list(range(N_STEPS)) * N_THREADS), steps
    assert lists == [["[1, 2, 3]"]] * N_THREADS, lists
    assert structs == [[7, 0.5]] * N_THREADS, structs
    assert requests[0][0] == N_STEPS * N_THREADS and requests[0][1] >= 1000000, requests


def test_the_real_headers_give_what_ours_give():
    """C: a program with NVIDIA's headers gives the same trace as the tests' own client."""
    with folder() as work:
        program = work / "nvtx_target"
        run(*shlex.split(os.environ.get("CC", "cc")), "-std=gnu11", "-D_GNU_SOURCE", "-DNVTX_HEADERS", f"-I{HEADERS}",
            f"-I{SOURCE}", "-O1", "-pthread", "-o", program, SOURCE / "tests/programs/nvtx_target.c", "-ldl")
        done = run("/usr/bin/python3", SOURCE / "tests/integration/test_nvtx.py",
                   env={**os.environ, "NVTX_TARGET": str(program)}, check=False)
    assert done.returncode == 0 and "not ok" not in done.stdout, done.stdout[-4000:]


def test_nvtx_2_is_recorded():
    """libnvToolsExt.so.1: ranges and marks of NVTX 2 are in the trace."""
    with folder() as work:
        counts = count(record(work, sys.executable, HERE / "nvtx2_program.py", NVTX_2)[0])
    expected = {"forward": 1, "w\u00efde": 1, "mark": 1, "request": 1}
    assert {name: counts[name] for name in expected} == expected, counts
