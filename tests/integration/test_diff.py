#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap diff: a trace is compared with itself, and with one in which one thing took longer."""
import json
import subprocess

from conversions import capture_requests, make_bad_names, make_space
from fixture import check, contains, equal, run, schema, test
from processes import PROFTAP
from reports import add_event, make_training
from sampled import write_process


def diff(*words, code=0):
    done = subprocess.run([PROFTAP, "diff", *words], capture_output=True, text=True, timeout=20)
    equal(done.returncode, code, f"diff {words}: {done.stderr!r}")
    return done


@test
def a_run_does_not_differ_from_itself(t):
    path = make_training(t.dir / "a.xplane.pb")
    done = diff(path, path, "--fail-above", "0%")
    contains(done.stdout, "\nno difference: 7 names\n", "the text")
    said = json.loads(diff(path, path, "--json").stdout)
    equal((said["steps"], said["names"], said["same"]), ([], [], 7), "the JSON form")


@test
def only_slower_names_are_found(t):
    a = make_training(t.dir / "a.xplane.pb", with_device=False)
    b = make_training(t.dir / "b.xplane.pb", with_device=False, forward=1.2)
    done = diff(a, b, "--fail-above", "10%", code=1)
    equal(done.stderr, 'p50 of "forward": 305 us before, 366 us after: +20.0 %; the limit is +10 %\n'
          'p99 of "forward": 310 us before, 372 us after: +20.0 %; the limit is +10 %\n'
          'total of "forward": 12.2 ms before, 14.6 ms after: +20.0 % a step; the limit is +10 %\n', "standard error")
    said = json.loads(diff(a, b, "--json", "--fail_above", "10", code=1).stdout)
    equal([(row["name"], row["verdict"], round(row["p50_change"], 3), row["failed"])
           for row in said["names"]], [("forward", "sure", 0.2, True)], "names")
    equal([(row["name"], row["verdict"], round(row["p50_change"], 3), row["failed"])
           for row in said["steps"]], [("train", "sure", 0.067, False)], "steps")
    told = json.loads(diff(a, b, "--json").stdout)
    equal([(row["verdict"], row["failed"]) for row in told["names"] + told["steps"]], [("sure", False)] * 2,
          "without a limit")
    # These limits are not exceeded, or only in the other direction.
    diff(a, b, "--fail-above", "20.5%")
    diff(a, b, "--fail-above", "p99:forward:20.5%", "--fail-above", "count:forward:0")
    diff(b, a, "--fail-above", "10%")
    diff(a, b, "--fail-above", "10%", "--exclude", "forward")
    for width in (76, 80):
        text = diff(a, b, "--fail-above", "10%", "--width", str(width), code=1).stdout.replace(f"{t.dir}/", "")
        check(max(map(len, text.splitlines())) <= width, f"more than {width} columns: {text}")
        contains(text, "  too much\n", "the text")


@test
def slower_steps_fail_the_comparison(t):
    a = make_training(t.dir / "a.xplane.pb", with_device=False)
    b = make_training(t.dir / "b.xplane.pb", with_device=False, forward=2)
    done = diff(a, b, "--fail-above", "30%", code=1)
    contains(done.stderr, 'p50 of "train": 910 us before, 1.22 ms after: +33.5 %; the limit is +30 %\n', "standard error")
    contains(done.stdout, "\nchanges of totals and counts are per step of train: 40 in A, 40 in B\n", "the unit")


