// SPDX-License-Identifier: Apache-2.0
// The table of all charts, and a text table with their newest values. They show the daemon's
// samples, one per second; in a window of less than ten seconds they show the open run's counters,
// ten per second.
import {Chart} from "./chart.js";
import {onColours} from "./colours.js";
import {find, make} from "./dom.js";
import {Frame} from "./frame.js";
import {Table} from "./table.js";
import {quantity} from "./words.js";

// Below this window length one sample per second shows too little.
const FINE_MS = 10000;
const MIB = 1 << 20;

const percent = () => 100;
const named = (column) => `${column.name} ${column.metric}`.trim();
const ofProgram = (counter) => `${counter.process} (${counter.pid})`;
const ofDevice = (word) => (counter, match) => `${word} ${match[1]}`;

// The fields of a chart. |wants| selects the daemon's columns, given the pid of the selected
// program. |most| is the end of the scale, and |limit| a value that the scale never exceeds. |name|
// returns the name of a line. |isSure| marks charts that every machine has: their place is reserved
// before data arrive. |traced| finds the same data in a trace: [{pattern of the counter's name,
// unit, factor, name}…].
const KINDS = [
	{
		id: "cpu", title: "CPU", most: percent, isSure: true,
		wants: (column) => column.group === "cpu" && ["busy", "system", "iowait"].includes(column.metric),
		name: (column) => column.metric,
		traced: [{pattern: /^cpu (busy|system|iowait) %$/, unit: "%", name: (counter, match) => match[1]}],
	},
	{
		id: "program", title: "Program's CPU",
		wants: (column, pid) => column.group === "process" && column.metric === "cpu" && column.pid === pid,
		name: (column) => column.name,
		traced: [{pattern: /^process cpu %$/, unit: "%", name: ofProgram}],
	},
	{
		id: "gpu", title: "GPU", most: percent,
		wants: (column) => column.group === "gpu" && column.metric === "busy",
		name: (column) => `GPU ${column.name}`,
		traced: [{pattern: /^gpu (.+) busy %$/, unit: "%", name: ofDevice("GPU")}],
	},
	{
		id: "gpu-memory", title: "GPU memory",
		wants: (column) => column.group === "gpu" && column.metric === "memory used",
		name: (column) => `GPU ${column.name}`,
		traced: [{pattern: /^gpu (.+) memory used bytes$/, unit: "bytes", name: ofDevice("GPU")}],
	},
	{
		id: "npu", title: "NPU", most: percent,
		wants: (column) => column.group === "npu" && column.metric === "busy",
		name: (column) => `NPU ${column.name}`,
		traced: [{pattern: /^npu (.+) busy %$/, unit: "%", name: ofDevice("NPU")}],
	},
	{
		id: "memory", title: "Memory", isSure: true,
		most: (samples) => samples.getLatest("memory//total"),
		wants: (column, pid) => (column.group === "memory" && ["used", "swap used"].includes(column.metric)) ||
			(column.group === "process" && column.metric === "rss" && column.pid === pid),
		name: (column) => (column.group === "process" ? column.name : column.metric),
		traced: [
			{pattern: /^memory (used|swap used) bytes$/, unit: "bytes", name: (counter, match) => match[1]},
			{pattern: /^process rss MiB$/, unit: "bytes", factor: MIB, name: ofProgram},
		],
	},
];

const MORE_KINDS = [
	{
		id: "disk", title: "Disk", name: named,
		wants: (column) => column.group === "disk" && column.unit === "bytes/s",
		traced: [{pattern: /^disk (.+) bytes\/s$/, unit: "bytes/s", name: (counter, match) => match[1]}],
	},
	{
		id: "network", title: "Network", name: named,
		wants: (column) => column.group === "network",
		traced: [{pattern: /^network (.+) bytes\/s$/, unit: "bytes/s", name: (counter, match) => match[1]}],
	},
	{
		id: "pressure", title: "Pressure", name: named, limit: 100,
		wants: (column) => column.group === "pressure" && column.metric === "some",
		traced: [{pattern: /^pressure (.+ some) %$/, unit: "%", name: (counter, match) => match[1]}],
	},
];

export class Charts {
	constructor(samples, timeWindow, events) {
		Object.assign(this, {samples, timeWindow, events});
		this.pid = null;
		const bands = () => [events.band].filter(Boolean);
		const makeChart = (kind) => new Chart({...kind, most: kind.most && (() => kind.most(samples))}, timeWindow, () => this.findSeries(kind), bands);
		this.main = KINDS.map(makeChart);
		this.more = MORE_KINDS.map(makeChart);
		this.moreBox = find("more-charts-box");
		this.tableBox = find("usage-table-box");
		this.table = new Table("Usage now", [
			{title: "Source", text: (column) => `${column.group} ${column.name}`.trim(), isHead: true},
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
		find("charts").append(...this.main.map((chart) => chart.element));
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

	// Shows the usage of this program beside the machine's; null shows the machine alone.
	follow(pid) {
		this.pid = pid;
		this.take();
	}

	draw() {
		this.all.forEach((chart) => chart.frame.ask());
	}

	take() {
		this.draw();
		if (this.tableBox.open)
			this.table.show(this.samples.choose(() => true));
	}

	findSeries(kind) {
		const traced = this.timeWindow.spanMs < FINE_MS ? this.findTraced(kind) : [];
		return traced.length ? traced : this.findSampled(kind);
	}

	findSampled(kind) {
		const columns = this.samples.choose((column) => kind.wants(column, this.pid));
		const {at, values} = this.samples.read(columns.map(({key}) => key), this.timeWindow.originUnixMs);
		return columns.map((column, i) => ({...column, name: kind.name(column), at, values: values[i]}));
	}

	// Returns the lines that the open run's trace has for this chart and that are visible now.
	findTraced(kind) {
		return kind.traced.flatMap((row) => this.events.counters
			.filter((counter) => row.pattern.test(counter.name) && this.isSeen(counter))
			.map((counter) => this.readCounter(row, counter)));
	}

	readCounter({pattern, name, unit, factor = 1}, counter) {
		return {
			key: `${counter.name} ${counter.pid}`, name: name(counter, pattern.exec(counter.name)), unit, isHeld: true,
			at: counter.points.map(([ns]) => this.events.toMs(ns)),
			values: counter.points.map(([, value]) => value * factor),
		};
	}

	isSeen({points}) {
		const {from, to} = this.timeWindow;
		return points.length > 0 && this.events.toMs(points[0][0]) < to && this.events.toMs(points.at(-1)[0]) > from;
	}
}
