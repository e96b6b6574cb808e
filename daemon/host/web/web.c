/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP on the loop; see web.h. */
#include "daemon/host/web/web.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/jobs_end.h"
#include "daemon/host/web/refusal.h"
#include "daemon/kernel/descriptors.h"
#include "http/server.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Of every answer: what a page of ours may load and who may show it; only what we say a thing is counts. The page opens the Perfetto
 * UI in a window that it talks to, which "same-origin" would cut off.
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

/* --- the loop ------------------------------------------------------------------------------ */

static void run(struct web *w);

static void on_timer(uv_timer_t *timer)
{
	run(timer->data);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	run(poll->data);
}

static void run(struct web *w)
{
	int64_t timeout_ms;

	http_server_run(w->server);
	timeout_ms = http_server_get_timeout_ms(w->server);
	if (timeout_ms < 0)
		uv_timer_stop(&w->timer);
	else
		uv_timer_start(&w->timer, on_timer, (uint64_t)timeout_ms, 0);
}

/* --- what the server asks ------------------------------------------------------------------ */

static bool enter(int fd, struct http_peer *peer, void *context)
{
	const struct web *w = context;
	struct caller caller;

	/* gRPC's connections have theirs, as it aborts when it finds none. */
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

static void begin(struct http_exchange *x, void *context)
{
	const struct web *w = context;

	http_router_begin(&w->router, x);
}

static void handle(struct http_exchange *x, void *context)
{
	const struct web *w = context;

	http_router_handle(&w->router, x);
}

/* --- opening and closing ------------------------------------------------------------------- */

static int open_server(struct web *w, int listener, struct diag *d)
{
	const struct http_server_options options = {
		.listener = listener,
		.max_connections = WEB_MAX_CONNECTIONS,
		.max_of_user = WEB_MAX_OF_USER,
		.enter = enter,
		.begin = begin,
		.handle = handle,
		.refuse = refusal_write,
		.headers = headers,
		.n_headers = N(headers),
		.otherwise = "serve without a page: --web none",
		.context = w,
	};
	struct diag why = DIAG_INIT;
	int r = http_server_open(&w->server, &options, &why);

	return r ? diag_set(d, r, "web: %s", why.text) : 0;
}

static int watch(struct web *w)
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
	r = open_server(w, listener, d);
	if (r)
		return r;
	r = post_open(&w->post, loop);
	if (!r)
		r = watch(w);
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
