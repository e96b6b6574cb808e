// SPDX-License-Identifier: Apache-2.0
// One chart of usage over the time window: its lines, a legend with the values at the cursor or
// now, and a description for screen readers.
import {firstAbove, prepare} from "./canvas.js";
import {colour, isForced, seriesColour, seriesDash} from "./colours.js";
import {keepRows, make, set, setText} from "./dom.js";
import {Frame} from "./frame.js";
import {Gestures} from "./gestures.js";
import {scale} from "./scale.js";
import {findTicks} from "./ticks.js";
import {quantity} from "./words.js";

// All charts and the timeline have the same left margin, so that equal times are one above the
// other.
export const gutterPx = () => Math.round(58 * scale());
const MARGIN_PX = 8;
const axisPx = () => 18 * scale();
const LEGEND_MOST = 6;
// Half of each of these numbers, times a power of ten, is a round number, too.
const ROUND = [1, 2, 4, 5, 10];
// The cursor shows no sample that is farther away than this.
const NEAR_MS = 1500;

function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	return power * ROUND.find((factor) => factor * power >= value);
}

export class Chart {
	// |kind| is a row of charts.js. |find| returns the lines to draw, [{key, name, unit,
	// detail, at, values, isHeld}…]. |at| holds ascending times in ms after the window's
	// origin; |values| are null where unknown; with |isHeld| a value stays until the next time.
	// |bands| returns the stretches of time to mark, [{from, to}…].
	constructor(kind, timeWindow, find, bands) {
		Object.assign(this, {kind, timeWindow, find, bands});
		this.series = [];
		this.drawn = null; // {from, to, most, xLabels, yLabels} of the last drawing
		this.frame = new Frame(() => this.draw());
		this.build();
	}

	build() {
		this.legend = make("ul", {class: "legend"});
		this.plot = make("div", {class: "plot", tabindex: "0", role: "img", "aria-describedby": "time-help"});
		this.canvas = make("canvas");
		this.line = make("div", {class: "cursor", hidden: true});
		this.choice = make("div", {class: "choice", hidden: true});
		this.plot.append(this.canvas, this.line, this.choice);
		this.title = make("h3", {}, this.kind.title);
		this.element = make("figure", {class: "chart", "data-chart": this.kind.id},
			make("figcaption", {}, this.title, this.legend), this.plot);
		this.gestures = new Gestures(this.plot, this.timeWindow, {
			plot: () => this.area(),
			onChoice: (a, b) => this.showChoice(a, b),
			goHome: () => this.timeWindow.followAll(),
		});
		new ResizeObserver(() => this.frame.ask()).observe(this.plot);
	}

	area() {
		return {left: gutterPx(), width: Math.max(this.plot.clientWidth - gutterPx() - MARGIN_PX, 1)};
	}

	toPx(ms) {
		const {left, width} = this.area();
		return left + ((ms - this.timeWindow.from) / this.timeWindow.spanMs) * width;
	}

	showChoice(a, b) {
		this.choice.hidden = a === null;
		if (a === null)
			return;
		this.choice.style.left = `${Math.min(a, b)}px`;
		this.choice.style.width = `${Math.abs(a - b)}px`;
	}

	// A chart that not every machine has is hidden while it has no line.
	draw() {
		this.series = this.find();
		this.element.hidden = !this.series.length && !this.kind.isSure;
		const {clientWidth: width, clientHeight: height} = this.plot;
		if (!width)
			return;
		this.showLegend();
		const context = prepare(this.canvas, width, height);
		const area = {...this.area(), top: 4, height: height - axisPx() - 4};
		const most = this.findMost();
		this.drawn = {from: this.timeWindow.from, to: this.timeWindow.to, most};
		this.drawBands(context, area);
		this.drawAxes(context, area, most);
		context.save();
		context.beginPath();
		context.rect(area.left, 0, area.width, area.top + area.height + 1);
		context.clip();
		this.series.forEach((series, i) => this.drawSeries(context, area, series, i, most));
		context.restore();
	}

	// Returns the value at the upper end: the whole (100 %, all memory) or a round number above
	// the largest value.
	findMost() {
		const whole = this.kind.most?.();
		if (whole)
			return whole;
		let most = 0;
		for (const {values} of this.series)
			for (const value of values)
				most = Math.max(most, value ?? 0);
		return most > 0 ? Math.min(roundUp(most * 1.1), this.kind.limit ?? Infinity) : 1;
	}

	drawBands(context, area) {
		context.fillStyle = colour("band");
		for (const {from, to} of this.bands()) {
			const left = Math.max(this.toPx(from), area.left);
			const right = Math.min(this.toPx(to), area.left + area.width);
			if (right >= left)
				context.fillRect(left, area.top, Math.max(right - left, 2), area.height);
		}
	}

