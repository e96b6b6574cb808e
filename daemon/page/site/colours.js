// SPDX-License-Identifier: Apache-2.0
// The style sheet's colours, for what is drawn by hand: other ones in the dark.

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

// One colour a name, always the same, which black text can be read on.
export function nameColour(name) {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
	return `hsl(${hash % 360} ${45 + ((hash >> 9) % 25)}% ${66 + ((hash >> 16) % 12)}%)`;
}

export function onColours(listener) {
	listeners.add(listener);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	kept = new Map();
	listeners.forEach((listener) => listener());
});
