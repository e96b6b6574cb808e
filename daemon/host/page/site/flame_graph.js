// SPDX-License-Identifier: Apache-2.0
// Draws a tree of calls, the root at the top. The width of a bar is its share of the time. Callees are
// drawn from the longest to the shortest; those narrower than a pixel are drawn as one grey bar, so
// the work of a frame depends on the pixels and not on the number of nodes.
import {fit, prepare} from "./canvas.js";
import {colour, isForced, nameColour, onColours} from "./colours.js";
import {make, setText} from "./dom.js";
import {Frame} from "./frame.js";
import {scale} from "./scale.js";
import {duration} from "./words.js";

const rowPx = () => Math.round(19 * scale());
const LEAST_PX = 1;
const LABEL_LEAST_PX = 24;
const FAINT = 0.2;

export class FlameGraph {
	// onPick gets the node under the mouse, or the picked one, or null.
	constructor({onPick, onZoom}) {
		Object.assign(this, {onPick, onZoom});
		this.tree = null;
		this.colours = new Map();
		this.frame = new Frame(() => this.draw());
		this.canvas = make("canvas");
		this.spacer = make("div", {class: "spacer"}, this.canvas);
		this.scroller = make("div", {class: "flame-graph", tabindex: "0", role: "img"}, this.spacer);
		this.tip = make("div", {class: "tip", role: "tooltip", hidden: true}, make("strong"), make("span"));
		this.element = make("div", {class: "flame-box"}, this.scroller, this.tip);
		this.listen();
	}

	listen() {
		const ask = () => this.frame.ask();
		this.scroller.addEventListener("scroll", ask);
		this.scroller.addEventListener("pointermove", (event) => this.hover(this.hit(event), event));
		this.scroller.addEventListener("pointerleave", () => this.hover(null));
		this.scroller.addEventListener("click", (event) => this.click(this.hit(event)));
		this.scroller.addEventListener("keydown", (event) => this.handleKey(event));
		new ResizeObserver(ask).observe(this.scroller);
		onColours(() => {
			this.colours.clear();
			ask();
		});
	}

	// |label| describes the graph to a screen reader.
	show(tree, label) {
		this.tree = tree;
		this.scroller.setAttribute("aria-label", label);
		this.picked = null;
		this.matches = null;
		this.colours.clear();
		this.zoom(0);
	}

	// Shows the node with all that it called over the whole width.
	zoom(node) {
		this.focus = node;
		this.scroller.scrollTop = 0;
		this.hover(null);
		this.onZoom(node);
		this.frame.ask();
	}

	// |matches| has a number for each label; bars whose number is 0 are faint. null: there is no
	// search.
	mark(matches) {
		this.matches = matches;
		this.frame.ask();
	}

	// --- the user ----------------------------------------------------------------------------

	hit(event) {
		const box = this.scroller.getBoundingClientRect();
		const x = event.clientX - box.left - this.scroller.clientLeft;
		const row = Math.floor((event.clientY - box.top - this.scroller.clientTop + this.scroller.scrollTop) / rowPx());
		return this.rows?.[row]?.find((bar) => bar.x <= x && x < bar.x + bar.width)?.node ?? null;
	}

	click(node) {
		if (node === null)
			return;
		this.picked = node;
		this.zoom(node === this.focus && node ? this.tree.parents[node] : node);
		this.onPick(node);
	}

	hover(node, event) {
		this.tip.hidden = node === null;
		this.onPick(node ?? this.picked);
		if (node === null)
			return;
		const box = this.element.getBoundingClientRect();
		setText(this.tip.firstChild, this.tree.textOf(node));
		setText(this.tip.lastChild, duration(this.tree.totals[node]));
		this.tip.style.left = `${Math.max(Math.min(event.clientX - box.left + 12, box.width - this.tip.offsetWidth - 4), 0)}px`;
		this.tip.style.top = `${event.clientY - box.top + 18}px`;
	}

