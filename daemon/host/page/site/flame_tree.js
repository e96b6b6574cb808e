// SPDX-License-Identifier: Apache-2.0
// The data of a flame graph (proftap-flame(1), "JSON"), and the tree of calls that they make for one
// choice of time, root and filters. Nodes and labels are numbers, so that a tree of a million nodes
// takes little memory.

// The times of a row, in its order. They are never added to each other.
export const TIMES = ["cpu", "waiting", "span"];
const ROW = 3 + TIMES.length;

function nameProcess({name, pid, host}) {
	return `${host === undefined ? "" : `${host}: `}${name}${pid === undefined ? "" : ` (${pid})`}`;
}

function nameThread({name, tid}) {
	return tid === undefined ? name : `${name} (${tid})`;
}

// Splits a list of pairs into two arrays, of callers and of names. Number 0 is the empty stack.
function readStacks(pairs) {
	const n = pairs.length / 2 + 1;
	const stacks = {callers: new Uint32Array(n), names: new Uint32Array(n)};
	for (let i = 1; i < n; i++) {
		stacks.callers[i] = pairs[2 * i - 2];
		stacks.names[i] = pairs[2 * i - 1];
	}
	return stacks;
}

export class FlameData {
	constructor({rows, spans, functions, processes, threads, span_names: spanNames, function_names: functionNames, period_ns: periodNs}) {
		Object.assign(this, {rows, periodNs, processes, threads, spanNames});
		this.texts = ["all", ...processes.map(nameProcess), ...threads.map(nameThread)].concat(spanNames, functionNames);
		this.bases = {process: 1, thread: 1 + processes.length};
		this.bases.span = this.bases.thread + threads.length;
		this.bases.function = this.bases.span + spanNames.length;
		this.spans = {...readStacks(spans), base: this.bases.span};
		this.functions = {...readStacks(functions), base: this.bases.function};
		this.totals = TIMES.map((_, i) => this.sum(i));
	}

	sum(time) {
		let sum = 0;
		for (let i = 3 + time; i < this.rows.length; i += ROW)
			sum += this.rows[i];
		return sum;
	}

	// Returns "process", "thread", "span" or "function"; "" for the root.
	kindOf(label) {
		return Object.keys(this.bases).findLast((kind) => label >= this.bases[kind]) ?? "";
	}

	// Returns the threads that have rows, by their numbers.
	listThreads() {
		const used = new Set();
		for (let i = 0; i < this.rows.length; i += ROW)
			used.add(this.rows[i]);
		return [...used].map((i) => ({i, text: `${nameProcess(this.processes[this.threads[i].process])}: ${nameThread(this.threads[i])}`}));
	}

	// Returns the number of the thread, or null if the data do not tell which one it is.
	findThread(pid, tid) {
		return this.listThreads().find(({i}) => this.threads[i].tid === tid && this.processes[this.threads[i].process].pid === pid)?.i ?? null;
	}

	// Returns the names of spans, in their alphabetical order.
	listSpans() {
		return [...new Set(this.spans.names.subarray(1))].map((i) => ({i, text: this.spanNames[i]})).sort((a, b) => a.text.localeCompare(b.text));
	}
}

export class FlameTree {
	// |choice| is {time: index in TIMES, isBySpan, span, thread}; the last two are numbers, or
	// null for all.
	constructor(data, choice) {
		Object.assign(this, {data, choice});
		this.parents = [0];
		this.labels = [0];
		this.selves = [0];
		this.nodes = new Map(); // from a parent and a label
		this.paths = {spans: new Map(), functions: new Map()}; // from a node and a stack to the stack's node
		this.findEntries();
		for (let i = 0; i < data.rows.length; i += ROW) {
			const time = data.rows[i + 3 + choice.time];
			if (time && (choice.thread === null || data.rows[i] === choice.thread))
				this.addRow(data.rows[i], data.rows[i + 1], data.rows[i + 2], time);
		}
		this.nodes = this.paths = null;
		this.sum();
		this.listCallees();
	}

	get n() {
		return this.parents.length;
	}

	get total() {
		return this.totals[0];
	}

	// Finds for each stack of spans its outermost span of the chosen name; 0: it has none.
	findEntries() {
		const {callers, names} = this.data.spans;
		this.entries = new Uint32Array(names.length);
		for (let i = 1; i < names.length; i++)
			this.entries[i] = this.entries[callers[i]] || (names[i] === this.choice.span ? i : 0);
	}

