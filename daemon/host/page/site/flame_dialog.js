// SPDX-License-Identifier: Apache-2.0
// Shows a run's flame graph in a dialog.
import {Api} from "./api.js";
import {Dialog} from "./dialog.js";
import {makeButton, make} from "./dom.js";
import {Flame} from "./flame.js";

// |span| is the name of a span whose inside is shown at first; undefined: everything.
export function showFlame(run, data, span) {
	const flame = new Flame(data, {span});
	const dialog = new Dialog(`Flame graph of ${run.run}`, flame.element);
	dialog.actions.append(
		make("a", {href: Api.url(`/runs/${encodeURIComponent(run.run)}/flame`), download: `${run.run}_flame.json`}, "As JSON"),
		makeButton("Close", () => dialog.close(), {autofocus: true}));
	dialog.open();
}
