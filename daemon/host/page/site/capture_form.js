// SPDX-License-Identifier: Apache-2.0
// The form of a capture: one running program, several, or the next one that starts; the duration
// and the options; or a snapshot of recorded data. Dispatches "begun" (detail: the capture).
import {find, make, set, setText} from "./dom.js";
import {OptionFields} from "./option_fields.js";

const LEVELS = [["1", "1: user"], ["2", "2: user and info (default)"], ["3", "3: all, including verbose"], ["0", "0: no spans, usage only"]];

function field(label, input, help) {
	const helpId = `${input.id}-help`;
	if (help)
		input.setAttribute("aria-describedby", helpId);
	return make("div", {class: "field"}, make("label", {for: input.id}, label), input, help ? make("p", {id: helpId, class: "help"}, help) : null);
}

export class CaptureForm extends EventTarget {
	// findOnly() returns the pid if there is exactly one program, else "all".
	constructor(api, findOnly) {
		super();
		Object.assign(this, {api, findOnly});
		this.options = null;
		this.buildFields();
		this.form = make("form", {"aria-labelledby": "capture-title", onsubmit: (event) => this.submit(event)},
			this.modes, this.targetField, this.nextField, this.waitField, this.lastField, this.durationField, this.levelField,
			field("Name of the run", this.run), this.optionsBox, this.button, this.problem);
		this.form.addEventListener("invalid", () => this.showAll(), {capture: true});
		find("capture-form").append(this.form);
		this.showMode();
	}

	buildFields() {
		this.modes = make("fieldset", {class: "modes"}, make("legend", {class: "unseen"}, "Source"),
			this.buildMode("now", "Running program", true), this.buildMode("next", "Next program that starts", false),
			this.buildMode("held", "Data held already", false));
		this.target = make("input", {id: "capture-target", autocomplete: "off", spellcheck: "false", placeholder: "all programs"});
		this.targetField = field("Program", this.target, "A pid, a name, a /path, or all; commas separate several. name=NAME means all programs of that name. Or select one in the list.");
		this.next = make("input", {id: "capture-next", autocomplete: "off", spellcheck: "false", placeholder: "train*"});
		this.nextField = field("Name or path", this.next, "A pattern: * and ? match any characters. The recording starts at the program's first annotation.");
		this.wait = make("input", {id: "capture-wait", type: "number", min: "1", max: "3600", value: "600", required: true});
		this.waitField = field("Wait for it, s", this.wait);
		this.last = make("input", {id: "capture-last", type: "number", min: "1", max: "86400000", placeholder: "all"});
		this.lastField = field("Last, ms", this.last, "The data come from the running session, or else from the flight recorder. Only the flight recorder's can be cut to the last milliseconds.");
		this.duration = make("input", {id: "capture-duration", type: "number", min: "1", max: "86400000", value: "500", required: true});
		this.level = make("select", {id: "capture-level"}, ...LEVELS.map(([value, text]) =>
			make("option", {value, selected: value === "2"}, text)));
		this.durationField = field("Duration, ms", this.duration);
		this.levelField = field("Level", this.level);
		this.run = make("input", {id: "capture-run", autocomplete: "off", spellcheck: "false", placeholder: "current time", maxlength: "127"});
		this.optionsBox = make("details", {ontoggle: () => this.loadOptions()}, make("summary", {}, "More options"));
		this.button = make("button", {id: "capture-button", class: "main"}, "Capture");
		this.problem = make("p", {class: "problem", role: "alert"});
	}

	buildMode(value, text, checked) {
		return make("label", {}, make("input", {type: "radio", name: "capture-mode", value, checked, onchange: () => this.showMode()}), text);
	}

	get mode() {
		return this.modes.querySelector("input:checked").value;
	}

	get isNext() {
		return this.mode === "next";
	}

	// A snapshot reads data that is already recorded, so duration, level and options do not
	// apply.
	get isHeld() {
		return this.mode === "held";
	}

	showMode() {
		this.targetField.hidden = this.isNext;
		this.nextField.hidden = this.waitField.hidden = !this.isNext;
		this.lastField.hidden = !this.isHeld;
		this.durationField.hidden = this.levelField.hidden = this.optionsBox.hidden = this.isHeld;
		set(this.next, {required: this.isNext});
		this.wait.disabled = !this.isNext;
		// An invalid value in a hidden field must not stop a snapshot.
		this.form.noValidate = this.isHeld;
	}

	// Fills in the program that the user selected in the list; null empties the field.
	select(target) {
		this.target.value = target ? String(target.pid) : "";
		if (this.isNext)
			this.modes.querySelector("[value=now]").checked = true;
		this.showMode();
	}

	async loadOptions() {
		if (!this.optionsBox.open || this.options)
			return;
		try {
			const {options} = await this.api.get("/options");
			this.options ??= new OptionFields(options);
			this.optionsBox.append(this.options.element);
		} catch (error) {
			setText(this.problem, error.message);
		}
	}

	// Runs before the browser marks the invalid field, because the browser cannot show a
	// message at a hidden one.
	showAll() {
		this.optionsBox.open ||= Boolean(this.options?.isWrong);
		this.options?.showAll();
	}

	read() {
		const body = this.isHeld ? this.readHeld() : this.readRecording();
		if (this.run.value.trim())
			body.run = this.run.value.trim();
		return body;
	}

	readHeld() {
		const body = {target: this.readTarget(), snapshot: ""};
		if (this.last.value)
			body.last_ms = Number(this.last.value);
		return body;
	}

	readRecording() {
		const body = {
			duration_ms: Number(this.duration.value),
			options: {host_tracer_level: Number(this.level.value), ...this.options?.read()},
		};
		if (this.isNext)
			return {...body, next: this.next.value.trim(), wait_ms: Number(this.wait.value) * 1000};
		return {...body, target: this.readTarget()};
	}

	readTarget() {
		const words = this.target.value.split(",").map((word) => word.trim()).filter(Boolean);
		if (!words.length)
			return this.findOnly();
		return words.length === 1 ? words[0] : words;
	}

	async submit(event) {
		event.preventDefault();
		if (this.isAsking)
			return;
		setText(this.problem, "");
		this.tellAsking(true);
		try {
			const capture = await this.api.post("/captures", this.read());
			this.dispatchEvent(new CustomEvent("begun", {detail: capture}));
		} catch (error) {
			setText(this.problem, error.message);
		} finally {
			this.tellAsking(false);
		}
	}

	// The button is not disabled, because a disabled button loses the keyboard focus.
	tellAsking(isAsking) {
		this.isAsking = isAsking;
		set(this.button, {"aria-disabled": isAsking ? "true" : null});
	}
}