@test
def names_in_one_trace_only_are_listed(t):
    for name, spans in (("a", [("old", 0, 10), ("kept", 20, 5)]), ("b", [("kept", 0, 5), ("new", 9, 7)])):
        (t.dir / f"{name}.xplane.pb").write_bytes(make_space({"main": spans}))
    paths = t.dir / "a.xplane.pb", t.dir / "b.xplane.pb"
    text = diff(*paths).stdout
    contains(text, "\nonly in B\n    count    total      p50  name\n        1     7 ns     7 ns  new\n", "B")
    contains(text, "\nonly in A\n    count    total      p50  name\n        1    10 ns    10 ns  old\n", "A")
    rows = {row["name"]: row for row in json.loads(diff(*paths, "--json").stdout)["names"]}
    equal({name: row["verdict"] for name, row in rows.items()},
          {"old": "vanished", "new": "appeared"}, "verdicts")
    equal((rows["old"]["b"], rows["new"]["a"], rows["new"]["p50_change"]), (None, None, None), "nulls")


@test
def names_with_few_values_are_not_judged(t):
    for name, ns in (("a", 100), ("b", 900)):
        (t.dir / f"{name}.xplane.pb").write_bytes(
            make_space({"main": [("rare", 1000 * i, ns) for i in range(7)]}))
    paths = t.dir / "a.xplane.pb", t.dir / "b.xplane.pb"
    done = diff(*paths, "--fail-above", "p50:1%")
    contains(done.stdout, " +695.7 %? +800.0 %? +800.0 %?  -11.6 %?  rare\n", "the marks")
    equal(done.stderr, 'p50 of "rare": 100 ns before, 900 ns after: +800.0 %; the limit is +1 %; '
          "too few values to judge, 7 and 7: not counted\n", "standard error")
    equal([diff(*paths, *words).stderr for words in ((), ("--fail-above", "801%"))], ["", ""], "unchanged names")
    equal([verdict["outcome"] for verdict in
           json.loads(diff(*paths, "--json", "--fail-above", "1%").stdout)["verdicts"]], ["too few"] * 3, "verdicts")


@test
def first_of_many_rare_changes_are_listed(t):
    for name, ns in (("a", 100), ("b", 900)):
        (t.dir / f"{name}.xplane.pb").write_bytes(make_space({"main": [(f"n{i}", 1000 * i, ns) for i in range(23)]}))
    lines = diff(t.dir / "a.xplane.pb", t.dir / "b.xplane.pb", "--fail-above", "mean:1%").stderr.splitlines()
    equal((len(lines), lines[20]), (21, "3 more changes are above the limit, but have too few values to judge"),
          "standard error")


def write_spans(path, *spans):
    """Writes a trace: each of |spans| is a name and a list of (start_ns, duration_ns), on a thread of its own."""
    path.write_bytes(make_space({f"thread {i}": [(name, *times) for times in rows]
                                 for i, (name, rows) in enumerate(spans)}))
    return path


def make_requests(path, slow_every, n=2000):
    """Writes |n| requests of 0.2 ms, one after the other; each |slow_every|-th takes 20 ms."""
    rows, at_ns = [], 0
    for i in range(n):
        length_ns = 20_000_000 if slow_every and i % slow_every == 7 else 200_000 + i % 11 * 1000
        rows.append((at_ns, length_ns))
        at_ns += length_ns + 1000
    return write_spans(path, ("request", rows))


