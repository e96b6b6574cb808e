// SPDX-License-Identifier: Apache-2.0
// Shows a run's flame graph in a dialog: of the whole run, of all spans of a name, or of one span.
import {Api} from "./api.js";
import {Dialog} from "./dialog.js";
import {make, makeButton, setText} from "./dom.js";
import {Flame} from "./flame.js";

export class FlameDialog {
	// |item| is a span as RunEvents.describe() returns it, or null for the whole run.
	constructor(api, run, item) {
		Object.assign(this, {api, run, item});
		this.path = `/runs/${encodeURIComponent(run.run)}/flame`;
		this.dialog = new Dialog(`Flame graph of ${run.run}`);
		this.one = make("input", {type: "checkbox", id: "flame-one", onchange: () => this.show()});
		this.problem = make("p", {class: "problem", role: "alert", hidden: true});
		this.link = make("a", {download: `${run.run}_flame.json`}, "As JSON");
		this.dialog.actions.append(this.problem, item ? make("label", {}, this.one, ` Only this ${item.name}`) : "", this.link,
			makeButton("Close", () => this.dialog.close(), {autofocus: true}));
	}

	// Opens when the data have come, so that a refusal is shown on the page itself.
	async open() {
		this.take(await this.api.get(this.path));
		this.dialog.open();
	}

	// Shows the chosen part. Of several requests the last one counts.
	async show() {
		const asking = (this.asking = {});
		try {
			const data = await this.api.get(this.path + this.query());
			if (asking === this.asking)
				this.take(data);
		} catch (error) {
			this.problem.hidden = false;
			setText(this.problem, error.message);
		}
	}

	query() {
		if (!this.one.checked)
			return "";
		const [, start, length] = this.item.span;
		return `?from=${Math.max(Math.floor(start), 0)}&to=${Math.max(Math.ceil(start + length), 1)}`;
	}

	take(data) {
		const {item, one} = this;
		const wanted = item ? {span: item.name, ...(one.checked ? {pid: item.track.pid, tid: item.track.tid} : {})} : {};
		this.problem.hidden = true;
		this.link.setAttribute("href", Api.url(this.path + this.query()));
		this.dialog.body.replaceChildren(new Flame(data, wanted).element);
	}
}
