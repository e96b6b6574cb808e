// SPDX-License-Identifier: Apache-2.0
// Helpers of the charts and the timeline: a canvas in screen pixels, binary search in sorted
// numbers, and text that is cut to fit.
import {scale} from "./scale.js";

// Resizes and clears |canvas| and returns its context, whose unit is one CSS pixel.
export function prepare(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
	if (canvas.width !== wide || canvas.height !== high) {
		canvas.width = wide;
		canvas.height = high;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	context.globalAlpha = 1;
	context.font = `${12 * scale()}px system-ui, sans-serif`;
	context.textBaseline = "middle";
	context.textAlign = "left";
	return context;
}

// Returns the first index from |low| on whose number is above |value|. The numbers are in ascending
// order.
export function firstAbove(numbers, value, low = 0, high = numbers.length) {
	while (low < high) {
		const middle = (low + high) >> 1;
		if (numbers[middle] > value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

let parser = null;

export function packColour(css, alpha) {
	parser ??= document.createElement("canvas").getContext("2d");
	parser.fillStyle = css;
	// The canvas returns opaque colours as "#rrggbb".
	const rgb = parseInt(parser.fillStyle.slice(1), 16);
	const bytes = [rgb >> 16, (rgb >> 8) & 255, rgb & 255, Math.round(alpha * 255)];
	return new Uint32Array(Uint8Array.from(bytes).buffer)[0];
}

// Paints the spans that are too narrow for a name as pixels. Of a million spans tens of thousands
// are visible at once, and one canvas call for each would take longer than a frame. Each row is one
// pixel high until draw() stretches it.
export class Strips {
	constructor() {
		this.canvas = document.createElement("canvas");
		this.pixels = new Uint32Array(0);
	}

	begin(width, mostRows) {
		this.ratio = window.devicePixelRatio || 1;
		this.wide = Math.max(Math.round(width * this.ratio), 1);
		this.tops = [];
		if (this.pixels.length < this.wide * mostRows)
			this.pixels = new Uint32Array(this.wide * mostRows);
		else
			this.pixels.fill(0, 0, this.wide * mostRows);
	}

	beginRow(top) {
		this.row = this.tops.length * this.wide;
		this.tops.push(top);
	}

	paint(a, b, packed) {
		const from = Math.min(Math.round(a * this.ratio), this.wide - 1);
		const to = Math.min(Math.max(Math.round(b * this.ratio), from + 1), this.wide);
		for (let i = from; i < to; i++)
			this.pixels[this.row + i] = packed;
	}

	draw(context, left, height) {
		const n = this.tops.length;
		if (!n)
			return;
		if (this.canvas.width !== this.wide || this.canvas.height < n) {
			this.canvas.width = this.wide;
			this.canvas.height = n;
		}
		this.canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(this.pixels.buffer, 0, 4 * this.wide * n), this.wide, n), 0, 0);
		context.imageSmoothingEnabled = false;
		this.tops.forEach((top, i) => context.drawImage(this.canvas, 0, i, this.wide, 1, left, top, this.wide / this.ratio, height));
	}
}

const MOST_WIDTHS = 20000;
let widths = new Map();
let widthsFont = "";

function widthOf(context, text) {
	if (widthsFont !== context.font || widths.size > MOST_WIDTHS) {
		widths = new Map();
		widthsFont = context.font;
	}
	let width = widths.get(text);
	if (width === undefined) {
		width = context.measureText(text).width;
		widths.set(text, width);
	}
	return width;
}

// Returns |text|, shortened with "…" if it is wider than |width|, or "" if not even one letter
// fits.
export function fit(context, text, width) {
	const whole = widthOf(context, text);
	if (whole <= width)
		return text;
	let n = Math.floor((text.length * width) / whole);
	while (n > 0 && widthOf(context, `${text.slice(0, n)}…`) > width)
		n--;
	return n > 0 ? `${text.slice(0, n)}…` : "";
}
