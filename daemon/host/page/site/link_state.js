// SPDX-License-Identifier: Apache-2.0
// Whether the daemon is there, said where it is seen and heard; and what went wrong otherwise.
import {find, make, makeButton, set, setText} from "./dom.js";
import {clock} from "./words.js";

const WORDS = {connecting: "connecting", live: "live", lost: "lost", silent: "silent"};

export class LinkState {
	constructor(feed) {
		this.feed = feed;
		this.link = find("link");
		this.banner = find("lost");
		this.since = null;
		feed.addEventListener("state", ({detail}) => this.show(detail));
	}

	show(state) {
		setText(this.link, WORDS[state]);
		set(this.link, {"data-state": state});
		this.since = state === "live" ? null : this.since ?? Date.now();
		this.banner.hidden = state === "live";
		if (state === "live")
			return;
		const what = state === "silent" ? "proftapd says nothing" : "proftapd does not answer";
		setText(this.banner, `${what} since ${clock(this.since)}. What is shown is from before; the page goes on by itself when it is back.`);
	}

	// To who listens.
	say(text) {
		if (text)
			setText(find("said"), text);
	}

	// A message that stays until it is put away.
	complain(text) {
		const note = make("div", {class: "banner complaint", role: "alert"}, make("span", {}, text),
			makeButton("×", () => note.remove(), {"aria-label": "Put away"}));
		document.querySelectorAll(".complaint").forEach((old) => old.remove());
		this.banner.after(note);
	}
}
