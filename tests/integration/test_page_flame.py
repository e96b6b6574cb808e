#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flame graphs of runs on the host daemon's page, in Chromium. test_flame.py covers the graph itself."""
from conversions import make_space
from fixture import check, contains, equal, run, test
from flame_trace import make_sampled
from visit import Visit, check_width, settle

RUN = "made"
MS = 1_000_000
SPANS = {"main": [("step", 0, 500 * MS), ("step", 500 * MS, 500 * MS)], "other": [("rest", 0, 1000 * MS)]}
SAMPLES = {"main": [(["main", "early"], 10 * i * MS, 0) for i in range(30)] + [(["main", "late"], (500 + 10 * i) * MS, 0) for i in range(20)],
           "other": [(["main", "spin"], 10 * i * MS, 0) for i in range(100)]}
FLAME = "document.querySelector('dialog .flame')?.flame"


def visit_made_run(t, data):
    place = t.dir / "logs" / "plugins" / "profile" / RUN
    place.mkdir(parents=True)
    (place / "fake.xplane.pb").write_bytes(data)
    visit = Visit(t)
    visit.page.wait_for_text("#run-list tbody", RUN)
    return visit


def leaves(page):
    """Returns the drawn stacks of names that nothing is below, when the graph is there."""
    page.wait_for(f"{FLAME}?.graph.rows ?? null", "the graph")
    settle(page)
    return page.evaluate(f"""(() => {{
        const {{graph, tree}} = {FLAME};
        return graph.rows.flat().filter(({{node}}) => !tree.calleesOf(node).length)
            .map(({{node}}) => `${{tree.pathTo(node).map((one) => tree.textOf(one)).join(";")}} ${{tree.totals[node] / 1e6}}`);
    }})()""")


@test
def a_run_has_a_flame_graph(t):
    visit = visit_made_run(t, make_sampled(SPANS, SAMPLES))
    page = visit.page
    page.click("[data-action=flame]:not(:disabled)")
    page.wait_for_text("dialog h2", f"Flame graph of {RUN}")
    equal(leaves(page), ["all;train (7);other (101);main;spin 1000", "all;train (7);main (100);main;early 300", "all;train (7);main (100);main;late 200"],
          "stacks, and ms on a processor")
    page.shoot("page-flame", whole=False)
    page.focus("dialog .flame-graph")
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.press("Enter")
    equal(page.evaluate(f"{FLAME}.tree.textOf({FLAME}.graph.focus)"), "train (7)", "the zoomed bar")
    page.press("Escape")
    equal(page.evaluate(f"{FLAME}?.graph.focus"), 0, "the first Escape zooms out")
    page.press("Escape")
    page.wait_for("document.querySelector('dialog') === null", "the second Escape to close the dialog")
    equal(page.evaluate("document.activeElement.dataset.action"), "flame", "the place of the keyboard")
    page.check_quiet()


@test
def a_click_on_a_span_shows_what_ran_inside(t):
    visit = visit_made_run(t, make_sampled(SPANS, SAMPLES))
    page = visit.page
    page.click("[data-action=open]:not(:disabled)")
    page.wait_for("document.querySelector('.timeline').checkVisibility()", "the timeline")
    check(not page.evaluate("document.querySelector('#span-inside').checkVisibility()"), "the button is there without a span")
    page.write("#span-search", "step")
    page.press("Enter")
    page.wait_for_text("#span-detail", "step: 500 ms, from 0 on")
    page.click("#span-inside")
    equal(leaves(page), ["all;train (7);step;main;early 300", "all;train (7);step;main;late 200"], "all spans of the name")
    page.click("#flame-one")
    page.wait_for(f"{FLAME}?.tree.total === 300e6", "the graph of one span")
    equal(leaves(page), ["all;train (7);step;main;early 300"], "this span alone")
    page.click("#flame-one")
    page.wait_for(f"{FLAME}?.tree.total === 500e6", "the graph of all again")
    page.check_quiet()


@test
def a_run_without_samples_says_how_to_get_them(t):
    visit = visit_made_run(t, make_space({"main": [("outer", 0, 100), ("inner", 10, 20)]}))
    page = visit.page
    page.click("[data-action=flame]:not(:disabled)")
    equal(leaves(page), ["all;/host:CPU;main;outer;inner 0.00002"], "stacks of spans")
    contains(page.text("dialog"), "unless it was recorded with ptap_sample_hz=0.", "the help")
    check_width(page, "the dialog")
    page.resize(320, 640)
    settle(page)
    check_width(page, "the dialog on a narrow page")
    page.check_quiet()


if __name__ == "__main__":
    run()
