/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of captures; see web_routes.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/web.h"
#include "daemon/host/web/web_audit.h"
#include "daemon/host/web/web_capture.h"
#include "daemon/host/web/web_routes.h"
#include "http/exchange.h"
#include "rpc/server.h"

static uint64_t get_capture_id(const struct http_exchange *x)
{
	return api_parse_id(http_get_param(x, "id"));
}

static void answer_capture(struct http_exchange *x, struct web *w, uint64_t id, unsigned status)
{
	struct json_text text;
	struct caller caller;
	struct diag d = DIAG_INIT;
	int r;

	web_get_caller(x, &caller);
	if (json_text_begin(&text)) {
		api_refuse_memory(x);
		return;
	}
	r = jobs_write(&w->api.jobs, &caller, id, &text.json, &d);
	if (r)
		api_refuse(x, r, &d, &text);
	else
		api_answer(x, status, &text);
}

void api_answer_captures(struct http_exchange *x, void *context)
{
	struct web *w = context;
	struct json_text text;
	struct caller caller;

	web_get_caller(x, &caller);
	if (json_text_begin(&text)) {
		api_refuse_memory(x);
		return;
	}
	json_begin_list(&text.json, "captures");
	jobs_write_all(&w->api.jobs, &caller, &text.json);
	json_end_list(&text.json);
	api_answer(x, 200, &text);
}

/* Refuses an action on captures; the audit notes refused actions, too. */
static void refuse_capture(struct http_exchange *x, int rpc_status, const struct diag *d)
{
	web_audit_refused(x, rpc_status_name(rpc_status), d->text);
	api_refuse(x, rpc_status, d, NULL);
}

static void begin_capture(struct http_exchange *x, struct web *w, struct web_capture *request)
{
	struct caller caller;
	struct diag d = DIAG_INIT;
	char place[64];
	uint64_t id;
	int r;

	web_get_caller(x, &caller);
	r = jobs_begin(&w->api.jobs, &caller, request, &id, &d);
	if (r) {
		refuse_capture(x, r, &d);
		return;
	}
	snprintf(place, sizeof place, "/api/v1/captures/%" PRIu64, id);
	http_set_header(x, "Location", place);
	answer_capture(x, w, id, 201);
}

void api_create_capture(struct http_exchange *x, void *context)
{
	struct web_capture request;
	struct diag d = DIAG_INIT;
	size_t n;
	const char *body = http_get_body(x, &n);
	int r = web_capture_parse(&request, body, n, &d);

	if (!r) {
		begin_capture(x, context, &request);
		return;
	}
	web_capture_deinit(&request);
	if (r == -ENOMEM)
		api_refuse_memory(x);
	else
		refuse_capture(x, RPC_INVALID_ARGUMENT, &d);
}

void api_answer_capture(struct http_exchange *x, void *context)
{
	answer_capture(x, context, get_capture_id(x), 200);
}

/* Returns true when |order| was carried out, or false when it was refused. */
static bool do_order(struct http_exchange *x, struct web *w,
	int (*order)(struct jobs *jobs, const struct caller *caller, uint64_t id, struct diag *d))
{
	struct caller caller;
	struct diag d = DIAG_INIT;
	int r;

	web_get_caller(x, &caller);
	r = order(&w->api.jobs, &caller, get_capture_id(x), &d);
	if (r)
		refuse_capture(x, r, &d);
	else
		web_audit_done(x);
	return r == 0;
}

void api_stop_capture(struct http_exchange *x, void *context)
{
	if (do_order(x, context, jobs_stop))
		answer_capture(x, context, get_capture_id(x), 200);
}

void api_delete_capture(struct http_exchange *x, void *context)
{
	if (do_order(x, context, jobs_delete))
		http_reply_bytes(x, 204, NULL, "", 0);
}
