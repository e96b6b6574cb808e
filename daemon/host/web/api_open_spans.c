/* SPDX-License-Identifier: Apache-2.0 */
/* The route of the spans that are open in a program; see api_routes.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/api_program.h"
#include "daemon/host/web/api_routes.h"
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/open_spans_json.h"
#include "rpc/client.h"

#define OPEN_SPANS "/proftap.v1.Profiler/OpenSpans"
#define PATIENCE_MS 5000
/* The longest reply that is accepted, as in proftap ps. */
#define MAX_REPLY_BYTES (8u << 20)

static int write_reply(
	struct deferred *d, const struct program *p, struct rpc_pending *call, struct audit *audit)
{
	_cleanup_free_ uint8_t *bytes = malloc(MAX_REPLY_BYTES);
	Proftap__V1__OpenSpansReply *reply = NULL;
	size_t n = 0;

	if (bytes && !rpc_pending_copy(call, bytes, MAX_REPLY_BYTES, &n))
		reply = proftap__v1__open_spans_reply__unpack(NULL, n, bytes);
	if (!reply) {
		diag_set(&d->diag, -EBADMSG,
			"what the program's server answered cannot be understood");
		return RPC_INTERNAL;
	}
	audit->n_bytes = n;
	json_uint(&d->text.json, "id", p->id);
	open_spans_json_write(&d->text.json, reply);
	proftap__v1__open_spans_reply__free_unpacked(reply, NULL);
	return 0;
}

static int call(struct deferred *d, const struct program *p, struct rpc_channel *channel,
	struct audit *audit)
{
	const struct rpc_request request = {
		.path = OPEN_SPANS,
		.message = (const uint8_t *)"",
		.timeout_ms = PATIENCE_MS,
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct rpc_pending *pending = NULL;
	int r = RPC_UNAVAILABLE;

	if (!rpc_call_start(channel, &request, &pending, &d->diag)) {
		while (!rpc_pending_wait(pending, -1))
			;
		r = program_channel_get_status(pending, &d->diag);
	}
	if (r == RPC_OK)
		r = write_reply(d, p, pending, audit);
	rpc_pending_free(pending);
	return r;
}

static int ask(struct deferred *d, const struct program *p, struct audit *audit)
{
	struct rpc_channel *channel;
	int r;

	if (p->stock_address[0]) {
		diag_set(&d->diag, -EOPNOTSUPP,
			"%.64s (%d): %s's profiler server does not tell which spans are open; record "
			"the program to see what it does",
			p->status.name, (int)p->pid, p->status.make);
		return RPC_UNIMPLEMENTED;
	}
	r = program_channel_open(d->web->host->programs, p->id, &channel, &d->diag);
	if (r)
		return r == -ESRCH ? RPC_NOT_FOUND : RPC_UNAVAILABLE;
	r = call(d, p, channel, audit);
	rpc_channel_free(channel);
	return r;
}

/*
 * Answers with the open spans and their arguments. Arguments are what a capture has, too, so each
 * look has a line in the audit; web_audit.h writes the line of a user who may not see them.
 */
static int look(struct deferred *d)
{
	struct audit audit = {.what = "WebOpenSpans",
		.caller = d->caller,
		.is_caller_known = 1,
		.begun_ns = monotonic_ns()};
	struct program p;
	int r = api_program_find(d, api_parse_id(d->name), &p);

	if (r)
		return r;
	audit_add_target(&audit, &p);
	r = ask(d, &p, &audit);
	audit.result = rpc_status_name((enum rpc_status)r);
	audit.reason = r ? d->diag.text : "";
	if (r != RPC_NOT_FOUND && r != RPC_PERMISSION_DENIED)
		audit_write(&audit);
	return r;
}

void api_answer_open_spans(struct http_exchange *x, void *context)
{
	deferred_start(x, context, look, http_get_param(x, "id"));
}
