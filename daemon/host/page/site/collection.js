// SPDX-License-Identifier: Apache-2.0
// What the daemon has of one kind, by id: loaded as a whole, then kept up to date by events. Tells "change", not for each event but soon.

const SOON_MS = 16;

export class Collection extends EventTarget {
	// load() gives all of them; |order| sorts.
	constructor({key, load, order}) {
		super();
		this.key = key;
		this.loadAll = load;
		this.order = order;
		this.items = new Map();
		this.isLoaded = false;
		this.timer = null;
		this.arrived = null; // while it loads: what came meanwhile
		this.removed = null; // and what went
	}

	get(id) {
		return this.items.get(id);
	}

	list() {
		return [...this.items.values()].sort(this.order);
	}

	// An answer is older than the events that came while it was on its way.
	async load() {
		const arrived = (this.arrived = new Map());
		const removed = (this.removed = new Set());
		const loaded = await this.loadAll();
		if (this.arrived !== arrived)
			return; // a later one is under way
		this.items = new Map(loaded.map((item) => [item[this.key], item]));
		for (const [id, item] of arrived)
			this.items.set(id, item);
		for (const id of removed)
			this.items.delete(id);
		this.arrived = this.removed = null;
		this.isLoaded = true;
		this.tell();
	}

	put(item) {
		const id = item[this.key];
		this.items.set(id, item);
		this.arrived?.set(id, item);
		this.removed?.delete(id);
		this.tell();
	}

	remove(id) {
		this.items.delete(id);
		this.arrived?.delete(id);
		this.removed?.add(id);
		this.tell();
	}

	// By a timer: frames do not come to a page that nobody sees, and its lists must not grow stale.
	tell() {
		this.timer ??= setTimeout(() => {
			this.timer = null;
			this.dispatchEvent(new Event("change"));
		}, SOON_MS);
	}
}
