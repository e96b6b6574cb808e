// SPDX-License-Identifier: Apache-2.0
// The buttons that move the time window, and a text with its range.
import {find, make, makeButton, set, setText} from "./dom.js";
import {Frame} from "./frame.js";
import {clock, durationMs} from "./words.js";

const BUTTONS = [
	["◀", "Earlier", (w) => w.pan(-0.2 * w.spanMs)],
	["▶", "Later", (w) => w.pan(0.2 * w.spanMs)],
	["−", "Zoom out", (w) => w.zoom(1.5)],
	["+", "Zoom in", (w) => w.zoom(1 / 1.5)],
	["10 min", "Show all ten minutes that are kept", (w) => w.followAll()],
];
const HELP = "Arrow keys move, plus and minus zoom, Home shows all, End follows live data. " +
	"In the timeline Shift and the arrow keys go from event to event. " +
	"Drag to move, Shift and drag to zoom to a range, Ctrl and the wheel to zoom.";

export class TimeBar {
	constructor(timeWindow) {
		this.timeWindow = timeWindow;
		this.live = makeButton("Live", () => timeWindow.follow(), {title: "Follow live data"});
		this.range = find("time-range");
		find("time-buttons").append(
			...BUTTONS.map(([text, label, act]) => makeButton(text, () => act(timeWindow), {"aria-label": label, title: label})),
			this.live,
			make("span", {id: "time-help", class: "unseen"}, HELP));
		this.range.title = HELP;
		const frame = new Frame(() => this.show());
		timeWindow.addEventListener("change", () => frame.ask());
		this.show();
	}

	show() {
		const {isLive, from, to, spanMs, originUnixMs} = this.timeWindow;
		set(this.live, {"aria-pressed": String(isLive)});
		setText(this.range, isLive ? `last ${durationMs(spanMs)}` :
			`${clock(originUnixMs + from, spanMs / 10)} – ${clock(originUnixMs + to, spanMs / 10)} (${durationMs(spanMs)})`);
	}
}
