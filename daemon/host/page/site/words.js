// SPDX-License-Identifier: Apache-2.0
// Formats numbers for people. An unknown value is "–".

const UNKNOWN = "–";
const PREFIXES = ["", "k", "M", "G", "T", "P"];

function isKnown(number) {
	return number !== null && number !== undefined && !Number.isNaN(number);
}

function shorten(number) {
	if (Math.abs(number) >= 100 || Number.isInteger(number))
		return number.toFixed(0);
	return String(Number(number.toPrecision(3)));
}

function scale(number, unit) {
	let i = 0;
	while (Math.abs(number) >= 999.5 && i < PREFIXES.length - 1) {
		number /= 1000;
		i++;
	}
	return `${shorten(number)} ${PREFIXES[i]}${unit}`.trim();
}

export function bytes(number) {
	return isKnown(number) ? scale(number, "B") : UNKNOWN;
}

export function count(number) {
	return isKnown(number) ? number.toLocaleString("en") : UNKNOWN;
}

const DURATIONS = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

export function duration(ns) {
	if (!isKnown(ns))
		return UNKNOWN;
	if (ns === 0)
		return "0";
	const [factor, unit] = DURATIONS.find(([size]) => Math.abs(ns) >= size * 0.9995) ?? [1, "ns"];
	return `${shorten(ns / factor)} ${unit}`;
}

export function durationMs(ms) {
	return isKnown(ms) ? duration(ms * 1e6) : UNKNOWN;
}

// Formats a usage value in the unit that the daemon reports.
export function quantity(number, unit) {
	if (!isKnown(number))
		return UNKNOWN;
	switch (unit) {
	case "bytes":
		return bytes(number);
	case "bytes/s":
		return `${bytes(number)}/s`;
	case "/s":
		return `${scale(number, "")}/s`;
	case "%":
		return `${number === 0 || number >= 10 ? number.toFixed(0) : number.toFixed(1)} %`;
	case "C":
		return `${number.toFixed(0)} °C`;
	default:
		return `${shorten(number)} ${unit}`.trim();
	}
}

function pad(number, n = 2) {
	return String(number).padStart(n, "0");
}

// Returns the time of day, with milliseconds if two marks are less than a second apart.
export function clock(unixMs, stepMs = 1000) {
	const date = new Date(unixMs);
	const text = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
	return stepMs < 1000 ? `${text}.${pad(date.getMilliseconds(), 3)}` : text;
}

export function dateTime(unixMs) {
	if (!isKnown(unixMs))
		return UNKNOWN;
	const date = new Date(unixMs);
	const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
	return `${day} ${clock(unixMs)}`;
}

// Returns the time, and the day only if it is not today.
export function dayTime(unixMs) {
	const isToday = isKnown(unixMs) && new Date(unixMs).toDateString() === new Date().toDateString();
	return isToday ? clock(unixMs) : dateTime(unixMs);
}
