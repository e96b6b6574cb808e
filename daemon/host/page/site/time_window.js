// SPDX-License-Identifier: Apache-2.0
// The visible range of time, the same in all charts and the timeline, in milliseconds after
// |originUnixMs|, so that a number can hold nanoseconds. It follows the newest sample until the
// user moves it. Dispatches "change", and "cursor" when the time under the mouse changes.

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
		this.isOfRun = false; // the origin is the start of a run, and labels count from there
		this.isLive = true;
		this.lastUnixMs = this.originUnixMs;
		this.from = -LIVE_MS;
		this.to = 0;
		this.cursor = null;
	}

	get spanMs() {
		return this.to - this.from;
	}

	// |unixMs| is the time of the newest sample.
	advance(unixMs) {
		this.lastUnixMs = unixMs;
		if (this.isLive)
			this.follow(this.spanMs);
	}

	// For users who prefer reduced motion the window moves rarely, in large steps that leave
	// room for new samples, instead of sliding with each sample.
	follow(spanMs = LIVE_MS) {
		const stepMs = still.matches ? spanMs * STILL_SHARE : 1;
		const to = Math.ceil((this.lastUnixMs - this.originUnixMs) / stepMs) * stepMs;
		this.isLive = true;
		this.place(to - spanMs, spanMs);
	}

	followAll() {
		this.follow(KEPT_MS);
	}

	// Makes |originUnixMs| the new origin; the visible range stays.
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

	// A |factor| above 1 shows more; the time |at| stays where it is. A live window without
	// |at| stays live.
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
