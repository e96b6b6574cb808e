// SPDX-License-Identifier: Apache-2.0
// The section with a run's events: the choice of run, depth and program, the search for a name, and
// the event under the mouse or picked, in words.
import {find, make, makeButton, set, setText} from "./dom.js";
import {nameTrack} from "./lanes.js";
import {ALL_DEPTHS} from "./run_events.js";
import {Table} from "./table.js";
import {Timeline} from "./timeline.js";
import {count, duration} from "./words.js";

const MOST_ROWS = 200;
const NO_RUN = "Capture a program, or open the events of a run below: they appear here, on the same time axis as the charts above.";

export class EventsSection {
	// onInside(run, span) shows what ran inside a span; |span| is what describe() returns.
	constructor(events, timeWindow, onInside) {
		Object.assign(this, {events, timeWindow});
		this.note = find("events-note");
		this.detail = find("span-detail");
		this.inside = find("span-inside");
		this.inside.addEventListener("click", () => onInside(events.run, this.timeline.picked));
		this.timeline = new Timeline(events, timeWindow, {
			onPick: (described) => this.pick(described),
			onHover: (described) => this.describe(described ?? this.timeline.picked),
		});
		find("timeline").append(this.timeline.element);
		this.buildTools();
		this.buildTable();
		events.addEventListener("change", () => this.show());
		events.addEventListener("refused", ({detail}) => setText(this.note, detail.message));
		this.show();
	}

	buildTools() {
		this.search = make("input", {type: "search", placeholder: "Find a name", "aria-label": "Find events by name", id: "span-search",
			autocomplete: "off", oninput: () => this.timeline.setSearch(this.search.value), onkeydown: (event) => this.type(event)});
		this.depth = make("input", {type: "number", min: "1", max: String(ALL_DEPTHS), placeholder: "all", id: "span-depth",
			title: "Show events down to this nesting depth; empty shows all", onchange: () => this.deepen()});
		this.program = make("select", {"aria-label": "Program whose events are shown", onchange: () => this.choose()});
		this.tools = find("events-tools");
		this.tools.append(this.search, make("label", {}, "Depth ", this.depth), this.program,
			makeButton("Whole run", () => this.events.showAll(), {id: "whole-run"}),
			makeButton("Close", () => this.close()));
	}

	buildTable() {
		this.tableBox = find("span-table-box");
		this.table = new Table("Events", [
			{title: "Name", isHead: true, fill: (cell, item) => this.fillName(cell, item)},
			{title: "Begin", text: (item) => duration(item.startNs), className: "number"},
			{title: "Duration", text: (item) => duration(item.durationNs), className: "number"},
			{title: "Thread", text: (item) => nameTrack(item.track)},
		], (item) => `${item.track.pid} ${item.track.tid} ${item.startNs} ${item.depth}`);
		find("span-table").append(this.table.element);
		this.tableBox.addEventListener("toggle", () => this.showTable());
		this.timeWindow.addEventListener("change", () => this.showTableSoon());
	}

	fillName(cell, item) {
		if (!cell.firstChild)
			cell.append(makeButton("", () => this.go(item), {class: "plain"}));
		setText(cell.firstChild, item.step === null ? item.name : `${item.name} ${item.step}`);
	}

	close() {
		this.events.close();
		this.timeWindow.isOfRun = false;
		this.timeWindow.follow();
	}

	deepen() {
		const wanted = Math.round(Number(this.depth.value));
		this.events.depth = wanted >= 1 ? Math.min(wanted, ALL_DEPTHS) : ALL_DEPTHS;
		this.depth.value = this.events.depth === ALL_DEPTHS ? "" : this.events.depth;
		this.events.again();
	}

	choose() {
		this.events.pid = this.program.value;
		this.events.again();
	}