	// Arrow keys go from bar to bar, Enter zooms in, and Escape or Home zooms out.
	handleKey(event) {
		const {key} = event;
		if (!this.tree || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (key === "Enter")
			this.zoom(this.picked ?? 0);
		else if ((key === "Escape" || key === "Home") && this.focus)
			this.zoom(0);
		else if (key.startsWith("Arrow"))
			this.go(key);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	go(key) {
		const node = this.picked ?? this.focus;
		const next = this.picked === null ? node : this.findNext(node, key);
		if (next === undefined)
			return;
		this.picked = next;
		this.reveal(next);
		this.onPick(next);
		this.frame.ask();
	}

	findNext(node, key) {
		const {tree} = this;
		if (key === "ArrowUp")
			return tree.parents[node];
		if (key === "ArrowDown")
			return tree.calleesOf(node)[0];
		const others = tree.calleesOf(tree.parents[node]);
		return node ? others[others.indexOf(node) + (key === "ArrowRight" ? 1 : -1)] : undefined;
	}

	// Zooms out if the node is outside of the zoomed one, and scrolls to it.
	reveal(node) {
		const path = this.tree.pathTo(node);
		if (!path.includes(this.focus) && !this.tree.pathTo(this.focus).includes(node))
			this.zoom(path.findLast((one) => this.tree.pathTo(this.focus).includes(one)));
		const top = (path.length - 1) * rowPx();
		const {scrollTop, clientHeight} = this.scroller;
		this.scroller.scrollTop = Math.min(Math.max(scrollTop, top + 2 * rowPx() - clientHeight), top);
	}

	// --- drawing -----------------------------------------------------------------------------

	draw() {
		const {clientWidth: width, clientHeight: height} = this.scroller;
		if (!width || !this.tree)
			return;
		this.context = prepare(this.canvas, width, height);
		this.height = height;
		this.rows = []; // the bars of each depth, [{node, x, width}…]
		const path = this.tree.pathTo(this.focus);
		path.slice(0, -1).forEach((node, depth) => this.drawBar(node, depth, 0, width));
		if (this.tree.total)
			this.drawNode(this.focus, path.length - 1, 0, width);
		this.context.globalAlpha = 1;
		const px = `${this.rows.length * rowPx() + 1}px`;
		if (this.spacer.style.height !== px) {
			this.spacer.style.height = px;
			this.frame.ask(); // the scroller may have another height now
		}
	}

	drawNode(node, depth, x, width) {
		const {totals} = this.tree;
		this.drawBar(node, depth, x, width);
		const pxPerNs = width / totals[node];
		let rest = totals[node] - this.tree.selves[node];
		for (const callee of this.tree.calleesOf(node)) {
			const wide = totals[callee] * pxPerNs;
			if (wide < LEAST_PX) {
				this.drawRest(depth + 1, x, rest * pxPerNs);
				return;
			}
			this.drawNode(callee, depth + 1, x, wide);
			x += wide;
			rest -= totals[callee];
		}
	}

	topOf(depth) {
		return depth * rowPx() - this.scroller.scrollTop;
	}

	isSeen(top) {
		return top > -rowPx() && top < this.height;
	}

	drawRest(depth, x, width) {
		const top = this.topOf(depth);
		this.rows[depth] ??= [];
		if (!this.isSeen(top))
			return;
		this.context.globalAlpha = 1;
		this.context.fillStyle = colour("line");
		this.context.fillRect(x, top, Math.max(width - 1, LEAST_PX / 2), rowPx() - 1);
	}

	colourOf(label) {
		if (!this.colours.has(label))
			this.colours.set(label, nameColour(this.tree.data.texts[label]));
		return this.colours.get(label);
	}

	drawBar(node, depth, x, width) {
		const {context} = this;
		const top = this.topOf(depth);
		(this.rows[depth] ??= []).push({node, x, width});
		if (!this.isSeen(top))
			return;
		const label = this.tree.labels[node];
		context.globalAlpha = this.matches && !this.matches[label] ? FAINT : 1;
		context.fillStyle = this.colourOf(label);
		context.fillRect(x, top, Math.max(width - 1, LEAST_PX / 2), rowPx() - 1);
		const isMarked = node === this.picked || (isForced() && this.matches?.[label]);
		if (isForced() || isMarked)
			this.outline(x, top, width, isMarked);
		if (width >= LABEL_LEAST_PX) {
			context.fillStyle = isForced() || context.globalAlpha < 1 ? colour("text") : "#111";
			context.globalAlpha = 1;
			context.fillText(fit(context, this.tree.textOf(node), width - 8), x + 4, top + rowPx() / 2);
		}
	}

	outline(x, top, width, isMarked) {
		const line = isMarked ? 2 : 1;
		this.context.globalAlpha = 1;
		this.context.strokeStyle = colour(isMarked ? "accent" : "text");
		this.context.lineWidth = line;
		this.context.strokeRect(x + line / 2, top + line / 2, Math.max(width - line - 1, 1), rowPx() - line - 1);
	}
}
