#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap report as a user calls it: the files that it finds, its tables, and its errors."""
import csv
import io
import json
import os
import re
import subprocess

from conversions import capture_requests, make_bad_names, make_space
from fake_server import space
from fixture import check, contains, equal, run, schema, test
from processes import PROFTAP, TOP_SRC
from reports import add_event, add_stat, make_training
from sampled import write_process
from terminal import run_on_terminal

GOLDEN = TOP_SRC / "tests" / "golden"


def report(*words, code=0, **options):
    done = subprocess.run([PROFTAP, "report", *words], capture_output=True, text=True, timeout=20,
                          **options)
    equal(done.returncode, code, f"report {words}: {done.stderr!r}")
    return done.stdout if code == 0 else done.stderr


def read_names(text, title):
    """Returns the names in the rows below the title: the column under the last word of the table's head."""
    lines = text[text.index(f"\n{title}"):].splitlines()[2:]
    check(lines[0].endswith("  name"), f"no head: {lines[0]!r}")
    at = len(lines[0]) - 4
    found = []
    for line in lines[1:]:
        if not line or line.startswith("  …"):
            break
        check(line[at - 2:at] == "  " and line[at] != " ", f"no name below its head: {line!r}")
        found.append(line[at:])
    return found


@test
def rows_come_in_the_order_asked_for(t):
    path = GOLDEN / "steps.xplane.pb"
    for key in ("self", "total", "count", "mean", "p50", "p99", "max"):
        contains(report(path, "--sort", key), "\nnames by " + key, "the title")
        threads = json.loads(report(path, "--sort", key, "--json"))["planes"][0]["threads"]
        member = key if key == "count" else f"{key}_ns"
        values = [row[member] for thread in threads for row in thread["spans"]]
        check(len(values) > 1, f"rows: {values}")
        equal(values, sorted(values, reverse=True), f"values by {key}")
    spans = json.loads(report(path, "--sort", "name", "--json"))["planes"][0]["threads"][0]["spans"]
    equal([row["name"] for row in spans], ["forward", "train"], "names")


@test
def a_full_device_is_reported_once(t):
    path = make_training(t.dir / "a.xplane.pb")
    for words in ((), ("--json",), ("--csv",)):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROFTAP, "report", *words, path], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        equal((done.returncode, done.stderr), (1, "standard output: cannot write: no space left on device\n"),
              f"message about {words}")


@test
def only_the_top_is_shown(t):
    path = GOLDEN / "spans.xplane.pb"
    text = report(path, "--top", "1")
    contains(text, "  … and 5 more names; --top 6 shows all\n", "the report")
    equal(read_names(text, "names"), ["long"], "names")
    by_thread = report(path, "--top", "1", "--by_thread")
    equal([read_names(by_thread, f"thread {name}") for name in ("main", "worker é")],
          [["long"], ["job"]], "names, one a thread")
    threads = json.loads(report(path, "--top", "1", "--json"))["planes"][0]["threads"]
    equal([len(thread["spans"]) for thread in threads], [1, 1], "rows of the JSON form")


def count_rows(text, title):
    """Returns the number of rows in a table, without the line about omitted ones, and its last line."""
    rows = text[text.index(f"\n\n{title}\n") + 2:].split("\n\n")[0].splitlines()[2:]
    return len([row for row in rows if not row.startswith("  …")]), rows[-1]


