// SPDX-License-Identifier: Apache-2.0
// The tick marks of the time axis, at round times. The labels are times of day, or times since the
// start of the run in a short window of a run.
import {scale} from "./scale.js";
import {clock, duration} from "./words.js";

// Steps in ms; below a second the steps are 1, 2 and 5 times a power of ten.
const STEPS = [1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 1800e3, 3600e3, 7200e3, 14400e3, 43200e3];
const CLOSEST_PX = 80;

function findStep(leastMs) {
	if (leastMs > 500)
		return STEPS.find((step) => step >= leastMs) ?? STEPS.at(-1);
	const power = 10 ** Math.floor(Math.log10(leastMs));
	return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= leastMs);
}

// Returns the shift that puts the ticks at round times of the local day, or of the run.
function findShift(timeWindow, stepMs) {
	if (timeWindow.isOfRun && timeWindow.spanMs < 60000)
		return 0;
	const zoneMs = new Date(timeWindow.originUnixMs).getTimezoneOffset() * 60000;
	return (timeWindow.originUnixMs - zoneMs) % stepMs;
}

export function tellTime(timeWindow, ms, stepMs) {
	if (timeWindow.isOfRun && timeWindow.spanMs < 60000)
		return ms < 0 ? `−${duration(-ms * 1e6)}` : duration(Math.round(ms * 1e6));
	return clock(timeWindow.originUnixMs + ms, stepMs);
}

export function findTicks(timeWindow, widthPx) {
	const stepMs = findStep((timeWindow.spanMs * CLOSEST_PX * scale()) / Math.max(widthPx, CLOSEST_PX));
	const shift = findShift(timeWindow, stepMs);
	const ticks = [];
	let i = Math.ceil((timeWindow.from + shift) / stepMs);
	for (let ms = i * stepMs - shift; ms <= timeWindow.to; ms = ++i * stepMs - shift)
		ticks.push({ms, label: tellTime(timeWindow, ms, stepMs)});
	return ticks;
}
