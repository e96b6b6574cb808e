#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs by HTTP: the list, their facts, downloads, conversions, deletion, and ownership."""
import json
import os
import re
import shutil

from checks import contains
from fixture import NOBODY, check, equal, need_readable_tree, need_root, run, test, wait_until
from processes import PROFTAP, Process
from trace_file import Trace
from web_api import Api

LONG_MS = 60000


def record(api, target, *commands, **body):
    """Records a run in which the target executes |commands|, and returns the capture."""
    number = api.capture(target=target.pid, duration_ms=LONG_MS, **body)
    target.ask("await 1", *commands)
    api.post(f"captures/{number}/stop", status=200)
    return api.await_capture(number)


def place(api, run_name, *more):
    return api.log_dir.joinpath("plugins", "profile", run_name, *more)


def await_known(api, name):
    """Waits until the daemon has read the run, and returns it."""
    def known():
        found = api.get(f"runs/{name}")
        return found if found["n_spans"] is not None or found["unreadable"] else None
    wait_until(known, f"run {name} to be read", 20)
    return known()


def printed(t, *words):
    process = t.keep(Process("proftap", [PROFTAP, *words]))
    equal(process.wait(), 0, f"proftap {words}: {process.err}")
    for thread in process.threads:
        thread.join()
    return "".join(process.out)


@test
def a_run_is_listed_with_its_contents(t):
    api = Api(t)
    equal(api.get("runs"), {"log_dir": str(api.log_dir), "runs": [], "n_more": 0}, "before there is a directory")
    target = api.target()
    capture = record(api, target, "burst 7", run="first")
    run_ = await_known(api, "first")
    file = place(api, "first", capture["files"][0])
    equal(run_["files"], [{"name": file.name, "size_bytes": file.stat().st_size}], "files")
    equal([run_["size_bytes"], run_["targets"], run_["uid"]],
          [file.stat().st_size, [{"pid": target.pid, "name": "target"}], os.geteuid()], "the daemon's data")
    report = json.loads(printed(t, "report", "--json", str(file)))
    equal([run_["n_spans"], run_["n_dropped"], run_["duration_ms"], run_["warnings"]],
          [7, 0, report["duration_ns"] / 1e6, report["warnings"]], "its content")
    equal(run_["start_unix_ms"], report["start_unix_ns"] // 1000000, "its begin")
    record(api, target, run="second")
    equal([row["run"] for row in api.get("runs")["runs"]], ["second", "first"], "the youngest first")


@test
def an_unreadable_log_directory_is_reported(t):
    """A path that is not a directory is reported. A directory that does not exist yet just has no runs."""
    api = Api(t)
    place_of_all = api.log_dir / "plugins" / "profile"
    place_of_all.parent.mkdir(parents=True)
    place_of_all.write_text("", encoding="ascii")
    for path in ("runs", "runs/first", "runs/first/report"):
        contains(api.refuses("GET", path, 500, "INTERNAL"),
                 f"{place_of_all}: the runs cannot be read: not a directory; it must be a directory that the daemon's user may read",
                 path)
    place_of_all.unlink()
    equal(api.get("runs")["runs"], [], "when it is gone")


@test
def a_run_in_parts_is_counted_once(t):
    """The list, the report, the timeline and the trace for Perfetto count it once."""
    api = Api(t)
    target = t.target().serve(0, 4096)
    capture = t.emit(target, 100, "flood 400000", options=("--split=1000000", "--run", "parts"), log_dir=api.log_dir)
    parts = [Trace(path) for path in capture.stdout.splitlines()]
    check(len(parts) > 2, f"parts: {len(parts)}")
    counts = {name: sum(part.count(name) for part in parts) for name in ("flood", "wave")}
    lost, n_spans = parts[0].host_stat("dropped_traces"), sum(counts.values())
    check(lost > 0 and n_spans > 0, f"lost {lost} of {n_spans}: the test is void")
    found = await_known(api, "parts")
    equal([found["n_dropped"], found["n_spans"], len(found["files"])], [lost, n_spans, len(parts)], "the run")
    report = api.get("runs/parts/report")
    equal([report["totals"]["dropped"], report["totals"]["spans"]], [lost, n_spans], "the report")
    equal([plane["process_id"] for plane in report["planes"] if plane["process_id"]], [target.pid], "its processes")
    equal({row["name"]: row["count"] for row in report["names"]}, counts, "its names")
    events = api.get("runs/parts/events?limit=20000&depth=2")
    rows = [(track["pid"], track["tid"]) for track in events["tracks"]]
    equal(rows, [(target.pid, target.pid)], "rows of the timeline")
    equal(len(events["tracks"][0]["spans"]) + events["n_left_out"], n_spans, "its spans")
    equal(sorted({(c["pid"], c["name"]) for c in events["counters"]}),
          sorted((c["pid"], c["name"]) for c in events["counters"]), "its charts: each is there once")
    perfetto = api.send("GET", "runs/parts/perfetto", status=200).body
    written = t.dir / "trace.pftrace"
    printed(t, "convert", str(place(api, "parts")), "-t", "perfetto", "-o", str(written))
    equal(len(perfetto), written.stat().st_size, "bytes of the Perfetto trace")


@test
def files_are_downloaded_as_they_are(t):
    api = Api(t)
    capture = record(api, api.target(), "burst 7")
    (name,) = capture["files"]
    answer = api.send("GET", f"runs/{capture['run']}/files/{name}", status=200)
    check(answer.body == place(api, capture["run"], name).read_bytes(), "other bytes")
    equal(answer.headers["Content-Disposition"], f'attachment; filename="{name}"', "disposition")


@test
def reports_and_traces_are_proftaps(t):
    api = Api(t)
    capture = record(api, api.target(), "burst 7")
    run_dir = place(api, capture["run"])
    told = json.loads(printed(t, "report", "--json", str(run_dir)))
    report = api.get(f"runs/{capture['run']}/report")
    equal({**report, "path": told["path"]}, told, "the report")
    answer = api.send("GET", f"runs/{capture['run']}/perfetto", status=200)
    written = t.dir / "trace.pftrace"
    printed(t, "convert", str(run_dir), "-t", "perfetto", "-o", str(written))
    equal(len(answer.body), written.stat().st_size, "bytes of the Perfetto trace")
    contains(answer.headers["Content-Disposition"], f"{capture['run']}.pftrace", "disposition")


def count_conversions(api):
    """Returns the metrics' (conversions made, answers from kept ones, bytes of kept ones)."""
    text = api.web.ask("/metrics").text
    return tuple(int(re.search(rf"^{re.escape(name)} (\d+)$", text, re.M)[1]) for name in (
        'proftap_conversions_total{source="made"}', 'proftap_conversions_total{source="kept"}', "proftap_kept_conversions_bytes"))


@test
def conversions_are_reused(t):
    api = Api(t)
    name = record(api, api.target(), "burst 7", run="mine")["run"]
    (file,) = place(api, name).glob("*.xplane.pb")
    equal(count_conversions(api), (0, 0, 0), "at first")
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 60))
    answers = {path: [api.send("GET", f"runs/{name}/{path}", status=200) for _ in range(2)] for path in ("report", "perfetto")}
    for path, (first, second) in answers.items():
        check(first.body == second.body, f"{path}: other bytes the second time")
        for header in ("Content-Type", "Content-Disposition", "Content-Length"):
            equal(second.headers[header], first.headers[header], f"{header} of {path}")
    size = sum(len(first.body) for first, _ in answers.values())
    equal(count_conversions(api), (2, 2, size), "made, kept, bytes")
    # Another file with the same name, size and time replaces the first.
    copy = file.with_name("copy")
    shutil.copy2(file, copy)
    copy.rename(file)
    api.get(f"runs/{name}/report")
    equal(count_conversions(api)[:2], (3, 2), "made and kept for another file")
    # Timelines are not kept.
    for _ in range(2):
        api.get(f"runs/{name}/events")
    equal(count_conversions(api)[:2], (5, 2), "made and kept for timelines")
    api.delete(f"runs/{name}")
    equal(count_conversions(api)[2], 0, "kept bytes of a deleted run")