@test
def only_the_top_of_other_tables_is_shown(t):
    """There are steps, devices, flows and counters, three of each on two planes, and async spans."""
    space = schema("xplane").XSpace()
    for pid in (1, 2):
        plane = space.planes.add(name=f"/host:CPU {pid}")
        add_stat(plane, plane, "process_id", pid)
        main = plane.lines.add(id=pid, name="main")
        later = plane.lines.add(id=10 + pid, name="later")
        counters = plane.lines.add(id=20 + pid, name="_counters_")
        for i in range(3):
            add_event(plane, main, f"step {i}", 1000 * i, 500, step_num=i, _r=1)
            add_event(plane, main, f"send {i}", 1000 * i + 600, 0, _pt=0, _p=7 + i)
            add_event(plane, later, f"async {i}", 1000 * i, 500, _a=1)
            add_event(plane, counters, f"counter {i}", 1000 * i, 0, value=i)
    for device in range(6):
        plane = space.planes.add(name=f"/device:GPU:{device}")
        add_event(plane, plane.lines.add(id=1, name="stream"), "k", 0, 10)
    path = t.dir / "a.xplane.pb"
    path.write_bytes(space.SerializeToString())
    for top, shown in ((1, 1), (4, 4), (5, 5)):
        text = report(path, "--top", str(top))
        for title, what in (("steps", "name"), ("devices; idle is the longest time without a kernel", "device"), ("flows", "name"),
                            ("counters", "counter")):
            rest = f"  … and {6 - shown} more {what}{'s' if 6 - shown > 1 else ''}; --top 6 shows all"
            equal(count_rows(text, title), (shown, rest), f"rows of {title}, and the last line")
    planes = json.loads(report(path, "--top", "2", "--json"))["planes"]
    equal([[len(plane[key]) for key in ("steps", "async_spans", "flows", "counters")] for plane in planes[:2]],
          [[2, 2, 2, 2]] * 2, "lists of the JSON form")


@test
def flows_of_several_planes_name_their_planes(t):
    space = schema("xplane").XSpace()
    for name in ("/device:GPU:0", "/device:GPU:1"):
        plane = space.planes.add(name=name)
        add_event(plane, plane.lines.add(id=1, name="stream"), "gemm", 0, 10, _ct=0, _c=5)
    path = t.dir / "a.xplane.pb"
    path.write_bytes(space.SerializeToString())
    contains(report(path), "\nflows\n      out       in  name\n        0        1  gemm  /device:GPU:0\n"
             "        0        1  gemm  /device:GPU:1\n", "the report")
    del space.planes[1]
    path.write_bytes(space.SerializeToString())
    contains(report(path), "        0        1  gemm\n", "the report of one plane")


@test
def only_names_that_match_are_shown(t):
    path = GOLDEN / "steps.xplane.pb"
    text = report(path, "--name", "^for")
    equal(read_names(text, "names"), ["forward  [1 unfinished]"], "names")
    check("\nsteps" not in text, "steps that do not match")
    text = report(path, "--name", "zzz", "--name", "ai|fo")
    equal(read_names(text, "names"), ["train  [1 unfinished]", "forward  [1 unfinished]"],
          "names of the last --name")
    equal(read_names(text, "steps"), ["train  [1 unfinished]"], "steps")
    contains(report(path, "--name", "nothing"), "spans 5 on 1 thread", "the totals")
    rows = csv.DictReader(io.StringIO(report(path, "--csv", "--name", "train")))
    equal([(row["name"], row["self_ns"], row["total_ns"]) for row in rows],
          [("train", "1200000100", "2000000000")], "self time when other names are left out")


@test
def only_the_threads_and_times_asked_for_are_shown(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("a", 0, 1000), ("b", 5000, 1000)],
                                 "loader": [("c", 500, 1000)]}, pid=4242))
    names = lambda *words: {row["name"] for row in json.loads(report(path, "--json", *words))["names"]}
    equal(names(), {"a", "b", "c"}, "all")
    equal(names("--thread", "load*"), {"c"}, "--thread")
    equal(names("--pid", "4242,4243"), {"a", "b", "c"}, "--pid")
    equal(names("--from", "2us"), {"b"}, "--from")
    equal(names("--to", "400ns"), {"a"}, "--to")
    equal(names("--exclude", "[ab]"), {"c"}, "--exclude")
    text = report(path, "--from", "2us", "--to", "5.5us")
    contains(text, "looked at: 2.00 us to 5.50 us\n", "the time")
    contains(text, "14.3 % █▍", "the busy share")


@test
def columns_stand_whatever_the_names_are(t):
    shown = {"plain": "plain", "名前": "名前", "é" * 300: "é" * 24 + "…",
             "\x1b[31mred\n": "?[31mred?"}
    for i, name in enumerate(shown):
        path = t.dir / f"{i}.xplane.pb"
        path.write_bytes(space(3, name=name))
        equal(read_names(report(path, "--width", "80"), "names"), [shown[name]], "names")


