// SPDX-License-Identifier: Apache-2.0
// The place of each thread of a run in the timeline, from top to bottom: a line with its name and
// one row per depth. The spans of a row are sorted, so that those at a given time are found among a
// million by binary search.

import {firstAbove} from "./canvas.js";
import {scale} from "./scale.js";

export const headPx = () => Math.round(17 * scale());
export const rowPx = () => Math.round(18 * scale());
const GAP_PX = 5;

export function nameTrack(track) {
	const process = track.device !== null && track.device !== undefined ? `${track.process} (${track.device})` : `${track.process} ${track.pid ?? ""}`;
	return `${track.thread || track.tid} · ${process.trim()}`;
}

// The spans of one depth of a thread, ordered by their start.
class Row {
	constructor(spans) {
		const n = spans.length;
		this.spans = spans;
		this.starts = new Float64Array(n);
		// The latest end of this span and all before it: on a device's stream a span may
		// end after the next one has ended.
		this.ends = new Float64Array(n);
		let last = -Infinity;
		for (let i = 0; i < n; i++) {
			const [, start, length] = spans[i];
			last = Math.max(last, start + length);
			this.starts[i] = start;
			this.ends[i] = last;
		}
	}

	// Returns the first index from |from| on whose span, or a span before it, ends after |ns|.
	// Usually it is |from| or the next one, so the search gallops from there.
	firstEndingAfter(ns, from = 0) {
		if (from >= this.ends.length || this.ends[from] > ns)
			return from;
		let step = 1;
		while (from + step < this.ends.length && this.ends[from + step] <= ns)
			step *= 2;
		return firstAbove(this.ends, ns, from + (step >> 1), Math.min(from + step, this.ends.length));
	}

	// Returns the shortest span that touches the range of time, or undefined.
	shortestIn(from, to) {
		let found;
		for (let i = this.firstEndingAfter(from - 1); i < this.spans.length && this.starts[i] <= to; i++) {
			const span = this.spans[i];
			if (span[1] + span[2] >= from && (!found || span[2] < found[2]))
				found = span;
		}
		return found;
	}
}

export class Lanes {
	constructor() {
		this.lanes = [];
		this.heightPx = 0;
	}

	// Steps come first, then the threads program by program, in the daemon's order. A row also
	// exists where only a flow begins or ends.
	lay({tracks, flows} = {tracks: [], flows: []}) {
		let top = 0;
		this.lanes = tracks.map((track, number) => {
			const rows = Lanes.sort(track.spans);
			for (const [, from, , fromDepth, to, , toDepth] of flows)
				if (from === number || to === number)
					Lanes.widen(rows, from === number ? fromDepth : toDepth);
			const lane = {track, number, name: nameTrack(track), top, rows, nRows: rows.length};
			top += headPx() + lane.nRows * rowPx() + GAP_PX;
			return lane;
		});
		this.tops = Float64Array.from(this.lanes, (lane) => lane.top);
		this.heightPx = top;
	}

	static sort(spans) {
		const depths = [];
		for (const span of spans)
			(depths[span[3]] ??= []).push(span);
		return Array.from(depths, (ofDepth) => new Row(ofDepth ?? []));
	}

	static widen(rows, depth) {
		while (rows.length <= depth)
			rows.push(new Row([]));
	}

	between(top, bottom) {
		return this.lanes.slice(Math.max(firstAbove(this.tops, top) - 1, 0), firstAbove(this.tops, bottom));
	}

	// Returns {lane, depth} at a height, with depth -1 at the lane's name, or undefined where
	// no lane is.
	at(px) {
		const lane = this.lanes[firstAbove(this.tops ?? [], px) - 1];
		const depth = lane && Math.max(Math.floor((px - lane.top - headPx()) / rowPx()), -1);
		return lane && depth < lane.nRows ? {lane, depth} : undefined;
	}
}
