/* SPDX-License-Identifier: Apache-2.0 */
/* Serving a trace; see trace_server.h. */
#include "client/view/trace_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "base/diag.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/view/loopback.h"
#include "client/view/perfetto_link.h"
#include "http/server.h"

/* With nothing to do. */
#define TURN_MS 60000
#define MAX_CONNECTIONS 16

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* --- answers ------------------------------------------------------------------------------- */

#define CORS                                                                       \
	{"Access-Control-Allow-Origin", PERFETTO_LINK_ORIGIN}, {"Vary", "Origin"}, \
	{                                                                          \
		"Cache-Control", "no-cache"                                        \
	}

static const struct http_header cors_headers[] = {CORS};

/* What the browser asks for beforehand; the last of them because a public page wants to reach this machine. */
static const struct http_header preflight_headers[] = {
	CORS,
	{"Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"},
	{"Access-Control-Allow-Headers", "*"},
	{"Access-Control-Allow-Private-Network", "true"},
	{"Access-Control-Max-Age", "86400"},
};

static void set_headers(
	struct http_exchange *x, const struct http_header *headers, size_t n_headers)
{
	for (size_t i = 0; i < n_headers; i++)
		http_set_header(x, headers[i].name, headers[i].value);
}

static void reply(struct http_exchange *x, unsigned status, const struct http_header *headers,
	size_t n_headers)
{
	set_headers(x, headers, n_headers);
	http_reply_bytes(x, status, NULL, "", 0);
}

static void reply_file(struct http_exchange *x, const struct trace_server *s)
{
	int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return reply(x, 503, cors_headers, N(cors_headers));
	set_headers(x, cors_headers, N(cors_headers));
	http_reply_file(x, "application/octet-stream", fd, 0, s->n_bytes);
}

/*
 * Whether the page of another site asks. Browsers say which page it is in Origin, and always do so for what a script wants to read. They leave Origin out
 * where a page only embeds us as an image or the like; then Sec-Fetch-Site tells that another site did.
 */
static bool is_from_stranger(const struct http_exchange *x)
{
	const char *origin = http_get_header(x, "Origin");
	const char *site = http_get_header(x, "Sec-Fetch-Site");

	if (origin)
		return strcmp(origin, PERFETTO_LINK_ORIGIN) != 0;
	return site && strcmp(site, "none") != 0 && strcmp(site, "same-origin") != 0;
}

static bool may_ask(const struct http_exchange *x, const struct trace_server *s)
{
	return perfetto_link_is_host(http_get_header(x, "Host"), s->port) && !is_from_stranger(x);
}

/* The UI asks POST /status whether Google's trace_processor is here: it is not. */
static void handle(struct http_exchange *x, void *server)
{
	const struct trace_server *s = server;
	const char *method = http_get_method(x);

	if (!may_ask(x, s))
		return reply(x, 403, NULL, 0);
	if (strcmp(method, "OPTIONS") == 0)
		return reply(x, 204, preflight_headers, N(preflight_headers));
	if (strcmp(method, "GET") != 0 || strcmp(http_get_path(x), s->path) != 0)
		return reply(x, 404, cors_headers, N(cors_headers));
	reply_file(x, s);
}

/* What is no path, and what is too large, is not there either. */
static void refuse(struct http_exchange *x, unsigned status, const char *text, void *server)
{
	(void)status;
	(void)text;
	if (may_ask(x, server))
		reply(x, 404, cors_headers, N(cors_headers));
	else
		reply(x, 403, NULL, 0);
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

static int open_http(struct trace_server *s, int listener, struct diag *d)
{
	const struct http_server_options options = {
		.listener = listener,
		.max_connections = MAX_CONNECTIONS,
		.max_of_user = MAX_CONNECTIONS,
		.handle = handle,
		.refuse = refuse,
		.otherwise = "write a file to open yourself: proftap convert -t perfetto",
		.context = s,
	};

	return http_server_open(&s->http, &options, d);
}

int trace_server_open(struct trace_server *s, struct diag *d)
{
	int listener = loopback_listen(s->port, d);

	return listener < 0 ? explain(s, listener, d) : open_http(s, listener, d);
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
