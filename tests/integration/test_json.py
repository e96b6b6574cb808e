#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the manual page of a command has each key that the command prints with --json."""
import json
import re
import subprocess

from conversions import make_space
from fixture import check, free_port, run, test
from conversions import GOLDEN
from processes import PROFTAP, PROFTAPD, TOP_BUILD, TOP_SRC, Process
from viewing import View


def read_page(command):
    """Returns the words that the page's section JSON marks as keys."""
    text = (TOP_SRC / "docs" / "man" / f"proftap-{command}.1").read_text()
    section = re.search(r"^\.Sh JSON\n(.*?)^\.Sh ", text, re.M | re.S)[1]
    lines = re.findall(r"^\..*?\bCm (.*)", section, re.M)
    return {word for line in lines for word in re.findall(r"\w+", line)}


def find_keys(value):
    if isinstance(value, list):
        return set().union(*map(find_keys, value))
    if not isinstance(value, dict):
        return set()
    # The keys inside of "lost" are reasons of losses, not keys of the format.
    return set(value).union(*(find_keys(v) for k, v in value.items() if k != "lost"))


def check_keys(command, *words, code=0):
    done = subprocess.run([PROFTAP, command, "--json", *words], capture_output=True, text=True)
    check(done.returncode == code, f"{command}: exit {done.returncode}: {done.stderr}")
    keys = find_keys(json.loads(done.stdout))
    check(keys, f"{command}: no keys")
    unknown = keys - read_page(command)
    check(not unknown, f"proftap-{command}.1 does not say what {sorted(unknown)} are")


@test
def keys_of_a_report_are_documented(t):
    # This example has everything that a report covers: spans, counters, flows, async spans.
    example = t.keep(Process("requests", [TOP_BUILD / "docs" / "examples" / "requests"],
                             {"PROFTAPD": str(PROFTAPD)}))
    port = int(re.search(r"port (\d+)", example.read_line())[1])
    path = t.capture(port, 200).path
    check_keys("report", path)
    # The two traces have everything that a comparison covers: changed, new and vanished names.
    other = t.dir / "other.xplane.pb"
    other.write_bytes(make_space({"main": [("x", 0, 5)]}))
    check_keys("diff", path, other)


@test
def keys_of_a_capture_are_documented(t):
    target = t.target().serve()
    check_keys("capture", str(target.port), "100", "--log_dir", str(t.dir / "logs"))
    check_keys("capture", str(free_port()), "100", "--log_dir", str(t.dir / "logs"), code=5)
    check_keys("capture", f"{target.port},{free_port()}", "100", "--log_dir", str(t.dir / "logs"), code=7)


@test
def keys_of_continuous_sessions_are_documented(t):
    target = t.target().serve()
    for command in ("start", "snapshot", "stop"):
        where = () if command == "start" else ("--log_dir", str(t.dir / "logs"))
        check_keys(command, str(target.port), *where)
        check_keys(command, str(free_port()), *where, code=5)
    check_keys("start", str(target.port))
    check_keys("stop", str(target.port), "--discard")


@test
def keys_of_a_view_are_documented(t):
    unknown = find_keys(View(t, GOLDEN / "args.xplane.pb").said) - read_page("view")
    check(not unknown, f"proftap-view.1 does not say what {sorted(unknown)} are")


@test
def keys_of_monitor_are_documented(t):
    check_keys("monitor", str(t.target().serve().port), "50", "--count", "1")


@test
def keys_of_the_list_are_documented(t):
    t.target().serve()
    check_keys("list")


run()
