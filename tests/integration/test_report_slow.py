#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests why slow steps and requests were slow, according to proftap report on real recordings."""
import json
import re
import subprocess

from fixture import check, contains, equal, run, test
from processes import PROFTAP, PROFTAPD, TOP_BUILD, Process
from reports import make_training

SERVICE = TOP_BUILD / "tests" / "programs" / "service"


def report(path, *words):
    return subprocess.run([PROFTAP, "report", *words, path], check=True, capture_output=True, text=True,
                          timeout=60).stdout


def record(t, what, ms):
    """Returns the file of a recording, and the sentences about what was slow, each on one line."""
    service = t.keep(Process("service", [SERVICE, what], {"PROFTAPD": str(PROFTAPD)}))
    port = int(re.search(r"port (\d+)", service.read_line())[1])
    path = t.capture(port, ms).path
    text = report(path)
    first = re.search(r"^(names|steps|warning: |slow)", text[text.index("\n\n") + 2:], re.M)
    equal(first[1] if first else text, "slow", "first table after the head")
    part = text[text.index("\nslow steps"):].split("\n\n")[0]
    return path, re.sub(r"\n {6,}", " ", re.sub(r"\n    (?=\S+ \S+$)", " ", part))


def slow_of(path, name):
    return next(group for group in json.loads(report(path, "--json"))["slow"] if group["name"] == name)


def grown(group, name):
    return next(node for node in group["grew"] if node["name"] == name)


@test
def an_eviction_in_a_lookup_is_found(t):
    path, text = record(t, "evict", 3000)
    check(re.search(r"in slow ones `lookup` takes [\d.]+ ms longer, in it `evict` [\d.]+ ms( \(mostly waiting\))?; `evict` runs in "
                    r"([\d.]+ % of the slow ones and in )?(none|[\d.]+ %) of the typical ones", text), text)
    group = slow_of(path, "request")
    equal((group["kind"], grown(group, "evict")["path"]), ("request", ["request", "lookup", "evict"]), "the path")
    check(group["slow"]["count"] <= group["count"] / 20, f"slow: {group['slow']} of {group['count']}")
    check(grown(group, "evict")["typical_share"] < 0.01 < 0.3 < grown(group, "evict")["slow_share"], f"{group['grew']}")


@test
def waiting_spans_have_a_table_of_their_own(t):
    """The table of other names may be missing: on a busy machine their spans may mostly wait, too, for a processor."""
    path, _ = record(t, "evict", 3000)
    text = report(path)
    check("  evict" in text[text.index("\nnames that mostly wait, by "):].split("\n\n")[0], text)
    names = text[text.index("\nnames by "):].split("\n\n")[0] if "\nnames by " in text else ""
    check("  evict" not in names, names)
    shares = {row["name"]: row["share"] for row in json.loads(report(path, "--json"))["cpu_shares"]}
    check(shares["evict"] < 0.25, f"{shares}")
    group = slow_of(path, "request")
    check(group["wait_ns"] > 0.5 * group["slow"]["mean_ns"] > group["wait_error_ns"], f"{group}")


@test
def a_lock_that_is_held_elsewhere_is_found(t):
    path, text = record(t, "lock", 3000)
    contains(text, "in slow ones `lookup` takes ", "names that grew")
    check(re.search(r"meanwhile `compaction` runs on compactor, [\d.]+ % of the time; while typical ones run, [\d.]+ % of the time", text), text)
    check("`merge`" not in text, f"children are listed, too: {text}")
    group = slow_of(path, "request")
    open_ = next(other for other in group["meanwhile"] if other["name"] == "compaction")
    equal(open_["thread"], "compactor", "the thread")
    check(open_["slow_open"] > 2 * open_["typical_open"], f"{open_}")


@test
def a_slow_step_is_taken_apart(t):
    path, text = record(t, "steps", 3000)
    check(re.search(r"`train`: \d+ of \d+ (is|are) slow .*(in slow ones|and) `load` takes [\d.]+ ms longer", text, re.S), text)
    group = slow_of(path, "train")
    equal(group["kind"], "step", "the kind")
    check(grown(group, "load")["slow_ns"] > 100e6 > grown(group, "load")["typical_ns"], f"{group['grew']}")


@test
def steps_of_several_programs_are_compared_with_their_own(t):
    """All steps of one program take thirty times as long as those of the other: that is no reason to call them slow."""
    run_dir = t.dir / "plugins" / "profile" / "run"
    run_dir.mkdir(parents=True)
    make_training(run_dir / "a.xplane.pb", with_device=False)
    make_training(run_dir / "b.xplane.pb", with_device=False, forward=100)
    groups = [group for group in json.loads(report(run_dir, "--json"))["slow"] if group["name"] == "train"]
    equal([(group["process_name"], group["process_id"], group["count"], group["slow"]["count"]) for group in groups],
          [("train", 4242, 40, 2)], "the slow steps")
    check(re.search(r"`train` of train \(4242\).*: 2 of 40 are slow ", report(run_dir)), report(run_dir))
    alone = slow_of(run_dir / "a.xplane.pb", "train")
    equal((alone["process_name"], alone["grew"]), (None, groups[0]["grew"]), "report of the file alone")


@test
def slow_async_spans_name_the_spans_that_ran_meanwhile(t):
    path, text = record(t, "async", 3000)
    check(re.search(r"`request`: .* slow .*meanwhile `gc` runs on collector, ", text, re.S), text)
    group = slow_of(path, "request")
    equal((group["kind"], group["grew"]), ("async", []), "the group")


@test
def a_flow_names_the_span_that_was_awaited(t):
    path, text = record(t, "jobs", 3000)
    check(re.search(r"the flow `answer` into `wait for answer` came from `handle` on handler, [\d.]+ ms after `request` began "
                    r"\(typically [\d.]+ .s\)(, in \d\d % of the slow ones)?; `handle` took [\d.]+ ms \(typically [\d.]+ .s\)", text), text)
    group = slow_of(path, "request")
    flow = next(flow for flow in group["flows"] if flow["name"] == "answer")
    equal((flow["from"], flow["thread"], flow["into"]), ("handle", "handler", "wait for answer"), "origin of the flow")
    check(flow["slow"]["arrival_ns"] > 30e6 > flow["typical"]["arrival_ns"], f"{flow}")
    check(flow["slow"]["from_ns"] > 30e6 > flow["typical"]["from_ns"], f"{flow}")


@test
def an_async_span_is_taken_apart_by_its_id(t):
    path, text = record(t, "jobs", 3000)
    check(re.search(r"`order`: .* slow .*(in slow ones|and) `handle` takes [\d.]+ ms longer, in it `rebuild` [\d.]+ ms", text, re.S), text)
    group = slow_of(path, "order")
    equal((group["kind"], grown(group, "rebuild")["path"]), ("async", ["order", "handle", "rebuild"]), "the path")
    check(grown(group, "rebuild")["typical_share"] < 0.01 < 0.3 < grown(group, "rebuild")["slow_share"], f"{group['grew']}")


run()
