// SPDX-License-Identifier: Apache-2.0
// The checks of this machine, like proftap doctor.
import {find, make, set, setText} from "./dom.js";
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

	show(report) {
		const table = new Table("Checks", [
			{title: "Check", isHead: true, text: (check) => check.name},
			{title: "State", fill: (cell, check) => this.fillState(cell, check)},
			{title: "Found", text: (check) => check.text, className: "wide"},
			{title: "Remedy", fill: (cell, check) => this.fillRemedy(cell, check), className: "wide"},
		], (check) => check.key);
		table.show(report.checks);
		this.place.replaceChildren(this.summarise(report), table.element);
	}

	summarise({hostname, kernel, processor, is_ready: isReady}) {
		const verdict = isReady ? "everything that recording needs is available" : "something that recording needs is missing";
		return make("p", {}, `${hostname}, Linux ${kernel}, ${processor}: ${verdict}.`);
	}

	fillState(cell, check) {
		setText(cell, check.state);
		set(cell, {"data-state": check.state, "data-needed": check.is_needed});
	}

	fillRemedy(cell, {command, reason}) {
		cell.replaceChildren(...[command && make("code", {}, command), reason && make("p", {class: "help"}, reason)].filter(Boolean));
	}
}
