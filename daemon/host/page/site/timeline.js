// SPDX-License-Identifier: Apache-2.0
// The timeline of a run's events. Its canvas is only as large as the visible part, however many
// threads and spans there are.
import {firstAbove, fit, packColour, prepare, Strips} from "./canvas.js";
import {gutterPx} from "./chart.js";
import {colour, isForced, nameColour, onColours} from "./colours.js";
import {make, set, setText} from "./dom.js";
import {Frame} from "./frame.js";
import {Gestures} from "./gestures.js";
import {headPx, Lanes, rowPx} from "./lanes.js";
import {scale} from "./scale.js";
import {findTicks} from "./ticks.js";
import {count, duration} from "./words.js";

const MARGIN_PX = 8;
const rulerPx = () => Math.round(20 * scale());
const LABEL_LEAST_PX = 24;
const NEAR_PX = 3;
// Narrower spans have no gap after them.
const NARROW_PX = 3;
// The opacity of spans that do not match the search.
const FAINT = 0.2;
// If more arrows than this are visible, only those of the picked span are drawn.
const MANY_ARROWS = 400;
const ARROW_PX = 6;

export class Timeline {
	// onPick and onHover get the span, as describe() returns it, or null.
	constructor(events, timeWindow, {onPick, onHover}) {
		Object.assign(this, {events, timeWindow, onPick, onHover});
		this.lanes = new Lanes();
		this.strips = new Strips();
		this.picked = null;
		this.search = "";
		this.isTipHidden = false;
		this.frame = new Frame(() => this.draw());
		this.build();
		this.listen();
	}

	build() {
		this.canvas = make("canvas");
		this.spacer = make("div", {class: "spacer"}, this.canvas);
		this.scroller = make("div", {class: "timeline", tabindex: "0", role: "img", "aria-describedby": "time-help", hidden: true}, this.spacer);
		this.tip = make("div", {class: "tip", role: "tooltip", id: "span-tip", hidden: true}, make("strong"), make("span"));
		this.element = make("div", {class: "timeline-box"}, this.scroller, this.tip);
		this.gestures = new Gestures(this.scroller, this.timeWindow, {
			plot: () => this.area(),
			onClick: (event) => this.pick(this.hit(event)),
			onChoice: (a, b) => this.showChoice(a, b),
			onKey: (event) => this.handleKey(event),
			goHome: () => this.events.answer && this.events.showAll(),
		});
	}

	listen() {
		const ask = () => this.frame.ask();
		this.events.addEventListener("change", () => this.take());
		this.timeWindow.addEventListener("change", ask);
		this.timeWindow.addEventListener("cursor", ask);
		this.scroller.addEventListener("scroll", ask);
		this.scroller.addEventListener("pointermove", (event) => this.hover(event));
		this.scroller.addEventListener("pointerleave", () => this.leave());
		this.scroller.addEventListener("focus", ask);
		this.scroller.addEventListener("blur", ask);
		new ResizeObserver(() => this.take()).observe(this.scroller);
		onColours(() => this.take());
	}

	area() {
		return {left: gutterPx(), width: Math.max(this.scroller.clientWidth - gutterPx() - MARGIN_PX, 1)};
	}

	take() {
		const {answer} = this.events;
		this.lanes.lay(answer ?? undefined);
		this.colours = answer?.names.map(nameColour) ?? [];
		this.match();
		this.spacer.style.height = `${this.lanes.heightPx + rulerPx()}px`;
		this.scroller.hidden = !this.lanes.lanes.length;
		const n = this.lanes.lanes.reduce((sum, {track}) => sum + track.spans.length, 0);
		set(this.scroller, {"aria-label": `Timeline: ${count(n)} events on ${this.lanes.lanes.length} threads. A table of them is below.`});
		this.frame.ask();
	}

	match() {
		this.matches = this.events.answer?.names.map((name) => name.toLowerCase().includes(this.search)) ?? [];
		this.paints = this.matches.map((isMatch, i) => packColour(isForced() ? colour("text") : this.colours[i], isMatch ? 1 : FAINT));
	}

	setSearch(text) {
		this.search = text.toLowerCase();
		this.match();
		this.frame.ask();
	}

	showChoice(a, b) {
		this.choice = a === null ? null : [Math.min(a, b), Math.max(a, b)];
		this.frame.ask();
	}

	pick(described) {
		this.picked = described;
		this.isTipHidden = false;
		this.onPick(described);
		this.frame.ask();
	}

