// SPDX-License-Identifier: Apache-2.0
// What this machine permits, as proftap doctor tells it.
import {find, make, setText} from "./dom.js";
import {Table} from "./table.js";

export class Doctor {
	constructor(api) {
		this.api = api;
		this.place = find("doctor");
		find("doctor-again").addEventListener("click", () => this.look());
	}

	async look() {
		try {
			this.show(await this.api.get("/doctor"));
		} catch (error) {
			this.place.replaceChildren(make("p", {class: "none"}, error.message));
		}
	}

	show({checks}) {
		const table = new Table("Checks", [
			{title: "What", isHead: true, text: (check) => check.name},
			{title: "State", fill: (cell, check) => this.fillState(cell, check)},
			{title: "Detail", text: (check) => check.detail ?? "", className: "wide"},
			{title: "What to do", fill: (cell, check) => this.fillRemedy(cell, check), className: "wide"},
		], (check) => check.name);
		table.show(checks);
		this.place.replaceChildren(table.element);
	}

	fillState(cell, check) {
		setText(cell, check.state);
		cell.dataset.state = check.state;
	}

	fillRemedy(cell, check) {
		if (check.remedy)
			cell.replaceChildren(make("code", {}, check.remedy));
	}
}