@test
def unusual_names_are_printable(t):
    path, _ = make_bad_names(t)
    for words in ((), ("--csv",), ("--json",), ("--by_thread",)):
        data = subprocess.run([PROFTAP, "report", *words, path], capture_output=True, timeout=20,
                              check=True).stdout
        text = data.decode()
        check(not [c for c in text.replace("\n", "").replace("\r\n", "").replace("\r", "")
                   if c < " " or "\x7f" <= c < "\xa0"], f"{words}: a control character")
        if "--csv" not in words and "--json" not in words:
            lines = report(path, "--width", "80", *words).splitlines()[2:]
            check(max(map(len, lines)) <= 80, f"{words}: a long line")


@test
def report_of_a_training_equals_the_golden_file(t):
    """The expected report, which has 80 columns and no colours, was reviewed once."""
    path = make_training(t.dir / "training.xplane.pb")
    text = report("training.xplane.pb", cwd=t.dir)
    expected = (GOLDEN / "training.report").read_text()
    equal(text.splitlines(), expected.splitlines(), "the report; see tests/golden/training.report")
    # No width has room for all names. The report marks those that are cut, and tells which width shows them whole.
    cut = report(path, "--width", "80")
    contains(cut, "  void gemm<float, 128>(fl…\n", "a name that is cut")
    wider = re.search(r'\nnames that end with "…" are cut; --width (\d+) shows them whole\n$', cut)
    for whole in (report(path, "--width", wider[1]), text):
        contains(whole, "  void gemm<float, 128>(float const*, float*)\n", "the whole name")
        check("…" not in whole, f"something is cut: {whole}")
    contains(report(path, "--width", "120"), "   count    total     mean      p50      p99      max  name",
             "a wide page")


@test
def kernels_are_there_as_often_and_as_long_as_they_ran(t):
    """The report also counts kernels that ran at the same time; tests/golden/gpu.c defines all of them."""
    path = GOLDEN / "gpu.xplane.pb"
    rows = list(csv.DictReader(report(path, "--csv").splitlines()))
    kernels = {row["name"]: tuple(int(row[key]) for key in ("count", "total_ns", "self_ns", "min_ns", "max_ns"))
               for row in rows if row["kind"] == "kernel"}
    equal(kernels, {"gemm": (6, 300000, 300000, 40000, 60000), "tail": (3, 54000, 54000, 18000, 18000),
                    "reduce": (3, 180000, 180000, 60000, 60000), "MemcpyHToD": (3, 60000, 60000, 20000, 20000),
                    "void net::backward<float>(float*, int)": (3, 270000, 270000, 90000, 90000)}, "kernels")
    text = report(path)
    contains(text, "\nprocesses 1 · devices 1\nspans 48 on 8 threads · of devices 20 · ", "the head")
    totals = json.loads(report(path, "--json"))["totals"]
    equal((totals["spans"], totals["device_spans"]), (48, 20), "the totals")
    # All streams together are busy from 6 to 26, 30 to 148 and 150 to 240 us of each step.
    contains(text, "   68.4 % ██████▉          18   140 us  /device:GPU:0\n", "the device's share")
    flows = {name: (out, into) for out, into, name in re.findall(r"^ +(\d+) +(\d+)  (\w[\w ]*?)(?:  .*| \(.*)$", text, re.M)}
    equal((flows["cuLaunchKernel"], flows["gemm"], flows["reduce"], flows["MemcpyHToD"]),
          (("9", "0"), ("0", "6"), ("0", "3"), ("0", "3")), "flows")


@test
def kernels_are_grouped_by_their_launching_operator(t):
    """Each kernel belongs to the operator that launched it, or else to the span around the call. A graph is one launch."""
    path = GOLDEN / "gpu.xplane.pb"
    part = report(path).split("kernels by the operator or span that launched them\n")[1].split("\n\n")[0]
    equal([line.split() for line in part.splitlines()],
          [["time", "of", "all", "kernels", "launches", "name"],
           ["594", "us", "68.8", "%", "15", "15", "forward/matmul:MatMul"],
           ["270", "us", "31.2", "%", "3", "3", "build"]], "the table")
    equal(json.loads(report(path, "--json"))["launches"],
          [{"name": "forward/matmul:MatMul", "kernels": 15, "launches": 15, "device_ns": 594000},
           {"name": "build", "kernels": 3, "launches": 3, "device_ns": 270000}], "the JSON form")