	// --- positions ---------------------------------------------------------------------------

	placeAt(event) {
		const box = this.scroller.getBoundingClientRect();
		return {
			x: event.clientX - box.left - this.scroller.clientLeft,
			place: this.lanes.at(event.clientY - box.top - this.scroller.clientTop + this.scroller.scrollTop - rulerPx()),
		};
	}

	// Returns the narrowest span at the mouse, as describe() returns it, or null.
	hit(event) {
		const {x, place} = this.placeAt(event);
		if (!place || place.depth < 0)
			return null;
		const from = this.events.toNs(this.gestures.timeAtPx(x - NEAR_PX));
		const to = this.events.toNs(this.gestures.timeAtPx(x + NEAR_PX));
		const span = place.lane.rows[place.depth].shortestIn(from, to);
		return span ? this.events.describe(place.lane.track, span) : null;
	}

	// Shows the name of the span or thread under the mouse in a tooltip.
	hover(event) {
		const {x, place} = this.placeAt(event);
		const described = this.hit(event);
		this.isTipHidden = false;
		this.hovered = described ?? (place?.depth === -1 ? {threadName: place.lane.name} : null);
		this.hoveredAt = {x, y: event.clientY - this.scroller.getBoundingClientRect().top};
		this.onHover(described);
		this.showTip();
	}

	leave() {
		this.hovered = null;
		this.onHover(null);
		this.showTip();
	}

	// --- keyboard ----------------------------------------------------------------------------

	// Shift and an arrow key go from span to span; Escape hides the tooltip.
	handleKey(event) {
		if (event.key === "Escape" && !this.tip.hidden) {
			this.isTipHidden = true;
			this.showTip();
			return true;
		}
		const step = event.shiftKey && {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key];
		if (!step)
			return false;
		this.go(...step);
		return true;
	}

	go(along, down) {
		const found = this.picked ? this.findNext(along, down) : this.findFirst();
		if (!found)
			return;
		const [lane, span] = found;
		this.hovered = null;
		this.pick(this.events.describe(lane.track, span));
		this.reveal(lane, span);
	}

	laneOf(track) {
		return this.lanes.lanes.find((lane) => lane.track.tid === track.tid && lane.track.pid === track.pid);
	}

	findFirst() {
		const [from, to] = [this.events.toNs(this.timeWindow.from), this.events.toNs(this.timeWindow.to)];
		for (const lane of this.lanes.lanes)
			for (const row of lane.rows) {
				const i = row.firstEndingAfter(from);
				if (i < row.spans.length && row.starts[i] <= to)
					return [lane, row.spans[i]];
			}
		return null;
	}

	// Returns the span before or after the picked one in its row, or the one at the same time
	// in the next row above or below, of any thread.
	findNext(along, down) {
		const lane = this.laneOf(this.picked.track);
		if (!lane)
			return this.findFirst();
		const {span} = this.picked;
		if (along) {
			const row = lane.rows[span[3]];
			const i = firstAbove(row?.starts ?? [], span[1]) - 1 + along;
			return row?.spans[i] ? [lane, row.spans[i]] : null;
		}
		const all = this.lanes.lanes.flatMap((one) => one.rows.map((row, depth) => ({lane: one, row, depth})));
		const at = all.findIndex((one) => one.lane === lane && one.depth === span[3]);
		for (let i = at + down; i >= 0 && i < all.length; i += down) {
			const {row} = all[i];
			const k = row.firstEndingAfter(span[1]);
			if (k < row.spans.length && row.starts[k] <= span[1] + span[2])
				return [all[i].lane, row.spans[k]];
		}
		return null;
	}

	// Moves the time window and scrolls just far enough to show the span.
	reveal(lane, span) {
		const {from, to, spanMs} = this.timeWindow;
		const [a, b] = [this.events.toMs(span[1]), this.events.toMs(span[1] + span[2])];
		if (b < from || a > to)
			this.timeWindow.show(a - spanMs / 3, a + (2 * spanMs) / 3);
		const top = lane.top + headPx() + span[3] * rowPx();
		const {scrollTop, clientHeight} = this.scroller;
		const least = top + 2 * rowPx() + rulerPx() - clientHeight;
		this.scroller.scrollTop = Math.min(Math.max(scrollTop, least), Math.max(top - headPx(), 0));
	}

	// --- drawing -----------------------------------------------------------------------------