def named(events):
    """Returns all spans, with their names."""
    return [[events["names"][span[0]], *span[1:]] for track in events["tracks"] for span in track["spans"]]


@test
def events_have_the_tracks_and_depths_of_a_timeline(t):
    api = Api(t)
    target = api.target()
    run_ = record(api, target, "threads loader=4")["run"]
    whole = api.get(f"runs/{run_}/events?depth=64")
    (track,) = [track for track in whole["tracks"] if track["thread"] == "loader"]
    equal([track["process"], track["pid"], track["device"]], ["target", target.pid, None], "its owner")
    inner = {"informative", "args", "train", "pair", *(f"file {i}" for i in range(4))}
    for name, start_ns, duration_ns, depth, step in named(whole):
        equal([depth, step is not None], [int(name in inner), name == "train"], f"depth of {name}, and whether it is a step")
        check(whole["first_ns"] <= start_ns <= start_ns + duration_ns <= whole["end_ns"], f"time of {name}")
    equal(sorted(name for name, *_ in named(whole)),
          sorted(4 * ["outer", "informative", "args", "train", "pair"] + [f"file {i}" for i in range(4)]), "spans")
    equal([step for name, *_, step in named(whole) if name == "train"], [10**10 + i for i in range(4)], "steps")
    outer = api.get(f"runs/{run_}/events")
    equal(sorted(name for name, *_ in named(outer)), 4 * ["outer"] + 4 * ["train"], "the outermost, and steps")
    few = api.get(f"runs/{run_}/events?depth=64&limit=5")
    longest = max(duration_ns for name, _, duration_ns, *_ in named(whole) if name != "train")
    equal([sorted(name for name, *_ in named(few)), few["n_left_out"]], [["outer"] + 4 * ["train"], 24 - 5], "five")
    equal([duration_ns for name, _, duration_ns, *_ in named(few) if name == "outer"], [longest], "the longest")
    second = sorted(start_ns for name, start_ns, *_ in named(outer) if name == "outer")[1]
    equal({start_ns < second for name, start_ns, *_ in named(api.get(f"runs/{run_}/events?from={second}"))}, {False}, "from")
    equal(len(named(api.get(f"runs/{run_}/events?to={second}"))), 2, "the first round's, by to")
    equal(named(api.get(f"runs/{run_}/events?min_ns={longest + 1}")), [], "spans longer than the longest")
    equal(named(api.get(f"runs/{run_}/events?pid=1")), [], "of another program")
    for query, what in (("limit=0", "limit"), ("depth=1025", "depth"), ("from=x", "from"), ("pid=", "pid: ")):
        contains(api.refuses("GET", f"runs/{run_}/events?{query}", 400, "INVALID_ARGUMENT"), what, query)


