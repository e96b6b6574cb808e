#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests proftap flame: its data by traces that were made by hand, and its file in Chromium, opened from disk."""
import json
import subprocess

from checks import check, contains, equal
from chromium import Browser
from conversions import make_space
from fixture import run, test
from processes import PROFTAP
from flame_trace import PERIOD_NS, make_sampled
from visit import check_width, settle

HOSTILE = "</script><img src=x onerror=\"console.error('hit')\">"
MS = 1_000_000
SPANS = {"main": [("step", 0, 1000 * MS), ("load", 0, 400 * MS), (HOSTILE, 500 * MS, 300 * MS)], "idle": [("wait", 0, 900 * MS)]}
SAMPLES = {
    "main": [(["main", "run", "parse<T>"], 10 * i * MS, 0) for i in range(30)] +
            [(["main", "run", HOSTILE], (500 + 10 * i) * MS, 0) for i in range(20)] + [(["main", "run"], 850 * MS, 0)],
    "idle": [(["main", "poll"], 0, 700 * MS), (["main", "lock"], 710 * MS, 100 * MS)],
}
# This expression returns the graph's main object inside the file's page.
FLAME = "document.querySelector('.flame').flame"


def flame(*words, code=0):
    done = subprocess.run([PROFTAP, "flame", *words], capture_output=True, text=True, timeout=60)
    equal(done.returncode, code, f"flame {words}: {done.stderr}")
    return done


def make_trace(t, name="a", **how):
    path = t.dir / f"{name}.xplane.pb"
    path.write_bytes(make_sampled(SPANS, SAMPLES, **how))
    return path


def read_stacks(pairs, names):
    """Returns the names of each stack, the outermost first; number 0 is the empty one."""
    stacks = [()]
    for callers, name in zip(pairs[::2], pairs[1::2]):
        stacks.append((*stacks[callers], names[name]))
    return stacks


def read_data(*words):
    """Returns {(process, thread, spans, functions): [ns on a processor, of waiting, of spans]}."""
    data = json.loads(flame("--json", *words).stdout)
    spans = read_stacks(data["spans"], data["span_names"])
    functions = read_stacks(data["functions"], data["function_names"])
    rows = {}
    for at in range(0, len(data["rows"]), 6):
        number, span, function, *times = data["rows"][at:at + 6]
        thread = data["threads"][number]
        process = data["processes"][thread["process"]]
        key = (process.get("host"), process["name"], thread["name"], spans[span], functions[function])
        rows[key] = [a + b for a, b in zip(times, rows.get(key, (0, 0, 0)))]
    return rows


@test
def data_have_the_times_of_each_stack_of_spans_and_functions(t):
    equal(read_data(make_trace(t)), {
        (None, "train", "main", ("step",), ()): [0, 0, 300 * MS],
        (None, "train", "main", ("step", "load"), ()): [0, 0, 400 * MS],
        (None, "train", "main", ("step", HOSTILE), ()): [0, 0, 300 * MS],
        (None, "train", "idle", ("wait",), ()): [0, 0, 900 * MS],
        (None, "train", "main", ("step", "load"), ("main", "run", "parse<T>")): [30 * PERIOD_NS, 0, 0],
        (None, "train", "main", ("step", HOSTILE), ("main", "run", HOSTILE)): [20 * PERIOD_NS, 0, 0],
        (None, "train", "main", ("step",), ("main", "run")): [PERIOD_NS, 0, 0],
        (None, "train", "idle", ("wait",), ("main", "poll")): [0, 700 * MS, 0],
        (None, "train", "idle", ("wait",), ("main", "lock")): [0, 100 * MS, 0],
    }, "rows")


@test
def a_selected_time_has_its_samples_alone(t):
    rows = read_data(make_trace(t), "--from", "500ms", "--to", "800ms", "--thread", "main")
    equal({functions: times[0] for (*_, functions), times in rows.items() if functions}, {("main", "run", HOSTILE): 20 * PERIOD_NS}, "processor time")


@test
def files_of_several_hosts_are_one_graph(t):
    paths = [make_trace(t, name, host=name) for name in ("first", "second")]
    rows = read_data(*paths)
    equal({key[0]: times[0] for key, times in rows.items() if key[4][-1:] == ("parse<T>",)}, {"first": 300 * MS, "second": 300 * MS}, "hosts")


@test
def a_trace_without_samples_says_so(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("work", 0, 100)]}))
    done = flame(path)
    equal(done.stdout, f"{t.dir}/a.html\n", "the path of the file")
    contains(done.stderr, "no CPU samples", "the note")
    contains(done.stderr, "unless it was recorded with ptap_sample_hz=0", "the note")


