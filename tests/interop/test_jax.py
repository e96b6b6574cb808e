# SPDX-License-Identifier: Apache-2.0
"""Tests proftap as the client of JAX's own server."""
import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys

import perfetto
import spaces
import viewer
from processes import (HERE, PROFTAP, Pipeline, Prefork, capture, capture_of_block, folder, free_port, one_file,
                       run, stop, wait_until)
from protos import XSpace
from service import Service, request


@contextlib.contextmanager
def jax_server(work, *child, under=()):
    """Yields the server's port, and its output. |under| is a command that starts it."""
    port = free_port()
    with open(work / "jax.err", "w") as errors:
        process = subprocess.Popen([*under, sys.executable, HERE / "jax_server.py", *map(str, (port, *child))],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=errors, text=True)
    try:
        assert process.stdout.readline() == "ready\n", (work / "jax.err").read_text()
        yield port, process.stdout
    finally:
        stop(process, "the JAX program")
        process.stdout.close()


def count(events, name):
    return sum(1 for _, found, _ in events if found == name)


def test_capture_of_jax_server():
    """proftap capture records a JAX program through JAX's server, and proftap report reads the file."""
    with folder() as work, jax_server(work) as (port, _):
        path = capture(port, 500, work / "logs", "--python_tracer_level", "0")
        events = list(spaces.host_events(XSpace.FromString(path.read_bytes())))
        n_own, n_steps = count(events, "our own work"), count(events, "train")
        assert n_own > 0 and abs(n_own - n_steps) <= 1, (n_own, n_steps)

        text = run(PROFTAP, "report", path).stdout
        assert "our own work" in text and "train" in text, text
        report = json.loads(run(PROFTAP, "report", "--json", path).stdout)
        rows = {row["name"]: row["count"] for plane in report["planes"]
                for thread in plane["threads"] for row in thread["spans"]}
        assert rows["our own work"] == n_own, rows
        assert rows["train"] == n_steps, rows

        shown = [e["name"] for _, e in viewer.complete(viewer.trace_events(path, "trace_viewer"))]
        assert shown.count("our own work") == n_own
        # JAX's own events of the jitted function, at least one for each call.
        n_calls = count(events, "PjitFunction(multiply)")
        assert n_calls == shown.count("PjitFunction(multiply)"), (n_calls, sorted(set(shown)))
        assert n_calls >= n_own - 1, (n_calls, n_own)


def test_jax_server_is_found():
    """A JAX program is in proftap list, proftap doctor knows its server, and its pid is a target."""
    with folder() as work, jax_server(work) as (port, output):
        rows = json.loads(run(PROFTAP, "list", "--json").stdout)["targets"]
        row, = (row for row in rows if row["port"] == port)
        assert (row["server"], row["state"], row["address"]) == ("JAX", "unknown", "127.0.0.1"), row
        found = json.loads(run(PROFTAP, "doctor", "--json", port).stdout)
        said = {check["key"]: check for check in found["checks"]}
        assert found["is_ready"] and f"JAX profiler server of {row['name']}" in said["target_server"]["text"], said
        # The program prints "recording" when it is recorded.
        assert not select.select([output], [], [], 0)[0], "it was recorded"
        done = run(PROFTAP, "capture", row["pid"], 300, "--log_dir", work / "logs", "--python_tracer_level", "0")
        assert f"at 127.0.0.1:{port}" in done.stderr, done.stderr
        assert count(spaces.host_events(XSpace.FromString(one_file(work / "logs").read_bytes())), "our own work") > 0