	show() {
		const {run, answer} = this.events;
		const isOpen = Boolean(answer);
		this.tools.hidden = !isOpen;
		this.tableBox.hidden = !isOpen;
		if (!isOpen) {
			this.timeline.picked = null;
			this.pick(null);
			setText(this.note, run ? `Reading ${run.run} …` : NO_RUN);
			return;
		}
		this.showPrograms();
		setText(this.note, this.summarise(run, answer));
		this.showTable();
	}

	summarise(run, answer) {
		const n = answer.tracks.reduce((sum, track) => sum + track.spans.length, 0);
		const parts = [`${run.run}: ${duration(this.events.bounds.end - this.events.bounds.begin)}`];
		parts.push(n ? `${count(n)} events shown` : "no events here; zoom out, or record with annotations");
		if (answer.n_left_out)
			parts.push(`${count(answer.n_left_out)} shorter events left out: zoom in to see them`);
		if (answer.n_flows_left_out)
			parts.push(`${count(answer.n_flows_left_out)} flows left out: zoom in to see them`);
		if (answer.epoch_unix_ns === null)
			parts.push("the trace has no time of day, so it is placed at the time at which its file was written");
		return parts.join(" · ");
	}

	showPrograms() {
		if (this.events.pid)
			return; // the answer has only the chosen program
		const programs = new Map(this.events.answer.tracks.map((track) => [String(track.pid), `${track.process} (${track.pid})`]));
		this.program.hidden = programs.size < 2;
		const wanted = ["", ...programs.keys()];
		if ([...this.program.options].map((option) => option.value).join() !== wanted.join())
			this.program.replaceChildren(...wanted.map((pid) => make("option", {value: pid}, pid ? programs.get(pid) : "All programs")));
		this.program.value = "";
	}

	showTableSoon() {
		clearTimeout(this.tableTimer);
		this.tableTimer = setTimeout(() => this.showTable(), 300);
	}

	showTable() {
		if (!this.tableBox.open || !this.events.answer)
			return;
		const {from, to} = this.timeWindow;
		const seen = this.events.find(this.search.value).filter((item) => item.toMs >= from && item.fromMs <= to);
		const longest = new Set([...seen].sort((a, b) => b.durationNs - a.durationNs).slice(0, MOST_ROWS));
		this.table.show(seen.filter((item) => longest.has(item)));
	}

	type(event) {
		if (event.key !== "Enter" || !this.search.value)
			return;
		event.preventDefault();
		this.goNext(event.shiftKey);
	}

	goNext(isBackwards) {
		const found = this.events.find(this.search.value);
		if (!found.length) {
			setText(this.detail, `no visible event has "${this.search.value}" in its name: zoom in to see shorter ones`);
			return;
		}
		const at = this.timeline.picked?.fromMs ?? -Infinity;
		const next = isBackwards ? found.findLast((item) => item.fromMs < at) ?? found.at(-1) : found.find((item) => item.fromMs > at) ?? found[0];
		this.go(next);
	}

	go(item) {
		const {from, to, spanMs} = this.timeWindow;
		if (item.fromMs < from || item.toMs > to || item.toMs - item.fromMs < spanMs / 50) {
			const span = Math.max((item.toMs - item.fromMs) * 5, 0.001);
			const middle = (item.fromMs + item.toMs) / 2;
			this.timeWindow.show(middle - span / 2, middle + span / 2);
		}
		this.timeline.pick(item);
	}

	pick(item) {
		this.inside.hidden = !item;
		if (item)
			set(this.inside, {"aria-label": `What ran inside ${item.name}`});
		this.describe(item);
	}

	describe(item) {
		if (!item) {
			setText(this.detail, "");
			return;
		}
		const name = item.step === null ? item.name : `${item.name} ${item.step}`;
		setText(this.detail, `${name}: ${duration(item.durationNs)}, from ${duration(item.startNs)} on, ${nameTrack(item.track)}${item.file ? `, seen by ${item.file}` : ""}`);
	}
}
