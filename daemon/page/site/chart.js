// SPDX-License-Identifier: Apache-2.0
// One chart of usage over the time window, by dygraphs: its lines, what they are now or where the cursor is, and in words for who cannot see it.
import {colour, seriesColour} from "./colours.js";
import {keepRows, make, set, setText} from "./dom.js";
import {Frame} from "./frame.js";
import {Gestures} from "./gestures.js";
import {scale} from "./scale.js";
import {findTicks} from "./ticks.js";
import {quantity} from "./words.js";

// The same in all charts and the timeline, so that one time is at one place.
export const gutterPx = () => Math.round(58 * scale());
const MARGIN_PX = 8;
const LEGEND_MOST = 6;
// Of these and their tens the half is as round.
const ROUND = [1, 2, 4, 5, 10];
// A mark at the very end is not drawn.
const BELOW = 1 - 1e-9;

function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	return power * ROUND.find((factor) => factor * power >= value);
}

export class Chart {
	// |kind| is a row of charts.js; |bands| tells [{from, to}…], stretches of time to be marked.
	constructor(kind, samples, timeWindow, bands) {
		Object.assign(this, {kind, samples, timeWindow, bands});
		this.columns = [];
		this.rows = [];
		this.graph = null;
		this.gutter = 0;
		this.frame = new Frame(() => this.draw());
		this.build();
	}

	build() {
		this.legend = make("ul", {class: "legend"});
		this.plot = make("div", {class: "plot", tabindex: "0", role: "img", "aria-describedby": "time-help"});
		this.line = make("div", {class: "cursor", hidden: true});
		this.choice = make("div", {class: "choice", hidden: true});
		this.canvasBox = make("div", {class: "canvas-box"});
		this.plot.append(this.canvasBox, this.line, this.choice);
		this.title = make("h3", {}, this.kind.title);
		this.element = make("figure", {class: "chart", "data-chart": this.kind.id},
			make("figcaption", {}, this.title, this.legend), this.plot);
		this.gestures = new Gestures(this.plot, this.timeWindow, {
			plot: () => this.area(),
			onChoice: (a, b) => this.showChoice(a, b),
			goHome: () => this.timeWindow.followAll(),
		});
		new ResizeObserver(() => this.resize()).observe(this.plot);
	}

	area() {
		return {left: gutterPx(), width: Math.max(this.plot.clientWidth - gutterPx() - MARGIN_PX, 1)};
	}

	showChoice(a, b) {
		this.choice.hidden = a === null;
		if (a === null)
			return;
		this.choice.style.left = `${Math.min(a, b)}px`;
		this.choice.style.width = `${Math.abs(a - b)}px`;
	}

	// There is something to show.
	take(columns) {
		this.columns = columns;
		this.element.hidden = false;
		this.frame.ask();
	}

	resize() {
		if (this.graph && this.plot.clientWidth)
			this.graph.resize(this.plot.clientWidth, this.plot.clientHeight);
	}

	draw() {
		if (!this.plot.clientWidth || !window.Dygraph)
			return;
		this.rows = this.samples.rows(this.columns.map(({key}) => key), this.timeWindow.originUnixMs);
		this.showLegend();
		if (!this.rows.length)
			return;
		if (this.gutter !== gutterPx())
			this.forgetGraph();
		const options = this.findOptions();
		if (this.graph)
			this.graph.updateOptions(options);
		else
			this.graph = this.makeGraph(options);
	}

	// One whose axis gets another place leaves the old one as it was drawn.
	forgetGraph() {
		this.graph?.destroy();
		this.graph = null;
		this.gutter = gutterPx();
	}

	// Without the plugins that are not wanted, of which the legend's writes styles into markup, which is forbidden here.
	makeGraph(options) {
		const {Dygraph} = window;
		Dygraph.PLUGINS = [Dygraph.Plugins.Grid, Dygraph.Plugins.Axes];
		return new Dygraph(this.canvasBox, options.file, {...this.fixedOptions(), ...options});
	}