def test_jax_server_that_is_stopped():
    """proftap list shows a stopped JAX program, by its library and gRPC's threads; doctor gives the remedy."""
    with folder() as work, jax_server(work) as (port, _):
        row, = (row for row in json.loads(run(PROFTAP, "list", "--json").stdout)["targets"] if row["port"] == port)
        os.kill(row["pid"], signal.SIGSTOP)
        try:
            status = pathlib.Path(f"/proc/{row['pid']}/status")
            wait_until(lambda: "State:\tT" in status.read_text(), "it to stop")
            rows = json.loads(run(PROFTAP, "list", "--json").stdout)["targets"]
            stopped, = (one for one in rows if one["port"] == port)
            # The time of the start is known only to a tick of the clock.
            assert stopped == {**row, "stopped": True, "since_unix_ns": stopped["since_unix_ns"]}, (row, stopped)
            done = run(PROFTAP, "doctor", port, check=False)
            assert f"kill -CONT {row['pid']}" in done.stdout, done
        finally:
            os.kill(row["pid"], signal.SIGCONT)
        run(PROFTAP, "capture", row["pid"], 100, "--log_dir", work / "logs")


def spans_by_thread(report):
    """Yields {name of the file: {span: count}} for each thread of a report, with the other
    servers' data of that thread."""
    for plane in report["planes"]:
        for thread in plane["threads"]:
            seen = [thread, *thread.get("other_sources", [])]
            yield {one.get("file"): {row["name"]: row["count"] for row in one["spans"]} for one in seen}


