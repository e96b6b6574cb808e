/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that threads answer; see deferred.h. */
#include "daemon/host/web/deferred.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"
#include "rpc/server.h"

static void deferred_forget_peer(void *work)
{
	struct deferred *d = work;

	d->x = NULL;
}

static void on_work(uv_work_t *request)
{
	struct deferred *d = request->data;

	d->status = d->work(d);
}

static void deferred_answer(struct deferred *d)
{
	if (d->status)
		api_refuse(d->x, d->status, &d->diag, d->has_text ? &d->text : NULL);
	else if (d->has_text)
		api_answer(d->x, 200, &d->text);
	else
		http_reply_bytes(d->x, 204, NULL, "", 0);
}

static void deferred_free(struct deferred *d)
{
	if (d->order.free)
		d->order.free(d->order.what);
	free(d);
}

static void on_done(uv_work_t *request, int status)
{
	struct deferred *d = request->data;

	(void)status;
	if (d->x)
		deferred_answer(d);
	else if (d->has_text)
		free(json_text_end(&d->text, NULL));
	deferred_free(d);
}

static void deferred_queue(struct http_exchange *x, struct deferred *d)
{
	http_defer(x, deferred_forget_peer, d);
	if (uv_queue_work(d->web->loop, &d->request, on_work, on_done) == 0)
		return;
	if (d->has_text)
		free(json_text_end(&d->text, NULL));
	deferred_free(d);
	api_refuse_memory(x);
}

/* Starts a copy of |made|. */
static void deferred_begin(struct http_exchange *x, const struct deferred *made)
{
	struct deferred *d = malloc(sizeof *d);

	if (d)
		*d = *made;
	if (!d || (d->has_text && json_text_begin(&d->text))) {
		free(d);
		if (made->order.free)
			made->order.free(made->order.what);
		api_refuse_memory(x);
		return;
	}
	d->x = x;
	d->request.data = d;
	web_get_caller(x, &d->caller);
	deferred_queue(x, d);
}

static void deferred_begin_named(struct http_exchange *x, struct deferred *made, const char *name)
{
	snprintf(made->name, sizeof made->name, "%s", name ? name : "");
	deferred_begin(x, made);
}

void deferred_start(
	struct http_exchange *x, struct web *web, int (*work)(struct deferred *d), const char *name)
{
	struct deferred made = {.web = web, .work = work, .has_text = true};

	deferred_begin_named(x, &made, name);
}

void deferred_start_silent(
	struct http_exchange *x, struct web *web, int (*work)(struct deferred *d), const char *name)
{
	struct deferred made = {.web = web, .work = work};

	deferred_begin_named(x, &made, name);
}

void deferred_start_order(struct http_exchange *x, struct web *web, int (*work)(struct deferred *d),
	struct deferred_order order, bool has_text)
{
	struct deferred made = {.web = web, .work = work, .order = order, .has_text = has_text};

	deferred_begin(x, &made);
}

int deferred_find_program(struct deferred *d, uint64_t id, struct program *out)
{
	_cleanup_free_ struct program *programs = NULL;
	size_t n;

	if (programs_copy(d->web->host->programs, &d->caller, &programs, &n)) {
		diag_set(&d->diag, -ENOMEM, "the host daemon is out of memory");
		return RPC_RESOURCE_EXHAUSTED;
	}
	for (size_t i = 0; i < n; i++) {
		*out = programs[i];
		if (out->id == id)
			return 0;
	}
	diag_set(&d->diag, -ENOENT, "program %" PRIu64 ": no such program here that you may see",
		id);
	return RPC_NOT_FOUND;
}
