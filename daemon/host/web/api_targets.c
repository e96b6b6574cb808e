/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of programs: their list, open spans and share of memory; see web_routes.h. */
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
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/target_json.h"
#include "daemon/host/web/web.h"
#include "daemon/host/web/web_routes.h"
#include "http/exchange.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/open_spans_json.h"
#include "rpc/client.h"
#include "rpc/server.h"

#define OPEN_SPANS "/proftap.v1.Profiler/OpenSpans"
#define PATIENCE_MS 5000
/* The longest reply that is accepted, as in proftap ps. */
#define MAX_REPLY_BYTES (8u << 20)
/* Stopped programs do not answer within this time, and are listed all the same. */
#define ANSWER_MS 300

/* --- the list of programs --------------------------------------------------------------------- */

static int list_targets(struct deferred *d)
{
	struct program *programs;
	size_t n;

	if (programs_list(d->web->host->programs, &d->caller, ANSWER_MS, &programs, &n)) {
		diag_set(&d->diag, -ENOMEM, "the host daemon is out of memory");
		return RPC_UNAVAILABLE;
	}
	json_begin_list(&d->text.json, "targets");
	for (size_t i = 0; i < n; i++) {
		json_begin_object(&d->text.json, NULL);
		target_json_write(&d->text.json, &programs[i]);
		json_end_object(&d->text.json);
	}
	json_end_list(&d->text.json);
	free(programs);
	return 0;
}

void api_answer_targets(struct http_exchange *x, void *context)
{
	deferred_start(x, context, list_targets, NULL);
}

/* --- open spans ------------------------------------------------------------------------------- */

static int write_open_spans(struct deferred *d, const struct program *p,
	struct rpc_pending *call_open_spans, struct audit *audit)
{
	_cleanup_free_ uint8_t *bytes = malloc(MAX_REPLY_BYTES);
	Proftap__V1__OpenSpansReply *reply = NULL;
	size_t n = 0;

	if (bytes && !rpc_pending_copy(call_open_spans, bytes, MAX_REPLY_BYTES, &n))
		reply = proftap__v1__open_spans_reply__unpack(NULL, n, bytes);
	if (!reply) {
		diag_set(&d->diag, -EBADMSG,
			"the answer of the program's server cannot be understood");
		return RPC_INTERNAL;
	}
	audit->n_bytes = n;
	json_uint(&d->text.json, "id", p->id);
	open_spans_json_write(&d->text.json, reply);
	proftap__v1__open_spans_reply__free_unpacked(reply, NULL);
	return 0;
}

static int call_open_spans(struct deferred *d, const struct program *p, struct rpc_channel *channel,
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
		r = write_open_spans(d, p, pending, audit);
	rpc_pending_free(pending);
	return r;
}

static int ask_open_spans(struct deferred *d, const struct program *p, struct audit *audit)
{
	struct rpc_channel *channel;
	int r;

	if (p->stock_address[0]) {
		diag_set(&d->diag, -EOPNOTSUPP,
			"%.64s (%d): %s's profiler server does not report open spans; record "
			"the program to see what it does",
			p->status.name, (int)p->pid, p->status.make);
		return RPC_UNIMPLEMENTED;
	}
	r = program_channel_open(d->web->host->programs, p->id, &channel, &d->diag);
	if (r)
		return r == -ESRCH ? RPC_NOT_FOUND : RPC_UNAVAILABLE;
	r = call_open_spans(d, p, channel, audit);
	rpc_channel_free(channel);
	return r;
}

/*
 * Answers with the open spans and their arguments. A capture contains the same arguments, so each
 * request has a line in the audit; web_audit.h writes the line of a user who may not see them.
 */
static int answer_open_spans(struct deferred *d)
{
	struct audit audit = {.what = "WebOpenSpans",
		.caller = d->caller,
		.is_caller_known = true,
		.begun_ns = monotonic_ns()};
	struct program p;
	int r = deferred_find_program(d, api_parse_id(d->name), &p);

	if (r)
		return r;
	audit_add_target(&audit, &p);
	r = ask_open_spans(d, &p, &audit);
	audit.result = rpc_status_name((enum rpc_status)r);
	audit.reason = r ? d->diag.text : "";
	if (r != RPC_NOT_FOUND && r != RPC_PERMISSION_DENIED)
		audit_write(&audit);
	return r;
}

void api_answer_open_spans(struct http_exchange *x, void *context)
{
	deferred_start(x, context, answer_open_spans, http_get_param(x, "id"));
}

/* --- a program's share of memory -------------------------------------------------------------- */

/* Each measurement blocks the program's mmap() and one of libuv's threads. */
#define MAX_MEASURED 2
#define MEASURE_WAIT_MS 2000

static int explain_unmeasured(struct deferred *d, const struct program *p, int error)
{
	static const struct {
		int error;
		enum rpc_status status;
		const char *why;
	} reasons[] = {
		{ESRCH, RPC_NOT_FOUND, "it has just ended"},
		{ENOENT, RPC_FAILED_PRECONDITION,
			"it has just ended, or the kernel has no smaps_rollup"},
		{EACCES, RPC_FAILED_PRECONDITION,
			"the kernel tells the program's user nothing: the program is not dumpable "
			"(prctl(2), PR_SET_DUMPABLE)"},
		{ETIMEDOUT, RPC_UNAVAILABLE, "its server does not answer"},
		{EAGAIN, RPC_UNAVAILABLE, "its server does not answer"},
	};
	size_t i = 0;

	while (i < sizeof reasons / sizeof *reasons && reasons[i].error != -error)
		i++;
	if (i < sizeof reasons / sizeof *reasons) {
		diag_set(&d->diag, error, "%s (%d): %s", p->status.name, (int)p->pid,
			reasons[i].why);
		return reasons[i].status;
	}
	diag_set(&d->diag, error, "%s (%d): its share of memory: %s", p->status.name, (int)p->pid,
		errno_words(error));
	return RPC_INTERNAL;
}

static int measure_memory(struct deferred *d)
{
	struct program p;
	struct json *j = &d->text.json;
	uint64_t n_bytes;
	int r = deferred_find_program(d, api_parse_id(d->name), &p);

	if (r)
		return r;
	r = programs_measure_memory(d->web->host->programs, p.id, MEASURE_WAIT_MS, &n_bytes);
	if (r)
		return explain_unmeasured(d, &p, r);
	json_uint(j, "id", p.id);
	json_int(j, "pid", p.pid);
	json_uint(j, "pss_bytes", n_bytes);
	json_int(j, "at_unix_ms", realtime_ns() / NS_PER_MS);
	return 0;
}

static int measure_memory_of_few(struct deferred *d)
{
	_Atomic unsigned *n = &d->web->api.n_measured;
	int r;

	if (atomic_fetch_add(n, 1) < MAX_MEASURED) {
		r = measure_memory(d);
	} else {
		diag_set(&d->diag, -EAGAIN, "%d programs are measured at a time; wait a little",
			MAX_MEASURED);
		r = RPC_RESOURCE_EXHAUSTED;
	}
	atomic_fetch_sub(n, 1);
	return r;
}

void api_answer_memory(struct http_exchange *x, void *context)
{
	deferred_start(x, context, measure_memory_of_few, http_get_param(x, "id"));
}
