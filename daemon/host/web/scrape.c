/* SPDX-License-Identifier: Apache-2.0 */
/* The route of the metrics; see web_routes.h. */
#include "daemon/host/web/web_routes.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/host/calls/host_calls.h"
#include "daemon/host/config/settings.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/exposition.h"
#include "daemon/host/web/metrics.h"
#include "daemon/host/web/web.h"
#include "http/exchange.h"

/* Stopped programs do not answer within this time; the metrics count them all the same. */
#define ANSWER_MS 300

struct scrape {
	uv_work_t request;
	struct web *web;
	struct http_exchange *x; /* NULL: the peer is gone */
	struct caller caller;
	struct metrics metrics;
	char patterns[SETTINGS_TEXT_BYTES]; /* the setting recorder_metrics */
	char *text; /* malloc'ed; NULL: memory ran out */
	size_t n;
};

static int scrape_write(struct scrape *s)
{
	FILE *out = open_memstream(&s->text, &s->n);
	struct exposition e;

	if (!out)
		return -1;
	exposition_begin(&e, out);
	metrics_write(&s->metrics, &e);
	return fclose(out);
}

static void on_work(uv_work_t *request)
{
	struct scrape *s = request->data;
	struct host_service *host = s->web->host;
	struct program *programs = NULL;

	s->metrics.host = host;
	s->metrics.caller = &s->caller;
	ledger_get(host->ledger, &s->metrics.sums);
	conversions_count(&s->web->api.conversions, &s->metrics.conversions);
	if (!programs_list(
		    host->programs, &s->caller, ANSWER_MS, &programs, &s->metrics.n_programs)) {
		s->metrics.programs = programs;
		if (s->patterns[0])
			recorded_values_ask(&s->metrics.recorded, host->programs, programs,
				s->metrics.n_programs, s->patterns, ANSWER_MS);
		if (scrape_write(s)) {
			free(s->text);
			s->text = NULL;
		}
	}
	recorded_values_deinit(&s->metrics.recorded);
	free(programs);
}

static void scrape_reply(struct scrape *s)
{
	if (s->text)
		http_reply_taken(s->x, 200, EXPOSITION_MEDIA_TYPE, s->text, s->n);
	else
		http_refuse(s->x, 503, "the host daemon is out of memory");
}

static void on_done(uv_work_t *request, int status)
{
	struct scrape *s = request->data;

	(void)status;
	s->web->n_scrapes--;
	if (s->x)
		scrape_reply(s);
	else
		free(s->text);
	free(s);
}

static void scrape_forget_peer(void *work)
{
	struct scrape *s = work;

	s->x = NULL;
}

static void scrape_queue(struct scrape *s)
{
	s->request.data = s;
	if (uv_queue_work(s->web->loop, &s->request, on_work, on_done)) {
		http_refuse(s->x, 503, "the host daemon is out of memory");
		free(s);
		return;
	}
	s->web->n_scrapes++;
	http_defer(s->x, scrape_forget_peer, s);
}

void scrape_answer(struct http_exchange *x, void *context)
{
	struct web *w = context;
	struct scrape *s;

	if (w->n_scrapes >= SCRAPE_MAX) {
		http_refuse(x, 429, "%u requests are reading the metrics already; ask again later",
			SCRAPE_MAX);
		return;
	}
	s = calloc(1, sizeof *s);
	if (!s) {
		http_refuse(x, 503, "the host daemon is out of memory");
		return;
	}
	s->web = w;
	s->x = x;
	/* A copy, because a reload of the settings may change them meanwhile. */
	snprintf(s->patterns, sizeof s->patterns, "%s", w->host->recorder_metrics);
	web_get_caller(x, &s->caller);
	http_server_count(w->server, &s->metrics.http);
	scrape_queue(s);
}
