// SPDX-License-Identifier: Apache-2.0
// The events of the run that is looked at: asked anew, in more detail, when the time window has moved to where some were left out.
// Tells "change", and "refused" (detail: the Refusal).

const SETTLE_MS = 150;
// Asked for on both sides of the window, so that small moves need nothing.
const MARGIN = 1;
const NS_PER_MS = 1e6;
// What is narrower cannot be seen.
const PIXELS = 1000;
// As many as the daemon tells in one answer.
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
		this.answer = null; // what was asked, and the daemon's
		this.epochMs = null;
		this.asking?.abort();
		this.asking = null;
		clearTimeout(this.timer);
		this.dispatchEvent(new Event("change"));
	}

	// Of a RUN; the time window goes there.
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

	// From its begin on, even if nothing happened then.
	showAll() {
		const {begin, end} = this.bounds;
		const margin = Math.max((end - begin) * 0.02, 1000);
		this.timeWindow.rebase(this.originUnixMs, true);
		this.timeWindow.show(this.toMs(begin - margin), this.toMs(end + margin));
	}

	// Of the recording, in nanoseconds of its own time.
	get bounds() {
		return {begin: Math.min(0, this.answer.first_ns), end: this.answer.end_ns};
	}

	// Milliseconds of the time window, whose origin stands at a whole one.
	toMs(ns) {
		return ns / NS_PER_MS + (this.epochMs - this.timeWindow.originUnixMs) + this.restMs;
	}

	toNs(ms) {
		return (ms - (this.epochMs - this.timeWindow.originUnixMs) - this.restMs) * NS_PER_MS;
	}

	// The window's while it moves; what it becomes is asked for when it rests.
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

	// Whether nothing is missing that could be seen now.
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

	// Whether it was answered, and nobody asked something else meanwhile.
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

	// [{name, process, pid, points: [[ns, value]…]}…] of the trace.
	get counters() {
		return this.answer?.counters ?? [];
	}

	// The recording, on the time window.
	get band() {
		return this.answer ? {from: this.toMs(this.bounds.begin), to: this.toMs(this.bounds.end)} : null;
	}

	// [{track, span, name, fromMs, toMs}…] that match |text| and can be seen, in the order of time.
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