@test
def runs_written_by_others_are_listed(t):
    api = Api(t)
    capture = record(api, api.target(), "burst 7")
    copy = place(api, "copied")
    shutil.copytree(place(api, capture["run"]), copy)
    (copy / ".proftap.json").unlink()
    (copy / "notes.txt").write_text("hello")
    run_ = await_known(api, "copied")
    equal([run_["targets"], run_["n_spans"], sorted(file["name"] for file in run_["files"])],
          [[], 7, sorted([*capture["files"], "notes.txt"])], "a copy")
    broken = place(api, "broken")
    broken.mkdir()
    (broken / "x.xplane.pb").write_bytes(b"\xff" * 100)
    contains(await_known(api, "broken")["unreadable"], "x.xplane.pb", "why it cannot be read")
    api.refuses("GET", "runs/broken/report", 500, "INTERNAL")


@test
def names_and_links_cannot_leave_the_log_directory(t):
    api = Api(t)
    capture = record(api, api.target())
    run_ = capture["run"]
    secret = t.dir / "secret"
    secret.mkdir()
    (secret / "x.xplane.pb").write_text("secret")
    place(api, "link").symlink_to(secret)
    place(api, run_, "link.xplane.pb").symlink_to(secret / "x.xplane.pb")
    os.mkfifo(place(api, run_, "fifo"))
    equal([row["run"] for row in api.get("runs")["runs"]], [run_], "runs")
    equal([file["name"] for file in api.get(f"runs/{run_}")["files"]], capture["files"], "files")
    for path in ("runs/link", "runs/link/files/x.xplane.pb", f"runs/{run_}/files/link.xplane.pb", f"runs/{run_}/files/fifo",
                 f"runs/{run_}/files/.proftap.json", "runs/..", "runs/%2e%2e", "runs/..%2fx", f"runs/{run_}/files/..",
                 f"runs/{run_}/files/%2e%2e%2f%2e%2e%2fx", f"runs/{run_}/files/none"):
        answer = api.web.ask(f"/api/v1/{path}")
        check(answer.status in (400, 404), f"{path}: {answer.status}")
        check("secret" not in answer.text.replace(str(secret), ""), f"{path}: {answer.text}")
    api.delete(f"runs/{run_}")
    check((secret / "x.xplane.pb").exists(), "a link was followed")


@test
def a_run_is_deleted(t):
    api = Api(t)
    capture = record(api, api.target())
    events = api.events("?topics=runs")
    events.wait("hello")
    api.delete(f"runs/{capture['run']}")
    equal(events.wait("run_gone"), {"run": capture["run"]}, "the event")
    check(not place(api, capture["run"]).exists(), "the run is still there")
    api.refuses("DELETE", f"runs/{capture['run']}", 404, "NOT_FOUND")


@test
def runs_of_other_users_are_hidden(t):
    need_root()
    need_readable_tree()
    api = Api(t, "--operators", "")
    capture = record(api, api.target())
    shutil.copytree(place(api, capture["run"]), place(api, "theirs"))
    place(api, "theirs", ".proftap.json").unlink()
    os.chown(place(api, "theirs"), NOBODY, NOBODY)
    script = ("import json,sys,urllib.request as u,urllib.error as e\n"
              "b=sys.argv[1]\n"
              "print(json.dumps([r['run'] for r in json.load(u.urlopen(b+'runs'))['runs']]))\n"
              "for p in sys.argv[2:]:\n"
              " try: u.urlopen(b+p); print(200)\n"
              " except e.HTTPError as x: print(x.code)\n")
    name = capture["run"]
    asking = t.keep(Process("nobody", ["/usr/bin/python3", "-c", script, f"http://127.0.0.1:{api.web.port}/api/v1/",
                                       f"runs/{name}", f"runs/{name}/report", f"runs/{name}/files/{capture['files'][0]}",
                                       f"runs/{name}/events", "runs/theirs"], user=NOBODY))
    equal(asking.wait(), 0, f"asking: {asking.err}")
    for thread in asking.threads:
        thread.join()
    equal([line.strip() for line in asking.out], ['["theirs"]', "404", "404", "404", "404", "200"], "another user's view")


if __name__ == "__main__":
    run()
