// SPDX-License-Identifier: Apache-2.0
// The daemon's server-sent events, and the state of the connection. The browser reconnects by
// itself after a lost connection; if it gives up (the answer was no event stream), this class
// retries with growing pauses.
//
// Dispatches "state" (detail: "live", "lost" or "silent"), "restarted" (the daemon is another one
// than before), and "news" for each event of the daemon (detail: {name, data}).
//
// A browser opens at most six connections to a server for all its pages together, so a hidden page
// closes its own and catches up later.
import {Api} from "./api.js";

const NAMES = ["hello", "reset", "usage", "target", "target_gone", "capture", "capture_gone", "run", "run_gone"];
// A working daemon sends a sample each second.
const SILENCE_MS = 5000;
const CHECK_MS = 1000;
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
		setInterval(() => this.checkSilence(), CHECK_MS);
		document.addEventListener("visibilitychange", () => this.followVisibility());
	}

	followVisibility() {
		clearTimeout(this.hiddenTimer);
		if (document.hidden)
			this.hiddenTimer = setTimeout(() => this.close(), HIDDEN_MS);
		else if (!this.source)
			this.open(this.pid);
	}

	// Connects. With a |pid| the samples contain that program's usage, too.
	open(pid = null) {
		this.pid = pid;
		this.close();
		this.lastEventAt = performance.now();
		const query = new URLSearchParams();
		if (pid !== null)
			query.set("pid", pid);
		if (this.lastId)
			query.set("after", this.lastId);
		this.source = new EventSource(Api.url(`/events?${query}`));
		this.source.onerror = () => this.takeError();
		for (const name of NAMES)
			this.source.addEventListener(name, (event) => this.take(name, event));
	}

	close() {
		clearTimeout(this.retryTimer);
		this.source?.close();
		this.source = null;
	}

	take(name, event) {
		this.lastEventAt = performance.now();
		this.retryMs = FIRST_RETRY_MS;
		if (event.lastEventId)
			this.lastId = event.lastEventId;
		this.setState("live");
		const data = JSON.parse(event.data);
		if (name === "hello")
			this.takeHello(data);
		this.dispatchEvent(new CustomEvent("news", {detail: {name, data}}));
	}

	takeHello({started_unix_ms: started}) {
		const isAnother = this.startedUnixMs !== null && this.startedUnixMs !== started;
		this.startedUnixMs = started;
		if (isAnother)
			this.dispatchEvent(new Event("restarted"));
	}

	takeError() {
		this.setState("lost");
		if (this.source.readyState !== EventSource.CLOSED)
			return;
		clearTimeout(this.retryTimer);
		this.retryTimer = setTimeout(() => this.open(this.pid), this.retryMs);
		this.retryMs = Math.min(2 * this.retryMs, LAST_RETRY_MS);
	}

	checkSilence() {
		if (this.source && this.state === "live" && performance.now() - this.lastEventAt > SILENCE_MS)
			this.setState("silent");
	}

	setState(state) {
		if (state === this.state)
			return;
		this.state = state;
		this.dispatchEvent(new CustomEvent("state", {detail: state}));
	}
}