def test_thread_of_two_servers():
    """A thread that JAX's server and ours saw in one run is one row, with separate events of each."""
    with folder() as work, jax_server(work, under=(PROFTAP, "run", "--port", "0")) as (port, _):
        rows = json.loads(run(PROFTAP, "list", "--json").stdout)["targets"]
        jax_pid = next(row["pid"] for row in rows if row["port"] == port)
        ours, = (row for row in rows if row["pid"] == jax_pid and row["port"] != port)
        run(PROFTAP, "capture", f"127.0.0.1:{port},127.0.0.1:{ours['port']}", 400, "--log_dir", work / "logs",
            "--python_tracer_level", "0")
        files = sorted((work / "logs").rglob("*.xplane.pb"))
        by_file = {path.name.removesuffix(".xplane.pb"): XSpace.FromString(path.read_bytes()) for path in files}
        jax_file, = (name for name, space in by_file.items() if count(spaces.host_events(space), "our own work"))
        our_file, = (name for name, space in by_file.items() if count(spaces.host_events(space), "seen by NVTX"))
        n_own = count(spaces.host_events(by_file[jax_file]), "our own work")
        n_seen = count(spaces.host_events(by_file[our_file]), "seen by NVTX")

        threads = list(spans_by_thread(json.loads(run(PROFTAP, "report", "--json", files[0].parent).stdout)))
        shared = [thread for thread in threads if len(thread) > 1]
        assert len(shared) == 1 and set(shared[0]) == {jax_file, our_file}, threads
        assert shared[0][jax_file]["our own work"] == n_own, shared
        assert shared[0][our_file]["seen by NVTX"] == n_seen, shared
        text = run(PROFTAP, "report", "--width", "200", files[0].parent).stdout
        both = [line for line in text.splitlines() if f"({jax_pid}), " in line]
        assert len(both) == 1 and jax_file in both[0] and our_file in both[0], text

        # The main thread's tid is the pid, for the events of both servers, whose times agree.
        run(PROFTAP, "convert", "-t", "ndjson", "-o", work / "all.ndjson", files[0].parent)
        items = [json.loads(line) for line in (work / "all.ndjson").read_text().splitlines()[1:]]
        for name, file in (("our own work", jax_file), ("seen by NVTX", our_file)):
            places = {(item["pid"], item["tid"], item["file"]) for item in items if item["name"] == name}
            assert places == {(jax_pid, jax_pid, file)}, (name, places)
        inner = [item for item in items if item["name"] == "seen by NVTX"]
        outer = sorted((item["start_ns"], item["start_ns"] + item["duration_ns"]) for item in items
                       if item["name"] == "our own work")
        middle = inner[len(inner) // 2]
        center = middle["start_ns"] + middle["duration_ns"] // 2
        assert any(start <= center <= end for start, end in outer), (middle, outer[:3], outer[-3:])

        # In Perfetto the spans of JAX's server are on one of the thread's rows.
        run(PROFTAP, "convert", "-t", "perfetto", "-o", work / "all.pftrace", files[0].parent)
        rows, = perfetto.query(work / "all.pftrace", """select thread.tid, slice.name, own.name, count() from slice
            join track as own on slice.track_id = own.id
            join thread_track on thread_track.id in (own.id, own.parent_id) join thread using (utid)
            where slice.name in ('our own work', 'seen by NVTX') group by 1, 2, 3 order by 2""")
        assert rows == [[jax_pid, "our own work", jax_file, n_own], [jax_pid, "seen by NVTX", None, n_seen]], rows


def test_terminate_of_jax_server():
    """Ctrl-C in a capture of a JAX program keeps the events that JAX has recorded until then."""
    with folder() as work, jax_server(work) as (port, output):
        with capture_of_block(port, work / "logs"):
            assert output.readline() == "recording\n"
        events = spaces.host_events(XSpace.FromString(one_file(work / "logs").read_bytes()))
        assert count(events, "our own work") > 0


def test_jax_server_writes():
    """With --server_writes JAX's server writes a run that XProf opens, into the directory of the request."""
    with folder() as work, jax_server(work) as (port, _):
        command = (PROFTAP, "capture", port, 300, "--log_dir", work / "logs", "--server_writes",
                   "--python_tracer_level", "0")
        done = run(*command)
        path = one_file(work / "logs")
        assert path.name == f"127.0.0.1_{port}.xplane.pb", path
        said = (f"127.0.0.1:{port}: the server kept the trace: it wrote it to its own disk, under {path.parent} "
                "of that machine\n")
        assert (done.stdout, done.stderr) == ("", said), done
        n_own = count(spaces.host_events(XSpace.FromString(path.read_bytes())), "our own work")
        assert n_own > 0
        shown = [e["name"] for _, e in viewer.complete(viewer.trace_events(path, "trace_viewer@"))]
        assert shown.count("our own work") == n_own, (shown.count("our own work"), n_own)

        result = json.loads(run(*command, "--run", "mine", "--json").stdout)
        place = work / "logs/plugins/profile/mine"
        assert (result["file"], result["server_dir"]) == (None, str(place)), result
        assert [path.name for path in place.iterdir()] == [f"127.0.0.1_{port}.xplane.pb"]


def test_two_jax_and_two_of_ours():
    """Two JAX programs and two of ours are one run, each with its own events."""
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(folder())
        ports = []
        for i in range(2):
            (work / f"jax{i}").mkdir()
            ports.append(stack.enter_context(jax_server(work / f"jax{i}"))[0])
        for i in range(2):
            (work / f"ours{i}").mkdir()
            ports.append(stack.enter_context(Pipeline(work / f"ours{i}")).port)
        targets = ",".join(f"127.0.0.1:{port}" for port in ports)
        done = run(PROFTAP, "capture", targets, 500, "--log_dir", work / "logs", "--json", "--python_tracer_level",
                   "0")
        result = json.loads(done.stdout)
        assert (result["captured"], result["failed"]) == (4, 0), result
        assert len({str(path).rsplit("/", 1)[0] for path in result["files"]}) == 1, result["files"]
        for i, path in enumerate(result["files"]):
            with open(path, "rb") as f:
                names = {name for _, name, _ in spaces.host_events(XSpace.FromString(f.read()))}
            assert ("our own work" in names) == (i < 2) and ("compress" in names) == (i >= 2), (i, names)
        check_run(result["files"])
        # All clocks are that of this machine.
        known = [one["clock_offset_ns"] for one in result["targets"]]
        assert known == [0, 0, 0, 0], known


def check_run(files):
    """Checks that XProf has each file as a host of the run, with its own spans."""
    events = viewer.run_events(files)
    host_of = {pid: name.split()[0] for pid, name in viewer.process_names(events).items()}
    for i, path in enumerate(files):
        host = pathlib.Path(path).name.removesuffix(".xplane.pb")
        names = {event["name"] for event in events if event["ph"] == "X" and host_of[event["pid"]] == host}
        assert ("our own work" if i < 2 else "compress") in names, (host, sorted(names))


def plane_events(plane):
    """Yields (name, start in ns, duration in ns) of each event, in the time of the trace."""
    for line in plane.lines:
        for event in line.events:
            yield (plane.event_metadata[event.metadata_id].name,
                   line.timestamp_ns + event.offset_ps / 1000, event.duration_ps / 1000)


def test_child_of_jax():
    """A program of ours that is registered with a JAX program is in the JAX program's trace, with the same times."""
    with folder() as work, Pipeline(work) as pipeline:
        pid = pipeline.process.pid
        with jax_server(work, pid, pipeline.port) as (port, _), Service(port) as calls:
            message = request(1500, advanced_configuration={"profile_subprocesses": True})
            space = calls.profile(message).xspace
            plane = spaces.plane_named(space, f"/host:CPU [{pid}]")
            events = list(plane_events(plane))
            names = {name for name, _, _ in events}
            assert {"write", "process cpu %"} <= names, names
            # The child's events in this trace must have the parent's times: neither the child's own, nor Unix time.
            late = [e for e in events if not 0 <= e[1] <= 1e10 or e[1] + e[2] > 1e10]
            assert not late, late[:5]
            own = [start for name, start, _ in plane_events(spaces.plane_named(space, "/host:CPU"))
                   if name == "our own work"]
            spans = [start for name, start, _ in events if name == "write"]
            assert max(own) - min(own) > 4e8 and max(spans) - min(spans) > 4e8, (own[:2], spans[:2])
            # JAX ends its own part first, and then the child's.
            assert abs(min(own) - min(spans)) < 1e9, (min(own), min(spans))
            assert max(own) < max(spans) + 1e9, (max(own), max(spans))
            assert calls.profile(request(100)).xspace.planes, "a capture without the child"
        # The parent has freed the child's session.
        with Service(pipeline.port) as calls:
            assert spaces.usage_counts(calls.profile(request(100)).xspace)


def test_child_of_jax_with_children():
    """Followed children of the child are in the trace, too, each under its own pid."""
    with folder() as work, Prefork(2) as prefork:
        with jax_server(work, prefork.process.pid, prefork.port) as (port, _), Service(port) as calls:
            message = request(500, advanced_configuration={"profile_subprocesses": True})
            space = calls.profile(message).xspace
        for pid in prefork.workers:
            found = [plane.name for plane in space.planes if plane.name.endswith(f" [{pid}]")
                     and not re.search(r" (samples|thread states) \[\d+\]$", plane.name)]
            assert len(found) == 1, [plane.name for plane in space.planes]


def own_work(done):
    """Returns how often the file with the printed path has the JAX program's work."""
    path, = done.stdout.splitlines()
    data = pathlib.Path(path).read_bytes()
    return count(spaces.host_events(XSpace.FromString(data)), "our own work")


def test_session_at_jax_server():
    """proftap start, snapshot and stop drive JAX's continuous profiling, and lose no file."""
    with folder() as work, jax_server(work) as (port, output):
        logs = ("--log_dir", work / "logs")
        none = run(PROFTAP, "snapshot", port, *logs, check=False)
        assert (none.returncode, "no continuous session" in none.stderr) == (1, True), none
        started = run(PROFTAP, "start", port, "--python_tracer_level", "0")
        assert "keeps all data until a snapshot is taken" in started.stderr, started.stderr
        assert output.readline() == "recording\n"
        busy = run(PROFTAP, "start", port, check=False)
        assert busy.returncode == 4, busy
        for command in ("snapshot", "stop"):
            done = run(PROFTAP, command, port, *logs)
            assert own_work(done) > 0, done.stderr
            assert "starts a new recording with each snapshot" in done.stderr, done.stderr
        gone = run(PROFTAP, "stop", port, *logs, check=False)
        assert gone.returncode == 1, gone
        assert len(list((work / "logs").rglob("*.xplane.pb"))) == 2


def test_monitor_of_jax_server():
    """JAX's server has no Monitor, and proftap monitor says so."""
    with folder() as work, jax_server(work) as (port, _):
        done = run(PROFTAP, "monitor", port, "50", check=False)
        assert (done.returncode, "this server has no Monitor" in done.stderr) == (1, True), done
