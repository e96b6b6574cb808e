// SPDX-License-Identifier: Apache-2.0
// A modal dialog of the page. Escape closes it, and the keyboard focus returns to where it was.
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

// Dialogs belong to the view that opened them, so leaving the view closes them.
export function closeDialogs() {
	document.querySelectorAll("dialog[open]").forEach((element) => element.close());
}

// Asks the user, and resolves to whether the user pressed |verb|.
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