@test
def kernels_without_an_operator_count_for_the_launching_span(t):
    space = schema("xplane").XSpace()
    plane = space.planes.add(name="/host:CPU")
    main = plane.lines.add(id=7, name="main")
    device = space.planes.add(name="/device:GPU:0")
    stream = device.lines.add(id=1, name="Stream #1")
    add_event(plane, main, "train", 0, 1000)
    add_event(plane, main, "forward", 100, 300)
    for i in range(2):
        add_event(plane, main, "cuLaunchKernel", 110 + 100 * i, 10, correlation_id=5 + i)
        # A graph runs three kernels by one launch.
        for k in range(3):
            add_event(device, stream, "k", 1000 * i + 100 * k, 50, correlation_id=5 + i)
    add_event(plane, main, "cuLaunchKernel", 500, 10, correlation_id=9)
    add_event(device, stream, "k", 5000, 100, correlation_id=9)
    add_event(device, stream, "k", 6000, 100, correlation_id=77)
    add_event(device, stream, "k", 7000, 50, correlation_id=78, hlo_op="fusion.1")
    path = t.dir / "a.xplane.pb"
    path.write_bytes(space.SerializeToString())
    equal([(row["name"], row["kernels"], row["launches"], row["device_ns"])
           for row in json.loads(report(path, "--json"))["launches"]],
          [("forward", 6, 2, 300), ("train", 1, 1, 100), ("(not known)", 1, 0, 100), ("fusion.1", 1, 0, 50)], "launches")


def check_width(text, width):
    """Checks the width of all lines but the path and the recording's messages."""
    for line in text.replace("\r", "").splitlines()[1:]:
        check(len(line) <= width or line.startswith(("warning: ", "lost: ", "note: ")), f"{len(line)} columns: {line!r}")


@test
def no_line_is_longer_than_the_page(t):
    traces = [make_training(t.dir / f"{name}.xplane.pb") for name in "ab"] + [capture_requests(t)]
    many = t.dir / "many.xplane.pb"
    many.write_bytes(make_space({"thread " * 20: [("name " * 30, 0, 10**10)]}, pid=7) + b"".join(
        schema("xplane").XSpace(hostnames=[f"a-host-with-a-name-of-some-length-{i}"]).SerializeToString()
        for i in range(20)))
    for width in (76, 80, 98, 120):
        for paths in (traces[:1], traces[:2], traces[2:], traces, [many], [many, traces[0]]):
            check_width(report("--by_thread", "--slow", "1", "--width", str(width), *paths), width)
    equal(run_on_terminal("report", *traces, columns=40, NO_COLOR="1").replace("\r", ""), report("--width", "76", *traces),
          "on a narrow terminal")


@test
def a_recorder_is_reported_since_all_threads_are_complete(t):
    """The main thread's ring was overwritten, so its events from the time of the other thread are missing."""
    target = t.target(PROFTAP_RECORDER="1").serve(0, 65536, 0, "127.0.0.1", 0, 0, t.dir / "last")
    target.ask("threads early=3")
    target.ask("count 20000")
    done = subprocess.run([PROFTAP, "snapshot", str(target.port), "--log_dir", t.dir / "logs"], capture_output=True,
                          text=True, timeout=60, check=True)
    path = done.stdout.rstrip("\n")
    complete, whole = (json.loads(report(path, "--json", *words)) for words in ((), ("--whole",)))
    names = lambda made: {row["name"] for row in made["names"]}
    equal(names(complete), {"number"}, "names in the time in which all threads are complete")
    check("pair" in names(whole), f"names with --whole: {names(whole)}")
    equal(complete["begin_ns"], complete["complete_since_ns"], "the begin")
    check(complete["begin_ns"] > whole["begin_ns"], f"begin: {complete['begin_ns']}, with --whole {whole['begin_ns']}")
    contains(report(path), "  all threads are complete from ", "the report")
    contains(report(path), "; --whole covers all of the time\n", "the report")
    contains(report(path, "--whole"), "some threads are incomplete: their numbers are too low\n",
             "the report with --whole")


