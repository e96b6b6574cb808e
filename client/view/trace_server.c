/* SPDX-License-Identifier: Apache-2.0 */
/* Serving a trace; see trace_server.h. */
#include "client/view/trace_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/view/perfetto_view.h"
#include "http/server.h"

#define BACKLOG 16

static int fail_port(uint16_t port, int error, struct diag *d)
{
	return diag_set(
		d, -error, "127.0.0.1:%u: cannot listen there: %s", port, errno_words(error));
}

/*
 * Listens on |port| of 127.0.0.1. Returns a non-blocking descriptor; -EADDRINUSE, or another
 * negative errno, with |d|.
 */
static int loopback_listen(uint16_t port, struct diag *d)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;
	int r;

	if (fd < 0)
		return fail_port(port, errno, d);
	/*
	 * Connections of a server that ended a moment ago must not block the port. A server that
	 * still runs does block it.
	 */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
		listen(fd, BACKLOG) < 0)
		return fail_port(port, errno, d);
	r = fd;
	fd = -1;
	return r;
}

/* The longest wait when there is nothing to do. */
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

/*
 * The answer to a CORS preflight. Access-Control-Allow-Private-Network lets a public page reach
 * this machine.
 */
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

static void reply_empty(struct http_exchange *x, unsigned status, const struct http_header *headers,
	size_t n_headers)
{
	set_headers(x, headers, n_headers);
	http_reply_bytes(x, status, NULL, "", 0);
}

static void reply_file(struct http_exchange *x, const struct trace_server *s)
{
	int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return reply_empty(x, 503, cors_headers, N(cors_headers));
	set_headers(x, cors_headers, N(cors_headers));
	http_reply_file(x, "application/octet-stream", fd, 0, s->n_bytes);
}

/*
 * Returns true if a page of another site sent the request. Browsers name the page's site in Origin
 * whenever a script reads the answer. They leave Origin out if a page only embeds the URL, such as
 * an image; then Sec-Fetch-Site shows that it was another site.
 */
static bool is_from_other_site(const struct http_exchange *x)
{
	const char *origin = http_get_header(x, "Origin");
	const char *site = http_get_header(x, "Sec-Fetch-Site");

	if (origin)
		return strcmp(origin, PERFETTO_LINK_ORIGIN) != 0;
	return site && strcmp(site, "none") != 0 && strcmp(site, "same-origin") != 0;
}

static bool may_ask(const struct http_exchange *x, const struct trace_server *s)
{
	return perfetto_link_is_host(http_get_header(x, "Host"), s->port) && !is_from_other_site(x);
}

/* The UI also sends POST /status to find Google's trace_processor, and gets 404. */
static void handle_request(struct http_exchange *x, void *server)
{
	const struct trace_server *s = server;
	const char *method = http_get_method(x);

	if (!may_ask(x, s))
		return reply_empty(x, 403, NULL, 0);
	if (strcmp(method, "OPTIONS") == 0)
		return reply_empty(x, 204, preflight_headers, N(preflight_headers));
	if (strcmp(method, "GET") != 0 || strcmp(http_get_path(x), s->path) != 0)
		return reply_empty(x, 404, cors_headers, N(cors_headers));
	reply_file(x, s);
}

/* Answers malformed and too large requests like unknown paths. */
static void refuse_request(struct http_exchange *x, unsigned status, const char *text, void *server)
{
	(void)status;
	(void)text;
	if (may_ask(x, server))
		reply_empty(x, 404, cors_headers, N(cors_headers));
	else
		reply_empty(x, 403, NULL, 0);
}

/* --- the server ---------------------------------------------------------------------------- */

static int explain_listen(const struct trace_server *s, int r, struct diag *d)
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
		.handle = handle_request,
		.refuse = refuse_request,
		.otherwise = "write a file to open yourself: proftap convert -t perfetto",
		.context = s,
	};

	return http_server_open(&s->http, &options, d);
}

int trace_server_open(struct trace_server *s, struct diag *d)
{
	int listener = loopback_listen(s->port, d);

	return listener < 0 ? explain_listen(s, listener, d) : open_http(s, listener, d);
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
