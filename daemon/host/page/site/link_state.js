// SPDX-License-Identifier: Apache-2.0
// Shows the state of the connection to the daemon, and error messages. Screen readers say both.
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
		const what = state === "silent" ? "proftapd has been silent" : "proftapd has not answered";
		setText(this.banner, `${what} since ${clock(this.since)}. The page shows older data, and continues by itself when proftapd is back.`);
	}

	// Lets a screen reader say the text.
	say(text) {
		if (text)
			setText(find("said"), text);
	}

	// Shows an error message until the user dismisses it.
	complain(text) {
		const note = make("div", {class: "banner complaint", role: "alert"}, make("span", {}, text),
			makeButton("×", () => note.remove(), {"aria-label": "Dismiss"}));
		document.querySelectorAll(".complaint").forEach((old) => old.remove());
		this.banner.after(note);
	}
}
