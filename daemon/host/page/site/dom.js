// SPDX-License-Identifier: Apache-2.0
// Elements: made in one call, and kept in step with a list without being made anew, so that the keyboard's place stays.

// make("button", {type: "button", onclick: f, "aria-label": "stop"}, "Stop", icon). Texts are texts, never markup.
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

// Only where it is another one: a screen reader says what is set again.
export function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

// The children of |parent| become one for each item: made by create(item) once for each key, brought up to date by update(element, item).
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
