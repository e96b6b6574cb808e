// SPDX-License-Identifier: Apache-2.0
// Ten minutes of the machine's usage, one ring buffer of fixed size per column. A column without a
// value for that long is dropped, so a page that stays open for days does not grow. Dispatches
// "change".

const N_SAMPLES = 600;

export class Samples extends EventTarget {
	constructor() {
		super();
		this.clear();
	}

	clear() {
		this.columns = new Map(); // by key: {column, values, lastN}
		this.programs = new Map(); // by id: {cpu, rss} now
		this.at = new Float64Array(N_SAMPLES).fill(NaN);
		this.next = 0; // the number of the next sample
	}

	get lastMs() {
		return this.next ? this.at[(this.next - 1) % N_SAMPLES] : NaN;
	}

	get firstN() {
		return Math.max(0, this.next - N_SAMPLES);
	}

	// Takes an answer to /usage. It replaces everything except samples that arrived after the
	// request.
	load(usage) {
		const {columns, at, next} = this;
		this.clear();
		usage.columns.forEach((column) => this.describe(column));
		usage.at_unix_ms.forEach((ms, i) => {
			this.begin(usage.first + i, ms);
			usage.columns.forEach((column, k) => this.put(column.key, usage.values[k][i]));
		});
		this.next = usage.next;
		this.takePrograms(usage);
		for (const {column} of columns.values())
			this.describe(column);
		for (let n = Math.max(this.next, next - N_SAMPLES); n < next; n++) {
			this.begin(n, at[n % N_SAMPLES]);
			for (const [key, {values}] of columns)
				this.put(key, values[n % N_SAMPLES]);
		}
		this.dispatchEvent(new Event("change"));
	}

	add(sample) {
		(sample.columns ?? []).forEach((column) => this.describe(column));
		if (sample.n < this.next)
			return;
		this.begin(sample.n, sample.at_unix_ms);
		for (const [key, value] of Object.entries(sample.values))
			this.put(key, value);
		this.takePrograms(sample);
		this.forget();
		this.dispatchEvent(new Event("change"));
	}

	takePrograms({programs}) {
		if (programs)
			this.programs = new Map(programs.map(([id, cpu, rss]) => [id, {cpu, rss}]));
	}

	describe(column) {
		const known = this.columns.get(column.key);
		if (known)
			known.column = column;
		else
			this.columns.set(column.key, {column, values: new Float64Array(N_SAMPLES).fill(NaN), lastN: this.next});
	}

	// Missed samples are unknown (NaN).
	begin(n, ms) {
		for (let i = Math.max(this.next, n - N_SAMPLES + 1); i <= n; i++) {
			this.at[i % N_SAMPLES] = NaN;
			for (const {values} of this.columns.values())
				values[i % N_SAMPLES] = NaN;
		}
		this.at[n % N_SAMPLES] = ms;
		this.next = n + 1;
	}

	put(key, value) {
		const entry = this.columns.get(key);
		if (!entry)
			return;
		entry.values[(this.next - 1) % N_SAMPLES] = value ?? NaN;
		if (value !== null && !Number.isNaN(value))
			entry.lastN = this.next - 1;
	}

	forget() {
		for (const [key, {lastN}] of this.columns)
			if (lastN < this.firstN)
				this.columns.delete(key);
	}

	choose(wants) {
		return [...this.columns.values()].filter(({column}) => wants(column)).map(({column}) => column);
	}

	getLatest(key) {
		const entry = this.columns.get(key);
		return entry && this.next ? entry.values[(this.next - 1) % N_SAMPLES] : NaN;
	}

	// Returns {at, values}: times in milliseconds after |originUnixMs|, oldest first, and one
	// array of values for each key; unknown values are null.
	read(keys, originUnixMs) {
		const rings = keys.map((key) => this.columns.get(key)?.values);
		const at = [];
		const values = keys.map(() => []);
		for (let n = this.firstN; n < this.next; n++) {
			const ms = this.at[n % N_SAMPLES];
			if (Number.isNaN(ms))
				continue;
			at.push(ms - originUnixMs);
			rings.forEach((ring, k) => values[k].push(known(ring?.[n % N_SAMPLES])));
		}
		return {at, values};
	}
}

function known(value) {
	return value === undefined || Number.isNaN(value) ? null : value;
}
