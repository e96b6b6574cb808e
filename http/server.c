/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server; see server.h. libmicrohttpd speaks HTTP; it neither polls nor starts threads
 * here. The server accepts connections itself, because the library would forget its listener while
 * all places are taken.
 */
#include "http/server.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/shared_library.h"
#include "http/server_parts.h"

/* --- The library ----------------------------------------------------------------------------- */

static const struct shared_library_function functions[] = {
#define ROW(name) {"MHD_" #name, offsetof(struct microhttpd, name)},
	MICROHTTPD_FUNCTIONS(ROW)
#undef ROW
};

static const struct shared_library microhttpd = {
	.name = &shared_library_microhttpd,
	.functions = functions,
	.n_functions = sizeof functions / sizeof functions[0],
};

static int microhttpd_load(const struct microhttpd **out, struct diag *d)
{
	static struct microhttpd loaded;
	int r = shared_library_open(&microhttpd, &loaded, d);

	if (r == 0)
		*out = &loaded;
	return r;
}

/*
 * The most connections that are accepted in a row, so that a peer that connects fast does not keep
 * the owner from its other work.
 */
#define MAX_AT_ONCE 16
#define MAX_EVENTS 64
/*
 * The pause after accept() found no descriptor or no memory: the listener stays readable, so
 * epoll_wait() would return at once.
 */
#define REST_MS 100
/*
 * The library's memory for one connection: a request's header with the library's own data about it,
 * and the answer's header.
 */
#define MAX_STORED_BYTES (2 * HTTP_MAX_HEADER_BYTES)
/* Extra places for connections that were hung up on, until the library has noticed. */
#define MAX_ENDING 64

/* --- Accepting ------------------------------------------------------------------------------- */

static int server_watch(struct http_server *s, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static bool server_may_enter(struct http_server *s, int fd, struct http_peer *peer)
{
	const struct http_server_options *o = &s->options;

	peer->uid = 0;
	peer->is_operator = true;
	if (o->enter && !o->enter(fd, peer, o->context))
		return false;
	if (http_connection_count(s, &peer->uid) >= o->max_of_user &&
		!http_connection_make_room(s, &peer->uid))
		return false;
	return http_connection_count(s, NULL) < o->max_connections ||
	       http_connection_make_room(s, NULL);
}

/* The library closes a connection that it cannot take. */
static void server_add_client(
	struct http_server *s, int fd, const struct sockaddr *address, socklen_t n)
{
	struct http_peer peer = {.text = ""};

	if (!server_may_enter(s, fd, &peer)) {
		s->counts.n_refused++;
		close(fd);
		return;
	}
	s->counts.n_accepted++;
	s->entering = &peer;
	/* Since 1.0 the library only queues the connection, and begins it when it runs. */
	if (s->library->add_connection(s->daemon, fd, address, n) == MHD_YES && s->entering)
		s->library->run(s->daemon);
	s->entering = NULL;
}

static void server_pause_accept(struct http_server *s, int error)
{
	if (error == EAGAIN || error == ECONNABORTED || error == EINTR)
		return;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->options.listener, NULL);
	s->rest_until_ms = http_now_ms() + REST_MS;
}

static void server_resume_accept(struct http_server *s)
{
	if (!s->rest_until_ms || http_now_ms() < s->rest_until_ms)
		return;
	s->rest_until_ms = 0;
	server_watch(s, s->options.listener, s);
}

static void server_accept(struct http_server *s)
{
	struct sockaddr_storage address;
	socklen_t n_bytes;

	for (int i = 0; s->options.listener >= 0 && i < MAX_AT_ONCE; i++) {
		int fd;

		n_bytes = sizeof address;
		fd = accept4(s->options.listener, (struct sockaddr *)&address, &n_bytes,
			SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			server_pause_accept(s, errno);
			return;
		}
		server_add_client(s, fd, (struct sockaddr *)&address, n_bytes);
	}
}

/* --- Opening and closing --------------------------------------------------------------------- */

