// SPDX-License-Identifier: Apache-2.0
// Calls tensorflow.ProfilerService and proftap.v1.Profiler with Node's gRPC. usage: client.mjs PROTO_DIR PORT NAME...
// Prints one line for each call, a JSON object with its outcome. NAME: an event that the program emits again and again.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.NODE_MODULES}/`);
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [protoDir, port, ...wanted] = process.argv.slice(2);
const definition = loader.loadSync(
	["tsl/profiler/protobuf/profiler_service.proto", "proftap/v1/profiler.proto"],
	{ includeDirs: [protoDir], keepCase: true, longs: String, defaults: true, oneofs: true },
);
const root = grpc.loadPackageDefinition(definition);
const address = `127.0.0.1:${port}`;
const limits = { "grpc.max_receive_message_length": -1, "grpc.enable_http_proxy": 0 };
const stock = new root.tensorflow.ProfilerService(
	address, grpc.credentials.createInsecure(), limits);

const own = new root.proftap.v1.Profiler(address, grpc.credentials.createInsecure(), limits);

function say(name, value) {
	console.log(JSON.stringify({ name, ...value }));
}

function summarise(error, reply) {
	if (error)
		return { code: error.code, text: error.details };
	const planes = reply.xspace ? reply.xspace.planes : [];
	const names = new Set();
	let nEvents = 0;
	for (const plane of planes) {
		// In maps with 64-bit keys protobuf.js uses keys of its own, so the ids are read from the values.
		const byId = new Map(Object.values(plane.event_metadata).map((m) => [m.id, m.name]));
		for (const line of plane.lines)
			for (const event of line.events) {
				nEvents++;
				names.add(byId.get(event.metadata_id));
			}
	}
	return { code: 0, events: nEvents, names: [...names], empty: reply.empty_trace };
}

function ask(message, seconds) {
	const deadline = new Date(Date.now() + 1000 * seconds);
	return new Promise((resolve) =>
		stock.Profile(message, { deadline }, (error, reply) => resolve({ error, reply })));
}

async function call(message, seconds) {
	let answer;
	do
		answer = await ask(message, seconds);
	while (answer.error && answer.error.details.startsWith("Another profiling session active"));
	return summarise(answer.error, answer.reply);
}

// On a busy machine it takes an unknown time until each event has happened once, so each try records twice as long.
async function longEnough(record, isEnough) {
	let found;
	for (let ms = 200; ms <= 60000; ms *= 2) {
		found = await record(ms);
		if (isEnough(found))
			break;
	}
	return found;
}

function hasAll(found) {
	return wanted.every((name) => found.names?.includes(name));
}

function profile(ms, level = 2) {
	return {
		emit_xspace: true,
		session_id: "node",
		opts: { version: 1, duration_ms: ms, host_tracer_level: level },
	};
}

// Calls Capture of our own service, and resolves to the progress messages and bytes that came, and the trailer.
function capture(ms) {
	const found = { progress: 0, bytes: 0, trailer: null };
	const stream = own.Capture(
		{ options: profile(ms).opts, progress_interval_ms: 50 },
		{ deadline: new Date(Date.now() + ms + 60000) });
	return new Promise((resolve) => {
		stream.on("data", (reply) => {
			found.progress += reply.part === "progress";
			found.bytes += reply.part === "chunk" ? reply.chunk.length : 0;
			found.trailer = reply.part === "trailer" ? reply.trailer : found.trailer;
		});
		stream.on("error", (error) => resolve({ code: error.code, text: error.details }));
		stream.on("end", () => resolve({ code: 0, ...found }));
	});
}

// Ends a session of ten minutes early. Terminate is repeated, because it has no effect before
// the session has begun.
async function recordUntilTerminated(ms) {
	const ended = call(profile(600000), 660);
	let again = null;
	const first = setTimeout(() => {
		again = setInterval(() => stock.Terminate({ session_id: "node" }, () => {}), 50);
	}, ms);
	const found = await ended;
	clearTimeout(first);
	clearInterval(again);
	return found;
}

say("profile", await longEnough((ms) => call(profile(ms), 60 + ms / 1000), hasAll));
say("stream", await longEnough(capture, (found) => found.progress >= 2));
say("bad level", await call(profile(200, 9), 60));
say("deadline", await call(profile(60000), 0.3));
say("terminated", await longEnough(recordUntilTerminated, hasAll));
stock.close();
