// SPDX-License-Identifier: Apache-2.0
// Hands a trace to the Perfetto UI in another window: pings the window until it answers, then sends
// the bytes.

const ORIGIN = "https://ui.perfetto.dev";
const PING_MS = 50;
const TIMEOUT_MS = 60000;

// Must be called from a click handler, or the browser blocks the window.
export function openPerfetto() {
	const other = window.open(ORIGIN);
	if (!other)
		throw new Error("the browser blocked the window: allow windows of this page");
	return other;
}

function awaitPong(other) {
	return new Promise((resolve, reject) => {
		const stop = (finish, value) => {
			clearInterval(pings);
			clearTimeout(timer);
			window.removeEventListener("message", onMessage);
			finish(value);
		};
		const onMessage = (event) => {
			if (event.source === other && event.origin === ORIGIN && event.data === "PONG")
				stop(resolve);
		};
		const ping = () => (other.closed ? stop(reject, new Error("the window was closed")) : other.postMessage("PING", ORIGIN));
		const pings = setInterval(ping, PING_MS);
		const timer = setTimeout(() => stop(reject, new Error(`${ORIGIN} does not answer; proftap view can serve the trace to it, too`)), TIMEOUT_MS);
		window.addEventListener("message", onMessage);
	});
}

// |buffer| is a promise of an ArrayBuffer.
export async function handOver(other, buffer, title) {
	const [bytes] = await Promise.all([buffer, awaitPong(other)]);
	other.postMessage({perfetto: {buffer: bytes, title, fileName: `${title}.pftrace`}}, ORIGIN, [bytes]);
}
