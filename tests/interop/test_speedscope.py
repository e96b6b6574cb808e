# SPDX-License-Identifier: Apache-2.0
"""Tests speedscope.app in a browser, and Go's pprof if it is installed: both open our files,
and show the same times."""
import base64
import json
import pathlib
import re
import shutil
import sys

import browser
import sampled
from processes import PROFTAP, SOURCE, folder, run

PAGE = pathlib.Path(sys.executable).parent.parent / "node_modules/speedscope/dist/release/index.html"
TRACE = SOURCE / "tests/golden/spans.xplane.pb"
# Total and own time of the names on the thread "main", in ns.
TIMES = {"outer": (1000, 100), "inner": (900, 899), "leaf": (1, 1), "long": (9223372036854, 9223372036854)}
# Newer versions of go build their tools at the first use.
BUILD_S = 900
UNITS_NS = {"": 1, "ns": 1, "µs": 1000, "ms": 1_000_000}


def read_ns(text):
    """ "900.00ns", "1,000"; only the span "long" is shown in minutes, "153:43"."""
    if ":" in text:
        minutes, seconds = text.split(":")
        assert abs(int(minutes) * 60 + int(seconds) - TIMES["long"][0] / 1e9) <= 1, text
        return TIMES["long"][0]
    number, unit = re.fullmatch(r"([\d.,]+)(\D*)", text).groups()
    return round(float(number.replace(",", "")) * UNITS_NS[unit])


def show(path, work):
    """Returns ({name: (total, own)}, text): the times in the table of names, and the page's text."""
    script = work / "load.js"
    content = base64.b64encode(path.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(path.name)}, {json.dumps(content)})")
    text, _ = browser.show(f"{PAGE.as_uri()}#localProfilePath={script}&view=sandwich", f"speedscope-{path.suffix[1:]}")
    rows = re.findall(r"(\S+) \(\S+%\) (\S+) \(\S+%\) (\S+)", text.partition("Symbol Name")[2])
    return {name: (read_ns(total), read_ns(own)) for total, own, name in rows}, text


def check(form, ending, *words, trace=TRACE, expected=TIMES, options=()):
    with folder() as work:
        path = work / f"out{ending}"
        run(PROFTAP, "convert", "-t", form, "-o", path, *options, trace)
        times, text = show(path, work)
        assert expected.items() <= times.items(), (form, times, text)
        assert all(word in text for word in words), (form, text)


def test_speedscope_opens_its_own_format():
    """speedscope shows the threads and the times of a .speedscope.json."""
    check("speedscope", ".speedscope.json", "train: main", "train: worker é")


def test_speedscope_opens_the_others():
    """speedscope finds the same times in Chrome's JSON, folded stacks and pprof."""
    check("chrome", ".json", "train (pid 4242), main (tid 4242)")
    check("folded", ".folded", "worker_é")
    check("pprof", ".pprof")


def test_speedscope_opens_samples():
    """speedscope shows the functions of samples with their processor time, in our formats."""
    ms = sampled.MS
    cpu = {"main": (20 * ms, 0), "inflate": (10 * ms, 10 * ms)}
    with folder() as work:
        trace = work / "sampled.xplane.pb"
        trace.write_bytes(sampled.make_trace())
        for form, ending, expected, *words in (
                ("speedscope", ".speedscope.json", cpu, "child: pool [cpu]"),
                ("folded", ".folded", cpu, "pool_[cpu]"),
                ("pprof", ".pprof", cpu),
                # Its reader of Chrome's JSON takes the time to the next sample, which is 1 ms, for the weight.
                ("chrome", ".json", {"main": (ms, 0), "inflate": (ms, ms)}, "child (pid 5000), pool (tid 5001)")):
            check(form, ending, *words, trace=trace, expected=expected, options=("--thread", "pool"))


def test_speedscope_opens_all_threads_and_waits():
    """speedscope opens a file that has profiles of spans, of samples and of waiting."""
    with folder() as work:
        trace = work / "sampled.xplane.pb"
        trace.write_bytes(sampled.make_trace())
        # The first profile, that of spans, is shown.
        check("speedscope", ".speedscope.json", "train: main", trace=trace,
              expected={"train": (100 * sampled.MS, 50 * sampled.MS), "decode": (50 * sampled.MS, 50 * sampled.MS)})
        check("speedscope", ".speedscope.json", "train: worker é [waiting]", trace=trace, options=("--thread", "worker*", "--from", "20ms"),
              expected={"main": (42 * sampled.MS, 0), "read": (42 * sampled.MS, 42 * sampled.MS)})


def test_pprof_of_go():
    """go tool pprof finds the same times, and each thread by its label."""
    go = shutil.which("go")
    if not go:
        print("# go is not installed")
        return
    with folder() as work:
        path = work / "out.pprof"
        run(PROFTAP, "convert", "-o", path, TRACE)
        run(go, "tool", "pprof", "-help", check=False, patience_s=BUILD_S)
        top = run(go, "tool", "pprof", "-top", "-unit=ns", "-nodefraction=0", "-tagfocus=thread=main", path).stdout
        rows = re.findall(r"^ *(\d+)ns +\S+% +\S+% +(\d+)ns +\S+% +(\S+)", top, re.M)
        assert {name: (int(total), int(own)) for own, total, name in rows} == TIMES, top
        counts = run(go, "tool", "pprof", "-top", "-sample_index=spans", "-nodefraction=0", path).stdout
        assert re.search(r"^ +2 .* inner$", counts, re.M), counts
