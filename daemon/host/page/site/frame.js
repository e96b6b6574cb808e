// SPDX-License-Identifier: Apache-2.0
// Drawing at most once a frame, however often it is asked for.

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
