// SPDX-License-Identifier: Apache-2.0
// The capture options that have no field elsewhere in the form: one field for each of them in the
// daemon's table of options. Only fields that the user filled in are sent.
import {make} from "./dom.js";

// The form has its own fields for the first two. The daemon sets the session, and the target is not
// an option of this form.
const ELSEWHERE = new Set(["duration_ms", "host_tracer_level", "session_id", "ptap_target"]);

export class OptionFields {
	constructor(options) {
		this.fields = options.filter(({key, uses}) => uses.includes("capture") && !ELSEWHERE.has(key))
			.map((option) => ({option, ...this.build(option)}));
		this.search = make("input", {type: "search", placeholder: "Search options", "aria-label": "Search options", oninput: () => this.show()});
		this.element = make("div", {class: "options"}, this.search, ...this.fields.map(({element}) => element));
	}

	build(option) {
		const id = `option-${option.key}`;
		const input = option.type === "bool" ? this.buildChoice(id) : this.buildInput(id, option);
		input.setAttribute("aria-describedby", `${id}-help`);
		const element = make("div", {class: "option"},
			make("label", {for: id}, option.key), input,
			make("p", {id: `${id}-help`, class: "help"}, this.describe(option)));
		return {input, element};
	}

	buildChoice(id) {
		return make("select", {id}, ...["", "true", "false"].map((value) => make("option", {value}, value || "default")));
	}

	buildInput(id, option) {
		const isNumber = option.type === "int";
		return make("input", {
			id,
			type: isNumber ? "number" : "text",
			min: isNumber ? option.min : null,
			max: isNumber ? option.max : null,
			placeholder: option.default ?? "",
			autocomplete: "off",
		});
	}

	describe({help, unit, min, max, type, default: byDefault}) {
		const notes = [];
		if (type === "int" && min !== null && max !== null)
			notes.push(`${min} to ${max}${unit ? ` ${unit}` : ""}`);
		else if (unit)
			notes.push(unit);
		if (byDefault !== null && byDefault !== "")
			notes.push(`default ${byDefault}`);
		return `${help}${notes.length ? ` (${notes.join("; ")})` : ""}`;
	}

	show() {
		const wanted = this.search.value.toLowerCase();
		for (const {option, element} of this.fields)
			element.hidden = !`${option.key} ${option.help}`.toLowerCase().includes(wanted);
	}

	showAll() {
		this.search.value = "";
		this.show();
	}

	get isWrong() {
		return this.fields.some(({input}) => !input.validity.valid);
	}

	read() {
		return Object.fromEntries(this.fields.filter(({input}) => input.value !== "").map(({option, input}) => [option.key, input.value]));
	}
}
