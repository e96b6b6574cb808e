// SPDX-License-Identifier: Apache-2.0
// The page: the daemon's data, kept up to date by events, and the parts that show them.
import {Api} from "./api.js";
import {CaptureForm} from "./capture_form.js";
import {Captures, tellChange} from "./captures.js";
import {Charts} from "./charts.js";
import {Collection} from "./collection.js";
import {closeDialogs, confirm} from "./dialog.js";
import {Doctor} from "./doctor.js";
import {find, setText} from "./dom.js";
import {EventsSection} from "./events_section.js";
import {Feed} from "./feed.js";
import {LinkState} from "./link_state.js";
import {OpenSpans} from "./open_spans.js";
import {handOver, openPerfetto} from "./perfetto.js";
import {Programs} from "./programs.js";
import {showReport} from "./report.js";
import {RunEvents} from "./run_events.js";
import {Runs} from "./runs.js";
import {Samples} from "./samples.js";
import {TimeBar} from "./time_bar.js";
import {TimeWindow} from "./time_window.js";

// After a program has ended, its server may still write a run. How long that takes is unknown, and
// the daemon gets no event of it, so the runs are loaded again at these times after the end.
const RUNS_AFTER_END_MS = [1000, 4000, 15000];

const descending = (key) => (a, b) => b[key] - a[key];

export class Page {
	constructor() {
		this.api = new Api();
		this.feed = new Feed();
		this.samples = new Samples();
		this.timeWindow = new TimeWindow();
		this.events = new RunEvents(this.api, this.timeWindow);
		this.mine = new Set(); // ids of the captures that this page started
		this.wantedPid = null;
		this.makeCollections();
		this.makeParts();
		this.listen();
	}

	makeCollections() {
		const {api} = this;
		this.targets = new Collection({key: "id", order: (a, b) => a.pid - b.pid, load: async () => (await api.get("/targets")).targets});
		this.captures = new Collection({key: "id", order: descending("id"), load: async () => (await api.get("/captures")).captures});
		this.runs = new Collection({key: "run", order: descending("written_unix_ms"), load: () => this.loadRuns()});
	}

	// If the log directory cannot be read, the list of runs shows the error, and the rest of
	// the page works.
	async askForRuns() {
		try {
			const answer = await this.api.get("/runs");
			this.runList.setFailure(null);
			return answer;
		} catch (error) {
			if (error.code === "UNREACHABLE")
				throw error;
			this.runList.setFailure(error.message);
			return {log_dir: "", runs: [], n_more: 0};
		}
	}

	async loadRuns() {
		const {log_dir: place, runs, n_more: nMore} = await this.askForRuns();
		setText(find("runs-place"), place ?? "no log directory: captures are refused; set one with proftapd --log_dir");
		this.runList.setMore(nMore);
		return runs;
	}

	makeParts() {
		this.link = new LinkState(this.feed);
		this.timeBar = new TimeBar(this.timeWindow);
		this.charts = new Charts(this.samples, this.timeWindow, this.events);
		this.eventsSection = new EventsSection(this.events, this.timeWindow, (run, span) => this.try(() => this.openFlame(run, span)));
		this.programs = new Programs(this.targets, (target) => this.try(() => this.measure(target)), (target) => new OpenSpans(this.api, target));
		this.form = new CaptureForm(this.api, () => (this.targets.items.size === 1 ? this.targets.list()[0].pid : "all"));
		this.captureList = new Captures(this.captures, (name, capture) => this.try(() => this.actOnCapture(name, capture)));
		this.runList = new Runs(this.runs, (name, run) => this.try(() => this.actOnRun(name, run)));
		this.doctor = new Doctor(this.api);
	}

	listen() {
		this.feed.addEventListener("news", ({detail: {name, data}}) => this.take(name, data));
		this.feed.addEventListener("restarted", () => this.restart());
		this.feed.addEventListener("state", ({detail}) => detail === "live" && !this.api.session && this.try(() => this.load()));
		this.targets.addEventListener("change", () => this.selectWanted());
		this.samples.addEventListener("change", () => this.timeWindow.advance(this.samples.lastMs));
		this.samples.addEventListener("change", () => this.programs.takeUsage(this.samples.programs));
		this.events.addEventListener("change", () => this.charts.draw());
		this.programs.addEventListener("select", ({detail}) => this.try(() => this.follow(detail)));
		this.form.addEventListener("begun", ({detail}) => this.begin(detail));
		find("runs-again").addEventListener("click", () => this.try(() => this.runs.load()));
		window.addEventListener("hashchange", () => this.showView());
		this.showView();
	}

	// After a restart of the daemon no data from before is valid.
	restart() {
		this.wantedPid = this.programs.selected?.pid ?? null;
		this.samples.clear();
		this.programs.select(null);
		this.try(() => this.load());
	}