@test
def several_files_are_one_trace(t):
    runs = t.dir / "plugins/profile/run"
    runs.mkdir(parents=True)
    for host in ("gpu1", "gpu2"):
        (runs / f"{host}.xplane.pb").write_bytes(
            make_space({"main": [("step", 0, 1000)]}, host=host, pid=7))
    said = json.loads(report(t.dir, "--json"))
    equal((said["path"], said["hostnames"]), (str(runs), ["gpu1", "gpu2"]), "path and hosts")
    equal([(p["host"], p["pid"]) for p in said["processes"]], [("gpu1", 7), ("gpu2", 7)], "processes")
    equal([(row["name"], row["count"]) for row in said["names"]], [("step", 2)], "names")
    text = report(runs / "gpu1.xplane.pb", runs / "gpu2.xplane.pb", "--align", "0,5us")
    contains(text, "hosts gpu1, gpu2\n", "hosts")
    contains(text, "looked at: 0 ns to 6.00 us\n", "the time of aligned files")


@test
def colours_are_for_terminals(t):
    path = GOLDEN / "steps.xplane.pb"
    check("\x1b[" not in report(path), "colours in a pipe")
    contains(run_on_terminal("report", path, columns=80), "\x1b[1m", "a terminal")
    check("\x1b[" not in run_on_terminal("report", path, columns=80, NO_COLOR="1"), "NO_COLOR")
    check("\x1b[" not in run_on_terminal("report", path, columns=80, TERM="dumb"), "a dumb terminal")
    contains(run_on_terminal("report", path, columns=120, NO_COLOR="1"), " mean      p50      p99      max", "wide")


@test
def a_log_directory_means_its_newest_run(t):
    runs = t.dir / "plugins/profile"
    # The newest run is neither the first nor the last by name.
    for n, run_name in ((1, "2026_01_01_00_00_00"), (3, "2025_01_01_00_00_00"),
                        (2, "2024_01_01_00_00_00")):
        (runs / run_name).mkdir(parents=True)
        path = runs / run_name / "a.xplane.pb"
        path.write_bytes(space(n))
        os.utime(path, (n, n))
    contains(report(t.dir), "spans 3 on 1 thread", "the report")


@test
def a_bad_file_does_not_hide_the_others(t):
    (t.dir / "a.xplane.pb").write_bytes(b"\xff" * 100)
    (t.dir / "b.xplane.pb").write_bytes(space(3))
    (t.dir / "c.xplane.pb.broken").write_bytes(b"\xff")
    done = subprocess.run([PROFTAP, "report", t.dir], capture_output=True, text=True, timeout=20)
    equal(done.returncode, 1, "exit status")
    contains(done.stdout, "spans 3 on 1 thread", "standard output")
    equal(done.stdout.splitlines()[0], str(t.dir / "b.xplane.pb"), "the title")
    contains(done.stderr, f"{t.dir}/a.xplane.pb: not a readable trace: at byte ", "standard error")
    equal(done.stderr.count("\n"), 1, "lines on standard error")


@test
def unreadable_files_are_explained(t):
    empty = t.dir / "empty.xplane.pb"
    empty.touch()
    contains(report(t.dir / "none", code=1), "none: cannot open: no such file or directory", "error")
    contains(report(empty, code=1), "empty.xplane.pb: empty file, not a trace", "error")
    (t.dir / "logs").mkdir()
    contains(report(t.dir / "logs", code=1), "logs: no trace there: neither *.xplane.pb nor ",
             "error")


