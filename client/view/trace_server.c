/* SPDX-License-Identifier: Apache-2.0 */
/* Serving a trace; see trace_server.h. */
#include "client/view/trace_server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/diag.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/view/http_server.h"
#include "client/view/perfetto_link.h"

/* With nothing to do. */
#define TURN_MS 60000

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* --- answers ------------------------------------------------------------------------------- */

#define CORS                                                                       \
	{"Access-Control-Allow-Origin", PERFETTO_LINK_ORIGIN}, {"Vary", "Origin"}, \
	{                                                                          \
		"Cache-Control", "no-cache"                                        \
	}

static const struct http_header file_headers[] = {
	CORS,
	{"Content-Type", "application/octet-stream"},
};

static const struct http_header nothing_headers[] = {CORS};

/* What the browser asks for beforehand; the last of them because a public page wants to reach this machine. */
static const struct http_header preflight_headers[] = {
	CORS,
	{"Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"},
	{"Access-Control-Allow-Headers", "*"},
	{"Access-Control-Allow-Private-Network", "true"},
	{"Access-Control-Max-Age", "86400"},
};

static void set(struct http_answer *a, unsigned int status, const struct http_header *headers,
	size_t n_headers)
{
	a->status = status;
	a->headers = headers;
	a->n_headers = n_headers;
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* The UI asks POST /status whether Google's trace_processor is here: it is not. */
static void answer(const struct http_request *request, struct http_answer *a, void *server)
{
	const struct trace_server *s = server;

	if (!perfetto_link_is_host(request->host, s->port))
		return set(a, 403, NULL, 0);
	if (strcmp(request->method, "OPTIONS") == 0)
		return set(a, 204, preflight_headers, N(preflight_headers));
	if (!is_read(request->method) || strcmp(request->path, s->path) != 0)
		return set(a, 404, nothing_headers, N(nothing_headers));
	a->has_file = true;
	set(a, 200, file_headers, N(file_headers));
}

/* --- the server ---------------------------------------------------------------------------- */

static int explain(const struct trace_server *s, int r, struct diag *d)
{
	if (r != -EADDRINUSE)
		return r;
	return diag_set(d, r,
		"127.0.0.1:%u: address in use: something else listens there, perhaps another proftap view, or "
		"trace_processor; end it, or choose another with %s (the Perfetto UI itself only fetches from port %d "
		"of the machine that the browser runs on)",
		s->port, s->port_option, PERFETTO_LINK_PORT);
}

int trace_server_open(struct trace_server *s, struct diag *d)
{
	const struct http_server_options options = {
		.port = s->port,
		.answer = answer,
		.context = s,
	};

	return explain(s, http_server_open(&s->http, &options, d), d);
}

static bool is_done(const struct trace_server *s)
{
	return !s->keeps && http_server_get_n_sent(s->http) && !http_server_is_sending(s->http);
}

static int wait_for_work(const struct trace_server *s)
{
	struct pollfd p = {.fd = http_server_get_fd(s->http), .events = POLLIN};
	int64_t timeout_ms = http_server_get_timeout_ms(s->http);

	return interrupt_poll(&p, timeout_ms < 0 || timeout_ms > TURN_MS ? TURN_MS : timeout_ms);
}

static bool is_interrupted(const struct trace_server *s)
{
	return interrupt_came_since(&s->n_interrupts);
}

int trace_server_run(struct trace_server *s, struct diag *d)
{
	int r = 0;

	http_server_set_file(s->http, s->fd, s->n_bytes);
	while (!is_done(s) && !is_interrupted(s) && (r >= 0 || r == -EINTR)) {
		r = wait_for_work(s);
		http_server_run(s->http);
	}
	if (http_server_get_n_sent(s->http))
		return EXIT_DONE;
	if (is_interrupted(s))
		return EXIT_INTERRUPTED;
	diag_set(d, r, "127.0.0.1:%u: cannot wait: %s", s->port, errno_words(-r));
	return EXIT_FAILED;
}

void trace_server_close(struct trace_server *s)
{
	s->http = http_server_free(s->http);
}
