// SPDX-License-Identifier: Apache-2.0
// A table of items. On a narrow page each row becomes a card (lists.css), whose cells show their
// column's title.
import {keepRows, make, setText} from "./dom.js";

export class Table {
	// Columns are {title, text(item) or fill(cell, item), className, isHead}.
	constructor(label, columns, key) {
		this.columns = columns;
		this.key = key;
		this.body = make("tbody");
		const heads = columns.map((column) => make("th", {scope: "col", class: column.className}, column.title));
		this.element = make("table", {"aria-label": label}, make("thead", {}, make("tr", {}, ...heads)), this.body);
	}

	show(items) {
		keepRows(this.body, items, {
			key: this.key,
			create: () => this.create(),
			update: (row, item) => this.update(row, item),
		});
	}

	create() {
		return make("tr", {}, ...this.columns.map((column) => make(column.isHead ? "th" : "td", {
			scope: column.isHead ? "row" : null,
			class: column.className,
			"data-label": column.title,
		})));
	}

	update(row, item) {
		this.columns.forEach((column, i) => {
			if (column.fill)
				column.fill(row.children[i], item);
			else
				setText(row.children[i], column.text(item));
		});
	}
}
