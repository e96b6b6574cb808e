// SPDX-License-Identifier: Apache-2.0
// Handing a trace to the Perfetto UI, which runs in another window: asked until it answers that it is there, then given the bytes.

const ORIGIN = "https://ui.perfetto.dev";
const PING_MS = 50;
const PATIENCE_MS = 60000;

// In the handler of a click, or the browser does not let the window open.
export function openPerfetto() {
	const other = window.open(ORIGIN);
	if (!other)
		throw new Error("the browser did not let the window open: allow it for this page");
	return other;
}

function awaitPong(other) {
	return new Promise((resolve, reject) => {
		const stop = (finish, value) => {
			clearInterval(pings);
			clearTimeout(patience);
			window.removeEventListener("message", hear);
			finish(value);
		};
		const hear = (event) => {
			if (event.source === other && event.origin === ORIGIN && event.data === "PONG")
				stop(resolve);
		};
		const ping = () => (other.closed ? stop(reject, new Error("the window was closed")) : other.postMessage("PING", ORIGIN));
		const pings = setInterval(ping, PING_MS);
		const patience = setTimeout(() => stop(reject, new Error(`${ORIGIN} does not answer; proftap view serves the trace for it as well`)), PATIENCE_MS);
		window.addEventListener("message", hear);
	});
}

// |buffer| is a promise of an ArrayBuffer.
export async function handOver(other, buffer, title) {
	const [bytes] = await Promise.all([buffer, awaitPong(other)]);
	other.postMessage({perfetto: {buffer: bytes, title, fileName: `${title}.pftrace`}}, ORIGIN, [bytes]);
}
