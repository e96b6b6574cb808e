// SPDX-License-Identifier: Apache-2.0
// The colours of the style sheet for drawings on a canvas. They change with the dark theme.

const listeners = new Set();
let kept = new Map();

export function colour(name) {
	if (!kept.has(name))
		kept.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
	return kept.get(name);
}

export function seriesColour(i) {
	return colour(`series-${(i % 6) + 1}`);
}

const forced = matchMedia("(forced-colors: active)");

// Returns whether the user has forced a small set of colours. Lines then differ by their dashes,
// and spans have a frame and no colour of their own.
export function isForced() {
	return forced.matches;
}

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 8], [1, 2]];

export function seriesDash(i) {
	return isForced() ? DASHES[i % DASHES.length] : [];
}

// Returns the colour of a name. A name always gets the same colour, which is light enough for black
// text. With forced colours, all names get the colour of a card.
export function nameColour(name) {
	if (isForced())
		return colour("card");
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
	return `hsl(${hash % 360} ${45 + ((hash >> 9) % 25)}% ${66 + ((hash >> 16) % 12)}%)`;
}

export function onColours(listener) {
	listeners.add(listener);
}

for (const query of [matchMedia("(prefers-color-scheme: dark)"), forced])
	query.addEventListener("change", () => {
		kept = new Map();
		listeners.forEach((listener) => listener());
	});
