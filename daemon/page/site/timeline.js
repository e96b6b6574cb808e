// SPDX-License-Identifier: Apache-2.0
// The timeline of a run's events, drawn on a canvas that is as large as what is seen of it, however many threads there are.
import {gutterPx} from "./chart.js";
import {colour, nameColour, onColours} from "./colours.js";
import {make, set} from "./dom.js";
import {Frame} from "./frame.js";
import {Gestures} from "./gestures.js";
import {headPx, Lanes, rowPx} from "./lanes.js";
import {scale} from "./scale.js";
import {findTicks} from "./ticks.js";
import {count} from "./words.js";

const MARGIN_PX = 8;
const rulerPx = () => Math.round(20 * scale());
const LABEL_LEAST_PX = 24;
const NEAR_PX = 3;

export class Timeline {
	// onPick(described span or null), onHover(the same).
	constructor(events, timeWindow, {onPick, onHover}) {
		Object.assign(this, {events, timeWindow, onPick, onHover});
		this.lanes = new Lanes();
		this.picked = null;
		this.search = "";
		this.frame = new Frame(() => this.draw());
		this.build();
		this.listen();
	}

	build() {
		this.canvas = make("canvas");
		this.spacer = make("div", {class: "spacer"}, this.canvas);
		this.element = make("div", {class: "timeline", tabindex: "0", role: "img", "aria-describedby": "time-help", hidden: true}, this.spacer);
		this.gestures = new Gestures(this.element, this.timeWindow, {
			plot: () => this.area(),
			onClick: (event) => this.pick(this.hit(event)),
			onChoice: (a, b) => this.choose(a, b),
			goHome: () => this.events.answer && this.events.showAll(),
		});
	}

	listen() {
		const ask = () => this.frame.ask();
		this.events.addEventListener("change", () => this.take());
		this.timeWindow.addEventListener("change", ask);
		this.timeWindow.addEventListener("cursor", ask);
		this.element.addEventListener("scroll", ask);
		this.element.addEventListener("pointermove", (event) => this.onHover(this.hit(event)));
		this.element.addEventListener("pointerleave", () => this.onHover(null));
		new ResizeObserver(() => this.take()).observe(this.element);
		onColours(ask);
	}

	area() {
		return {left: gutterPx(), width: Math.max(this.element.clientWidth - gutterPx() - MARGIN_PX, 1)};
	}

	take() {
		const {answer} = this.events;
		this.lanes.lay(answer?.tracks ?? []);
		this.spacer.style.height = `${this.lanes.heightPx + rulerPx()}px`;
		this.element.hidden = !this.lanes.lanes.length;
		const n = this.lanes.lanes.reduce((sum, {track}) => sum + track.spans.length, 0);
		set(this.element, {"aria-label": `Timeline: ${count(n)} events on ${this.lanes.lanes.length} threads. A table of them is below.`});
		this.frame.ask();
	}

	setSearch(text) {
		this.search = text.toLowerCase();
		this.frame.ask();
	}

	choose(a, b) {
		this.choice = a === null ? null : [Math.min(a, b), Math.max(a, b)];
		this.frame.ask();
	}

	pick(described) {
		this.picked = described;
		this.onPick(described);
		this.frame.ask();
	}

	// The narrowest span there.
	hit(event) {
		const box = this.element.getBoundingClientRect();
		const place = this.lanes.at(event.clientY - box.top - this.element.clientTop + this.element.scrollTop - rulerPx());
		if (!place)
			return null;
		const px = event.clientX - box.left;
		const from = this.events.toNs(this.gestures.timeAtPx(px - NEAR_PX));
		const to = this.events.toNs(this.gestures.timeAtPx(px + NEAR_PX));
		const there = place.lane.track.spans
			.filter(([, start, length, depth]) => depth === place.depth && start <= to && start + length >= from)
			.sort((a, b) => a[2] - b[2]);
		return there.length ? this.events.describe(place.lane.track, there[0]) : null;
	}

	prepare() {
		const ratio = window.devicePixelRatio || 1;
		const width = this.element.clientWidth;
		const height = this.element.clientHeight;
		if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		const context = this.canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		context.font = `${12 * scale()}px system-ui, sans-serif`;
		context.textBaseline = "middle";
		return {context, width, height};
	}