@test
def a_new_slow_tail_fails_and_a_vanished_one_passes(t):
    a, b = make_requests(t.dir / "a.xplane.pb", 0), make_requests(t.dir / "b.xplane.pb", 50)
    done = diff(a, b, "--fail-above", "10%", code=1)
    equal(done.stderr, 'p99 of "request": 210 us before, 20.0 ms after: 95.2 x; the limit is +10 %\n'
          'total of "request": 410 ms before, 1.20 s after: +193.1 % a request; the limit is +10 %\n', "standard error")
    contains(done.stdout, "\n total   410 ms   1.20 s +193.1 %  request  too much\n", "the text")
    equal(diff(b, a, "--fail-above", "10%").stderr, "", "improvements")
    for metric, code in (("total", 1), ("mean", 1), ("p50", 0), ("p90", 0), ("p99", 1), ("max", 1), ("count", 0),
                         ("rate", 1)):
        diff(a, b, "--fail-above", f"{metric}:request:10%", code=code)
        diff(b, a, "--fail-above", f"{metric}:request:10%")
    said = json.loads(diff(a, b, "--json", "--fail-above", "rate:10%", "--fail-above", "p50:request:5", code=1).stdout)
    equal([(v["metric"], v["name"], v["kind"], v["outcome"], round(v["change"], 2), v["limit"]) for v in said["verdicts"]],
          [("rate", "request", "span", "failed", -0.66, 0.1), ("p50", "request", "span", "passed", 0.0, 0.05)], "verdicts")
    row = said["names"][0]
    equal((said["per"], row["request"], row["verdict"], row["failed"], list(row["metrics"])),
          ({"unit": "request", "name": "request", "a": 2000, "b": 2000}, True, "sure", True,
           ["total", "mean", "p50", "p90", "p99", "p999", "max", "count", "rate"]), "the row")
    equal({name for name, metric in row["metrics"].items() if metric["verdict"] == "sure" and metric["change"] > 0.1},
          {"total", "mean", "p99", "p999", "max"}, "increases")


@test
def the_slowest_in_five_hundred_are_seen(t):
    """Of 16,000 requests 0.2 % become slow, which does not change p99."""
    a, b = (make_requests(t.dir / f"{every}.xplane.pb", every, n=16000) for every in (0, 500))
    equal(diff(a, b, "--fail-above", "p99:request:10%").stderr, "", "p99")
    equal(diff(a, b, "--fail-above", "p999:request:10%", code=1).stderr,
          'p999 of "request": 210 us before, 20.0 ms after: 95.2 x; the limit is +10 %\n', "p99.9")
    text, said = (subprocess.run([PROFTAP, "report", b, *words], capture_output=True, text=True, timeout=20,
                                 check=True).stdout for words in (("--width", "98"), ("--json",)))
    contains(text, "      p50      p99    p99.9      max  name\n", "the heads")
    contains(said, '"p999_ns":20000000,', "the JSON form")
    few = write_spans(t.dir / "few.xplane.pb", ("request", [(k * 1000, 100 + k) for k in range(999)]))
    check("p99.9" not in subprocess.run([PROFTAP, "report", few, "--width", "200"], capture_output=True, text=True,
                                        timeout=20, check=True).stdout, "p99.9 of 999")
    equal([row["metrics"]["p999"]["verdict"] for row in
           json.loads(diff(few, b, "--json").stdout)["names"]], ["too few"], "the verdict of 999")


@test
def async_spans_are_requests(t):
    """Several requests are open at a time."""
    paths = []
    for name, long_ns in (("a", 3_000_000), ("b", 9_000_000)):
        space = schema("xplane").XSpace(hostnames=["node1"])
        plane = space.planes.add(name="/host:CPU")
        line = plane.lines.add(id=1 << 41, name="_async_")
        for i in range(1000):
            add_event(plane, line, "query", i * 1_000_000, long_ns if i % 30 == 5 else 1_500_000 + i % 9 * 1000,
                      _a=1)
        paths.append(t.dir / f"{name}.xplane.pb")
        paths[-1].write_bytes(space.SerializeToString())
    done = diff(*paths, "--fail-above", "p99:query:10%", code=1)
    contains(done.stdout, "\nchanges of totals and counts are per span of query: 1,000 in A, 1,000 in B\n", "the unit")
    contains(done.stdout, "\nrequests: async spans, and spans outside of others\n", "the list")
    equal([(row["kind"], row["request"]) for row in json.loads(diff(*paths, "--json").stdout)["names"]],
          [("async", True)], "the row")


