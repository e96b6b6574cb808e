// SPDX-License-Identifier: Apache-2.0
// A dialog that shows the spans that are open in a program now, by process and thread, the
// outermost span first. It refreshes itself while the page is visible.
import {Api} from "./api.js";
import {Dialog} from "./dialog.js";
import {keepRows, make, makeButton, set, setText} from "./dom.js";
import {clock, count, dateTime, duration} from "./words.js";

const REFRESH_MS = 2000;
// A dialog that was left open stops refreshing after this many times.
const MOST_REFRESHES = 150;
const DAY_MS = 86400e3;
const DEEPEST_INDENT = 12;

const STATES = {R: "running", S: "waiting", D: "waiting in the kernel, cannot be interrupted", T: "stopped", t: "stopped by a debugger",
	Z: "ended", X: "ended", I: "idle"};

// Returns for example "waiting in futex (futex_do_wait)".
function tellThreadState({state, syscall, syscall_name: name, wait_channel: channel}) {
	const words = STATES[state] ?? state ?? "";
	if (state !== "S" && state !== "D")
		return words;
	const call = name ?? (syscall === null ? null : `system call ${syscall}`);
	if (call)
		return `${words} in ${call}${channel ? ` (${channel})` : ""}`;
	return channel ? `${words} in the kernel's ${channel}` : words;
}

export function nameThread({name, tid}) {
	return `${name || "(unnamed)"} (${tid})`;
}

function tellThread(process, thread) {
	const isHit = process.signal_tid !== null && process.signal_tid === thread.tid;
	return [tellThreadState(thread), isHit && "received the signal",
		thread.moving && "the stack changes faster than proftap can read it: each span was open, but not all at once"].filter(Boolean).join("; ");
}

export function tellArguments({step, arguments: list}) {
	const words = list.map(({name, value}) => `${name}=${value ?? "?"}`);
	return (step === null ? words : [String(step), ...words]).join(" ");
}

function tellSince(span, nowMs) {
	const ms = span.since_unix_ns / 1e6;
	return `since ${nowMs - ms < DAY_MS ? clock(ms, 1) : dateTime(ms)}`;
}

function tellProcess(process) {
	if (process.state === "ended") {
		const unknown = process.signal_tid === null ? process.signal_thread && `the thread that received the signal is not known: ${process.signal_thread}` : null;
		return [`Ended ${duration(process.ended_ago_ns)} ago${process.ending ? `, ${process.ending}` : ""}; ages are those at the program's end.`, unknown && `${unknown}.`]
			.filter(Boolean).join(" ");
	}
	const words = [process.state === "stopped" ? "Stopped (SIGSTOP or a debugger); ages keep growing." : "Running.",
		process.recording && `Recorded by the ${process.recording} at level ${process.level}.`];
	return words.filter(Boolean).join(" ");
}

// Returns why no span is shown and what to do about it, or "" if spans are shown.
function tellEmpty(process) {
	if (process.async_spans.length || process.threads.some(({spans}) => spans.length))
		return "";
	if (process.recording)
		return "No span is open. Only spans that began while it was recorded are known.";
	if (process.state === "ended")
		return "Nothing recorded it when it ended, so its open spans are not known.";
	return "Nothing records it, so its open spans are not known. With this command, spans that begin from then on are known: ";
}

// Returns the sentence for a screen reader after a refresh. It names the first thread, which
// usually has the longest open innermost span.
function summarise(processes) {
	const threads = processes.flatMap((process) => process.threads).filter(({spans}) => spans.length);
	if (!threads.length)
		return "No open span is shown.";
	const last = threads[0].spans.at(-1);
	return `${threads.length === 1 ? "1 thread has" : `${count(threads.length)} threads have`} open spans. ` +
		`${nameThread(threads[0])}: ${last.name}, open for ${duration(last.age_ns)}.`;
}