	draw() {
		if (!this.scroller.clientWidth || !this.events.answer)
			return;
		const {clientWidth, clientHeight: height, scrollTop: top} = this.scroller;
		const context = prepare(this.canvas, clientWidth, height);
		const {left, width} = this.area();
		this.measureTime();
		const ticks = findTicks(this.timeWindow, width);
		this.drawGrid(context, ticks, height);
		context.save();
		context.beginPath();
		context.rect(0, rulerPx(), left + width, height);
		context.clip();
		const lanes = this.lanes.between(top, top + height);
		this.strips.begin(width, Math.ceil(height / rowPx()) + lanes.length);
		for (const lane of lanes)
			this.drawLane(context, lane, lane.top - top + rulerPx(), height);
		context.globalAlpha = 1;
		this.strips.draw(context, left, rowPx() - 1);
		this.drawPicked(context, top, height);
		this.drawFlows(context, top, height);
		context.restore();
		this.drawRuler(context, ticks);
		this.drawCursor(context, height);
		this.showTip();
	}

	// Computes the conversion from nanoseconds to pixels once per frame, so that no span needs
	// a call.
	measureTime() {
		const {left, width} = this.area();
		const [from, to] = [this.events.toNs(this.timeWindow.from), this.events.toNs(this.timeWindow.to)];
		this.time = {from, to, left, right: left + width, pxPerNs: width / (to - from)};
	}

	toPx(ms) {
		const {left, width} = this.area();
		return left + ((ms - this.timeWindow.from) / this.timeWindow.spanMs) * width;
	}

	pxOf(ns) {
		return this.time.left + (ns - this.time.from) * this.time.pxPerNs;
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

	drawLane(context, lane, top, height) {
		context.globalAlpha = 1;
		context.fillStyle = colour("text");
		context.fillText(fit(context, lane.name, this.time.right - 4), 4, top + headPx() / 2);
		const first = Math.max(Math.floor((rulerPx() - top - headPx()) / rowPx()), 0);
		const last = Math.min(Math.floor((height - top - headPx()) / rowPx()), lane.nRows - 1);
		for (let depth = first; depth <= last; depth++)
			this.drawRow(context, lane.rows[depth], top + headPx() + depth * rowPx());
	}

	// Draws only the first of the spans that share a pixel: finds the next visible one by
	// binary search. Spans without room for a name are painted as pixels.
	drawRow(context, row, top) {
		const {from, to, left, right, pxPerNs} = this.time;
		const widest = isForced() ? NARROW_PX : LABEL_LEAST_PX;
		this.strips.beginRow(top);
		for (let i = row.firstEndingAfter(from - 1); i < row.spans.length && row.starts[i] <= to;) {
			const span = row.spans[i];
			const begin = this.pxOf(span[1]);
			const b = Math.max(this.pxOf(span[1] + span[2]), begin + 1);
			const a = Math.max(begin, left);
			if (b - a >= widest)
				this.drawSpan(context, span, a, Math.min(b, right), top);
			else if (b >= left)
				this.strips.paint(a - left, Math.min(b, right) - left - (b - a > NARROW_PX ? 1 : 0), this.paints[span[0]]);
			i = row.firstEndingAfter(from + (b - left) / pxPerNs, i + 1);
		}
	}

	drawSpan(context, span, a, b, top) {
		context.globalAlpha = this.matches[span[0]] ? 1 : FAINT;
		context.fillStyle = this.colours[span[0]];
		context.fillRect(a, top, Math.max(b - a - 1, 1), rowPx() - 1);
		if (isForced())
			this.outline(context, a, b, top, "text", 1);
		if (b - a >= LABEL_LEAST_PX)
			this.drawLabel(context, span, a, b, top);
	}

	// The outline is drawn even if the span shares its pixel with others.
	drawPicked(context, top, height) {
		const lane = this.picked && this.laneOf(this.picked.track);
		if (!lane)
			return;
		const {left, right} = this.time;
		const {span} = this.picked;
		const a = this.pxOf(span[1]);
		const b = Math.max(this.pxOf(span[1] + span[2]), a + 1);
		const y = lane.top - top + rulerPx() + headPx() + span[3] * rowPx();
		if (b >= left && a <= right && span[3] < lane.nRows && y + rowPx() > rulerPx() && y < height)
			this.outline(context, Math.max(a, left), Math.min(b, right), y, "accent", 2);
	}

	drawLabel(context, span, a, b, top) {
		const name = this.events.answer.names[span[0]];
		const text = fit(context, span[4] === null ? name : `${name} ${span[4]}`, b - a - 8);
		context.fillStyle = isForced() ? colour("text") : "#111";
		context.fillText(text, a + 4, top + rowPx() / 2);
	}

	outline(context, a, b, top, name, width) {
		context.globalAlpha = 1;
		context.strokeStyle = colour(name);
		context.lineWidth = width;
		context.strokeRect(a + width / 2, top + width / 2, Math.max(b - a - width - 1, 1), rowPx() - width - 1);
	}

	// --- flows -------------------------------------------------------------------------------

	drawFlows(context, top, height) {
		const seen = this.events.answer.flows.map((flow) => this.placeFlow(flow, top)).filter((flow) => this.isFlowSeen(flow, height));
		this.arrows = seen.length > MANY_ARROWS ? seen.filter(({isPicked}) => isPicked) : seen;
		for (const arrow of this.arrows)
			this.drawArrow(context, arrow);
		context.globalAlpha = 1;
	}

	placeFlow([, fromTrack, fromNs, fromDepth, toTrack, toNs, toDepth], top) {
		const middle = (track, depth) => this.lanes.lanes[track].top - top + rulerPx() + headPx() + (depth + 0.5) * rowPx();
		const touches = (track, ns) => this.picked !== null && this.lanes.lanes[track].track.tid === this.picked.track.tid &&
			this.picked.span[1] <= ns && ns <= this.picked.span[1] + this.picked.span[2];
		return {
			x1: this.pxOf(fromNs), y1: middle(fromTrack, fromDepth), x2: this.pxOf(toNs), y2: middle(toTrack, toDepth),
			isPicked: touches(fromTrack, fromNs) || touches(toTrack, toNs),
		};
	}

	isFlowSeen({x1, y1, x2, y2}, height) {
		const {left, right} = this.time;
		return Math.max(x1, x2) >= left && Math.min(x1, x2) <= right && Math.max(y1, y2) >= rulerPx() && Math.min(y1, y2) <= height;
	}

	// The arrow leaves to the right and arrives from the left; its head marks the end.
	drawArrow(context, {x1, y1, x2, y2, isPicked}) {
		const bend = Math.min(Math.max(Math.abs(x2 - x1) / 2, 12), 80);
		context.globalAlpha = isPicked ? 1 : 0.7;
		context.strokeStyle = context.fillStyle = colour(isPicked ? "accent" : "flow");
		context.lineWidth = isPicked ? 2 : 1.25;
		context.beginPath();
		context.moveTo(x1, y1);
		context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - ARROW_PX, y2);
		context.stroke();
		context.beginPath();
		context.moveTo(x2, y2);
		context.lineTo(x2 - ARROW_PX, y2 - ARROW_PX / 2);
		context.lineTo(x2 - ARROW_PX, y2 + ARROW_PX / 2);
		context.fill();
	}

