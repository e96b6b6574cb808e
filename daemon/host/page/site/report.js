// SPDX-License-Identifier: Apache-2.0
// Shows a run's report (proftap-report(1), "JSON") as tables.
import {Api} from "./api.js";
import {make} from "./dom.js";
import {Dialog} from "./dialog.js";
import {nameThread, tellArguments} from "./open_spans.js";
import {Table} from "./table.js";
import {count, duration} from "./words.js";

const MOST_ROWS = 30;

// null means that all spans of the row were cut off, so their duration is unknown.
const numbers = (title, key, tell = duration) => ({title, text: (row) => (row[key] === null ? "–" : tell(row[key])), className: "number"});
const NAMES = [
	{title: "Name", isHead: true, text: (row) => row.name}, numbers("Count", "count", count), numbers("Self", "self_ns"),
	numbers("Total", "total_ns"), numbers("Mean", "mean_ns"), numbers("p99", "p99_ns"), numbers("Max", "max_ns"),
];
const STEPS = [
	{title: "Step", isHead: true, text: (row) => row.name}, numbers("Count", "count", count), numbers("Median", "p50_ns"),
	numbers("p99", "p99_ns"), numbers("Max", "max_ns"), numbers("Slow", "outliers", count),
];
// Returns the inner spans that took longer, by their path from the outermost one; if none did, the
// span itself took longer.
function tellGrown({grew, slow, typical}) {
	const inner = grew.filter(({path}) => path.length > 1);
	return inner.map(({path, slow_ns: long, typical_ns: short}) => `${path.slice(1).join(" › ")} +${duration(long - short)}`).join(", ") ||
		`itself +${duration(slow.mean_ns - typical.mean_ns)}`;
}

const SLOW = [
	{title: "Name", isHead: true, text: (row) => (row.process_id === null ? row.name : `${row.name} of ${row.process_name} (${row.process_id})`)},
	{title: "Slow", text: (row) => `${count(row.slow.count)} of ${count(row.count)}`, className: "number"},
	{title: "Mean", text: ({slow, typical}) => `${duration(slow.mean_ns)}, typically ${duration(typical.mean_ns)}`, className: "number"},
	{title: "Waiting", text: (row) => duration(row.wait_ns), className: "number"},
	{title: "Longer parts", text: tellGrown, className: "wide"},
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

function tellEnd({name, pid, ending, signal_tid: tid, signal_thread: why, threads}) {
	const receiver = threads.find((one) => tid !== null && one.tid === tid);
	const thread = receiver ? ` in the thread ${nameThread(receiver)}` : tid === null ? "" : ` in the thread ${tid}`;
	const how = ending ? `At death: ${name} (${pid}) ${ending.startsWith("with") ? "ended" : "was"} ${ending}${thread}.` :
		`At the snapshot: ${name} (${pid}) went on.`;
	return why && tid === null ? `${how} The thread that received the signal is not known: ${why}.` : how;
}

function listSpans(spans) {
	return make("ol", {}, ...spans.map((span) => {
		const item = make("li", {}, make("span", {class: "age"}, duration(span.age_ns)), " ", make("strong", {}, span.name), " ",
			make("span", {}, tellArguments(span)));
		item.style.setProperty("--depth", Math.min(span.depth, 12));
		return item;
	}));
}

function tellAsyncs(spans) {
	return spans.length ? [make("section", {class: "thread"}, make("h4", {}, "Async spans"), listSpans(spans))] : [];
}

// Shows the spans that each thread had open when its program ended or its flight recorder was read.
function tellOpen(ends) {
	return ends.map((end) => make("section", {class: "open-spans"}, make("h3", {}, tellEnd(end)), ...end.threads.slice(0, MOST_ROWS).map((thread) =>
		make("section", {class: "thread"}, make("h4", {}, thread.spans.length ? nameThread(thread) : `${nameThread(thread)}: no open span`),
			listSpans(thread.spans))), ...tellAsyncs(end.async_spans ?? []),
	end.threads.length > MOST_ROWS ? make("p", {class: "none"}, `${count(end.threads.length - MOST_ROWS)} more threads are in the JSON.`) : null));
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
		...tellOpen([...report.deaths, ...report.open_at_snapshot]), section("Steps", STEPS, steps), section("Differences of slow spans", SLOW, report.slow),
		section("Where time went", NAMES, report.names), section("Programs", PROCESSES, report.processes)];
	const dialog = new Dialog(`Report of ${run.run}`, ...parts.filter(Boolean));
	dialog.actions.append(
		make("a", {href: Api.url(`/runs/${encodeURIComponent(run.run)}/report`), download: `${run.run}.json`}, "As JSON"),
		make("button", {type: "button", onclick: () => dialog.close(), autofocus: true}, "Close"));
	dialog.open();
}
