/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in: connections from accept() until gRPC has them, and how many there are. Who says nothing within 2 s, or
 * does not speak HTTP/2, is hung up on here and costs a descriptor until then; gRPC would keep it for a minute. Who sends
 * without an end is hung up on later.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_DOOR_H
#define DAEMON_DOOR_H

#include <uv.h>

#include "daemon/kernel/accept_pause.h"
#include "daemon/serve/door/intake.h"

/* Who comes in. */
struct door_policy {
	int (*may_enter)(int fd, void *context); /* asked at accept(); 0: hung up on at once */
	void (*serve)(int fd, void *context); /* takes |fd|, which speaks HTTP/2 */
	void (*hear)(int fd, void *context); /* a notice lies in |fd| (borrowed), unread; NULL ok */
	void *context;
	/* Where clients of many users come in. NULL: all are one's. 0; else nobody is served. */
	int (*find_uid)(int fd, uid_t *uid, void *context);
	unsigned max_served; /* at a time; 0: 128 */
	unsigned max_of_user; /* of those, of a user who is not root */
};

struct visitor;

struct visitor_list {
	struct visitor *first; /* the oldest */
	struct visitor *last;
	unsigned n;
};

struct door {
	uv_poll_t poll; /* on the listener */
	struct accept_pause rest; /* of the listener, when descriptors are short */
	uv_timer_t patience; /* until the first deadline of those that wait */
	uv_timer_t look; /* at those that have sent something, again */
	struct door_policy policy;
	int listener; /* -1: closed */
	struct visitor_list waiting; /* by deadline */
	struct visitor_list served;
	struct intake intake;
	int is_full; /* and it was said */
};

/*
 * Watches |listener| (a listening, non-blocking socket; closed by door_close()). 0, or libuv's error. |door| stays where
 * it is until the loop has ended.
 */
int door_open(struct door *door, uv_loop_t *loop, int listener, const struct door_policy *policy);

/*
 * Lets in |fd|, a connected, non-blocking socket that somebody else accepted and vouches for; always takes it. Of a door that is closed
 * it is closed, too.
 */
void door_let_in(struct door *door, int fd);

/* Nobody comes in any more; those that are served stay. Again: nothing. */
void door_close(struct door *door);

#endif