	// --- overlays ----------------------------------------------------------------------------

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

	// Shows the full name of the item under the mouse, or of the picked span while the timeline
	// has the keyboard focus.
	showTip() {
		const isFocused = document.activeElement === this.scroller && this.picked;
		const item = this.hovered ?? (isFocused ? this.picked : null);
		const at = item && (this.hovered ? this.hoveredAt : this.placeOf(item));
		this.tip.hidden = !at || this.isTipHidden || this.scroller.hidden;
		if (this.tip.hidden)
			return;
		const [name, length] = this.tip.children;
		setText(name, item.threadName ?? (item.step === null ? item.name : `${item.name} ${item.step}`));
		setText(length, item.threadName ? "" : duration(item.durationNs));
		const {offsetWidth: width, offsetHeight: height} = this.tip;
		const isLow = this.element.getBoundingClientRect().top + at.y + 18 + height > window.innerHeight;
		this.tip.style.left = `${Math.max(Math.min(at.x + 12, this.element.clientWidth - width - 4), 0)}px`;
		this.tip.style.top = `${isLow ? at.y - height - 10 : at.y + 18}px`;
	}

	// Returns the position of a span if it is visible, else null.
	placeOf({track, span, fromMs, toMs}) {
		const lane = this.laneOf(track);
		const x = Math.max(this.toPx(fromMs), gutterPx());
		const y = lane && lane.top + headPx() + (span[3] + 0.5) * rowPx() + rulerPx() - this.scroller.scrollTop;
		const isSeen = lane && toMs >= this.timeWindow.from && fromMs <= this.timeWindow.to && y > rulerPx() && y < this.scroller.clientHeight;
		return isSeen ? {x, y} : null;
	}
}