@test
def names_in_limits_may_have_colons_and_must_exist(t):
    paths = [write_spans(t.dir / f"{i}.xplane.pb", ("std::sort<a:b>:", [(k * 1000, 100 * i + k % 7) for k in range(50)]),
                         (f"only {i}", [(0, 5)])) for i in (1, 2)]
    contains(diff(*paths, "--fail-above", "p50:std::sort<a:b>::10%", code=1).stderr, 'p50 of "std::sort<a:b>:": ', "the name")
    diff(*paths, "--fail-above", "p50:std::sort<a:b>::110%")
    equal(diff(*paths, "--fail-above", "p50:only 3:10%", code=1).stderr,
          'nothing to compare: no trace has "only 3" (the nearest name is "only 1"); '
          "write --fail_above p50:NAME:10% with a name that is in both traces\n", "a name of no trace")
    equal(diff(*paths, "--fail-above", "p50:only 2:10%", code=1).stderr,
          'nothing to compare: "only 2" is only in B, so it has no p50 before; '
          'to set a limit for a new name, write --fail_above "count:only 2:10%"\n', "a name of B")
    equal(diff(*paths, "--fail-above", "count:only 2:10%", code=1).stderr,
          'count of "only 2": 0 before, 1 after: new; the limit is +10 %\n', "the advised limit")
    equal(diff(*paths, "--fail-above", "p50:only 1:10%").stderr,
          'p50 of "only 1": the name is only in A, so it cannot have got worse: passed\n', "a name of A")
    verdicts = json.loads(diff(*paths, "--json", "--fail-above", "max:nobody:7%", code=1).stdout)["verdicts"]
    equal([(v["name"], v["outcome"], v["metric"]) for v in verdicts], [("nobody", "missing", None)], "verdicts")


def write_work(path, *others, stats=()):
    """Writes 500 spans "work", and |others| as in write_spans(); |stats| belong to the plane."""
    lines = {"main": [("work", k * 50_000, 20_000 + k * 7919 % 1000) for k in range(500)]}
    lines.update((f"other {name}", [(name, *times) for times in rows]) for name, rows in others)
    path.write_bytes(make_space(lines, stats=stats))
    return path


@test
def new_name_that_takes_time_fails(t):
    """One new span takes most of the time, and another one takes too little to matter."""
    plain = write_work(t.dir / "plain.xplane.pb")
    spinning = write_work(t.dir / "spinning.xplane.pb", ("spinner", [(0, 24_000_000)]), ("tiny", [(0, 90)]))
    for limit in ("10%", "total:10%"):
        done = diff(plain, spinning, "--fail_above", limit, code=1)
        equal(done.stderr, 'total of "spinner": 0 ns before, 24.0 ms after: new; the limit is +10 %\n', limit)
    contains(done.stdout, "  spinner  too much\n", "the text")
    said = json.loads(diff(plain, spinning, "--fail_above", "10%", "--json", code=1).stdout)
    equal([(v["metric"], v["a"], v["b"], v["change"]) for v in said["verdicts"] if v["outcome"] == "failed"],
          [("total", 0.0, 24e6, None)], "verdicts")
    equal([row["name"] for row in said["names"] if row["failed"]], ["spinner"], "the row")
    for limit in ("10%", "total:10%", "p99:10%"):
        equal(diff(spinning, plain, "--fail_above", limit).stderr, "", f"vanished names, {limit}")
    diff(plain, spinning, "--fail_above", "p99:10%")


