// SPDX-License-Identifier: Apache-2.0
// The daemon's server-sent events, and whether it is there. The browser comes back by itself after a connection that was lost;
// where it gives up (an answer that is no stream) this does, later and later.
//
// It tells "state" (detail: "live", "lost" or "silent"), "restarted" (another daemon than before), and "news" for each of the daemon's
// (detail: {name, data}).
//
// A browser has six connections to a server, for all its pages together: one that nobody looks at gives its own back, and catches up later.
import {Api} from "./api.js";

const NAMES = ["hello", "reset", "usage", "target", "target_gone", "capture", "capture_gone", "run", "run_gone"];
// A daemon that lives sends a sample each second.
const SILENCE_MS = 5000;
const LOOK_MS = 1000;
const HIDDEN_MS = 10000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 15000;

export class Feed extends EventTarget {
	constructor() {
		super();
		this.state = "connecting";
		this.source = null;
		this.lastId = null;
		this.startedUnixMs = null;
		this.pid = null;
		this.retryMs = FIRST_RETRY_MS;
		this.retryTimer = null;
		setInterval(() => this.look(), LOOK_MS);
		document.addEventListener("visibilitychange", () => this.rest());
	}

	rest() {
		clearTimeout(this.hiddenTimer);
		if (document.hidden)
			this.hiddenTimer = setTimeout(() => this.close(), HIDDEN_MS);
		else if (!this.source)
			this.open(this.pid);
	}

	// Of a program's own usage, too, if there is a |pid|.
	open(pid = null) {
		this.pid = pid;
		this.close();
		this.heardAt = performance.now();
		const query = new URLSearchParams();
		if (pid !== null)
			query.set("pid", pid);
		if (this.lastId)
			query.set("after", this.lastId);
		this.source = new EventSource(Api.url(`/events?${query}`));
		this.source.onerror = () => this.lose();
		for (const name of NAMES)
			this.source.addEventListener(name, (event) => this.take(name, event));
	}

	close() {
		clearTimeout(this.retryTimer);
		this.source?.close();
		this.source = null;
	}

	take(name, event) {
		this.heardAt = performance.now();
		this.retryMs = FIRST_RETRY_MS;
		if (event.lastEventId)
			this.lastId = event.lastEventId;
		this.setState("live");
		const data = JSON.parse(event.data);
		if (name === "hello")
			this.greet(data);
		this.dispatchEvent(new CustomEvent("news", {detail: {name, data}}));
	}

	greet({started_unix_ms: started}) {
		const isAnother = this.startedUnixMs !== null && this.startedUnixMs !== started;
		this.startedUnixMs = started;
		if (isAnother)
			this.dispatchEvent(new Event("restarted"));
	}

	lose() {
		this.setState("lost");
		if (this.source.readyState !== EventSource.CLOSED)
			return;
		clearTimeout(this.retryTimer);
		this.retryTimer = setTimeout(() => this.open(this.pid), this.retryMs);
		this.retryMs = Math.min(2 * this.retryMs, LAST_RETRY_MS);
	}

	look() {
		if (this.source && this.state === "live" && performance.now() - this.heardAt > SILENCE_MS)
			this.setState("silent");
	}

	setState(state) {
		if (state === this.state)
			return;
		this.state = state;
		this.dispatchEvent(new CustomEvent("state", {detail: state}));
	}
}