static int get_library_fd(const struct http_server *s)
{
	return s->library->get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static int server_start(struct http_server *s, struct diag *d)
{
	const struct http_server_options *o = &s->options;
	int r;

	/* sendfile() cannot suppress the signal for one call. */
	signal(SIGPIPE, SIG_IGN);
	s->daemon = s->library->start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		http_exchange_run, s, MHD_OPTION_CONNECTION_LIMIT, o->max_connections + MAX_ENDING,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_STORED_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, http_connection_note, s, MHD_OPTION_URI_LOG_CALLBACK,
		http_exchange_open, s, MHD_OPTION_NOTIFY_COMPLETED, http_exchange_close, s,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (!s->daemon)
		return diag_set(d, -ENOMEM, "HTTP: cannot start: no memory or descriptor for it");
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = s->epoll < 0 || s->wake < 0 ? -errno : server_watch(s, get_library_fd(s), NULL);
	if (!r)
		r = server_watch(s, s->wake, &s->wake);
	if (!r)
		r = server_watch(s, o->listener, s);
	return r ? diag_set(d, r, "HTTP: cannot start: %s", errno_words(r)) : 0;
}

/* Loads the library. On failure |d| says what the user can do instead. */
static int server_load_library(struct http_server *s, struct diag *d)
{
	struct diag why = DIAG_INIT;
	int r = microhttpd_load(&s->library, &why);

	if (!r)
		return 0;
	if (!s->options.otherwise)
		return diag_set(d, r, "%s", why.text);
	return diag_set(d, r, "%s, or %s", why.text, s->options.otherwise);
}

int http_server_open(
	struct http_server **out, const struct http_server_options *options, struct diag *d)
{
	struct http_server *s = calloc(1, sizeof *s);
	int r;

	if (!s) {
		close(options->listener);
		return diag_set(d, -ENOMEM, "HTTP: out of memory");
	}
	s->options = *options;
	s->epoll = s->wake = -1;
	r = server_load_library(s, d);
	if (r == 0)
		r = server_start(s, d);
	*out = r ? http_server_free(s) : s;
	return r;
}

/* Accepts no more connections; existing ones stay. A second call does nothing. */
static void http_server_stop_listening(struct http_server *s)
{
	if (s->options.listener >= 0)
		close(s->options.listener);
	s->options.listener = -1;
	s->rest_until_ms = 0;
}

/* Ends all connections: the library must not stop while one of them is suspended. */
static void server_end_connections(struct http_server *s)
{
	for (struct http_connection *c = s->connections; c; c = c->next)
		http_connection_end(c);
	s->library->run(s->daemon);
	s->library->stop_daemon(s->daemon);
}

struct http_server *http_server_free(struct http_server *s)
{
	if (!s)
		return NULL;
	http_server_stop_listening(s);
	if (s->daemon)
		server_end_connections(s);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->wake >= 0)
		close(s->wake);
	free(s);
	return NULL;
}

/* --- Running --------------------------------------------------------------------------------- */

int http_server_get_fd(const struct http_server *s)
{
	return s->epoll;
}

int64_t http_server_get_timeout_ms(const struct http_server *s)
{
	int64_t next_ms = http_connection_find_next_ms(s);
	int64_t timeout_ms = -1;
	MHD_UNSIGNED_LONG_LONG library_ms;

	if (s->rest_until_ms && s->rest_until_ms < next_ms)
		next_ms = s->rest_until_ms;
	if (next_ms != INT64_MAX)
		timeout_ms = next_ms > http_now_ms() ? next_ms - http_now_ms() : 0;
	if (s->library->get_timeout(s->daemon, &library_ms) == MHD_YES &&
		(timeout_ms < 0 || library_ms < (uint64_t)timeout_ms))
		timeout_ms = (int64_t)library_ms;
	return timeout_ms;
}

/*
 * Handles the events. It runs before the library does, because the library may free the connection
 * of an event.
 */
static void server_handle_events(struct http_server *s)
{
	struct epoll_event events[MAX_EVENTS];
	int n = epoll_wait(s->epoll, events, MAX_EVENTS, 0);
	bool has_visitors = false;
	eventfd_t n_woken;

	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == s)
			has_visitors = true;
		else if (events[i].data.ptr == &s->wake)
			eventfd_read(s->wake, &n_woken);
		else if (events[i].data.ptr)
			http_connection_hear_end(events[i].data.ptr);
	}
	if (has_visitors)
		server_accept(s);
}

void http_server_run(struct http_server *s)
{
	server_resume_accept(s);
	server_handle_events(s);
	http_connection_end_late(s);
	s->library->run(s->daemon);
	http_connection_note_deliveries(s);
	http_connection_end_left(s);
}

void http_server_count(const struct http_server *s, struct http_counts *out)
{
	*out = s->counts;
}

unsigned http_server_get_n_sent(const struct http_server *s)
{
	return s->n_sent;
}

bool http_server_is_sending(const struct http_server *s)
{
	for (const struct http_connection *c = s->connections; c; c = c->next)
		if (c->state == HTTP_SENDING || c->state == HTTP_DELIVERING)
			return true;
	return false;
}