	// A restarted daemon gives programs new ids, so the selected program is found again by its
	// pid.
	selectWanted() {
		const target = this.targets.list().find(({pid}) => pid === this.wantedPid);
		if (!target)
			return;
		this.wantedPid = null;
		this.programs.select(target.id);
	}

	async start() {
		this.feed.open();
		await this.try(() => this.load());
	}

	async load() {
		const session = await this.api.open();
		setText(find("machine"), `${session.hostname} · ${session.user}${session.may_all ? ", all programs" : ""}`);
		find("machine").title = `proftapd ${session.version}`;
		await Promise.all([this.loadUsage(), this.targets.load(), this.captures.load(), this.runs.load()]);
	}

	async loadUsage() {
		const pid = this.programs.selected?.pid;
		const asking = (this.usageAsking = this.api.get(pid ? `/usage?pid=${pid}` : "/usage").catch((error) => {
			// The program is gone, so only the machine's usage is loaded.
			if (pid && error.code === "NOT_FOUND")
				return this.api.get("/usage");
			throw error;
		}));
		const usage = await asking;
		if (asking === this.usageAsking)
			this.samples.load(usage);
	}

	async try(action) {
		try {
			await action();
		} catch (error) {
			if (error.code !== "UNREACHABLE") // the banner says that already
				this.link.complain(error.message);
		}
	}

	take(name, data) {
		switch (name) {
		case "reset":
			this.try(() => this.load());
			break;
		case "usage":
			this.samples.add(data);
			break;
		case "target":
			this.targets.put(data);
			break;
		case "target_gone":
			this.targets.remove(data.id);
			RUNS_AFTER_END_MS.forEach((ms) => setTimeout(() => this.try(() => this.runs.load()), ms));
			break;
		case "capture":
			this.takeCapture(data);
			break;
		case "capture_gone":
			this.mine.delete(data.id);
			this.captures.remove(data.id);
			break;
		case "run":
			this.runs.put(data);
			break;
		case "run_gone":
			this.forgetRun(data.run);
			break;
		}
	}

	takeCapture(capture) {
		this.link.say(tellChange(this.captures.get(capture.id), capture));
		this.captures.put(capture);
		if (capture.is_over && this.mine.delete(capture.id) && capture.run)
			this.try(() => this.openRun(capture.run));
	}

	begin(capture) {
		this.mine.add(capture.id);
		// The capture's events may arrive before the answer to the request.
		const known = this.captures.get(capture.id);
		this.takeCapture(known ?? capture);
	}

	forgetRun(name) {
		this.runs.remove(name);
		if (this.events.run?.run === name)
			this.eventsSection.close();
	}

	async follow(target) {
		this.form.select(target);
		this.charts.follow(target?.pid ?? null);
		this.feed.open(target?.pid ?? null);
		await this.loadUsage();
	}

	async measure(target) {
		this.programs.takeMemory(await this.api.get(`/targets/${target.id}/memory`));
	}

	async openRun(name) {
		const run = this.runs.get(name) ?? (await this.api.get(`/runs/${encodeURIComponent(name)}`));
		await this.events.open(run);
		find("events").scrollIntoView({block: "nearest"});
	}

	// Loads the modules of the flame graph now, because most visits need none.
	async openFlame(run, span) {
		const {FlameDialog} = await import("./flame_dialog.js");
		await new FlameDialog(this.api, run, span).open();
	}

	async actOnCapture(name, capture) {
		const path = `/captures/${capture.id}`;
		if (name === "open")
			await this.openRun(capture.run);
		else if (name === "stop")
			await this.api.post(`${path}/stop`); // events report the outcome
		else
			await this.api.delete(path);
	}

	async actOnRun(name, run) {
		const path = `/runs/${encodeURIComponent(run.run)}`;
		if (name === "open")
			await this.openRun(run.run);
		else if (name === "report")
			showReport(run, await this.api.getExactly(`${path}/report`));
		else if (name === "flame")
			await this.openFlame(run, null);
		else if (name === "perfetto")
			await handOver(openPerfetto(), this.api.getBuffer(`${path}/perfetto`), run.run);
		else if (await confirm(`Delete ${run.run}?`, `${run.files.length} files are removed from the log directory, for good.`, "Delete"))
			await this.api.delete(path);
	}

	showView() {
		const isDoctor = location.hash === "#doctor-view";
		closeDialogs();
		find("machine-view").hidden = isDoctor;
		find("doctor-view").hidden = !isDoctor;
		document.querySelectorAll("nav a").forEach((link) =>
			link.toggleAttribute("aria-current", (link.getAttribute("href") === "#doctor-view") === isDoctor));
		if (isDoctor)
			this.doctor.look();
	}
}

export const page = new Page();
page.start();