	drawAxes(context, area, most) {
		const ticks = findTicks(this.timeWindow, area.width);
		const unit = this.series[0]?.unit ?? "";
		const marks = this.series.length ? [0, most / 2, most] : [];
		context.fillStyle = colour("grid");
		for (const {ms} of ticks)
			context.fillRect(Math.round(this.toPx(ms)), area.top, 1, area.height);
		for (const value of [0, most / 2, most])
			context.fillRect(area.left, Math.round(this.yOf(area, value, most)), area.width, 1);
		context.fillStyle = colour("muted");
		context.textAlign = "right";
		marks.forEach((value) => context.fillText(quantity(value, unit), area.left - 6,
			Math.min(Math.max(this.yOf(area, value, most), 7 * scale()), area.top + area.height - 5 * scale())));
		this.drawTicks(context, area, ticks);
		Object.assign(this.drawn, {xLabels: ticks.map(({label}) => label), yLabels: marks.map((value) => quantity(value, unit))});
	}

	// The labels at both ends are moved so that they stay inside the chart.
	drawTicks(context, area, ticks) {
		context.textAlign = "center";
		for (const {ms, label} of ticks) {
			const half = context.measureText(label).width / 2;
			const middle = Math.min(Math.max(this.toPx(ms), half), area.left + area.width + MARGIN_PX - half);
			context.fillText(label, middle, area.top + area.height + axisPx() / 2 + 2);
		}
		context.textAlign = "left";
	}

	yOf(area, value, most) {
		return area.top + area.height * (1 - value / most);
	}

	// Draws the visible points and one more on each side, so that the line reaches the edges.
	drawSeries(context, area, {at, values, isHeld}, i, most) {
		const first = Math.max(firstAbove(at, this.timeWindow.from) - 1, 0);
		const end = Math.min(firstAbove(at, this.timeWindow.to) + 1, at.length);
		context.strokeStyle = context.fillStyle = seriesColour(i);
		context.lineWidth = 2; // two pixels, so that at least one has the full colour
		context.setLineDash(seriesDash(i));
		for (let k = first; k < end;) {
			const from = k;
			while (k < end && values[k] !== null)
				k++;
			if (k > from)
				this.drawLine(context, area, {at, values, isHeld}, from, k, most);
			k += k === from;
		}
		context.setLineDash([]);
	}

	drawLine(context, area, {at, values, isHeld}, from, to, most) {
		const bottom = area.top + area.height;
		let x = this.toPx(at[from]);
		let y = this.yOf(area, values[from], most);
		const start = x;
		context.beginPath();
		context.moveTo(x, y);
		for (let k = from + 1; k < to; k++) {
			x = this.toPx(at[k]);
			if (isHeld)
				context.lineTo(x, y);
			y = this.yOf(area, values[k], most);
			context.lineTo(x, y);
		}
		if (to - from === 1)
			context.lineTo(x + 2, y);
		context.stroke();
		if (this.series.length > 1 || isForced())
			return;
		context.lineTo(x, bottom);
		context.lineTo(start, bottom);
		context.globalAlpha = 0.2;
		context.fill();
		context.globalAlpha = 1;
	}

	// The legend shows the values at the cursor, or the newest ones without a cursor.
	showLegend() {
		const shown = this.series.slice(0, LEGEND_MOST).map((series, i) => ({series, i, value: this.findValue(series)}));
		keepRows(this.legend, shown, {
			key: ({series}) => series.key,
			create: () => make("li", {}, make("i"), make("span"), make("b")),
			update: (item, {series, i, value}) => {
				const [mark, name, number] = item.children;
				mark.style.backgroundColor = seriesColour(i);
				set(mark, {"data-series": String(i)});
				setText(name, series.name);
				setText(number, quantity(value, series.unit));
				set(item, {title: series.detail || null});
			},
		});
		const words = shown.map(({series, value}) => `${series.name} ${quantity(value, series.unit)}`);
		set(this.plot, {"aria-label": `${this.kind.title}: ${words.join(", ")}`});
	}

	// Returns the value at the cursor: a held value is the last one before the cursor, a sample
	// is the nearest one within NEAR_MS.
	findValue({at, values, isHeld}) {
		const {cursor, to} = this.timeWindow;
		const behind = firstAbove(at, cursor ?? (isHeld ? to : Infinity));
		if (isHeld || cursor === null)
			return values[behind - 1] ?? NaN;
		const near = [behind - 1, behind].filter((k) => k >= 0 && k < at.length)
			.sort((a, b) => Math.abs(at[a] - cursor) - Math.abs(at[b] - cursor))[0];
		return near !== undefined && Math.abs(at[near] - cursor) < NEAR_MS ? values[near] : NaN;
	}

	showCursor() {
		const {cursor, from, to} = this.timeWindow;
		const isShown = cursor !== null && cursor >= from && cursor <= to;
		this.line.hidden = !isShown;
		if (isShown)
			this.line.style.transform = `translateX(${this.toPx(cursor)}px)`;
		this.showLegend();
	}
}