function showSpans(list, spans, nowMs, tell = tellArguments) {
	keepRows(list, spans.map((span, i) => ({span, i})), {
		key: ({i}) => i,
		create: () => make("li", {}, make("span", {class: "age"}), " ", make("strong"), " ", make("span", {class: "arguments"}), " ",
			make("span", {class: "help"})),
		update: (item, {span}) => {
			const [age, name, words, since] = item.children;
			item.style.setProperty("--depth", Math.min(span.depth, DEEPEST_INDENT));
			setText(age, duration(span.age_ns));
			setText(name, span.name);
			setText(words, tell(span));
			setText(since, tellSince(span, nowMs));
		},
	});
}

function makeThread() {
	return make("section", {class: "thread"}, make("h4", {}, make("span"), " ", make("span", {class: "help"})), make("ol"));
}

function showThread(section, process, thread, nowMs) {
	const [heading, list] = section.children;
	setText(heading.firstChild, nameThread(thread));
	setText(heading.lastChild, tellThread(process, thread));
	set(section, {"data-tid": thread.tid, "aria-label": nameThread(thread)});
	showSpans(list, thread.spans, nowMs);
}

function tellAsyncsKnown(ms, nowMs) {
	return `Async spans are known from ${nowMs - ms < DAY_MS ? clock(ms) : dateTime(ms)} on: older begins and ends are overwritten, or were recorded by ` +
		"threads that have ended.";
}

// Shows the spans that begin in one thread and may end in another.
function showAsyncs(section, process, nowMs) {
	const [, list, leftOut, known] = section.children;
	const spans = process.async_spans.map((span) => ({...span, depth: 0, step: null}));
	showSpans(list, spans, nowMs, (span) => [`id ${span.id}`, tellArguments(span), `begun by ${nameThread({name: span.thread, tid: span.tid})}`,
		span.may_have_ended && "it may have ended"].filter(Boolean).join(", "));
	setText(leftOut, `${count(process.async_left_out)} more async spans do not fit into the answer.`);
	leftOut.hidden = !process.async_left_out;
	known.hidden = process.async_known_since_unix_ns === null || !spans.length;
	setText(known, known.hidden ? "" : tellAsyncsKnown(process.async_known_since_unix_ns / 1e6, nowMs));
	section.hidden = !spans.length;
}

function makeProcess() {
	return make("section", {class: "process"}, make("h3"), make("p"), make("p", {class: "none"}, make("span"), make("code")), make("div"),
		make("section", {class: "thread", "data-asyncs": "", "aria-label": "Async spans"}, make("h4", {}, "Async spans"), make("ol"),
			make("p", {class: "none"}), make("p", {class: "help"})),
		make("p", {class: "none"}),
		make("details", {}, make("summary"), make("ul")));
}

function showOthers(box, process, threads) {
	const [summary, list] = box.children;
	const n = threads.length === 1 ? "1 thread" : `${count(threads.length)} threads`;
	box.hidden = !threads.length;
	setText(summary, process.recording ? `${n} without an open span` : n);
	keepRows(list, threads, {
		key: ({tid}) => tid,
		create: () => make("li"),
		update: (item, thread) => setText(item, [nameThread(thread), tellThreadState(thread)].filter(Boolean).join(" ")),
	});
}

function showProcess(section, process, nowMs) {
	const [heading, state, empty, threads, asyncs, leftOut, others] = section.children;
	const isBusy = ({spans}) => spans.length > 0;
	setText(heading, `${process.name} (pid ${process.pid})`);
	setText(state, tellProcess(process));
	setText(empty.firstChild, tellEmpty(process));
	empty.hidden = !empty.firstChild.textContent;
	setText(empty.lastChild, process.recording || process.state === "ended" ? "" : `proftap start ${process.pid} --recorder`);
	keepRows(threads, process.threads.filter(isBusy), {
		key: ({tid}) => tid,
		create: makeThread,
		update: (row, thread) => showThread(row, process, thread, nowMs),
	});
	showAsyncs(asyncs, process, nowMs);
	setText(leftOut, `${count(process.left_out)} more open spans do not fit into the answer.`);
	leftOut.hidden = !process.left_out;
	showOthers(others, process, process.threads.filter((thread) => !isBusy(thread)));
}

