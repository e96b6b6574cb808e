#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap convert -t sqlite: the database is complete, has only valid references, and answers
the queries of its manual page.
"""
import re
import sqlite3
import subprocess

from conversions import (CROSSED, Conversion, capture_pipeline, capture_requests, goldens, make_bad_names,
                         make_space, read_rows)
from fixture import check, contains, equal, run, test
from processes import PROFTAP, TOP_SRC

PAGE = TOP_SRC / "docs" / "man" / "proftap-sqlite.7"
# {table: columns that refer to another table}
REFERENCES = {"processes": {"host_id": "hosts"}, "threads": {"process_id": "processes"},
              "events": {"thread_id": "threads", "name_id": "names", "parent_id": "events"},
              "args": {"event_id": "events", "key_id": "keys"}, "steps": {"event_id": "events"},
              "flows": {"event_id": "events"}, "loss": {"host_id": "hosts"}, "warnings": {"host_id": "hosts"},
              "counters": {"thread_id": "threads", "name_id": "names", "key_id": "keys"}}


def convert(t, *paths, options=()):
    conversion = Conversion(t, "sqlite", *paths, options=options)
    equal(conversion.lost, {}, "lost")
    return sqlite3.connect(f"file:{conversion.path}?mode=ro", uri=True)


def read_queries():
    """Returns {the sentence before a query: the query}, in the form that groff would show."""
    text = PAGE.read_text().split(".Sh QUERIES\n")[1].split(".Sh")[0]
    text = text.replace("\\-", "-").replace("\\(aq", "'")
    return dict(re.findall(r"([^\n]+):\n\.Bd -literal[^\n]*\n(.*?)\.Ed", text, re.S))


def check_whole(db):
    equal(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity")
    equal(db.execute("PRAGMA user_version").fetchone(), (1,), "version")
    for table, columns in REFERENCES.items():
        for column, other in columns.items():
            wrong = db.execute(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND "
                               f"{column} NOT IN (SELECT id FROM {other})").fetchone()
            equal(wrong, (0,), f"rows of {table} whose {column} is nowhere")


@test
def every_golden_trace_makes_a_whole_database(t):
    for path in goldens():
        check_whole(convert(t, path))


@test
def every_query_of_the_page_answers(t):
    """Runs each query on a trace of each kind; at least one of the traces has data for it."""
    queries = read_queries()
    check(len(queries) >= 10, f"queries: {list(queries)}")
    (t.dir / "lossy.xplane.pb").write_bytes(lossy())
    answers = {about: 0 for about in queries}
    for path in (capture_requests(t), capture_pipeline(t), t.dir / "lossy.xplane.pb"):
        db = convert(t, path)
        check_whole(db)
        for about, query in queries.items():
            answers[about] += len(db.execute(query).fetchall())
    equal([about for about, n in answers.items() if n == 0], [], "queries without a row")


def lossy():
    return make_space({}, stats={"dropped_traces": 7})


@test
def queries_agree_with_ndjson(t):
    """The sums by SQL are equal to those of NDJSON."""
    path = capture_pipeline(t)
    spans = [row for row in read_rows(t, path) if row.kind in ("span", "step")]
    queries, db = read_queries(), convert(t, path)
    totals = {name: (n, round(ms * 1e6)) for name, n, ms, _ in
              db.execute(queries["List the names by their total time"])}
    expected = {name: (len(of), sum(of)) for name in {row.name for row in spans}
                for of in [[row.duration_ns for row in spans if row.name == name]]}
    equal(totals, expected, "totals")
    own = sum(round(ms * 1e6) for _, _, ms in db.execute(queries["List the names by their self time, without that of the spans inside them"]))
    outermost, = db.execute("SELECT sum(duration_ns) FROM events WHERE depth = 0").fetchone()
    equal(own, outermost, "the sum of own times")
    ranks = {row[0]: row[1:] for row in db.execute(queries["Compute the median and the 99th percentile of each name"])}
    for name in expected:
        ordered = sorted(row.duration_ns for row in spans if row.name == name)
        n = len(ordered)
        equal(ranks[name], (n, ordered[-(-n // 2) - 1], ordered[-(-99 * n // 100) - 1]), f"ranks of {name}")


@test
def spans_that_overlap_count_once_and_hosts_apart(t):
    """A stream is busy for 15 of 20 ns, though its kernels take 19 together. Both hosts have a step 7."""
    device = make_space({"stream": [("k", 0, 10), ("k", 2, 4), ("k", 10, 0), ("k", 10, 5)]}, "/device:GPU:0")
    for host in ("alpha", "beta"):
        step = make_space({"main": [("train", 0, 20, {"step_num": 7, "_r": 1}), (f"work of {host}", 0, 5)]}, host=host)
        (t.dir / f"{host}.xplane.pb").write_bytes(step + (device if host == "alpha" else b""))
    queries, db = read_queries(), convert(t, t.dir / "alpha.xplane.pb", t.dir / "beta.xplane.pb")
    busy = {row[2]: row[3] for row in db.execute(queries["Compute the busy share of threads and devices"])}
    equal(busy, {"stream": 75, "main": 100}, "percent")
    slow = db.execute(queries["List the slowest steps with the spans that ran in them"]).fetchall()
    equal(slow, [(7, "alpha", "work of alpha", 1, 5e-6), (7, "beta", "work of beta", 1, 5e-6)], "steps")


@test
def parents_are_those_of_the_same_lane(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [*CROSSED, ("i", 120, 0)]}))
    found = dict(convert(t, path).execute(
        "SELECT e.name, p.name FROM items e LEFT JOIN items p ON p.id = e.parent_id").fetchall())
    equal({name: found[name] for name in "abcd"}, {"a": None, "b": None, "c": None, "d": "a"}, "parents")
    check(found["i"] in ("b", "c"), f"parent of i: {found['i']}")


@test
def losses_are_in_a_table(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(lossy())
    equal(convert(t, path).execute("SELECT what, n FROM loss").fetchall(), [("annotations", 7)], "loss")


@test
def names_of_any_bytes_are_texts(t):
    path, names = make_bad_names(t)
    db = convert(t, path)
    equal([row[0] for row in db.execute("SELECT name FROM items ORDER BY id")], names, "names")


@test
def a_database_goes_into_a_plain_file_only(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("x", 0, 9)]}))
    for output, words in (("-", "cannot go to standard output"), ("a.sqlite.gz", "cannot be compressed")):
        done = subprocess.run([PROFTAP, "convert", "-t", "sqlite", "-o", output, path], cwd=t.dir, timeout=20,
                              capture_output=True, text=True)
        equal(done.returncode, 2, f"status of -o {output}")
        contains(done.stderr, words, f"-o {output}")
    (t.dir / "file:x?mode=memory").mkdir()
    done = subprocess.run([PROFTAP, "convert", "-o", "file:x?mode=memory/a.sqlite", path], cwd=t.dir, timeout=20,
                          capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)
    equal([p.name for p in (t.dir / "file:x?mode=memory").iterdir()], ["a.sqlite"], "the only file")


@test
def a_broken_library_is_reported_and_leaves_no_file(t):
    """An empty file has the library's name, so it cannot be loaded."""
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("x", 0, 9)]}))
    (t.dir / "libsqlite3.so.0").touch()
    done = subprocess.run([PROFTAP, "convert", "-o", "a.sqlite", path], cwd=t.dir, timeout=20, capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": str(t.dir)})
    equal(done.returncode, 1, f"status: {done.stderr}")
    contains(done.stderr, f"libsqlite3.so.0 cannot be loaded ({t.dir}/libsqlite3.so.0: file too short), and writing a database "
             "needs it; install it (Debian: libsqlite3-0)", "the reason")
    equal(list(t.dir.glob("a.sqlite*")), [], "the files")


run()
