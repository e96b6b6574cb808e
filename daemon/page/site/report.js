// SPDX-License-Identifier: Apache-2.0
// A run's report (proftap-report(1), "JSON"), as tables.
import {Api} from "./api.js";
import {make} from "./dom.js";
import {Dialog} from "./dialog.js";
import {Table} from "./table.js";
import {count, duration} from "./words.js";

const MOST_ROWS = 30;

const numbers = (title, key, tell = duration) => ({title, text: (row) => tell(row[key]), className: "number"});
const NAMES = [
	{title: "Name", isHead: true, text: (row) => row.name}, numbers("Count", "count", count), numbers("Self", "self_ns"),
	numbers("Total", "total_ns"), numbers("Mean", "mean_ns"), numbers("p99", "p99_ns"), numbers("Max", "max_ns"),
];
const STEPS = [
	{title: "Step", isHead: true, text: (row) => row.name}, numbers("Count", "count", count), numbers("Median", "p50_ns"),
	numbers("p99", "p99_ns"), numbers("Max", "max_ns"), numbers("Slow ones", "outliers", count),
];
const PROCESSES = [
	{title: "Program", isHead: true, text: (row) => (row.pid === null ? row.name : `${row.name} (${row.pid})`)},
	numbers("Spans", "n_spans", count), numbers("Busy", "busy_ns"),
	{title: "Longest pause", className: "number", text: ({idle: [longest]}) =>
		(longest ? `${duration(longest.duration_ns)} before ${longest.before ?? "the end"}` : "–")},
];

function section(title, columns, rows) {
	if (!rows.length)
		return null;
	const table = new Table(title, columns, (row) => rows.indexOf(row));
	table.show(rows.slice(0, MOST_ROWS));
	return make("section", {}, make("h3", {}, title), make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": title}, table.element));
}

function lines(texts) {
	return texts.length ? make("ul", {class: "notes"}, ...texts.map((text) => make("li", {}, text))) : null;
}

function summarise({duration_ns: length, totals}) {
	const words = Object.entries(totals).filter(([, n]) => n).map(([name, n]) => `${count(n)} ${name.replaceAll("_", " ")}`);
	return make("p", {}, [duration(length), ...words].join(" · "));
}

export function showReport(run, report) {
	const steps = report.planes.flatMap((plane) => plane.steps);
	const parts = [summarise(report), lines([...report.errors, ...report.warnings, ...(report.notes ?? [])]),
		section("Steps", STEPS, steps), section("Where time went", NAMES, report.names), section("Programs", PROCESSES, report.processes)];
	const dialog = new Dialog(`Report of ${run.run}`, ...parts.filter(Boolean));
	dialog.actions.append(
		make("a", {href: Api.url(`/runs/${encodeURIComponent(run.run)}/report`), download: `${run.run}.json`}, "As JSON"),
		make("button", {type: "button", onclick: () => dialog.close(), autofocus: true}, "Close"));
	dialog.open();
}
