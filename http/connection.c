/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of a server, and the deadlines of each; see server_parts.h. */
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "http/server_parts.h"

/* The interval between two checks whether the peer's kernel has received all bytes. */
#define DELIVERY_MS 20

int64_t http_now_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

/* --- Deadlines ------------------------------------------------------------------------------- */

static int64_t connection_state_deadline_ms(const struct http_connection *c)
{
	switch (c->state) {
	case HTTP_WAITING:
		return http_now_ms() + HTTP_REQUEST_MS;
	case HTTP_ANSWERING:
		return http_now_ms() + HTTP_ANSWER_MS;
	case HTTP_SENDING:
		return http_now_ms() + HTTP_ANSWER_MS +
		       (int64_t)(c->exchange->n_file_bytes / HTTP_MIN_BYTES_PER_S) * 1000;
	case HTTP_DELIVERING: /* it keeps the deadline of HTTP_SENDING */
		return c->deadline_ms;
	case HTTP_STREAMING:
		return INT64_MAX;
	}
	return 0;
}

void http_connection_enter(struct http_connection *c, enum http_state state)
{
	c->state = state;
	c->deadline_ms = connection_state_deadline_ms(c);
}

static int64_t connection_get_deadline_ms(const struct http_connection *c)
{
	if (c->state == HTTP_STREAMING)
		return http_stream_get_deadline_ms(c->exchange->stream);
	return c->deadline_ms;
}

void http_connection_resume(struct http_connection *c)
{
	struct http_server *s = c->server;

	s->library->resume_connection(c->library);
	eventfd_write(s->wake, 1);
}

void http_connection_end(struct http_connection *c)
{
	if (c->is_over)
		return;
	c->is_over = true;
	shutdown(c->fd, SHUT_RDWR);
	if (c->exchange)
		http_exchange_wake(c->exchange);
}

void http_connection_end_late(struct http_server *s)
{
	int64_t now_ms = http_now_ms();

	for (struct http_connection *c = s->connections; c; c = c->next) {
		if (c->is_over || now_ms < connection_get_deadline_ms(c))
			continue;
		s->counts.n_late++;
		http_connection_end(c);
	}
}

void http_connection_note_deliveries(struct http_server *s)
{
	int n_left;

	for (struct http_connection *c = s->connections; c; c = c->next) {
		if (c->state != HTTP_DELIVERING || ioctl(c->fd, TIOCOUTQ, &n_left) < 0 || n_left)
			continue;
		s->n_sent++;
		http_connection_enter(c, HTTP_WAITING);
	}
}

/*
 * Ends connections whose peers closed before their request was complete. If bytes and the end
 * arrive together, the library reads only the bytes and does not notice the end. A connection with
 * bytes that the library has not read yet stays, because they may complete the request.
 */
void http_connection_end_left(struct http_server *s)
{
	int n_left;

	for (struct http_connection *c = s->connections; c; c = c->next)
		if (c->has_left && c->state == HTTP_WAITING && !c->is_over &&
			(ioctl(c->fd, SIOCINQ, &n_left) < 0 || !n_left))
			http_connection_end(c);
}

int64_t http_connection_find_next_ms(const struct http_server *s)
{
	int64_t next_ms = INT64_MAX;
	int64_t now_ms = http_now_ms();

	for (const struct http_connection *c = s->connections; c; c = c->next) {
		int64_t ms = c->is_over ? INT64_MAX : connection_get_deadline_ms(c);

		if (c->state == HTTP_DELIVERING && now_ms + DELIVERY_MS < ms)
			ms = now_ms + DELIVERY_MS;
		if (ms < next_ms)
			next_ms = ms;
	}
	return next_ms;
}

/* --- Arrival and end ------------------------------------------------------------------------- */

/* Returns NULL and hangs up if memory ran out, or if the server is not adding a client now. */
static struct http_connection *connection_add(struct http_server *s, struct MHD_Connection *library)
{
	const struct http_peer *peer = s->entering;
	int fd = s->library->get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD)
			 ->connect_fd;
	struct http_connection *c = peer ? calloc(1, sizeof *c) : NULL;
	struct epoll_event watched = {.events = EPOLLRDHUP | EPOLLET};

	s->entering = NULL;
	if (!c) {
		shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	c->server = s;
	c->library = library;
	c->peer = *peer;
	c->fd = fd;
	c->next = s->connections;
	s->connections = c;
	s->counts.n_connections++;
	watched.data.ptr = c;
	epoll_ctl(s->epoll, EPOLL_CTL_ADD, c->fd, &watched);
	http_connection_enter(c, HTTP_WAITING);
	return c;
}

static void connection_remove(struct http_server *s, struct http_connection *c)
{
	struct http_connection **at = &s->connections;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	s->n_sent += c->state == HTTP_DELIVERING && !c->is_over;
	s->counts.n_connections--;
	free(c);
}

void http_connection_note(void *server, struct MHD_Connection *library, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	struct http_server *s = server;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*context = connection_add(s, library);
	else if (*context)
		connection_remove(s, *context);
}

/*
 * Notes that the peer will send nothing more. A stream ends at once: otherwise its end would only
 * be noticed when the next bytes are sent. Other connections still get their answers.
 */
void http_connection_hear_end(struct http_connection *c)
{
	c->has_left = true;
	if (c->state == HTTP_STREAMING)
		http_connection_end(c);
}

unsigned http_connection_count(const struct http_server *s, const uid_t *uid)
{
	unsigned n = 0;

	for (const struct http_connection *c = s->connections; c; c = c->next)
		n += !c->is_over && (!uid || c->peer.uid == *uid);
	return n;
}

bool http_connection_make_room(struct http_server *s, const uid_t *uid)
{
	struct http_connection *oldest = NULL;

	for (struct http_connection *c = s->connections; c; c = c->next)
		if (!c->is_over && c->state == HTTP_WAITING && (!uid || c->peer.uid == *uid) &&
			(!oldest || c->deadline_ms <= oldest->deadline_ms))
			oldest = c;
	if (!oldest)
		return false;
	s->counts.n_pushed_out++;
	http_connection_end(oldest);
	return true;
}
