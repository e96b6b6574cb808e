// SPDX-License-Identifier: Apache-2.0
// Which charts there are, a row each, and the table that says the same.
import {Chart} from "./chart.js";
import {onColours} from "./colours.js";
import {find, make} from "./dom.js";
import {Frame} from "./frame.js";
import {Table} from "./table.js";
import {quantity} from "./words.js";

const percent = () => 100;
const named = (column) => `${column.name} ${column.metric}`.trim();

// |wants| chooses columns, with the pid of the program that is selected; |most| is the end of the scale, and |limit| what it never exceeds; |name| is a line's; |none| says why there is no line, where that is worth a word;
// |isSure|: every machine has it, so its place is kept before anything is known.
const KINDS = [
	{
		id: "cpu", title: "CPU", most: percent, isSure: true,
		wants: (column) => column.group === "cpu" && ["busy", "system", "iowait"].includes(column.metric),
		name: (column) => column.metric,
	},
	{
		id: "program", title: "Program's CPU",
		wants: (column, pid) => column.group === "process" && column.metric === "cpu" && column.pid === pid,
		name: (column) => column.name,
	},
	{
		id: "gpu", title: "GPU", most: percent, none: "no GPU here, or its driver tells nothing",
		wants: (column) => column.group === "gpu" && column.metric === "busy",
		name: (column) => `GPU ${column.name}`,
	},
	{
		id: "gpu-memory", title: "GPU memory",
		wants: (column) => column.group === "gpu" && column.metric === "memory used",
		name: (column) => `GPU ${column.name}`,
	},
	{
		id: "npu", title: "NPU", most: percent, none: "no NPU here, or its driver tells nothing",
		wants: (column) => column.group === "npu" && column.metric === "busy",
		name: (column) => `NPU ${column.name}`,
	},
	{
		id: "memory", title: "Memory", isSure: true,
		most: (samples) => samples.getLatest("memory//total"),
		wants: (column, pid) => (column.group === "memory" && ["used", "swap used"].includes(column.metric)) ||
			(column.group === "process" && column.metric === "rss" && column.pid === pid),
		name: (column) => (column.group === "process" ? column.name : column.metric),
	},
];

const MORE_KINDS = [
	{
		id: "disk", title: "Disk", name: named,
		wants: (column) => column.group === "disk" && column.unit === "bytes/s",
	},
	{
		id: "network", title: "Network", name: named,
		wants: (column) => column.group === "network",
	},
	{
		id: "pressure", title: "Pressure", name: named, limit: 100,
		wants: (column) => column.group === "pressure" && column.metric === "some",
	},
];

export class Charts {
	constructor(samples, timeWindow, bands) {
		Object.assign(this, {samples, timeWindow});
		this.pid = null;
		this.main = KINDS.map((kind) => new Chart(kind, samples, timeWindow, bands));
		this.more = MORE_KINDS.map((kind) => new Chart(kind, samples, timeWindow, bands));
		this.none = make("p", {class: "none", hidden: true});
		this.moreBox = find("more-charts-box");
		this.tableBox = find("usage-table-box");
		this.table = new Table("Usage now", [
			{title: "What", text: (column) => `${column.group} ${column.name}`.trim(), isHead: true},
			{title: "Measure", text: (column) => column.metric},
			{title: "Now", text: (column) => quantity(samples.getLatest(column.key), column.unit), className: "number"},
		], (column) => column.key);
		this.mount();
		this.listen();
	}

	get all() {
		return [...this.main, ...this.more];
	}

	mount() {
		this.all.forEach((chart) => (chart.element.hidden = !chart.kind.isSure));
		find("charts").append(...this.main.map((chart) => chart.element), this.none);
		find("more-charts").append(...this.more.map((chart) => chart.element));
		find("usage-table").append(this.table.element);
	}

	listen() {
		const draw = () => this.draw();
		const taking = new Frame(() => this.take());
		this.samples.addEventListener("change", () => taking.ask());
		this.timeWindow.addEventListener("change", draw);
		this.timeWindow.addEventListener("cursor", () => this.all.forEach((chart) => chart.showCursor()));
		this.moreBox.addEventListener("toggle", () => this.take());
		this.tableBox.addEventListener("toggle", () => this.take());
		onColours(draw);
	}

	// The program whose usage is shown beside the machine's, or null.
	follow(pid) {
		this.pid = pid;
		this.take();
	}

	draw() {
		this.all.forEach((chart) => chart.frame.ask());
	}

	take() {
		for (const chart of this.all)
			this.takeOne(chart);
		const missing = this.main.filter((chart) => chart.element.hidden && chart.kind.none);
		this.none.hidden = !missing.length || !this.samples.next;
		this.none.textContent = missing.map(({kind}) => `${kind.title}: ${kind.none}.`).join(" ");
		if (this.tableBox.open)
			this.table.show(this.samples.choose(() => true));
	}

	takeOne(chart) {
		const columns = this.samples.choose((column) => chart.kind.wants(column, this.pid));
		if (columns.length)
			chart.take(columns);
		else
			chart.element.hidden = !chart.kind.isSure;
	}
}