@test
def errors_are_watched_by_their_count(t):
    """The name is in neither trace, only in B, or only in A. A misspelt name is reported with the nearest name."""
    plain = write_work(t.dir / "plain.xplane.pb")
    failing = write_work(t.dir / "failing.xplane.pb", ("error", [(k * 100_000, 500) for k in range(30)]))
    limit = "--fail_above", "count:error:10%"
    equal(diff(plain, plain, *limit).stderr,
          'count of "error": no trace has "error" (the nearest name is "work"): passed\n', "in neither")
    equal(diff(plain, failing, *limit, code=1).stderr,
          'count of "error": 0 before, 30 after: new; the limit is +10 %\n', "the first ones")
    equal(diff(failing, plain, *limit).stderr,
          'count of "error": the name is only in A, so it cannot have got worse: passed\n', "none any more")
    contains(diff(failing, failing, "--fail_above", "count:eror:10%").stderr, '(the nearest name is "error")', "a slip")
    for metric, there, outcome in (("count", plain, "absent"), ("total", plain, "absent"), ("max", plain, "missing"),
                                   ("rate", plain, "missing"), ("max", failing, "absent"), ("p50", failing, "absent"),
                                   ("rate", failing, "failed")):
        said = json.loads(diff(there, plain, "--json", "--fail_above", f"{metric}:error:5%",
                               code=int(outcome != "absent")).stdout)
        equal([v["outcome"] for v in said["verdicts"]], [outcome], f"{metric} of error")


@test
def names_with_losses_are_not_counted(t):
    """One trace has 50 spans, not 500, but lost 4,620: this is no fall by 90 %. Durations of the 50 are compared."""
    whole = write_work(t.dir / "whole.xplane.pb")
    lossy = t.dir / "lossy.xplane.pb"
    lossy.write_bytes(make_space({"main": [("work", k * 500_000, 20_000 + k * 7919 % 1000) for k in range(50)]},
                                 stats=[("dropped_traces", 4620), ("ptap_lost_ring_full", 4620)]))
    for a, b, which in ((whole, lossy, "B"), (lossy, whole, "A")):
        for metric in ("count", "rate", "total"):
            done = diff(a, b, "--per", "second", "--fail_above", f"{metric}:work:5%")
            contains(done.stderr, f'{metric} of "work": not compared: 4,620 events were lost in {which}\n', "the verdict")
        contains(done.stdout, "4,620 events were lost: counts, rates and totals are not compared", "the head")
        check("beyond chance, most" not in done.stdout, done.stdout)
        said = json.loads(diff(a, b, "--per", "second", "--json", "--fail_above", "count:work:5%").stdout)
        row, = said["names"]
        equal([row["metrics"][metric]["verdict"] for metric in ("count", "rate", "total", "p50")],
              ["not compared"] * 3 + ["chance"], "the metrics")
        equal((row["lost_a"], row["lost_b"]), (0, 4620) if which == "B" else (4620, 0), "the losses")
        equal([v["outcome"] for v in said["verdicts"]], ["not compared"], "the verdict")
    # A new name may have been among the lost events.
    new = write_work(t.dir / "new.xplane.pb", ("spinner", [(0, 24_000_000)]))
    contains(diff(lossy, new, "--fail_above", "total:spinner:5%").stderr,
             'total of "spinner": not compared: 4,620 events were lost in A\n', "new names")
    # This loss is too small to matter.
    little = write_work(t.dir / "little.xplane.pb", stats=[("dropped_traces", 0)])
    many = t.dir / "many.xplane.pb"
    many.write_bytes(make_space({"main": [("work", k * 50_000, 20_000 + k * 7919 % 1000) for k in range(5000)]},
                                stats=[("dropped_traces", 1)]))
    equal(diff(little, many, "--per", "second", "--fail_above", "count:work:5%").stderr, "", "a small loss")


@test
def crowded_async_spans_are_not_counted(t):
    """Only async spans were lost, so the other names are compared."""
    paths = []
    for name, n, lost in (("a", 1000, 0), ("b", 300, 700)):
        space = schema("xplane").XSpace()
        space.ParseFromString(make_space({"main": [("work", k * 50_000, 20_000 + k * 7919 % 1000) for k in range(500)]},
                                         stats=[("dropped_traces", lost), ("ptap_lost_async_crowded", lost)]))
        plane = space.planes[0]
        line = plane.lines.add(id=1 << 41, name="_async_")
        for i in range(n):
            add_event(plane, line, "query", i * 20_000, 15_000 + i % 9 * 100, _a=1)
        paths.append(t.dir / f"{name}.xplane.pb")
        paths[-1].write_bytes(space.SerializeToString())
    said = json.loads(diff(*paths, "--per", "second", "--json", "--fail_above", "rate:query:5%", "--fail_above",
                           "count:work:5%").stdout)
    equal({v["name"]: v["outcome"] for v in said["verdicts"]}, {"query": "not compared", "work": "passed"}, "verdicts")
    # Rates per query are unknown because queries were lost.
    contains(diff(*paths, "--per", "query", "--fail_above", "count:work:5%").stderr,
             'count of "work": not compared: 700 events were lost in B\n', "per request")


