/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in; see door.h. A connection that gRPC has is still known here, by a descriptor of our own: gRPC shuts a
 * connection down when it is done with it, and so does the peer when it goes. And it is looked at while it sends.
 */
#include "daemon/serve/door/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/serve/door/greeting.h"
#include "rpc/socket.h"

#define PATIENCE_MS 2000
#define MAX_WAITING 256
#define MAX_SERVED 128
/* What a client may have under way to us. Requests are small, and what gRPC finds it parses at one go. */
#define RECEIVE_BYTES 16384
/* A client that sends is looked at so often, and one that does not, never. */
#define LOOK_MS 10
/* Whoever connects faster than we refuse must not keep the loop from its other work. */
#define MAX_AT_ONCE 16

struct visitor {
	uv_poll_t poll;
	struct door *door;
	struct visitor_list *list; /* of those that wait, or of those that are served */
	struct visitor *previous;
	struct visitor *next;
	uint64_t deadline_ms; /* the loop's clock */
	int fd;
	uid_t uid; /* root's where nobody asked */
	struct intake_peer traffic;
};

static void on_patience(uv_timer_t *timer);

static void append(struct visitor *v, struct visitor_list *list)
{
	v->list = list;
	v->next = NULL;
	v->previous = list->last;
	if (list->last)
		list->last->next = v;
	else
		list->first = v;
	list->last = v;
	list->n++;
}

static void take_out(struct visitor *v)
{
	struct visitor_list *list = v->list;

	if (v->previous)
		v->previous->next = v->next;
	else
		list->first = v->next;
	if (v->next)
		v->next->previous = v->previous;
	else
		list->last = v->previous;
	list->n--;
}

static void free_visitor(uv_handle_t *handle)
{
	free(handle->data);
}

/* Closes our descriptor of it and forgets it. */
static void dismiss(struct visitor *v)
{
	take_out(v);
	uv_poll_stop(&v->poll);
	close(v->fd);
	uv_close((uv_handle_t *)&v->poll, free_visitor);
}

/* Those that are served. */

static void on_served(uv_poll_t *poll, int status, int events);

/* Not all the time: what gRPC does not read at once would wake us again and again. */
static void on_look(uv_timer_t *timer)
{
	struct door *door = timer->data;

	for (struct visitor *v = door->served.first; v; v = v->next)
		uv_poll_start(&v->poll, UV_READABLE | UV_DISCONNECT, on_served);
}

static void on_served(uv_poll_t *poll, int status, int events)
{
	struct visitor *v = poll->data;
	struct door *door = v->door;

	if (status < 0 || events & UV_DISCONNECT) {
		dismiss(v);
	} else if (intake_count(&door->intake, &v->traffic, intake_read(v->fd), monotonic_ns())) {
		log_warn(LOG_LISTEN, "hung up on a client that sent %llu bytes",
			(unsigned long long)v->traffic.received_bytes);
		socket_hang_up(v->fd); /* and it comes back as a disconnect */
	} else {
		uv_poll_start(poll, UV_DISCONNECT, on_served);
		uv_timer_start(&door->look, on_look, LOOK_MS, 0);
	}
}

static unsigned count_of(const struct door *door, uid_t uid)
{
	unsigned n = 0;

	for (const struct visitor *v = door->served.first; v; v = v->next)
		n += v->uid == uid;
	return n;
}

/* Root is not kept out by root's own. */
static int has_room(struct door *door, uid_t uid)
{
	const struct door_policy *policy = &door->policy;
	unsigned max = policy->max_served ? policy->max_served : MAX_SERVED;
	unsigned n = door->served.n;

	if (n < max && uid && policy->max_of_user) {
		max = policy->max_of_user;
		n = count_of(door, uid);
	}
	if (n < max) {
		door->is_full = 0;
		return 1;
	}
	if (!door->is_full)
		log_warn(LOG_LISTEN, "refused a connection of uid %u: there are %u already",
			(unsigned)uid, n);
	door->is_full = 1;
	return 0;
}

static int keep(int fd)
{
	return descriptors_keep(fd, DESCRIPTORS_OF_CONNECTIONS);
}

/* gRPC gets a descriptor of its own. */
static void pass_on(struct visitor *v)
{
	struct door *door = v->door;
	int one = 1;
	int fd = has_room(door, v->uid) ? keep(fcntl(v->fd, F_DUPFD_CLOEXEC, 0)) : -1;

	if (fd < 0) {
		dismiss(v);
		return;
	}
	take_out(v);
	append(v, &door->served);
	uv_poll_start(&v->poll, UV_READABLE | UV_DISCONNECT, on_served);
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
	door->policy.serve(fd, door->policy.context);
}