	draw() {
		if (!this.element.clientWidth || !this.events.answer)
			return;
		const {context, height} = this.prepare();
		const {left, width} = this.area();
		this.matches = this.events.answer.names.map((name) => name.toLowerCase().includes(this.search));
		const ticks = findTicks(this.timeWindow, width);
		this.drawGrid(context, ticks, height);
		context.save();
		context.beginPath();
		context.rect(0, rulerPx(), left + width, height);
		context.clip();
		const top = this.element.scrollTop;
		for (const lane of this.lanes.between(top, top + height))
			this.drawLane(context, lane, lane.top - top + rulerPx());
		context.restore();
		this.drawRuler(context, ticks);
		this.drawCursor(context, height);
	}

	toPx(ms) {
		const {left, width} = this.area();
		return left + ((ms - this.timeWindow.from) / this.timeWindow.spanMs) * width;
	}

	drawGrid(context, ticks, height) {
		context.fillStyle = colour("grid");
		for (const {ms} of ticks)
			context.fillRect(Math.round(this.toPx(ms)), rulerPx(), 1, height);
	}

	drawRuler(context, ticks) {
		context.fillStyle = colour("muted");
		context.textAlign = "center";
		for (const {ms, label} of ticks)
			context.fillText(label, this.toPx(ms), rulerPx() / 2);
		context.textAlign = "left";
	}

	drawLane(context, lane, top) {
		context.globalAlpha = 1;
		context.fillStyle = colour("text");
		context.fillText(lane.name, 4, top + headPx() / 2);
		const {left, width} = this.area();
		// Of what is narrower than a pixel the first one is enough.
		const rights = new Array(lane.nRows).fill(-Infinity);
		for (const span of lane.track.spans) {
			const a = this.toPx(this.events.toMs(span[1]));
			const b = Math.max(this.toPx(this.events.toMs(span[1] + span[2])), a + 1);
			if (b < left || a > left + width || b <= rights[span[3]])
				continue;
			rights[span[3]] = b;
			this.drawSpan(context, span, Math.max(a, left), Math.min(b, left + width), top + headPx() + span[3] * rowPx());
		}
	}

	drawSpan(context, span, a, b, top) {
		const name = this.events.answer.names[span[0]];
		context.globalAlpha = this.matches[span[0]] ? 1 : 0.2;
		context.fillStyle = nameColour(name);
		context.fillRect(a, top, Math.max(b - a - (b - a > 3 ? 1 : 0), 1), rowPx() - 1);
		if (b - a >= LABEL_LEAST_PX)
			this.drawLabel(context, span[4] === null ? name : `${name} ${span[4]}`, a, b, top);
		if (this.picked && this.isPicked(span))
			this.outline(context, a, b, top);
	}

	drawLabel(context, text, a, b, top) {
		context.save();
		context.beginPath();
		context.rect(a, top, b - a - 2, rowPx());
		context.clip();
		context.fillStyle = "#111";
		context.fillText(text, a + 4, top + rowPx() / 2);
		context.restore();
	}

	isPicked(span) {
		const {span: other} = this.picked;
		return span === other || (span[1] === other[1] && span[2] === other[2] && span[3] === other[3] &&
			this.events.answer.names[span[0]] === this.picked.name);
	}

	outline(context, a, b, top) {
		context.globalAlpha = 1;
		context.strokeStyle = colour("accent");
		context.lineWidth = 2;
		context.strokeRect(a + 1, top + 1, Math.max(b - a - 3, 1), rowPx() - 3);
	}

	drawCursor(context, height) {
		context.globalAlpha = 1;
		const {cursor, from, to} = this.timeWindow;
		if (cursor !== null && cursor >= from && cursor <= to) {
			context.fillStyle = colour("accent");
			context.fillRect(Math.round(this.toPx(cursor)), rulerPx(), 1, height);
		}
		if (this.choice) {
			context.fillStyle = colour("band");
			context.fillRect(this.choice[0], rulerPx(), this.choice[1] - this.choice[0], height);
		}
	}
}
