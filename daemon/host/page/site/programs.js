// SPDX-License-Identifier: Apache-2.0
// The list of programs that can be recorded. All known properties can be searched, and one program
// can be selected. Dispatches "select" (detail: the target or null).
import {find, make, makeButton, set, setText} from "./dom.js";
import {Table} from "./table.js";
import {bytes, clock, dayTime, quantity} from "./words.js";

function describeContainer(container) {
	return container ? container.pod || container.name || container.id?.slice(0, 12) || container.cgroup || "" : "";
}

function tellWhere(target) {
	const parts = [target.path ?? ""];
	if (target.container)
		parts.push(`in ${describeContainer(target.container)}${target.pid_inside !== target.pid ? ` as ${target.pid_inside}` : ""}`);
	return parts.filter(Boolean).join(" ");
}

function tellState(target) {
	const words = [target.state === "recorder" ? "flight recorder" : target.state];
	if (target.recorder && target.state !== "recorder")
		words.push("flight recorder");
	if (target.stopped)
		words.push("stopped");
	if (target.children)
		words.push(`${target.children} children`);
	return words.join(", ");
}

function searchText(target) {
	return [target.pid, target.name, target.user, target.path, target.state, target.stopped ? "stopped" : "", describeContainer(target.container),
		...Object.entries(target.labels ?? {}).map(([key, value]) => `${key}=${value}`)].join(" ").toLowerCase();
}

export class Programs extends EventTarget {
	// measure(target) requests the program's share of memory, which arrives at takeMemory().
	// look(target) shows its open spans.
	constructor(collection, measure, look) {
		super();
		Object.assign(this, {collection, measure, look});
		this.memory = new Map(); // the last measurement, by id
		this.usage = new Map(); // the current {cpu, rss}, by id
		this.selectedId = null;
		this.search = find("program-search");
		this.empty = make("p", {class: "none"});
		this.table = new Table("Programs", [
			{title: "Program", isHead: true, fill: (cell, target) => this.fillName(cell, target)},
			{title: "Pid", text: (target) => String(target.pid), className: "number"},
			{title: "User", text: (target) => target.user},
			{title: "State", fill: (cell, target) => this.fillState(cell, target)},
			{title: "CPU", text: (target) => quantity(this.usage.get(target.id)?.cpu, "%"), className: "number"},
			{title: "Memory", fill: (cell, target) => this.fillMemory(cell, target), className: "number"},
			{title: "Since", text: (target) => dayTime(target.since_unix_ms), className: "time"},
			{title: "Where", text: tellWhere, className: "wide"},
		], (target) => target.id);
		find("program-list").append(this.table.element, this.empty);
		this.search.addEventListener("input", () => this.show());
		collection.addEventListener("change", () => this.show());
	}

	get selected() {
		return this.collection.get(this.selectedId) ?? null;
	}

	fillName(cell, target) {
		if (!cell.firstChild) {
			const radio = make("input", {type: "radio", name: "program", value: target.id, onchange: () => this.select(target.id)});
			cell.append(make("label", {}, radio, make("span")));
		}
		const [radio, name] = cell.firstChild.children;
		radio.checked = target.id === this.selectedId;
		setText(name, target.name);
		set(cell.parentElement, {"data-selected": target.id === this.selectedId});
	}

	fillState(cell, target) {
		if (!cell.firstChild) {
			const look = () => this.look(this.collection.get(target.id));
			cell.append(make("span"), " ", makeButton("Open spans", look, {class: "plain", "data-action": "open-spans",
				title: "The spans that each thread has open now, even if the program hangs"}));
		}
		setText(cell.firstChild, tellState(target));
		set(cell.lastChild, {"aria-label": `Open spans of ${target.name} (${target.pid})`});
	}

	// Shows the memory in use (RSS) and, on request, the program's share of it (PSS). The
	// kernel takes long to compute the share and delays the program meanwhile, so the user has
	// to ask.
	fillMemory(cell, target) {
		if (!cell.firstChild) {
			const measure = () => this.measure(this.collection.get(target.id));
			cell.append(make("span"), " ", makeButton("", measure, {class: "plain", "data-action": "measure"}));
		}
		const told = this.memory.get(target.id);
		const button = cell.lastChild;
		setText(cell.firstChild, quantity(this.usage.get(target.id)?.rss, "bytes"));
		setText(button, told ? `${bytes(told.pss_bytes)} share` : "Measure");
		const what = `memory of ${target.name}: its own, plus its share of memory that it shares with others (PSS)`;
		set(button, {
			"aria-label": told ? `${bytes(told.pss_bytes)}, ${what}; measure again` : `Measure the ${what}`,
			title: told ? `measured at ${clock(told.at_unix_ms)}; press to measure again` : `Measure the ${what}`,
		});
	}

	// |usage| holds the share of a processor and the memory (RSS) of each program, by id.
	takeUsage(usage) {
		this.usage = usage;
		this.show();
	}

	takeMemory(told) {
		this.memory.set(told.id, told);
		this.show();
	}

	select(id) {
		this.selectedId = id;
		this.show();
		this.dispatchEvent(new CustomEvent("select", {detail: this.selected}));
	}

	show() {
		const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
		const all = this.collection.list();
		this.forgetMemory();
		const found = all.filter((target) => words.every((word) => searchText(target).includes(word)));
		this.table.show(found);
		this.table.element.hidden = !found.length;
		this.empty.hidden = found.length > 0;
		setText(this.empty, this.tellNone(all.length));
		if (this.selectedId !== null && this.collection.isLoaded && !this.selected)
			this.select(null);
	}

	forgetMemory() {
		for (const id of this.memory.keys())
			if (!this.collection.get(id))
				this.memory.delete(id);
	}

	tellNone(nAll) {
		if (!this.collection.isLoaded)
			return "Loading …";
		return nAll ? "No program matches." :
			"There is no program that can be recorded. Start one with proftap run -- PROGRAM, or call ptap_server_start() in it.";
	}
}
