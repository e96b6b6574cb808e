// SPDX-License-Identifier: Apache-2.0
// All items of one kind that the daemon has, by id. They are loaded once and then kept up to date
// by events. Dispatches "change" soon after an event, once for several events.

const SOON_MS = 16;

export class Collection extends EventTarget {
	// load() returns all items; |order| compares two of them.
	constructor({key, load, order}) {
		super();
		this.key = key;
		this.loadAll = load;
		this.order = order;
		this.items = new Map();
		this.isLoaded = false;
		this.timer = null;
		this.arrived = null; // items that arrive while a load is running
		this.removed = null; // ids that are removed meanwhile
	}

	get(id) {
		return this.items.get(id);
	}

	list() {
		return [...this.items.values()].sort(this.order);
	}

	// The answer is older than events that arrive before it, so those events are applied to it.
	async load() {
		const arrived = (this.arrived = new Map());
		const removed = (this.removed = new Set());
		const loaded = await this.loadAll();
		if (this.arrived !== arrived)
			return; // a later load is running
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

	// A timer, not an animation frame: hidden pages get no frames, and their lists must stay up
	// to date, too.
	tell() {
		this.timer ??= setTimeout(() => {
			this.timer = null;
			this.dispatchEvent(new Event("change"));
		}, SOON_MS);
	}
}
