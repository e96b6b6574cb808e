/* SPDX-License-Identifier: Apache-2.0 */
/* The web server of the host daemon; see web.h. */
#include "daemon/host/web/web.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/page/page.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/stream.h"
#include "daemon/host/web/web_routes.h"
#include "daemon/kernel/descriptors.h"
#include "http/server.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Every answer has these headers. They limit the sources that our page may load and the sites that
 * may embed it, and forbid browsers to guess media types. The page opens the Perfetto UI in a
 * window and talks to it, which Cross-Origin-Opener-Policy: same-origin would forbid.
 */
static const struct http_header headers[] = {
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
		"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'"},
	{"Cross-Origin-Opener-Policy", "same-origin-allow-popups"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"Cache-Control", "no-store"},
};

/* --- routes ----------------------------------------------------------------------------------- */

/* The first row whose method and path fit is used. */
const struct http_route web_routes[] = {
	{"GET", "/", 0, page_answer, NULL},
	{"GET", "/page/{file}", 0, page_answer_file, NULL},
	{"GET", "/healthz", 0, probes_answer_health, NULL},
	{"GET", "/metrics", 0, scrape_answer, NULL},
	{"GET", "/readyz", 0, probes_answer_ready, NULL},
	{"GET", "/api/v1/session", 0, api_answer_session, ""},
	{"GET", "/api/v1/targets", 0, api_answer_targets, ""},
	{"GET", "/api/v1/targets/{id}/memory", 0, api_answer_memory, ""},
	{"GET", "/api/v1/targets/{id}/open_spans", 0, api_answer_open_spans, ""},
	{"POST", "/api/v1/targets/{id}/session", API_MAX_BODY_BYTES, api_begin_session, ""},
	{"DELETE", "/api/v1/targets/{id}/session", 0, api_give_up_session, "session"},
	{"GET", "/api/v1/usage", 0, api_answer_usage, "since, groups, pid"},
	{"GET", "/api/v1/events", 0, stream_answer, "topics, groups, pid, after"},
	{"GET", "/api/v1/options", 0, api_answer_options, ""},
	{"GET", "/api/v1/captures", 0, api_answer_captures, ""},
	{"POST", "/api/v1/captures", API_MAX_BODY_BYTES, api_create_capture, ""},
	{"GET", "/api/v1/captures/{id}", 0, api_answer_capture, ""},
	{"DELETE", "/api/v1/captures/{id}", 0, api_delete_capture, ""},
	{"POST", "/api/v1/captures/{id}/stop", 0, api_stop_capture, ""},
	{"GET", "/api/v1/runs", 0, api_answer_runs, ""},
	{"GET", "/api/v1/runs/{run}", 0, api_answer_run, ""},
	{"DELETE", "/api/v1/runs/{run}", 0, api_delete_run, ""},
	{"GET", "/api/v1/runs/{run}/files/{file}", 0, api_answer_run_file, ""},
	{"GET", "/api/v1/runs/{run}/report", 0, api_answer_run_report, ""},
	{"GET", "/api/v1/runs/{run}/flame", 0, api_answer_run_flame, "from, to"},
	{"GET", "/api/v1/runs/{run}/perfetto", 0, api_answer_run_perfetto, ""},
	{"GET", "/api/v1/runs/{run}/events", 0, api_answer_run_events,
		"from, to, pid, depth, min_ns, limit"},
	{"GET", "/api/v1/doctor", 0, api_answer_doctor, ""},
};
const size_t n_web_routes = sizeof web_routes / sizeof *web_routes;

/* --- the loop ------------------------------------------------------------------------------ */

static void web_run(struct web *w);

static void on_timer(uv_timer_t *timer)
{
	web_run(timer->data);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	web_run(poll->data);
}

static void web_run(struct web *w)
{
	int64_t timeout_ms;

	http_server_run(w->server);
	timeout_ms = http_server_get_timeout_ms(w->server);
	if (timeout_ms < 0)
		uv_timer_stop(&w->timer);
	else
		uv_timer_start(&w->timer, on_timer, (uint64_t)timeout_ms, 0);
}

/* --- callbacks of the server ------------------------------------------------------------------ */

static bool web_admit(int fd, struct http_peer *peer, void *context)
{
	const struct web *w = context;
	struct caller caller;

	/* Leaves descriptors to gRPC, which aborts the process when it gets none. */
	if (!descriptors_are_left(1, DESCRIPTORS_OF_CHILDREN))
		return false;
	if (caller_identify(&caller, fd, w->host->operators))
		return false;
	peer->uid = caller.uid;
	snprintf(peer->text, sizeof peer->text, "HTTP, %.50s", caller.peer);
	peer->is_operator = caller.may_all;
	return true;
}

void web_refuse_captures(struct web *w)
{
	if (w->server)
		jobs_refuse(&w->api.jobs);
}

unsigned web_count_captures(struct web *w)
{
	return w->server ? jobs_count(&w->api.jobs) : 0;
}

void web_stop_captures(struct web *w)
{
	if (w->server)
		jobs_stop_all(&w->api.jobs);
}

void web_get_caller(const struct http_exchange *x, struct caller *out)
{
	const struct http_peer *peer = http_get_peer(x);

	memcpy(out->peer, peer->text, sizeof out->peer);
	out->uid = peer->uid;
	out->may_all = peer->is_operator;
}

static void web_begin_request(struct http_exchange *x, void *context)
{
	const struct web *w = context;

	http_router_begin(&w->router, x);
}

static void web_handle_request(struct http_exchange *x, void *context)
{
	const struct web *w = context;

	http_router_handle(&w->router, x);
}

/* --- opening and closing ------------------------------------------------------------------- */

static int web_open_server(struct web *w, int listener, struct diag *d)
{
	const struct http_server_options options = {
		.listener = listener,
		.max_connections = WEB_MAX_CONNECTIONS,
		.max_of_user = WEB_MAX_OF_USER,
		.enter = web_admit,
		.begin = web_begin_request,
		.handle = web_handle_request,
		.refuse = api_refuse_http,
		.headers = headers,
		.n_headers = N(headers),
		.otherwise = "serve without a page: --web none",
		.context = w,
	};
	struct diag why = DIAG_INIT;
	int r = http_server_open(&w->server, &options, &why);

	return r ? diag_set(d, r, "web: %s", why.text) : 0;
}

static int web_watch_server(struct web *w)
{
	int r = uv_timer_init(w->loop, &w->timer);

	if (!r)
		r = uv_poll_init(w->loop, &w->poll, http_server_get_fd(w->server));
	w->poll.data = w->timer.data = w;
	return r ? r : uv_poll_start(&w->poll, UV_READABLE, on_event);
}

int web_open(
	struct web *w, uv_loop_t *loop, int listener, struct host_service *host, struct diag *d)
{
	int r;

	memset(w, 0, sizeof *w);
	w->host = host;
	w->loop = loop;
	w->guard.names = host->web_names;
	w->router = (struct http_router){web_routes, n_web_routes, &w->guard, w};
	r = web_open_server(w, listener, d);
	if (r)
		return r;
	r = post_open(&w->post, loop);
	if (!r)
		r = web_watch_server(w);
	if (r)
		return diag_set(d, r, "web: %s", uv_strerror(r));
	api_open(&w->api, w, host->log_dir);
	return 0;
}

void web_tick(struct web *w)
{
	if (w->server)
		api_tick(&w->api);
}

void web_close(struct web *w)
{
	if (!w->server)
		return;
	uv_poll_stop(&w->poll);
	uv_timer_stop(&w->timer);
	w->server = http_server_free(w->server);
	api_close(&w->api);
	post_close(&w->post);
}
