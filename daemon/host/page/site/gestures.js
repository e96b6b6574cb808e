// SPDX-License-Identifier: Apache-2.0
// Moves a TimeWindow by mouse, touch, wheel and keyboard, on any element that shows it. Dragging
// pans; with Shift it selects a range to zoom to. Two fingers zoom. The wheel zooms with Ctrl and
// pans with Shift; without them it scrolls the page as usual.

const PAN_SHARE = 0.2;
const ZOOM_STEP = 1.5;
const WHEEL_ZOOM = 0.0025;
const CLICK_PX = 4;

export class Gestures {
	// plot() returns {left, width}, the element's pixels in which the time is drawn.
	// onChoice(fromPx, toPx) draws the range while it is selected; nulls remove it.
	// onClick(event) is called for a press without a movement. onKey(event) is called first for
	// each key and returns whether it handled the key. goHome() shows everything.
	constructor(element, timeWindow, {plot, onChoice = () => {}, onClick = () => {}, onKey = () => false, goHome}) {
		Object.assign(this, {element, timeWindow, plot, onChoice, onClick, onKey, goHome});
		this.pointers = new Map();
		this.pinch = null;
		element.addEventListener("pointerdown", (event) => this.press(event));
		element.addEventListener("pointermove", (event) => this.move(event));
		element.addEventListener("pointerup", (event) => this.release(event));
		element.addEventListener("pointercancel", (event) => this.drop(event));
		element.addEventListener("pointerleave", () => timeWindow.point(null));
		element.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		element.addEventListener("dblclick", (event) => timeWindow.zoom(1 / (2 * ZOOM_STEP), this.timeAtPx(this.pxOf(event))));
		element.addEventListener("keydown", (event) => this.type(event));
	}

	pxOf(event) {
		return event.clientX - this.element.getBoundingClientRect().left;
	}

	timeAtPx(px) {
		const {left, width} = this.plot();
		return this.timeWindow.from + ((px - left) / width) * this.timeWindow.spanMs;
	}

	get msPerPx() {
		return this.timeWindow.spanMs / this.plot().width;
	}

	press(event) {
		if (event.button !== 0)
			return;
		this.element.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, this.pxOf(event));
		this.startPx = this.pxOf(event);
		this.isMoved = false;
		this.isChoosing = event.shiftKey && this.pointers.size === 1;
		this.pinch = this.pointers.size === 2 ? this.spread() : null;
	}

	spread() {
		const [a, b] = this.pointers.values();
		return {px: Math.max(Math.abs(a - b), 10), middle: (a + b) / 2};
	}

	move(event) {
		const px = this.pxOf(event);
		this.timeWindow.point(this.timeAtPx(px));
		if (!this.pointers.has(event.pointerId) || (!this.isMoved && Math.abs(px - this.startPx) < CLICK_PX))
			return;
		const byPx = px - this.pointers.get(event.pointerId);
		this.isMoved = true;
		this.pointers.set(event.pointerId, px);
		if (this.pinch)
			this.pinchZoom();
		else if (this.isChoosing)
			this.onChoice(this.startPx, px);
		else
			this.timeWindow.pan(-byPx * this.msPerPx);
	}

	pinchZoom() {
		const {px, middle} = this.spread();
		this.timeWindow.zoom(this.pinch.px / px, this.timeAtPx(middle));
		this.timeWindow.pan((this.pinch.middle - middle) * this.msPerPx);
		this.pinch = {px, middle};
	}

	release(event) {
		if (!this.pointers.has(event.pointerId))
			return;
		if (!this.isMoved)
			this.onClick(event);
		else if (this.isChoosing)
			this.choose(this.timeAtPx(this.startPx), this.timeAtPx(this.pxOf(event)));
		this.drop(event);
	}

	choose(a, b) {
		this.timeWindow.show(Math.min(a, b), Math.max(a, b));
	}

	drop(event) {
		this.pointers.delete(event.pointerId);
		this.pinch = null;
		this.isChoosing = false;
		this.onChoice(null, null);
	}

	wheel(event) {
		const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
		if (event.ctrlKey || event.metaKey)
			this.timeWindow.zoom(Math.exp(event.deltaY * WHEEL_ZOOM), this.timeAtPx(this.pxOf(event)));
		else if (event.shiftKey || isSideways)
			this.timeWindow.pan((isSideways ? event.deltaX : event.deltaY) * this.msPerPx);
		else
			return;
		event.preventDefault();
	}

	type(event) {
		const isPlain = event.target === this.element && !event.ctrlKey && !event.metaKey && !event.altKey;
		if (isPlain && (this.onKey(event) || this.handleKey(event.key)))
			event.preventDefault();
	}

	handleKey(key) {
		const {timeWindow} = this;
		switch (key) {
		case "ArrowLeft":
			timeWindow.pan(-PAN_SHARE * timeWindow.spanMs);
			return true;
		case "ArrowRight":
			timeWindow.pan(PAN_SHARE * timeWindow.spanMs);
			return true;
		case "+":
		case "=":
			timeWindow.zoom(1 / ZOOM_STEP);
			return true;
		case "-":
			timeWindow.zoom(ZOOM_STEP);
			return true;
		case "Home":
			this.goHome();
			return true;
		case "End":
			timeWindow.follow();
			return true;
		default:
			return false;
		}
	}
}
