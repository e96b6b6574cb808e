// SPDX-License-Identifier: Apache-2.0
// Creates elements in one call, and updates lists of elements in place, so that the keyboard focus
// stays.

// Example: make("button", {type: "button", onclick: f, "aria-label": "stop"}, "Stop", icon).
// Strings become text, never markup.
export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	set(element, attributes);
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

export function set(element, attributes) {
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (value === null || value === undefined || value === false)
			element.removeAttribute(name);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
}

export function find(id) {
	return document.getElementById(id);
}

export function makeButton(text, onclick, attributes = {}) {
	return make("button", {type: "button", onclick, ...attributes}, text);
}

// Sets the text only if it differs, because a screen reader reads it again each time that it is
// set.
export function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

// Gives |parent| one child for each item. create(item) runs once for each key, update(element,
// item) each time.
export function keepRows(parent, items, {key, create, update}) {
	const rows = parent.keptRows ?? (parent.keptRows = new Map());
	const wanted = new Set(items.map(key));
	for (const [name, row] of rows) {
		if (!wanted.has(name)) {
			row.remove();
			rows.delete(name);
		}
	}
	let place = parent.firstChild;
	for (const item of items) {
		let row = rows.get(key(item));
		if (!row) {
			row = create(item);
			rows.set(key(item), row);
		}
		update(row, item);
		if (row === place)
			place = place.nextSibling;
		else
			parent.insertBefore(row, place);
	}
}
