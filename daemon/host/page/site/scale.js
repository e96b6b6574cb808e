// SPDX-License-Identifier: Apache-2.0
// The scale of canvas drawings, which follows the page's font size; that is larger on a large
// screen (base.css).

const DRAWN_FOR_PX = 15;

let kept = null;

// Returns how many CSS pixels one pixel of a drawing is.
export function scale() {
	kept ??= parseFloat(getComputedStyle(document.documentElement).fontSize) / DRAWN_FOR_PX;
	return kept;
}

window.addEventListener("resize", () => (kept = null));
