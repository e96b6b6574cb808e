// SPDX-License-Identifier: Apache-2.0
// Where each thread of a run lies in the timeline, from top to bottom: a line with its name, and a row for each depth.

import {scale} from "./scale.js";

export const headPx = () => Math.round(17 * scale());
export const rowPx = () => Math.round(18 * scale());
const GAP_PX = 5;

export function nameTrack(track) {
	const who = track.device !== null && track.device !== undefined ? `${track.process} (${track.device})` : `${track.process} ${track.pid ?? ""}`;
	return `${track.thread || track.tid} · ${who.trim()}`;
}

export class Lanes {
	constructor() {
		this.lanes = [];
		this.heightPx = 0;
	}

	// Steps first, then programs together, as they came.
	lay(tracks) {
		let top = 0;
		this.lanes = tracks.filter((track) => track.spans.length).map((track) => {
			const nRows = 1 + track.spans.reduce((most, span) => Math.max(most, span[3]), 0);
			const lane = {track, name: nameTrack(track), top, nRows};
			top += headPx() + nRows * rowPx() + GAP_PX;
			return lane;
		});
		this.heightPx = top;
	}

	// Those between two heights.
	between(top, bottom) {
		return this.lanes.filter((lane) => lane.top <= bottom && lane.top + headPx() + lane.nRows * rowPx() >= top);
	}

	// {lane, depth} at a height, or undefined.
	at(px) {
		const lane = this.lanes.findLast((one) => one.top <= px);
		const depth = lane && Math.floor((px - lane.top - headPx()) / rowPx());
		return lane && depth >= 0 && depth < lane.nRows ? {lane, depth} : undefined;
	}
}
