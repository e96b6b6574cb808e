/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections; see door.h. For each client that gRPC serves, this file keeps a descriptor of its
 * own. Polling it shows the end of the connection, when gRPC or the client shuts that down. While a
 * client sends, its bytes are counted.
 */
#include "daemon/serve/door/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/serve/door/greeting.h"
#include "rpc/socket.h"

/* On a busy machine a client may need seconds between its connection and its greeting. */
#define GREETING_MS 10000
/* Beyond this number the door dismisses the client that has waited longest. */
#define MAX_WAITING 256
#define MAX_SERVED 128
/*
 * The kernel's receive buffer of a connection. A small one suffices for requests, and gRPC parses
 * all bytes that it finds at once.
 */
#define RECEIVE_BYTES 16384
/* The interval at which the bytes of a client that sends are counted; others cost nothing. */
#define POLL_MS 10
/* The limit of accepted connections in one turn of the loop, which has other work, too. */
#define MAX_AT_ONCE 16

struct door_client {
	uv_poll_t poll;
	struct door *door;
	struct door_client_list *list; /* the door's waiting or served clients */
	struct door_client *previous;
	struct door_client *next;
	uint64_t deadline_ms; /* the loop's clock */
	int fd;
	uid_t uid; /* root's if the policy does not look users up */
	struct traffic traffic;
};

static void on_greeting_timeout(uv_timer_t *timer);

static void append_client(struct door_client *c, struct door_client_list *list)
{
	c->list = list;
	c->next = NULL;
	c->previous = list->last;
	if (list->last)
		list->last->next = c;
	else
		list->first = c;
	list->last = c;
	list->n++;
}

static void unlink_client(struct door_client *c)
{
	struct door_client_list *list = c->list;

	if (c->previous)
		c->previous->next = c->next;
	else
		list->first = c->next;
	if (c->next)
		c->next->previous = c->previous;
	else
		list->last = c->previous;
	list->n--;
}

static void free_client(uv_handle_t *handle)
{
	free(handle->data);
}

/* Closes our descriptor of the connection, and frees it. */
static void dismiss_client(struct door_client *c)
{
	unlink_client(c);
	uv_poll_stop(&c->poll);
	close(c->fd);
	uv_close((uv_handle_t *)&c->poll, free_client);
}

/* --- clients that are served ------------------------------------------------------------------ */

static void on_served(uv_poll_t *poll, int status, int events);

/*
 * Polls for data again only after POLL_MS: otherwise bytes that gRPC has not read yet would wake
 * the loop again and again.
 */
static void on_traffic_timer(uv_timer_t *timer)
{
	struct door *door = timer->data;

	for (struct door_client *c = door->served.first; c; c = c->next)
		uv_poll_start(&c->poll, UV_READABLE | UV_DISCONNECT, on_served);
}

static void on_served(uv_poll_t *poll, int status, int events)
{
	struct door_client *c = poll->data;
	struct door *door = c->door;

	if (status < 0 || events & UV_DISCONNECT) {
		dismiss_client(c);
	} else if (traffic_count(&door->limit, &c->traffic, traffic_read(c->fd), monotonic_ns())) {
		log_warn(LOG_LISTEN, "hung up on a client that sent %llu bytes",
			(unsigned long long)c->traffic.received_bytes);
		socket_hang_up(c->fd); /* this causes a UV_DISCONNECT */
	} else {
		uv_poll_start(poll, UV_DISCONNECT, on_served);
		uv_timer_start(&door->traffic_timer, on_traffic_timer, POLL_MS, 0);
	}
}

static unsigned count_clients_of(const struct door *door, uid_t uid)
{
	unsigned n = 0;

	for (const struct door_client *c = door->served.first; c; c = c->next)
		n += c->uid == uid;
	return n;
}

/* Returns true if one more client of |uid| may be served. Root has no limit for one user. */
static bool has_room(struct door *door, uid_t uid)
{
	const struct door_policy *policy = &door->policy;
	unsigned max = policy->max_served ? policy->max_served : MAX_SERVED;
	unsigned n = door->served.n;

	if (n < max && uid && policy->max_of_user) {
		max = policy->max_of_user;
		n = count_clients_of(door, uid);
	}
	if (n < max) {
		door->is_full = false;
		return true;
	}
	if (!door->is_full)
		log_warn(LOG_LISTEN, "refused a connection of uid %u: there are %u already",
			(unsigned)uid, n);
	door->is_full = true;
	return false;
}

static int keep_descriptor(int fd)
{
	return descriptors_keep(fd, DESCRIPTORS_OF_CONNECTIONS);
}

/* Gives gRPC a descriptor of its own. */
static void serve_client(struct door_client *c)
{
	struct door *door = c->door;
	int one = 1;
	int fd = has_room(door, c->uid) ? keep_descriptor(fcntl(c->fd, F_DUPFD_CLOEXEC, 0)) : -1;

	if (fd < 0) {
		dismiss_client(c);
		return;
	}
	unlink_client(c);
	append_client(c, &door->served);
	uv_poll_start(&c->poll, UV_READABLE | UV_DISCONNECT, on_served);
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
	door->policy.serve(fd, door->policy.context);
}