@test
def wrong_words_are_reported(t):
    for words, sentence in (
            ((), "proftap report: no run or file given"),
            (("a", "--json", "--csv"), "--json and --csv exclude each other"),
            (("a", "--sort", "size"), '--sort: bad value "size": must be self, total, count, '
             "mean, p50, p99, p999, max or name"),
            (("a", "--top", "0"), '--top: bad value "0": must be a positive whole number, 1 to '),
            (("a", "--slow", "0.5"), '--slow: bad value "0.5": must be a number of at least 1'),
            (("a", "--width", "75"), '--width: bad value "75": must be a '),
            (("a", "--name", "("), '--name: bad value "(": not a regular expression: '),
            (("a", "--tpo", "1"), "--tpo: unknown option; the nearest is --top")):
        error = report(*words, code=2)
        check(error.startswith(sentence), f"{words}: expected {sentence!r}, got {error!r}")
        check(error.endswith("\ntry: proftap report --help\n"), f"{words}: {error!r}")


def make_decoding(t):
    """Spans of 100 ms: decode runs for 60 ms and waits for 30 ms; an inner decode is the same time; idle() never ran."""
    ms = 1_000_000
    ran = [(i * 10 * ms, 0, ("main", "decode_file", "inflate")) for i in range(5)] + [(55 * ms, 0, ("main", "memcpy"))]
    waited = [(60 * ms, 20 * ms, ("main", "decode_file", "read")), (85 * ms, 10 * ms, ("main", "lock"))]
    after = [(110 * ms, 40 * ms, ("main", "poll"))]
    return write_process(t.dir / "a.xplane.pb", {"main": ran + waited + after},
                        {"main": [("decode", 0, 100 * ms), ("decode", 10 * ms, 20 * ms), ("rest", 200 * ms, ms)],
                         "never": [("decode", 0, 50 * ms)]})


@test
def functions_of_spans_are_shares_of_their_time(t):
    text = report(make_decoding(t))
    contains(text, "    total      cpu  blocked  samples  span: functions\n"
             "   150 ms  60.0 ms  30.0 ms        6  decode: 33 % inflate, 13 % blocked in read, "
             "7 % memcpy, 7 % blocked in lock\n", "spans")
    contains(text, "\nfunctions in which threads waited\n     self     self    total    waits  function\n"
             "  40.0 ms   57.1 %   57.1 %        1  poll\n", "waiting")
    contains(text, "     0 ns    0.0 %   28.6 %        0  decode_file\n", "a function that called one that waits")


@test
def waiting_is_no_processor_time(t):
    said = json.loads(report(make_decoding(t), "--json"))
    cpu, waiting = said["cpu_samples"], said["waiting"]
    equal((cpu["samples"], said["totals"]["cpu_samples"]), (6, 6), "CPU samples")
    equal({f["name"]: (f["self_samples"], f["total_samples"]) for f in cpu["functions"]},
          {"inflate": (5, 5), "memcpy": (1, 1), "decode_file": (0, 5), "main": (0, 6)}, "functions that ran")
    equal((waiting["waits"], waiting["total_ns"]), (3, 70_000_000), "waits")
    equal(waiting["functions"][1], {"name": "read", "waits": 1, "self_ns": 20_000_000, "total_ns": 20_000_000}, "read")
    span, = cpu["spans"]
    equal((span["name"], span["total_ns"], span["samples"], span["waiting"]["total_ns"]), ("decode", 150_000_000, 6, 30_000_000), "decode")
    equal(span["waiting"]["functions"][0], {"name": "read", "waits": 1, "self_ns": 20_000_000}, "functions in which decode waited")


@test
def waits_are_cut_to_the_selected_time(t):
    said = json.loads(report(make_decoding(t), "--json", "--from", "70", "--to", "120"))
    equal({f["name"]: f["self_ns"] for f in said["waiting"]["functions"] if f["self_ns"]},
          {"read": 10_000_000, "lock": 10_000_000, "poll": 10_000_000}, "waiting functions")


@test
def shares_of_short_spans_are_at_most_the_whole(t):
    path = write_process(t.dir / "a.xplane.pb", {"main": [(100, 0, ("f",)), (200, 0, ("g",))]}, {"main": [("short", 0, 1000)]})
    contains(report(path), "short: 50 % f, 50 % g\n", "spans")


run()
