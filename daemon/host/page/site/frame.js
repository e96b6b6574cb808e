// SPDX-License-Identifier: Apache-2.0
// Draws at most once per animation frame, however often drawing is requested.

export class Frame {
	constructor(draw) {
		this.draw = draw;
		this.isAsked = false;
	}

	ask() {
		if (this.isAsked)
			return;
		this.isAsked = true;
		requestAnimationFrame(() => {
			this.isAsked = false;
			this.draw();
		});
	}
}