@test
def recordings_of_different_length_compare(t):
    paths = [write_spans(t.dir / f"{n}.xplane.pb", ("work", [(k * 50000, 20000 + k * 7919 % 1000) for k in range(n)]))
             for n in (500, 2000)]
    for a, b in (paths, reversed(paths)):
        diff(a, b, "--fail-above", "3%", "--fail-above", "count:3%", "--fail-above", "rate:3%")
    for per, code in (("second", 0), ("work", 0), ("trace", 1)):
        diff(*paths, "--per", per, "--fail-above", "total:10%", code=code)
    equal(diff(*paths, "--per", "wrok", code=1).stderr,
          '--per: no step, async span or outermost span of both traces is called "wrok"\n', "a wrong unit")


@test
def a_real_program_that_is_slow_at_times_fails(t):
    """Each 50th of 1,000 spans takes 80 ms instead of 0.2 ms. What all spans take beyond that
    depends on the machine."""
    logs = [t.dir / "fast", t.dir / "slow"]
    for log_dir, last_us in zip(logs, (200, 80000)):
        target = t.target()
        equal(target.ask(f"trace_start {log_dir}"), "0", "ptap_trace_start")
        target.ask(*["paced 49 200", f"paced 1 {last_us}"] * 20)
        equal(target.ask("trace_stop"), "0", "ptap_trace_stop")
    done = diff(*logs, "--fail_above", "p99:paced:10%", "--fail_above", "total:paced:10%", code=1)
    contains(done.stderr, 'p99 of "paced": ', "standard error")
    contains(done.stderr, 'total of "paced": ', "standard error")
    contains(done.stdout, "\nchanges of totals and counts are per span of paced: 1,000 in A, 1,000 in B\n", "the unit")
    equal(diff(*reversed(logs), "--fail_above", "p99:paced:10%", "--fail_above", "total:paced:10%").stderr, "",
          "improvements")


@test
def empty_comparison_fails(t):
    """Nothing is compared if --name matches no name, or if a program ended at its start."""
    a = make_training(t.dir / "a.xplane.pb", with_device=False)
    nothing = "nothing was compared: no name is in both traces\n"
    other = t.dir / "other.xplane.pb"
    for spans, sentence in (([], nothing), ([("start", 0, 5)], nothing),
                            ([("forward", 0, 5)], "no step was compared: B has none of the steps of A\n")):
        other.write_bytes(make_space({"main": spans}))
        equal(diff(a, other, "--fail-above", "10%", code=1).stderr, sentence, "standard error")
        equal(diff(a, other).stderr, "", "without a limit")
    equal(diff(a, a, "--name", "tarin", "--fail-above", "10%", code=1).stderr, nothing, "standard error")
    # A selection of names does not need steps.
    diff(a, other, "--name", "forward", "--fail-above", "10%")


@test
def two_real_runs_are_compared(t):
    """Both runs are of a program that does the same all the time; the test does not know the result of the comparison."""
    runs = [capture_requests(t) for _ in range(2)]
    said = json.loads(diff(*runs, "--json").stdout)
    check(said["a"]["totals"]["spans"] and said["b"]["totals"]["spans"], f"spans: {said}")
    contains(diff(*runs).stdout, f"A: {runs[0]}\n", "the head")