/* Those that wait: what they say. */

static void set_patience(struct door *door)
{
	const struct visitor *first = door->waiting.first;
	uint64_t now = uv_now(door->poll.loop);

	if (!first)
		uv_timer_stop(&door->patience);
	else
		uv_timer_start(&door->patience, on_patience,
			first->deadline_ms > now ? first->deadline_ms - now : 0, 0);
}

static void on_patience(uv_timer_t *timer)
{
	struct door *door = timer->data;

	while (door->waiting.first && door->waiting.first->deadline_ms <= uv_now(door->poll.loop))
		dismiss(door->waiting.first);
	set_patience(door);
}

/* Reads what there is first: with bytes unread, the kernel would not deliver the answer. */
static void answer_http1(int fd)
{
	char bytes[4096];

	for (int i = 0; i < 16 && recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0; i++)
		;
	send(fd, greeting_http1_answer, strlen(greeting_http1_answer), MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
}

/* Whose greeting is not HTTP/2. */
static void turn_away(struct visitor *v, enum greeting greeting)
{
	const struct door_policy *policy = &v->door->policy;

	if (greeting == GREETING_HTTP1)
		answer_http1(v->fd);
	else if (greeting == GREETING_NOTICE && policy->hear)
		policy->hear(v->fd, policy->context);
	dismiss(v);
}

static void on_greeting(uv_poll_t *poll, int status, int events)
{
	struct visitor *v = poll->data;
	struct door *door = v->door;
	uint8_t bytes[GREETING_BYTES];
	ssize_t n = recv(v->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
	enum greeting greeting = n > 0 ? greeting_judge(bytes, (size_t)n) : GREETING_OTHER;

	(void)status, (void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (greeting == GREETING_HTTP2)
		pass_on(v);
	else
		turn_away(v, greeting);
	set_patience(door);
}

/* Coming in. */

static void let_wait(struct door *door, int fd)
{
	const struct door_policy *policy = &door->policy;
	struct visitor *v = calloc(1, sizeof *v);
	int whole = GREETING_BYTES;

	if (!v || (policy->find_uid && policy->find_uid(fd, &v->uid, policy->context)) ||
		uv_poll_init(door->poll.loop, &v->poll, fd)) {
		free(v);
		close(fd);
		return;
	}
	/* So that half a greeting wakes nobody. */
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &whole, sizeof whole);
	v->poll.data = v;
	v->door = door;
	v->fd = fd;
	v->deadline_ms = uv_now(door->poll.loop) + PATIENCE_MS;
	append(v, &door->waiting);
	uv_poll_start(&v->poll, UV_READABLE, on_greeting);
	if (door->waiting.n > MAX_WAITING)
		dismiss(door->waiting.first);
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
			accept_pause_start(&door->rest, errno);
			break;
		}
		fd = keep(fd);
		if (fd < 0)
			continue;
		if (door->policy.may_enter(fd, door->policy.context))
			let_wait(door, fd);
		else
			close(fd);
	}
	set_patience(door);
}

void door_let_in(struct door *door, int fd)
{
	fd = keep(fd);
	if (fd < 0)
		return;
	if (door->listener < 0) {
		close(fd);
		return;
	}
	let_wait(door, fd);
	set_patience(door);
}

int door_open(struct door *door, uv_loop_t *loop, int listener, const struct door_policy *policy)
{
	int bytes = RECEIVE_BYTES;
	int r;

	memset(door, 0, sizeof *door);
	door->policy = *policy;
	door->listener = listener;
	/* Its connections inherit this. */
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	uv_timer_init(loop, &door->patience);
	uv_timer_init(loop, &door->look);
	accept_pause_init(&door->rest, loop, &door->poll, on_connection);
	r = uv_poll_init(loop, &door->poll, listener);
	door->poll.data = door->patience.data = door->look.data = door;
	return r ? r : uv_poll_start(&door->poll, UV_READABLE, on_connection);
}

void door_close(struct door *door)
{
	if (door->listener < 0)
		return;
	accept_pause_end(&door->rest);
	close(door->listener);
	door->listener = -1;
	while (door->waiting.first)
		dismiss(door->waiting.first);
	uv_timer_stop(&door->patience);
}
