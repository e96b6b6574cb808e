// SPDX-License-Identifier: Apache-2.0
// A window of the page's own before everything else: Escape closes it, and the keyboard goes back to where it was.
import {make, makeButton} from "./dom.js";

export class Dialog {
	constructor(title, ...content) {
		this.heading = make("h2", {id: "dialog-title"}, title);
		this.body = make("div", {class: "dialog-body"}, ...content);
		this.actions = make("div", {class: "actions"});
		this.element = make("dialog", {"aria-labelledby": "dialog-title", onclose: () => this.element.remove()}, this.heading, this.body, this.actions);
	}

	open() {
		document.body.append(this.element);
		this.element.showModal();
		return this;
	}

	close() {
		this.element.close();
	}
}

// They belong to the view that they were opened from.
export function closeDialogs() {
	document.querySelectorAll("dialog[open]").forEach((element) => element.close());
}

// Whether somebody agreed to |verb|.
export function confirm(title, text, verb) {
	const dialog = new Dialog(title, make("p", {}, text));
	return new Promise((resolve) => {
		const answer = (value) => () => {
			resolve(value);
			dialog.close();
		};
		dialog.element.addEventListener("close", () => resolve(false));
		dialog.actions.append(makeButton("Cancel", answer(false), {autofocus: true}), makeButton(verb, answer(true), {class: "danger"}));
		dialog.open();
	});
}