@test
def unusual_names_are_printable(t):
    bad, _ = make_bad_names(t)
    (t.dir / "none.xplane.pb").write_bytes(make_space({"main": [("x", 0, 1)]}))
    for words in ((), ("--json",)):
        text = subprocess.run([PROFTAP, "diff", *words, bad, t.dir / "none.xplane.pb"],
                              capture_output=True, timeout=20, check=True).stdout.decode()
        check(not [c for c in text if c < " " and c != "\n" or "\x7f" <= c < "\xa0"], "a control character")


@test
def a_full_device_is_reported_once(t):
    path = make_training(t.dir / "a.xplane.pb")
    for words in ((), ("--json",)):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROFTAP, "diff", *words, path, path], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        equal((done.returncode, done.stderr), (1, "standard output: cannot write: no space left on device\n"),
              f"message about {words}")


@test
def wrong_words_are_reported(t):
    for words, sentence in (
            ((), "proftap diff: two runs or files must be given"),
            (("a",), "proftap diff: two runs or files must be given"),
            (("a", "b", "c"), "proftap diff: two runs or files must be given"),
            (("a", "b", "--fail-above", "ten"), '--fail_above: bad value "ten": must be a percentage'),
            (("a", "b", "--fail-above", "-1%"), '--fail_above: bad value "-1%": must be a percentage'),
            (("a", "b", "--fail-above", "p99:decode"), '--fail_above: bad value "p99:decode": must be a percentage'),
            (("a", "b", "--fail-above", "p95:x:10%"), '--fail_above: unknown metric "p95"; the nearest is p99; there are '),
            (("a", "b", "--fail-above", "totl:10%"), '--fail_above: unknown metric "totl"; the nearest is total; '),
            (("a", "b", "--fail-above", ":10%"), '--fail_above: unknown metric ""')):
        error = diff(*words, code=2).stderr
        check(error.startswith(sentence), f"{words}: expected {sentence!r}, got {error!r}")
    contains(diff(t.dir / "none", t.dir / "none", code=1).stderr, "none: cannot open", "no file")


@test
def a_recorder_is_compared_since_all_threads_are_complete(t):
    """Only the main thread's ring was overwritten. What the other threads did before its oldest record is left out."""
    target = t.target(PROFTAP_RECORDER="1").serve(0, 65536, 0, "127.0.0.1", 0, 0, t.dir / "last")
    target.ask("threads early=3")
    target.ask("count 20000")
    path = subprocess.run([PROFTAP, "snapshot", str(target.port), "--log_dir", t.dir / "logs"], capture_output=True,
                          text=True, timeout=60, check=True).stdout.rstrip("\n")
    other = make_training(t.dir / "a.xplane.pb")
    said, whole = (json.loads(diff(other, path, "--json", *words).stdout) for words in ((), ("--whole",)))
    equal(said["a"]["complete_since_ns"], None, "begin of a complete trace")
    equal(said["b"]["begin_ns"], said["b"]["complete_since_ns"], "the begin")
    check(whole["b"]["begin_ns"] < said["b"]["begin_ns"], f"begins: {whole['b']}, {said['b']}")
    names = [{row["name"] for row in of["names"] if row["b"]} for of in (said, whole)]
    check("pair" in names[1] - names[0], f"names since then, and of all: {names}")
    text = diff(other, path).stdout
    equal(text.count("   all threads are complete from "), 1, "sentences")
    contains(text, "; --whole covers all of the time\n", "the remedy")
    contains(diff(other, path, "--whole").stdout, "some threads are incomplete: their numbers are too low\n", "with --whole")
    equal(diff(path, path).stdout.count("   all threads are complete from "), 2, "sentences of both")


