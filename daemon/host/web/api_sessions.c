/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of sessions; see api_routes.h. What they have is taken by captures (web_capture.h, |snapshot|). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/calls/audit.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/api_program.h"
#include "daemon/host/web/api_routes.h"
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/session_call.h"
#include "daemon/host/web/session_order.h"
#include "daemon/host/web/web.h"
#include "daemon/host/web/web_audit.h"
#include "http/exchange.h"
#include "rpc/server.h"

/* A server that is stopped keeps a thread here waiting, of which there are four. */
#define MAX_AT_A_TIME 2

static void write_audit(const struct deferred *d, const struct program *p, const char *what,
	int status, int64_t begun_ns)
{
	const struct session_order *o = d->order.what;
	struct audit a = {.what = what,
		.caller = d->caller,
		.is_caller_known = 1,
		.begun_ns = begun_ns,
		.result = rpc_status_name(status),
		.reason = d->diag.text};

	audit_add_target(&a, p);
	snprintf(a.options, sizeof a.options, "session=%s recorder=%s%s%s", o->asked.session,
		o->is_recorder ? "true" : "false", web_capture_has_options(&o->asked) ? " " : "",
		web_capture_has_options(&o->asked) ? o->asked.options_text : "");
	audit_write(&a);
}

static int begin(struct deferred *d, const struct program *p)
{
	const struct session_order *o = d->order.what;
	char name[SESSION_CALL_NAME_BYTES];
	int r = session_call_begin(d->web->host->programs, o, p, name, &d->diag);

	if (r)
		return r;
	json_uint(&d->text.json, "id", p->id);
	json_int(&d->text.json, "pid", p->pid);
	json_text(&d->text.json, "session", name);
	json_texts(&d->text.json, "warnings", o->asked.warnings, (uint32_t)o->asked.n_warnings);
	return 0;
}

static int give_up(struct deferred *d, const struct program *p)
{
	return session_call_give_up(d->web->host->programs, d->order.what, p, &d->diag);
}

static int obey(struct deferred *d, const char *what,
	int (*work)(struct deferred *d, const struct program *p))
{
	const struct session_order *o = d->order.what;
	_Atomic unsigned *n = &d->web->api.n_session_calls;
	int64_t begun_ns = monotonic_ns();
	struct program p = {0};
	int r = api_program_find(d, o->target, &p);

	if (!r && atomic_fetch_add(n, 1) >= MAX_AT_A_TIME) {
		diag_set(&d->diag, -EAGAIN, "%d programs are asked at a time; wait a little",
			MAX_AT_A_TIME);
		r = RPC_RESOURCE_EXHAUSTED;
		atomic_fetch_sub(n, 1);
	} else if (!r) {
		r = work(d, &p);
		atomic_fetch_sub(n, 1);
	}
	write_audit(d, &p, what, r, begun_ns);
	return r;
}

static int work_begin(struct deferred *d)
{
	return obey(d, "WebStart", begin);
}

static int work_give_up(struct deferred *d)
{
	return obey(d, "WebGiveUp", give_up);
}

static void start(struct http_exchange *x, struct web *w, int (*work)(struct deferred *d),
	struct session_order *o, int has_text)
{
	const struct deferred_order order = {o, session_order_free};

	deferred_start_order(x, w, work, order, has_text);
}

static struct session_order *new_order(const struct http_exchange *x)
{
	struct session_order *o = calloc(1, sizeof *o);

	if (o)
		o->target = api_parse_id(http_get_param(x, "id"));
	return o;
}

static void refuse(struct http_exchange *x, int error, const struct diag *d)
{
	if (error == -ENOMEM) {
		api_refuse_memory(x);
		return;
	}
	web_audit_refused(x, rpc_status_name(RPC_INVALID_ARGUMENT), d->text);
	api_refuse(x, RPC_INVALID_ARGUMENT, d, NULL);
}

void api_begin_session(struct http_exchange *x, void *context)
{
	struct session_order *o = new_order(x);
	struct diag d = DIAG_INIT;
	size_t n;
	const char *body = http_get_body(x, &n);
	int r = o ? session_order_parse(o, n ? body : "{}", n ? n : 2, &d) : -ENOMEM;

	if (!r) {
		start(x, context, work_begin, o, 1);
		return;
	}
	session_order_free(o);
	refuse(x, r, &d);
}

/* Which one: "" is the one that runs, else the recorder. */
static int take_name(struct session_order *o, const char *name, struct diag *d)
{
	int r = web_capture_init(&o->asked);

	if (r)
		return r;
	if (snprintf(o->asked.session, sizeof o->asked.session, "%s", name ? name : "") >=
		(int)sizeof o->asked.session)
		return diag_set(d, -EINVAL, "session: must be a text of 1 to %zu bytes",
			sizeof o->asked.session - 1);
	return 0;
}

void api_give_up_session(struct http_exchange *x, void *context)
{
	struct session_order *o = new_order(x);
	struct diag d = DIAG_INIT;
	int r = o ? take_name(o, http_get_query(x, "session"), &d) : -ENOMEM;

	if (!r) {
		start(x, context, work_give_up, o, 0);
		return;
	}
	session_order_free(o);
	refuse(x, r, &d);
}