@test
def convert_writes_the_same_file(t):
    path = make_trace(t)
    flame("-o", t.dir / "flame.html", path)
    subprocess.run([PROFTAP, "convert", "-o", t.dir / "convert.html", path], check=True, capture_output=True)
    equal((t.dir / "convert.html").read_bytes(), (t.dir / "flame.html").read_bytes(), "the file")


class Graph:
    """A file in the browser, opened from disk, with a check that it requests nothing else."""

    def __init__(self, t, *words, width=1280):
        self.path = t.dir / "flame.html"
        flame("-o", self.path, *words)
        self.page = Browser(t).open("about:blank", width, 900)
        self.requests = []
        self.page.handlers["Network.requestWillBeSent"] = lambda params: self.requests.append(params["request"]["url"])
        self.page.call("Network.enable")
        self.page.call("Page.navigate", url=self.path.as_uri())
        self.page.wait_for("document.querySelector('.flame-graph canvas') !== null && document.title.startsWith('Flame graph of ')", "the graph")
        self.settle()

    def settle(self):
        settle(self.page)

    def bars(self):
        """Returns {name: width in pixels} of the drawn bars."""
        return self.page.evaluate(f"""Object.fromEntries({FLAME}.graph.rows.flat().map(({{node, width}}) =>
            [{FLAME}.tree.textOf(node), Math.round(width)]))""")

    def place(self, name):
        """Returns the middle of a bar."""
        self.settle()
        return self.page.evaluate(f"""(() => {{
            const {{graph, tree}} = {FLAME};
            const box = graph.scroller.getBoundingClientRect();
            for (const [depth, bars] of graph.rows.entries())
                for (const {{node, x, width}} of bars)
                    if (tree.textOf(node) === {json.dumps(name)})
                        return [box.left + 1 + x + width / 2, box.top + 1 + graph.topOf(depth) + 9];
            return null;
        }})()""")

    def click(self, name):
        self.page.click_at(*self.place(name))
        self.settle()

    def paths(self):
        """Returns the drawn stacks of names that nothing is below."""
        return self.page.evaluate(f"""(() => {{
            const {{graph, tree}} = {FLAME};
            return graph.rows.flat().filter(({{node}}) => !tree.calleesOf(node).length)
                .map(({{node}}) => tree.pathTo(node).map((one) => tree.textOf(one)).join(";"));
        }})()""")

    def check_quiet(self):
        equal(self.requests, [self.path.as_uri()], "requests")
        self.page.check_quiet()


@test
def a_file_from_disk_shows_functions_and_loads_nothing(t):
    graph = Graph(t, make_trace(t))
    equal(graph.paths(), ["all;train (7);main (100);main;run;parse<T>", f"all;train (7);main (100);main;run;{HOSTILE}"], "stacks, the longest first")
    bars = graph.bars()
    check(abs(bars["parse<T>"] / bars["run"] - 30 / 51) < 0.01, f"widths {bars}")
    contains(graph.page.text(".flame"), "510 ms: time in which threads ran · 51 samples of 10 ms", "the summary")
    graph.page.shoot("flame")
    check_width(graph.page, "the file")
    graph.check_quiet()


@test
def a_click_zooms_in_and_escape_zooms_out(t):
    graph = Graph(t, make_trace(t))
    whole = graph.bars()["all"]
    graph.click("parse<T>")
    bars = graph.bars()
    equal((bars["parse<T>"], HOSTILE in bars), (whole, False), f"the zoomed bar, and others: {bars}")
    contains(graph.page.text(".flame-detail"), "function parse<T>: 300 ms, 58.8 % of all", "the bar in words")
    graph.page.focus(".flame-graph")
    graph.page.press("Escape")
    graph.settle()
    check(graph.bars()["parse<T>"] < whole, "the graph is not whole again")
    graph.check_quiet()


@test
def keys_go_from_bar_to_bar(t):
    graph = Graph(t, make_trace(t))
    graph.page.focus(".flame-graph")
    for _ in range(7):
        graph.page.press("ArrowDown")
    contains(graph.page.text(".flame-detail"), "function parse<T>", "the bar at the bottom")
    graph.page.press("ArrowRight")
    contains(graph.page.text(".flame-detail"), f"function {HOSTILE}: 200 ms", "the bar beside it")
    graph.page.press("Enter")
    graph.settle()
    check("parse<T>" not in graph.bars(), "Enter did not zoom in")
    graph.page.click("[data-action=whole]")
    graph.settle()
    check("parse<T>" in graph.bars(), "the button did not zoom out")
    graph.check_quiet()