def sample_often(path, counts, in_turn=True):
    """Writes a trace with that number of samples of each function that main() calls: all of them spread over the recording,
    or all of the first function before the next one."""
    places = [((i + 0.5) / n if in_turn else 0, name) for name, n in counts.items() for i in range(n)]
    names = [name for _, name in sorted(places, key=lambda place: place[0])]
    return write_process(path, {"main": [(10_000_000 * i, 0, ("main", name)) for i, name in enumerate(names)]})


def compare_functions(a, b):
    said = json.loads(diff(a, b, "--json").stdout)["cpu_samples"]
    return said, {f["name"]: f for f in said["functions"]}


@test
def functions_are_compared_by_their_shares(t):
    a = sample_often(t.dir / "a.xplane.pb", {"grow": 100, "shrink": 300, "keep": 400})
    b = sample_often(t.dir / "b.xplane.pb", {"grow": 300, "shrink": 100, "keep": 404, "new": 1})
    said, functions = compare_functions(a, b)
    equal((said["a"], said["b"], said["same"]), (800, 805, 1), "numbers of samples, and main(), which is in all of them")
    equal(list(functions), ["shrink", "grow", "keep", "new"], "functions, the largest changes first")
    grow = functions["grow"]["self"]
    equal((grow["samples_a"], grow["samples_b"], grow["a"], grow["verdict"]), (100, 300, 0.125, "sure"), "grow")
    check(abs(grow["change"] - (300 / 805 * 8 - 1)) < 1e-9 and 0 <= grow["p"] < 1e-6, f"grow: {grow}")
    equal((functions["shrink"]["self"]["verdict"], functions["keep"]["self"]["verdict"], functions["new"]["self"]["verdict"],
           functions["new"]["self"]["change"]), ("sure", "chance", "too few", None), "verdicts")
    text = diff(a, b).stdout
    contains(text, "\nfunctions, by shares of the CPU samples\n", "the title")
    contains(text, "   12.5 %   37.3 % +198.1 %*   12.5 %   37.3 % +198.1 %*  grow\n", "the row of grow")
    equal([line for line in diff(a, b, "--top", "1").stdout.splitlines() if "more function" in line],
          ["  … and 3 more functions; --top 4 shows all"], "the limit")


@test
def functions_that_run_in_turn_for_long_may_differ_by_chance(t):
    a = sample_often(t.dir / "a.xplane.pb", {"first": 350, "second": 450}, in_turn=False)
    b = sample_often(t.dir / "b.xplane.pb", {"first": 450, "second": 350}, in_turn=False)
    _, functions = compare_functions(a, b)
    equal([f["self"]["verdict"] for f in functions.values()], ["chance", "chance"], "verdicts of few long phases")
    a, b = (sample_often(t.dir / f"mixed_{n}.xplane.pb", {"first": n, "second": 800 - n}) for n in (350, 450))
    _, functions = compare_functions(a, b)
    equal([f["self"]["verdict"] for f in functions.values()], ["sure", "sure"], "verdicts of functions that take turns")


@test
def functions_of_a_trace_with_itself_are_the_same(t):
    a = sample_often(t.dir / "a.xplane.pb", {"f": 20, "g": 30})
    said, functions = compare_functions(a, a)
    equal((functions, said["same"]), ({}, 3), "functions")
    contains(diff(a, a).stdout, "\nno difference: 0 names\n", "the text")


@test
def functions_of_one_trace_are_not_compared(t):
    a = sample_often(t.dir / "a.xplane.pb", {"f": 20})
    b = write_process(t.dir / "b.xplane.pb", {"main": [(0, 10**9, ("main", "read"))]})
    equal(compare_functions(a, b)[1], {}, "functions of a trace without CPU samples: waiting is none")
    contains(diff(a, b).stdout, "\nonly A has CPU samples: functions are not compared\n", "the text")
    contains(diff(b, a).stdout, "\nonly B has CPU samples: functions are not compared\n", "the other way round")
    check("CPU samples: " not in diff(b, b).stdout, "two traces without CPU samples")


run()
