// SPDX-License-Identifier: Apache-2.0
// Requests to the daemon (docs/http-api.md). A refused request throws a Refusal that has the
// daemon's own message.

const ROOT = "/api/v1";

export class Refusal extends Error {
	constructor(code, message) {
		super(message);
		this.code = code; // gRPC's name, or "UNREACHABLE"
	}
}

async function readRefusal(reply) {
	try {
		const {error} = await reply.json();
		return new Refusal(error.code, error.message);
	} catch {
		return new Refusal("UNKNOWN", `the daemon answered ${reply.status} ${reply.statusText}`);
	}
}

async function ask(path, options) {
	let reply;
	try {
		reply = await fetch(ROOT + path, options);
	} catch (error) {
		if (error.name === "AbortError")
			throw error;
		throw new Refusal("UNREACHABLE", "the daemon does not answer");
	}
	if (!reply.ok)
		throw await readRefusal(reply);
	return reply;
}

export class Api {
	constructor() {
		this.session = null;
	}

	static url(path) {
		return ROOT + path;
	}

	async open() {
		this.session = await this.get("/session");
		return this.session;
	}

	async get(path, signal) {
		return (await ask(path, {signal})).json();
	}

	// JavaScript would round large integers, so those named "value" or "id" are returned as
	// strings with all digits. Older browsers pass no source text, so there they are rounded.
	async getExactly(path, signal) {
		return JSON.parse(await (await ask(path, {signal})).text(), (key, value, context) =>
			(typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && (key === "value" || key === "id") && context?.source) || value);
	}

	async getBuffer(path, signal) {
		return (await ask(path, {signal})).arrayBuffer();
	}

	post(path, body) {
		return this.write("POST", path, body);
	}

	delete(path) {
		return this.write("DELETE", path);
	}

	// A restarted daemon refuses the old token, so a refused request is sent once more with a
	// new token.
	async write(method, path, body) {
		try {
			return await this.writeOnce(method, path, body);
		} catch (error) {
			if (error.code !== "PERMISSION_DENIED")
				throw error;
			await this.open();
			return this.writeOnce(method, path, body);
		}
	}

	async writeOnce(method, path, body) {
		const headers = {"X-Proftap-Token": this.session?.token ?? ""};
		if (body !== undefined)
			headers["Content-Type"] = "application/json";
		const reply = await ask(path, {method, headers, body: body === undefined ? undefined : JSON.stringify(body)});
		return reply.status === 204 ? null : reply.json();
	}
}