export class OpenSpans {
	constructor(api, target) {
		Object.assign(this, {api, target, timer: null, nRefreshes: 0, asking: null, shownAt: null, isOver: false});
		this.at = make("p", {class: "help"});
		this.problem = make("p", {class: "problem", role: "alert", hidden: true});
		this.said = make("p", {class: "unseen", role: "status"});
		this.list = make("div", {class: "open-spans"});
		this.again = make("input", {type: "checkbox", checked: true, onchange: () => this.resume()});
		this.dialog = new Dialog(`Open spans of ${target.name} (${target.pid})`, this.at, this.problem, this.list, this.said);
		this.dialog.actions.append(make("label", {class: "again"}, this.again, "Refresh every 2 s"),
			makeButton("Refresh", () => this.refresh(), {"data-action": "refresh"}),
			make("a", {href: Api.url(`/targets/${target.id}/open_spans`), download: `${target.name}_${target.pid}_open_spans.json`}, "As JSON"),
			makeButton("Close", () => this.dialog.close(), {autofocus: true}));
		this.seen = () => this.resume();
		document.addEventListener("visibilitychange", this.seen);
		this.dialog.element.addEventListener("close", () => this.end());
		setText(this.at, "Loading …");
		this.dialog.open();
		this.look();
	}

	end() {
		this.isOver = true;
		clearTimeout(this.timer);
		this.asking?.abort();
		document.removeEventListener("visibilitychange", this.seen);
	}

	// Refreshes because the user asked. The count of automatic refreshes starts again, and a
	// screen reader says the result.
	async refresh() {
		this.nRefreshes = 0;
		await this.look();
		if (!this.isOver && this.problem.hidden)
			setText(this.said, summarise(this.processes));
	}

	// Continues when the page is visible again or the user has switched refreshing on.
	resume() {
		clearTimeout(this.timer);
		this.nRefreshes = 0;
		if (this.again.checked && !document.hidden)
			this.look();
	}

	// Schedules the next refresh, some time after the last answer.
	schedule() {
		clearTimeout(this.timer);
		if (this.isOver || document.hidden || !this.again.checked)
			return;
		if (++this.nRefreshes > MOST_REFRESHES)
			this.again.checked = false;
		else
			this.timer = setTimeout(() => this.look(), REFRESH_MS);
	}

	async look() {
		clearTimeout(this.timer);
		this.asking?.abort();
		const asking = (this.asking = new AbortController());
		try {
			this.show(await this.api.getExactly(`/targets/${this.target.id}/open_spans`, asking.signal));
		} catch (error) {
			if (this.asking !== asking || this.isOver)
				return;
			this.complain(error);
		}
		if (this.asking === asking) {
			this.asking = null;
			this.schedule();
		}
	}

	show({at_unix_ns: atNs, processes}) {
		const nowMs = atNs / 1e6;
		this.processes = processes;
		this.shownAt = clock(nowMs);
		this.problem.hidden = true;
		setText(this.problem, "");
		setText(this.at, `As of ${this.shownAt}`);
		keepRows(this.list, processes, {
			key: ({pid}) => pid,
			create: makeProcess,
			update: (section, process) => showProcess(section, process, nowMs),
		});
	}

	// Shows the error. The spans of the last answer stay, with their time.
	complain(error) {
		const isGone = error.code === "NOT_FOUND";
		if (isGone)
			this.again.checked = false;
		setText(this.at, this.shownAt ? `As of ${this.shownAt}; not refreshed since` : "");
		setText(this.problem, isGone ? `${this.target.name} (${this.target.pid}) has ended, and its open spans are not kept.` : error.message);
		this.problem.hidden = false;
	}
}
