// SPDX-License-Identifier: Apache-2.0
// The list of captures, with the progress and the outcome of each.
import {find, keepRows, make, makeButton, set, setText} from "./dom.js";
import {bytes, count, durationMs} from "./words.js";

const MOST_SHOWN = 12;
// A progress bar without a value is animated, so users who prefer reduced motion do not get one.
const still = matchMedia("(prefers-reduced-motion: reduce)");
const WORDS = {
	waiting: "waiting for the program", starting: "starting", recording: "recording", collecting: "collecting", writing: "writing",
	done: "done", failed: "failed", empty: "nothing was recorded", cancelled: "cancelled",
};

function nameCapture(capture) {
	const names = capture.targets.map((target) => `${target.name} (${target.pid})`);
	const asked = capture.next ?? [capture.target].flat().join(", ");
	const programs = names.length ? names.join(", ") : `${capture.next ? "next " : ""}${asked}`;
	return capture.snapshot === null ? programs : `Snapshot of ${programs}`;
}

function tellProgress(capture) {
	const parts = [WORDS[capture.state] ?? capture.state];
	if (capture.state === "recording" && capture.duration_ms)
		parts.push(`${durationMs(capture.elapsed_ms)} of ${durationMs(capture.duration_ms)}`);
	const size = capture.trace_bytes || capture.recorded_bytes;
	if (size)
		parts.push(bytes(size));
	const sum = (key) => capture.targets.reduce((total, target) => total + (target[key] ?? 0), 0);
	if (capture.is_over && sum("n_events"))
		parts.push(`${count(sum("n_events"))} events and counter samples`);
	if (sum("n_dropped"))
		parts.push(`${count(sum("n_dropped"))} dropped`);
	return parts.join(" · ");
}

function tellProblems(capture) {
	const failed = capture.targets.map((target) => target.error);
	return [...new Set([capture.error?.message, ...failed, ...(capture.warnings ?? [])])].filter(Boolean).join("\n");
}

export class Captures {
	// act(name, capture) is called when a button is pressed; |name| is "stop", "cancel", "forget"
	// or "open".
	constructor(collection, act) {
		Object.assign(this, {collection, act});
		this.list = make("ul", {class: "captures", "aria-label": "Captures"});
		find("capture-list").append(this.list);
		collection.addEventListener("change", () => this.show());
	}

	show() {
		keepRows(this.list, this.collection.list().slice(0, MOST_SHOWN), {
			key: (capture) => capture.id,
			create: (capture) => this.create(capture),
			update: (item, capture) => this.update(item, capture),
		});
	}

	create({id}) {
		const button = (text, name) => makeButton(text, () => this.act(name, this.collection.get(id)));
		return make("li", {},
			make("strong"), make("span", {class: "progress-text"}), make("progress"), make("p", {class: "problem"}),
			make("div", {class: "actions"}, button("Stop and keep", "stop"), button("Cancel", "cancel"), button("Events", "open"),
				button("Forget", "forget")));
	}

	update(item, capture) {
		const [name, text, progress, problems, actions] = item.children;
		const [stop, giveUp, open, forget] = actions.children;
		setText(name, nameCapture(capture));
		setText(text, tellProgress(capture));
		set(item, {"data-state": capture.state, "data-capture": capture.id});
		progress.hidden = capture.is_over;
		set(progress, {max: capture.duration_ms, "aria-label": `Progress of ${nameCapture(capture)}`,
			value: capture.state === "recording" && capture.duration_ms ? Math.min(capture.elapsed_ms, capture.duration_ms) : still.matches ? 0 : null});
		setText(problems, tellProblems(capture));
		set(problems, {"data-kind": capture.error ? "error" : "warning"});
		problems.hidden = !problems.textContent;
		stop.hidden = capture.is_over || capture.state === "waiting" || capture.snapshot !== null;
		giveUp.hidden = capture.is_over;
		open.hidden = !capture.run;
		forget.hidden = !capture.is_over;
	}
}

// Returns a sentence for a screen reader when a capture has begun or ended, else "".
export function tellChange(before, capture) {
	if (before?.state === capture.state)
		return "";
	return capture.is_over || !before ? `Capture of ${nameCapture(capture)}: ${WORDS[capture.state] ?? capture.state}` : "";
}