	addRow(thread, span, stack, time) {
		const {data, choice: {span: wanted, isBySpan, time: kind}} = this;
		if (wanted !== null && !this.entries[span])
			return;
		const hasSpans = isBySpan || TIMES[kind] === "span";
		// Spans outside of the chosen one are left out.
		const outside = wanted === null ? 0 : data.spans.callers[this.entries[span]];
		let at = this.take(0, data.bases.process + data.threads[thread].process);
		if (!isBySpan)
			at = this.take(at, data.bases.thread + thread);
		if (hasSpans)
			at = this.follow("spans", at, span, outside);
		at = this.follow("functions", at, stack, 0);
		this.selves[at] += time;
	}

	// Returns the node of the stack below the node |at|. |outside| is a part of the stack that
	// is left out.
	follow(which, at, stack, outside) {
		const {callers, names, base} = this.data[which];
		const paths = this.paths[which];
		const climbed = [];
		let node;
		while (stack !== outside && (node = paths.get(at * names.length + stack)) === undefined) {
			climbed.push(stack);
			stack = callers[stack];
		}
		node ??= at;
		while (climbed.length) {
			stack = climbed.pop();
			node = this.take(node, base + names[stack]);
			paths.set(at * names.length + stack, node);
		}
		return node;
	}

	take(parent, label) {
		const key = parent * this.data.texts.length + label;
		let node = this.nodes.get(key);
		if (node === undefined) {
			node = this.n;
			this.nodes.set(key, node);
			this.parents.push(parent);
			this.labels.push(label);
			this.selves.push(0);
		}
		return node;
	}

	// A node's number is greater than its parent's.
	sum() {
		this.totals = Float64Array.from(this.selves);
		for (let i = this.n - 1; i > 0; i--)
			this.totals[this.parents[i]] += this.totals[i];
	}

	// Puts the callees of each node into one array, one node's behind another's.
	listCallees() {
		this.starts = new Uint32Array(this.n + 2);
		for (let i = 1; i < this.n; i++)
			this.starts[this.parents[i] + 2]++;
		for (let i = 2; i < this.starts.length; i++)
			this.starts[i] += this.starts[i - 1];
		this.callees = new Uint32Array(this.n);
		for (let i = 1; i < this.n; i++)
			this.callees[this.starts[this.parents[i] + 1]++] = i;
		this.isSorted = new Uint8Array(this.n);
	}

	// Returns the callees of a node, the one with the most time first. They are sorted when they
	// are first needed: most nodes are too narrow to be drawn.
	calleesOf(node) {
		const callees = this.callees.subarray(this.starts[node], this.starts[node + 1]);
		if (!this.isSorted[node]) {
			this.isSorted[node] = 1;
			callees.sort((a, b) => this.totals[b] - this.totals[a] || a - b);
		}
		return callees;
	}

	// Returns the nodes from the root to |node|.
	pathTo(node) {
		const path = [node];
		for (; node; node = this.parents[node])
			path.unshift(this.parents[node]);
		return path;
	}

	textOf(node) {
		return this.data.texts[this.labels[node]];
	}

	kindOf(node) {
		return this.data.kindOf(this.labels[node]);
	}

	// Returns the time of nodes whose label matches, without those inside of others. |matches|
	// has a number for each label.
	sumMatches(matches) {
		const isInside = new Uint8Array(this.n);
		let sum = 0;
		for (let i = 0; i < this.n; i++) {
			const isMatch = matches[this.labels[i]];
			if (isMatch && !isInside[this.parents[i]])
				sum += this.totals[i];
			isInside[i] = isMatch || isInside[this.parents[i]];
		}
		return sum;
	}

	// Returns the |n| labels of functions and spans with the most time of their own, as [{label,
	// self, total}…]. A recursive function counts once in its total.
	listLongest(n) {
		const rows = new Map();
		const open = new Map();
		const enter = (node) => {
			const label = this.labels[node];
			const row = rows.get(label) ?? {label, self: 0, total: 0};
			rows.set(label, row);
			row.self += this.selves[node];
			const depth = open.get(label) ?? 0;
			row.total += depth ? 0 : this.totals[node];
			open.set(label, depth + 1);
		};
		const todo = [0];
		while (todo.length) {
			const node = todo.pop();
			if (node < 0) {
				open.set(this.labels[~node], open.get(this.labels[~node]) - 1);
				continue;
			}
			enter(node);
			todo.push(~node);
			for (let i = this.starts[node]; i < this.starts[node + 1]; i++)
				todo.push(this.callees[i]);
		}
		return [...rows.values()].filter(({label, self}) => self && label >= this.data.bases.span).sort((a, b) => b.self - a.self).slice(0, n);
	}
}
