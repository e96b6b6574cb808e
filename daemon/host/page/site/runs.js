// SPDX-License-Identifier: Apache-2.0
// The list of runs in the log directory, and the actions on each.
import {Api} from "./api.js";
import {find, keepRows, make, makeButton, set, setText} from "./dom.js";
import {Table} from "./table.js";
import {bytes, count, dayTime, durationMs} from "./words.js";

// For a run that this daemon did not record only the file names are known. They contain the machine
// and the port or the program.
function tellPrograms(run) {
	const known = run.targets.map(({name, pid}) => `${name} (${pid})`);
	const names = known.length ? known : run.files.filter(({name}) => name.endsWith(".xplane.pb")).map(({name}) => name.slice(0, -".xplane.pb".length));
	return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ") || "–";
}

function tellSpans(run) {
	return run.n_dropped ? `${count(run.n_spans)}, ${count(run.n_dropped)} dropped` : count(run.n_spans);
}

function listNotes(run) {
	return [run.unreadable, ...(run.errors ?? []), ...(run.warnings ?? [])].filter(Boolean);
}

export class Runs {
	// act(name, run) is called when a button is pressed; |name| is "open", "report", "flame",
	// "perfetto" or "delete".
	constructor(collection, act) {
		Object.assign(this, {collection, act, failure: null});
		this.empty = make("p", {class: "none"});
		this.more = make("p", {class: "none", hidden: true});
		this.table = new Table("Runs", [
			{title: "Run", isHead: true, text: (run) => run.run},
			{title: "Programs", text: tellPrograms, className: "wide"},
			{title: "Written", text: (run) => dayTime(run.written_unix_ms), className: "time"},
			{title: "Duration", text: (run) => durationMs(run.duration_ms), className: "number"},
			{title: "Size", text: (run) => bytes(run.size_bytes), className: "number"},
			{title: "Spans", text: tellSpans, className: "number"},
			{title: "Steps", text: (run) => count(run.n_steps), className: "number"},
			{title: "Notes", fill: (cell, run) => this.fillNotes(cell, run), className: "wide"},
			{title: "", fill: (cell, run) => this.fillActions(cell, run), className: "actions"},
		], (run) => run.run);
		find("run-list").append(this.table.element, this.empty, this.more);
		collection.addEventListener("change", () => this.show());
	}

	show() {
		const runs = this.collection.list();
		this.table.show(runs);
		this.table.element.hidden = !runs.length;
		this.empty.hidden = runs.length > 0;
		setText(this.empty, this.failure ?? (this.collection.isLoaded ? "No runs yet." : "Loading …"));
	}

	// |message| says why the runs cannot be listed; null: they can.
	setFailure(message) {
		this.failure = message;
	}

	// |n| is the number of older runs that the daemon did not list.
	setMore(n) {
		this.more.hidden = !n;
		setText(this.more, `${count(n)} older runs are not listed.`);
	}

	fillNotes(cell, run) {
		const notes = listNotes(run);
		if (!cell.firstChild)
			cell.append(make("details", {}, make("summary"), make("ul")));
		const [box] = cell.children;
		const [summary, list] = box.children;
		box.hidden = !notes.length;
		set(cell, {"data-empty": !notes.length});
		setText(summary, `${notes.length} ${notes.length === 1 ? "note" : "notes"}`);
		keepRows(list, notes.map((note, i) => ({note, i})), {
			key: ({i}) => i,
			create: () => make("li"),
			update: (item, {note}) => setText(item, note),
		});
	}

	fillActions(cell, {run: name, files}) {
		if (!cell.firstChild) {
			const button = (text, action, label) =>
				makeButton(text, () => this.act(action, this.collection.get(name)), {"aria-label": `${label} ${name}`, "data-action": action});
			cell.append(button("Events", "open", "Events of"), button("Report", "report", "Report of"),
				button("Flame graph", "flame", "Flame graph of"), button("Perfetto", "perfetto", "Open in Perfetto"), make("span", {class: "files"}), button("Delete", "delete", "Delete"));
		}
		const run = this.collection.get(name);
		cell.querySelectorAll("[data-action]:not([data-action=delete])").forEach((element) => (element.disabled = Boolean(run?.unreadable)));
		keepRows(cell.querySelector(".files"), files, {
			key: (file) => file.name,
			create: (file) => make("a", {download: file.name}),
			update: (link, file) => {
				set(link, {href: Api.url(`/runs/${encodeURIComponent(name)}/files/${encodeURIComponent(file.name)}`),
					title: `Download ${file.name}, ${bytes(file.size_bytes)}`, "aria-label": `Download ${file.name}`});
				setText(link, files.length === 1 ? "Download" : `Download ${file.name}`);
			},
		});
	}
}
