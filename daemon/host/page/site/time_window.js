// SPDX-License-Identifier: Apache-2.0
// The time that is shown, the same in all charts and the timeline: milliseconds behind |originUnixMs|, so that nanoseconds have room in a
// number. It follows the newest sample until somebody moves it. Tells "change", and "cursor" when the time that is pointed at is another.

const SHORTEST_MS = 1e-5;
const LONGEST_MS = 24 * 3600e3;
const LIVE_MS = 120000;
const KEPT_MS = 600000;
const STILL_SHARE = 0.25;

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class TimeWindow extends EventTarget {
	constructor() {
		super();
		this.originUnixMs = Date.now();
		this.isOfRun = false; // the origin is a run's, and times are told from there
		this.isLive = true;
		this.lastUnixMs = this.originUnixMs;
		this.from = -LIVE_MS;
		this.to = 0;
		this.cursor = null;
	}

	get spanMs() {
		return this.to - this.from;
	}

	// The newest sample is of |unixMs|.
	advance(unixMs) {
		this.lastUnixMs = unixMs;
		if (this.isLive)
			this.follow(this.spanMs);
	}

	// Who wants no motion gets a step now and then, with room for what comes, instead of charts that slide on with each sample.
	follow(spanMs = LIVE_MS) {
		const stepMs = still.matches ? spanMs * STILL_SHARE : 1;
		const to = Math.ceil((this.lastUnixMs - this.originUnixMs) / stepMs) * stepMs;
		this.isLive = true;
		this.place(to - spanMs, spanMs);
	}

	followAll() {
		this.follow(KEPT_MS);
	}

	// From there on |originUnixMs| is 0.
	rebase(originUnixMs, isOfRun) {
		const shift = this.originUnixMs - originUnixMs;
		this.originUnixMs = originUnixMs;
		this.isOfRun = isOfRun;
		this.place(this.from + shift, this.spanMs);
	}

	show(from, to) {
		this.isLive = false;
		this.place(from, to - from);
	}

	pan(byMs) {
		this.isLive = false;
		this.place(this.from + byMs, this.spanMs);
	}

	// |factor| above 1 shows more; what is |at| stays where it is. Without it who looks at what happens now goes on doing so.
	zoom(factor, at = null) {
		const span = Math.min(Math.max(this.spanMs * factor, SHORTEST_MS), LONGEST_MS);
		if (at === null && this.isLive) {
			this.follow(span);
			return;
		}
		at ??= (this.from + this.to) / 2;
		this.isLive = false;
		this.place(at - (at - this.from) * (span / this.spanMs), span);
	}

	place(from, span) {
		this.from = from;
		this.to = from + Math.max(span, SHORTEST_MS);
		this.dispatchEvent(new Event("change"));
	}

	point(ms) {
		this.cursor = ms;
		this.dispatchEvent(new Event("cursor"));
	}
}