	fixedOptions() {
		return {
			width: this.plot.clientWidth,
			height: this.plot.clientHeight,
			interactionModel: {},
			legend: "never",
			showLabelsOnHighlight: false,
			highlightCircleSize: 0,
			strokeWidth: 1.5,
			includeZero: true,
			rightGap: MARGIN_PX,
		};
	}

	findOptions() {
		const {unit} = this.columns[0];
		return {
			file: this.rows,
			labels: ["time", ...this.columns.map(({key}) => key)],
			colors: this.columns.map((_, i) => seriesColour(i)),
			fillGraph: this.columns.length === 1,
			fillAlpha: 0.2,
			dateWindow: [this.timeWindow.from, this.timeWindow.to],
			valueRange: [0, this.findMost()],
			gridLineColor: colour("grid"),
			axisLineColor: colour("grid"),
			underlayCallback: (context, area, graph) => this.drawBands(context, area, graph),
			xAxisHeight: 18 * scale(),
			axes: {
				x: {
					ticker: () => findTicks(this.timeWindow, this.area().width).map(({ms, label}) => ({v: ms, label})),
					axisLabelWidth: 90 * scale(),
				},
				y: {
					ticker: (low, high) => [0, high / 2, high * BELOW].map((value) => ({v: value, label: quantity(value, unit)})),
					axisLabelWidth: gutterPx() - 6,
				},
			},
		};
	}

	// What is whole: 100 %, all memory; or a round number above what there was.
	findMost() {
		const whole = this.kind.most?.(this.samples);
		if (whole)
			return whole;
		const most = Math.max(0, ...this.rows.flatMap((row) => row.slice(1)).filter((value) => value !== null));
		return most > 0 ? Math.min(roundUp(most * 1.1), this.kind.limit ?? Infinity) : 1;
	}

	drawBands(context, area, graph) {
		context.fillStyle = colour("band");
		for (const {from, to} of this.bands()) {
			const left = Math.max(graph.toDomXCoord(from), area.x);
			const right = Math.min(graph.toDomXCoord(to), area.x + area.w);
			if (right >= left)
				context.fillRect(left, area.y, Math.max(right - left, 2), area.h);
		}
	}

	// Values where the cursor is, or else now.
	showLegend() {
		const values = this.findValues();
		const shown = this.columns.slice(0, LEGEND_MOST).map((column, i) => ({column, i}));
		keepRows(this.legend, shown, {
			key: ({column}) => column.key,
			create: () => make("li", {}, make("i"), make("span"), make("b")),
			update: (item, {column, i}) => {
				const [mark, name, value] = item.children;
				mark.style.backgroundColor = seriesColour(i);
				setText(name, this.kind.name(column));
				setText(value, quantity(values[i], column.unit));
				set(item, {title: column.detail || null});
			},
		});
		const words = shown.map(({column, i}) => `${this.kind.name(column)} ${quantity(values[i], column.unit)}`);
		set(this.plot, {"aria-label": `${this.kind.title}: ${words.join(", ")}`});
	}

	findValues() {
		const {cursor} = this.timeWindow;
		if (cursor === null)
			return this.columns.map(({key}) => this.samples.getLatest(key));
		return this.findRow(cursor)?.slice(1) ?? [];
	}

	// The nearest one, unless none is near.
	findRow(ms) {
		let low = 0;
		let high = this.rows.length - 1;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.rows[middle][0] < ms)
				low = middle + 1;
			else
				high = middle;
		}
		const near = [this.rows[low - 1], this.rows[low]].filter(Boolean)
			.sort((a, b) => Math.abs(a[0] - ms) - Math.abs(b[0] - ms))[0];
		return near && Math.abs(near[0] - ms) < 1500 ? near : undefined;
	}

	showCursor() {
		const {cursor, from, to, spanMs} = this.timeWindow;
		const isShown = cursor !== null && cursor >= from && cursor <= to;
		this.line.hidden = !isShown;
		if (isShown)
			this.line.style.transform = `translateX(${this.area().left + ((cursor - from) / spanMs) * this.area().width}px)`;
		this.showLegend();
	}
}