@test
def a_search_tells_the_share_of_what_it_found(t):
    graph = Graph(t, make_trace(t))
    graph.page.write(".flame input[type=search]", "PARSE")
    graph.page.wait_for_text(".flame .bar", "found in 58.8 %, 300 ms")
    graph.page.write(".flame input[type=search]", "main")
    # The function inside of the thread of the same name counts once.
    graph.page.wait_for_text(".flame .bar", "found in 100 %, 510 ms")
    graph.check_quiet()


@test
def waiting_is_a_graph_of_its_own(t):
    graph = Graph(t, make_trace(t))
    graph.page.click("[data-choose=waiting]")
    graph.settle()
    equal(graph.paths(), ["all;train (7);idle (101);main;poll", "all;train (7);idle (101);main;lock"], "stacks")
    contains(graph.page.text(".flame"), "800 ms: time in which threads waited", "the summary")
    graph.page.click("[data-choose=span]")
    graph.settle()
    equal(sorted(graph.paths()), sorted([f"all;train (7);main (100);step;{HOSTILE}", "all;train (7);main (100);step;load", "all;train (7);idle (101);wait"]), "stacks of spans")
    graph.check_quiet()


@test
def functions_stand_below_their_spans(t):
    graph = Graph(t, make_trace(t))
    graph.page.click("[data-choose=by-span]")
    graph.settle()
    equal(graph.paths(), ["all;train (7);step;main;run", "all;train (7);step;load;main;run;parse<T>", f"all;train (7);step;{HOSTILE};main;run;{HOSTILE}"], "stacks")
    number = graph.page.evaluate("[...document.querySelectorAll('[data-choice=span] option')].find((one) => one.textContent === 'load').value")
    graph.page.choose("[data-choice=span]", number)
    graph.settle()
    equal(graph.paths(), ["all;train (7);load;main;run;parse<T>"], "stacks inside of a span")
    graph.page.click("[data-choose=function]")
    graph.settle()
    equal(graph.paths(), ["all;train (7);main (100);main;run;parse<T>"], "its functions")
    graph.check_quiet()


@test
def a_thread_is_shown_alone(t):
    graph = Graph(t, make_trace(t))
    texts = graph.page.evaluate("[...document.querySelectorAll('[data-choice=thread] option')].map((one) => [one.textContent, one.value])")
    graph.page.choose("[data-choice=thread]", next(value for text, value in texts if text == "train (7): idle (101)"))
    graph.settle()
    contains(graph.page.text(".flame"), "the choice has none", "the summary of a thread that never ran")
    graph.page.click("[data-choose=waiting]")
    graph.settle()
    equal(len(graph.paths()), 2, "its stacks")
    graph.check_quiet()


@test
def the_table_has_times_of_their_own_and_in_total(t):
    graph = Graph(t, make_trace(t))
    graph.page.click(".flame summary")
    rows = "[...document.querySelectorAll('.flame tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    equal(graph.page.wait_for(f"{rows}.length && {rows}", "rows"), [
        ["parse<T>", "300 ms", "58.8 %", "300 ms", "58.8 %"],
        [HOSTILE, "200 ms", "39.2 %", "200 ms", "39.2 %"],
        ["run", "10 ms", "1.96 %", "510 ms", "100 %"],
    ], "rows")
    graph.check_quiet()


@test
def a_graph_without_samples_shows_spans(t):
    path = t.dir / "a.xplane.pb"
    path.write_bytes(make_space({"main": [("outer", 0, 100), ("inner", 10, 20)]}))
    graph = Graph(t, path)
    equal(graph.paths(), ["all;/host:CPU;main;outer;inner"], "stacks")
    contains(graph.page.text(".flame"), "unless it was recorded with ptap_sample_hz=0.", "the help")
    graph.check_quiet()


@test
def the_file_fits_a_phone_and_the_dark_theme(t):
    graph = Graph(t, make_trace(t), width=400)
    check_width(graph.page, "a narrow file")
    graph.page.shoot("flame-phone")
    light = graph.page.evaluate("getComputedStyle(document.body).backgroundColor")
    graph.page.prefer_dark()
    graph.settle()
    check(graph.page.evaluate("getComputedStyle(document.body).backgroundColor") != light, "the dark theme has the colours of the light one")
    graph.check_quiet()


if __name__ == "__main__":
    run()
