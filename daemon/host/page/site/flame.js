// SPDX-License-Identifier: Apache-2.0
// A flame graph with the controls around it: the choice of time, root, span and thread, the search,
// and the bar under the mouse or picked, in words. The page of the host daemon shows it, and
// `proftap flame` writes it into a file (trace/codec/flame.html), which has no other module of the
// page than those that make_flame_page gets.
import {make, makeButton, set, setText} from "./dom.js";
import {FlameGraph} from "./flame_graph.js";
import {FlameData, FlameTree, TIMES} from "./flame_tree.js";
import {Table} from "./table.js";
import {count, duration} from "./words.js";

const MOST_ROWS = 50;
const TIME_NAMES = {cpu: "On CPU", waiting: "Waiting", span: "Span time"};
const TIME_HELP = {
	cpu: "time in which threads ran",
	waiting: "time in which threads waited",
	span: "time of spans, without that of spans inside of them",
};
const NO_SAMPLES = "The trace has no CPU samples, so the graph shows the time of spans. Its warnings tell why, unless it was recorded with ptap_sample_hz=0.";

function percent(part, whole) {
	return whole ? `${Number(((100 * part) / whole).toPrecision(3))} %` : "–";
}

// Puts |items|, [{i, text}…], into a select element behind the choice of all. With fewer than |least|
// there is no choice.
function fillSelect(select, all, items, least) {
	select.replaceChildren(make("option", {value: ""}, all), ...items.map(({i, text}) => make("option", {value: String(i)}, text)));
	select.hidden = items.length < least;
}

export class Flame {
	// |wanted| may have the name of a span, whose inside is shown at first, and the pid and tid
	// of its thread.
	constructor(json, {span, pid, tid} = {}) {
		this.data = new FlameData(json);
		this.choice = {time: Math.max(this.data.totals.findIndex((total) => total > 0), 0), isBySpan: false, span: null, thread: null};
		this.build();
		if (span !== undefined)
			// A name that is not in the data has the number -1, and shows nothing.
			Object.assign(this.choice, {isBySpan: true, span: this.data.spanNames.indexOf(span), thread: tid === undefined ? null : this.data.findThread(pid, tid)});
		this.choose({});
	}

	build() {
		this.graph = new FlameGraph({onPick: (node) => this.describe(node), onZoom: (node) => (this.whole.disabled = !node)});
		this.search = make("input", {type: "search", placeholder: "Find a name", "aria-label": "Find functions and spans by name", autocomplete: "off",
			oninput: () => this.match()});
		this.spanList = make("select", {"aria-label": "Span whose inside is shown", "data-choice": "span",
			onchange: () => this.choose({span: this.spanList.value === "" ? null : Number(this.spanList.value)})});
		this.threadList = make("select", {"aria-label": "Thread that is shown", "data-choice": "thread",
			onchange: () => this.choose({thread: this.threadList.value === "" ? null : Number(this.threadList.value)})});
		fillSelect(this.spanList, "All spans", this.data.listSpans(), 1);
		fillSelect(this.threadList, "All threads", this.data.listThreads(), 2);
		this.whole = makeButton("Zoom out", () => this.graph.zoom(0), {"data-action": "whole"});
		this.note = make("p", {class: "help"});
		this.found = make("p", {role: "status"});
		this.detail = make("p", {class: "flame-detail", role: "status"});
		this.element = make("div", {class: "flame"}, make("div", {class: "bar"}, this.buildTimes(), this.buildRoots(), this.spanList, this.threadList, this.search,
			this.whole, this.found), this.note, this.graph.element, this.detail, this.buildTable());
		this.element.flame = this; // for tests, which cannot read a canvas
	}

	makeChoice(text, title, key, choice) {
		return makeButton(text, () => this.choose(choice), {title, "data-choose": key});
	}

	// Offers the times that the trace has.
	buildTimes() {
		const known = TIMES.map((time, i) => ({time, i})).filter(({i}) => this.data.totals[i] > 0);
		return make("span", {role: "group", "aria-label": "Time", class: "choices"}, ...known.map(({time, i}) =>
			this.makeChoice(TIME_NAMES[time], TIME_HELP[time], time, {time: i})));
	}

	buildRoots() {
		return make("span", {role: "group", "aria-label": "Root", class: "choices"},
			this.makeChoice("By function", "functions below their process and thread", "function", {isBySpan: false}),
			this.makeChoice("By span", "functions below the spans that were open, of all threads of a process", "by-span", {isBySpan: true}));
	}

	buildTable() {
		this.table = new Table("Functions and spans", [
			{title: "Name", isHead: true, text: ({label}) => this.data.texts[label]},
			{title: "Self", text: ({self}) => duration(self), className: "number"},
			{title: "", text: ({self}) => percent(self, this.tree.total), className: "number"},
			{title: "Total", text: ({total}) => duration(total), className: "number"},
			{title: "", text: ({total}) => percent(total, this.tree.total), className: "number"},
		], ({label}) => label);
		this.tableBox = make("details", {ontoggle: () => this.showTable()}, make("summary", {}, "Longest functions and spans as a table"),
			make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Longest functions and spans"}, this.table.element));
		return this.tableBox;
	}

	// Changes a part of the choice and shows its tree.
	choose(part) {
		Object.assign(this.choice, part);
		const {time, isBySpan, span, thread} = this.choice;
		const pressed = new Set([TIMES[time], isBySpan ? "by-span" : "function"]);
		this.element.querySelectorAll("[data-choose]").forEach((button) => set(button, {"aria-pressed": String(pressed.has(button.dataset.choose))}));
		this.spanList.value = span ?? "";
		this.threadList.value = thread ?? "";
		this.tree = new FlameTree(this.data, this.choice);
		setText(this.note, this.summarise());
		this.graph.show(this.tree, `Flame graph, ${TIME_NAMES[TIMES[time]]}: ${duration(this.tree.total)}. Arrow keys go from bar to bar, Enter zooms in, Escape out.`);
		this.match();
		this.showTable();
	}

	summarise() {
		const {data, tree, choice} = this;
		const words = [`${duration(tree.total)}: ${TIME_HELP[TIMES[choice.time]]}`];
		if (TIMES[choice.time] === "cpu" && data.periodNs)
			words.push(`${count(Math.round(tree.total / data.periodNs))} samples of ${duration(data.periodNs)}`);
		if (!tree.total)
			words.push("the choice has none");
		return data.totals[0] + data.totals[1] ? words.join(" · ") : `${NO_SAMPLES} ${words.join(" · ")}`;
	}

	match() {
		const wanted = this.search.value.toLowerCase();
		const matches = wanted ? Uint8Array.from(this.data.texts, (text, i) => i && text.toLowerCase().includes(wanted)) : null;
		this.graph.mark(matches);
		const sum = matches ? this.tree.sumMatches(matches) : 0;
		setText(this.found, matches ? `found in ${percent(sum, this.tree.total)}, ${duration(sum)}` : "");
	}

	showTable() {
		if (this.tableBox.open)
			this.table.show(this.tree.listLongest(MOST_ROWS));
	}

	describe(node) {
		const {tree} = this;
		if (node === null || !tree) {
			setText(this.detail, "");
			return;
		}
		const shown = this.graph.focus ? `, ${percent(tree.totals[node], tree.totals[this.graph.focus])} of ${tree.textOf(this.graph.focus)}` : "";
		setText(this.detail, `${`${tree.kindOf(node)} ${tree.textOf(node)}`.trim()}: ${duration(tree.totals[node])}, ${percent(tree.totals[node], tree.total)} of all${shown}; ` +
			`itself ${duration(tree.selves[node])}`);
	}
}
