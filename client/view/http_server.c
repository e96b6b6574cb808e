/* SPDX-License-Identifier: Apache-2.0 */
/* The server; see http_server.h. HTTP itself is libmicrohttpd's, run by us: it neither polls nor starts threads. */
#include "client/view/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/clock.h"
#include "client/view/microhttpd.h"

/* From time to time, whether the peer's kernel has what ours was given. */
#define DELIVERY_MS 20

enum state {
	STATE_WAITING, /* for a request */
	STATE_ANSWERING,
	STATE_SENDING, /* the same, with the file */
	STATE_DELIVERING, /* all of it is the kernel's */
};

struct connection {
	struct connection *next;
	int fd;
	enum state state;
	bool is_over; /* shut down by us */
	int64_t deadline_ms; /* CLOCK_MONOTONIC, of the state */
};

struct http_server {
	const struct microhttpd *library;
	struct http_server_options options;
	struct MHD_Daemon *daemon;
	struct connection *connections;
	unsigned int n_closed; /* connections */
	unsigned int n_sent;
};

/* --- connections --------------------------------------------------------------------------- */

static int64_t get_patience_ms(const struct http_server *s, enum state state)
{
	if (state == STATE_WAITING)
		return HTTP_SERVER_REQUEST_MS;
	if (state == STATE_ANSWERING)
		return HTTP_SERVER_ANSWER_MS;
	return HTTP_SERVER_ANSWER_MS +
	       (int64_t)(s->options.n_bytes / HTTP_SERVER_MIN_BYTES_PER_S) * 1000;
}

/* What is in delivery has the time that its sending had. */
static void enter(const struct http_server *s, struct connection *c, enum state state)
{
	c->state = state;
	if (state != STATE_DELIVERING)
		c->deadline_ms = clock_monotonic_ms() + get_patience_ms(s, state);
}

static struct connection *add_connection(struct http_server *s, int fd)
{
	struct connection *c = calloc(1, sizeof *c);

	if (!c) {
		shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	c->fd = fd;
	c->next = s->connections;
	s->connections = c;
	enter(s, c, STATE_WAITING);
	return c;
}

static void remove_connection(struct http_server *s, struct connection *c)
{
	struct connection **at = &s->connections;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	s->n_sent += c->state == STATE_DELIVERING && !c->is_over;
	s->n_closed++;
	free(c);
}

static void note_connection(void *server, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	struct http_server *s = server;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*context = add_connection(s,
			s->library
				->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				->connect_fd);
	else if (*context)
		remove_connection(s, *context);
}

/* Those that a peer keeps for too long; the library then sees their end. */
static void end_late(struct http_server *s)
{
	int64_t now_ms = clock_monotonic_ms();

	for (struct connection *c = s->connections; c; c = c->next) {
		if (c->is_over || now_ms < c->deadline_ms)
			continue;
		c->is_over = true;
		shutdown(c->fd, SHUT_RDWR);
	}
}

static void note_deliveries(struct http_server *s)
{
	int n_left;

	for (struct connection *c = s->connections; c; c = c->next) {
		if (c->state != STATE_DELIVERING || ioctl(c->fd, TIOCOUTQ, &n_left) < 0 || n_left)
			continue;
		s->n_sent++;
		enter(s, c, STATE_WAITING);
	}
}

/* --- requests ------------------------------------------------------------------------------ */

static struct connection *get_connection(
	const struct http_server *s, struct MHD_Connection *connection)
{
	return s->library->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

/* The library closes what it is given. */
static struct MHD_Response *make_response(const struct http_server *s, const struct http_answer *a)
{
	static char nothing[1];
	int fd;

	if (!a->has_file)
		return s->library->create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
	fd = fcntl(s->options.fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? NULL : s->library->create_response_from_fd64(s->options.n_bytes, fd);
}

static enum MHD_Result send_answer(
	const struct http_server *s, struct MHD_Connection *connection, const struct http_answer *a)
{
	struct MHD_Response *response = make_response(s, a);
	enum MHD_Result r;

	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < a->n_headers; i++)
		s->library->add_response_header(response, a->headers[i].name, a->headers[i].value);
	r = s->library->queue_response(connection, a->status, response);
	s->library->destroy_response(response);
	return r;
}

/* Called with the headers, with each piece of a body, which nobody reads, and at the end. */
static enum MHD_Result handle(void *server, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *n_data, void **context)
{
	struct http_server *s = server;
	struct connection *c = get_connection(s, connection);
	const struct http_request request = {method, url,
		s->library->lookup_connection_value(connection, MHD_HEADER_KIND, "Host")};
	struct http_answer answer = {.status = 0};

	(void)version;
	(void)data;
	if (!c)
		return MHD_NO;
	if (!*context || *n_data) {
		*context = s;
		*n_data = 0;
		return MHD_YES;
	}
	s->options.answer(&request, &answer, s->options.context);
	enter(s, c,
		answer.has_file && strcmp(method, "GET") == 0 ? STATE_SENDING : STATE_ANSWERING);
	return send_answer(s, connection, &answer);
}

static void note_end(void *server, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode how)
{
	struct http_server *s = server;
	struct connection *c = get_connection(s, connection);

	(void)context;
	if (c && how == MHD_REQUEST_TERMINATED_COMPLETED_OK && c->state == STATE_SENDING)
		enter(s, c, STATE_DELIVERING);
	else if (c)
		enter(s, c, STATE_WAITING);
}

/* --- the server ---------------------------------------------------------------------------- */

static int fail_port(uint16_t port, int error, struct diag *d)
{
	return diag_set(
		d, -error, "127.0.0.1:%u: cannot listen there: %s", port, errno_words(error));
}

static int listen_on(uint16_t port, int *out, struct diag *d)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (fd < 0)
		return fail_port(port, errno, d);
	/* One that served a moment ago left connections behind; one that still serves is in the way all the same. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
		listen(fd, HTTP_SERVER_MAX_CONNECTIONS) < 0)
		return fail_port(port, errno, d);
	*out = fd;
	fd = -1;
	return 0;
}

static int start(struct http_server *s, struct diag *d)
{
	int fd = -1;
	int r = listen_on(s->options.port, &fd, d);

	if (r)
		return r;
	/* sendfile() has no flag against it. */
	signal(SIGPIPE, SIG_IGN);
	s->daemon = s->library->start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, s,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)HTTP_SERVER_MAX_CONNECTIONS, MHD_OPTION_NOTIFY_CONNECTION,
		note_connection, s, MHD_OPTION_NOTIFY_COMPLETED, note_end, s,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (s->daemon)
		return 0;
	close(fd);
	return fail_port(s->options.port, ENOMEM, d);
}

