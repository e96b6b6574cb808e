// SPDX-License-Identifier: Apache-2.0
// What is drawn by hand is as large as the page's letters, which are larger on a large screen (base.css).

const DRAWN_FOR_PX = 15;

let kept = null;

// How many pixels one of ours is.
export function scale() {
	kept ??= parseFloat(getComputedStyle(document.documentElement).fontSize) / DRAWN_FOR_PX;
	return kept;
}

window.addEventListener("resize", () => (kept = null));
