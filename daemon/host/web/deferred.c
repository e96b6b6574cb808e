/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait; see deferred.h. */
#include "daemon/host/web/deferred.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"

static void forget(void *work)
{
	struct deferred *d = work;

	d->x = NULL;
}

static void on_work(uv_work_t *request)
{
	struct deferred *d = request->data;

	d->status = d->work(d);
}

static void answer(struct deferred *d)
{
	if (d->status)
		api_refuse(d->x, d->status, &d->diag, d->has_text ? &d->text : NULL);
	else if (d->has_text)
		api_answer(d->x, 200, &d->text);
	else
		http_reply_bytes(d->x, 204, NULL, "", 0);
}

static void free_deferred(struct deferred *d)
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
		answer(d);
	else if (d->has_text)
		free(json_text_end(&d->text, NULL));
	free_deferred(d);
}

static void start(struct http_exchange *x, struct deferred *d)
{
	http_defer(x, forget, d);
	if (uv_queue_work(d->web->loop, &d->request, on_work, on_done) == 0)
		return;
	if (d->has_text)
		free(json_text_end(&d->text, NULL));
	free_deferred(d);
	api_refuse_memory(x);
}

/* What is asked for, |made| says. */
static void begin(struct http_exchange *x, const struct deferred *made)
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
	start(x, d);
}

static void begin_named(struct http_exchange *x, struct deferred *made, const char *name)
{
	snprintf(made->name, sizeof made->name, "%s", name ? name : "");
	begin(x, made);
}

void deferred_start(
	struct http_exchange *x, struct web *web, int (*work)(struct deferred *d), const char *name)
{
	struct deferred made = {.web = web, .work = work, .has_text = 1};

	begin_named(x, &made, name);
}

void deferred_start_silent(
	struct http_exchange *x, struct web *web, int (*work)(struct deferred *d), const char *name)
{
	struct deferred made = {.web = web, .work = work};

	begin_named(x, &made, name);
}

void deferred_start_order(struct http_exchange *x, struct web *web, int (*work)(struct deferred *d),
	struct deferred_order order, int has_text)
{
	struct deferred made = {.web = web, .work = work, .order = order, .has_text = has_text};

	begin(x, &made);
}
