// SPDX-License-Identifier: Apache-2.0
// The events of the open run. When the time window moves to a range whose events were left out,
// they are requested again in more detail. Dispatches "change", and "refused" (detail: the
// Refusal).

const SETTLE_MS = 150;
// Events of this many window widths are requested on both sides of the window, so that small moves
// need no request.
const MARGIN = 1;
const NS_PER_MS = 1e6;
// Spans that are narrower than a pixel of a window this wide are left out.
const PIXELS = 1000;
// The daemon returns at most this many spans in one answer.
const MOST_SPANS = 20000;
export const ALL_DEPTHS = 1024;

export class RunEvents extends EventTarget {
	constructor(api, timeWindow) {
		super();
		Object.assign(this, {api, timeWindow});
		this.depth = ALL_DEPTHS;
		this.pid = "";
		this.close();
		timeWindow.addEventListener("change", () => this.settle());
	}

	close() {
		this.run = null;
		this.answer = null; // the daemon's answer, with the question in it
		this.epochMs = null;
		this.asking?.abort();
		this.asking = null;
		clearTimeout(this.timer);
		this.dispatchEvent(new Event("change"));
	}

	async open(run) {
		this.close();
		this.pid = "";
		this.run = run;
		if (await this.ask({}))
			this.showAll();
	}

	async again() {
		if (this.run)
			await this.ask(this.findQuestion());
	}

	// Shows the run from its start, even if the first event is later.
	showAll() {
		const {begin, end} = this.bounds;
		const margin = Math.max((end - begin) * 0.02, 1000);
		this.timeWindow.rebase(this.originUnixMs, true);
		this.timeWindow.show(this.toMs(begin - margin), this.toMs(end + margin));
	}

	// The start and end of the recording, in nanoseconds of the trace's own time.
	get bounds() {
		return {begin: Math.min(0, this.answer.first_ns), end: this.answer.end_ns};
	}

	// Converts to milliseconds of the time window, whose origin is a whole millisecond.
	toMs(ns) {
		return ns / NS_PER_MS + (this.epochMs - this.timeWindow.originUnixMs) + this.restMs;
	}

	toNs(ms) {
		return (ms - (this.epochMs - this.timeWindow.originUnixMs) - this.restMs) * NS_PER_MS;
	}

	// Requests events when the window has not moved for a while.
	settle() {
		clearTimeout(this.timer);
		if (this.answer && !this.suffices())
			this.timer = setTimeout(() => this.ask(this.findQuestion()), SETTLE_MS);
	}

	findQuestion() {
		const from = this.toNs(this.timeWindow.from);
		const to = this.toNs(this.timeWindow.to);
		const margin = (to - from) * MARGIN;
		return {
			from: Math.max(0, Math.floor(from - margin)),
			to: Math.max(1, Math.ceil(to + margin)),
			min_ns: Math.floor((to - from) / PIXELS),
		};
	}

	// Returns whether a new request would bring hardly more events that are visible now.
	suffices() {
		const {question, n_left_out: nSpans, n_flows_left_out: nFlows, n_points_left_out: nPoints, first_ns: first, end_ns: end} = this.answer;
		const from = Math.max(this.toNs(this.timeWindow.from), first);
		const to = Math.min(this.toNs(this.timeWindow.to), end);
		if (from >= to)
			return true;
		const isInside = (question.from ?? -Infinity) <= from && to <= (question.to ?? Infinity);
		const wanted = this.findQuestion();
		const isFine = (question.min_ns ?? 0) <= wanted.min_ns;
		const isNarrower = (question.to ?? end) - (question.from ?? first) > 2 * (wanted.to - wanted.from);
		return isInside && isFine && !((nSpans || nFlows || nPoints) && isNarrower);
	}

	// Returns whether an answer came and was not overtaken by another request.
	async ask(question) {
		this.asking?.abort();
		const asking = (this.asking = new AbortController());
		const query = new URLSearchParams({...question, depth: this.depth, limit: MOST_SPANS});
		if (this.pid)
			query.set("pid", this.pid);
		try {
			const answer = await this.api.get(`/runs/${encodeURIComponent(this.run.run)}/events?${query}`, asking.signal);
			this.take({...answer, question});
			return true;
		} catch (error) {
			if (error.name !== "AbortError")
				this.dispatchEvent(new CustomEvent("refused", {detail: error}));
			return false;
		}
	}

	take(answer) {
		this.answer = answer;
		if (this.epochMs === null)
			this.findEpoch(answer.epoch_unix_ns);
		this.dispatchEvent(new Event("change"));
		this.settle();
	}

	findEpoch(text) {
		const ns = text === null ? BigInt(this.run.written_unix_ms) * 1000000n - BigInt(Math.round(this.answer.end_ns)) : BigInt(text);
		this.epochMs = Number(ns / 1000000n);
		this.restMs = Number(ns % 1000000n) / NS_PER_MS;
		this.originUnixMs = this.epochMs + Math.floor(this.bounds.begin / NS_PER_MS);
	}

	// The counters of the trace, [{name, process, pid, points: [[ns, value]…]}…].
	get counters() {
		return this.answer?.counters ?? [];
	}

	get band() {
		return this.answer ? {from: this.toMs(this.bounds.begin), to: this.toMs(this.bounds.end)} : null;
	}

	// Returns the loaded events whose names contain |text|, [{track, span, name, fromMs,
	// toMs}…], ordered by time.
	find(text) {
		if (!this.answer)
			return [];
		const wanted = text.toLowerCase();
		return this.answer.tracks.flatMap((track) => track.spans
			.filter((span) => this.answer.names[span[0]].toLowerCase().includes(wanted))
			.map((span) => this.describe(track, span))).sort((a, b) => a.fromMs - b.fromMs);
	}

	describe(track, span) {
		const [name, start, length, depth, step] = span;
		return {
			track, span, depth, step,
			name: this.answer.names[name],
			file: track.files?.findLast((file) => file.depth <= depth)?.name,
			fromMs: this.toMs(start),
			toMs: this.toMs(start + length),
			durationNs: length,
			startNs: start - this.bounds.begin,
		};
	}
}