int http_server_open(
	struct http_server **out, const struct http_server_options *options, struct diag *d)
{
	struct http_server *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return diag_set(d, -ENOMEM, "127.0.0.1:%u: out of memory", options->port);
	s->options = *options;
	r = microhttpd_load(&s->library, d);
	if (r == 0)
		r = start(s, d);
	*out = r ? http_server_free(s) : s;
	return r;
}

void http_server_set_file(struct http_server *s, int fd, uint64_t n_bytes)
{
	s->options.fd = fd;
	s->options.n_bytes = n_bytes;
}

struct http_server *http_server_free(struct http_server *s)
{
	if (s && s->daemon)
		s->library->stop_daemon(s->daemon);
	free(s);
	return NULL;
}

int http_server_get_fd(const struct http_server *s)
{
	return s->library->get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static int64_t find_next_ms(const struct http_server *s)
{
	int64_t next_ms = INT64_MAX;

	for (const struct connection *c = s->connections; c; c = c->next)
		if (!c->is_over && c->deadline_ms < next_ms)
			next_ms = c->deadline_ms;
	return next_ms;
}

int64_t http_server_get_timeout_ms(const struct http_server *s)
{
	int64_t next_ms = find_next_ms(s);
	int64_t timeout_ms = -1;
	MHD_UNSIGNED_LONG_LONG library_ms;

	if (next_ms != INT64_MAX)
		timeout_ms = next_ms > clock_monotonic_ms() ? next_ms - clock_monotonic_ms() : 0;
	for (const struct connection *c = s->connections; c; c = c->next)
		if (c->state == STATE_DELIVERING && timeout_ms > DELIVERY_MS)
			timeout_ms = DELIVERY_MS;
	if (s->library->get_timeout(s->daemon, &library_ms) == MHD_YES &&
		(timeout_ms < 0 || library_ms < (uint64_t)timeout_ms))
		timeout_ms = (int64_t)library_ms;
	return timeout_ms;
}

void http_server_run(struct http_server *s)
{
	unsigned int n_closed;

	end_late(s);
	/* When all places are taken the library forgets its listener; that one is free, it sees at its next turn. */
	do {
		n_closed = s->n_closed;
		s->library->run(s->daemon);
	} while (s->n_closed != n_closed);
	note_deliveries(s);
}

unsigned int http_server_get_n_sent(const struct http_server *s)
{
	return s->n_sent;
}

bool http_server_is_sending(const struct http_server *s)
{
	for (const struct connection *c = s->connections; c; c = c->next)
		if (c->state == STATE_SENDING || c->state == STATE_DELIVERING)
			return true;
	return false;
}