/* --- clients that wait ------------------------------------------------------------------------ */

static void set_greeting_timer(struct door *door)
{
	const struct door_client *first = door->waiting.first;
	uint64_t now = uv_now(door->poll.loop);

	if (!first)
		uv_timer_stop(&door->greeting_timer);
	else
		uv_timer_start(&door->greeting_timer, on_greeting_timeout,
			first->deadline_ms > now ? first->deadline_ms - now : 0, 0);
}

static void on_greeting_timeout(uv_timer_t *timer)
{
	struct door *door = timer->data;

	while (door->waiting.first && door->waiting.first->deadline_ms <= uv_now(door->poll.loop))
		dismiss_client(door->waiting.first);
	set_greeting_timer(door);
}

/* Reads all bytes first, because with unread bytes the kernel would not deliver the answer. */
static void answer_http1(int fd)
{
	char bytes[4096];

	for (int i = 0; i < 16 && recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0; i++)
		;
	send(fd, greeting_http1_answer, strlen(greeting_http1_answer), MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
}

/* Hangs up on a client that does not speak HTTP/2. */
static void refuse_client(struct door_client *c, enum greeting greeting)
{
	const struct door_policy *policy = &c->door->policy;

	if (greeting == GREETING_HTTP1)
		answer_http1(c->fd);
	else if (greeting == GREETING_NOTICE && policy->on_notice)
		policy->on_notice(c->fd, policy->context);
	dismiss_client(c);
}

static void on_greeting(uv_poll_t *poll, int status, int events)
{
	struct door_client *c = poll->data;
	struct door *door = c->door;
	uint8_t bytes[GREETING_BYTES];
	ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
	enum greeting greeting = n > 0 ? greeting_judge(bytes, (size_t)n) : GREETING_OTHER;

	(void)status, (void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (greeting == GREETING_HTTP2)
		serve_client(c);
	else
		refuse_client(c, greeting);
	set_greeting_timer(door);
}

/* --- new connections -------------------------------------------------------------------------- */

static void add_waiting(struct door *door, int fd)
{
	const struct door_policy *policy = &door->policy;
	struct door_client *c = calloc(1, sizeof *c);
	int whole = GREETING_BYTES;

	if (!c || (policy->find_uid && policy->find_uid(fd, &c->uid, policy->context)) ||
		uv_poll_init(door->poll.loop, &c->poll, fd)) {
		free(c);
		close(fd);
		return;
	}
	/* Ensures that an incomplete greeting does not wake the loop. */
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &whole, sizeof whole);
	c->poll.data = c;
	c->door = door;
	c->fd = fd;
	c->deadline_ms = uv_now(door->poll.loop) + GREETING_MS;
	append_client(c, &door->waiting);
	uv_poll_start(&c->poll, UV_READABLE, on_greeting);
	if (door->waiting.n > MAX_WAITING)
		dismiss_client(door->waiting.first);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct door *door = poll->data;
	int fd;

	(void)events;
	if (status < 0)
		return;
	for (int i = 0; i < MAX_AT_ONCE; i++) {
		fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			accept_pause_start(&door->pause, errno);
			break;
		}
		fd = keep_descriptor(fd);
		if (fd < 0)
			continue;
		if (door->policy.may_enter(fd, door->policy.context))
			add_waiting(door, fd);
		else
			close(fd);
	}
	set_greeting_timer(door);
}

void door_let_in(struct door *door, int fd)
{
	fd = keep_descriptor(fd);
	if (fd < 0)
		return;
	if (door->listener < 0) {
		close(fd);
		return;
	}
	add_waiting(door, fd);
	set_greeting_timer(door);
}

int door_open(struct door *door, uv_loop_t *loop, int listener, const struct door_policy *policy)
{
	int bytes = RECEIVE_BYTES;
	int r;

	memset(door, 0, sizeof *door);
	door->policy = *policy;
	door->listener = listener;
	/* Set on the listener, because connections inherit it. */
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	uv_timer_init(loop, &door->greeting_timer);
	uv_timer_init(loop, &door->traffic_timer);
	accept_pause_init(&door->pause, loop, &door->poll, on_connection);
	r = uv_poll_init(loop, &door->poll, listener);
	door->poll.data = door->greeting_timer.data = door->traffic_timer.data = door;
	return r ? r : uv_poll_start(&door->poll, UV_READABLE, on_connection);
}

void door_close(struct door *door)
{
	if (door->listener < 0)
		return;
	accept_pause_end(&door->pause);
	close(door->listener);
	door->listener = -1;
	while (door->waiting.first)
		dismiss_client(door->waiting.first);
	uv_timer_stop(&door->greeting_timer);
}
