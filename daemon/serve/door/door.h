/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections from accept() until gRPC has them, and limits of their number and traffic. A client
 * that sends nothing within 2 s, or does not speak HTTP/2, is hung up on here and costs only a
 * descriptor until then; gRPC would keep it for a minute. A client that sends without end is hung
 * up on while gRPC has it.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_DOOR_H
#define DAEMON_DOOR_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "daemon/kernel/accept_pause.h"
#include "daemon/serve/door/traffic.h"

/* The rules and functions that the owner of the door sets. */
struct door_policy {
	bool (*may_enter)(int fd, void *context); /* called at accept(); if false, hangs up */
	void (*serve)(int fd, void *context); /* takes |fd|, which speaks HTTP/2 */
	void (*on_notice)(
		int fd, void *context); /* |fd| (borrowed) has an unread notice; NULL ok */
	void *context;
	/*
	 * Finds the user of a client. If it returns nonzero, the door hangs up. NULL: all are one
	 * user.
	 */
	int (*find_uid)(int fd, uid_t *uid, void *context);
	unsigned max_served; /* at a time; 0: 128 */
	unsigned max_of_user; /* limit of these for each user except root */
};

struct door_client;

struct door_client_list {
	struct door_client *first; /* the client that has been here longest */
	struct door_client *last;
	unsigned n;
};

struct door {
	uv_poll_t poll; /* on the listener */
	struct accept_pause pause; /* of the listener, when descriptors are short */
	uv_timer_t greeting_timer; /* until the first deadline of a client that waits */
	uv_timer_t traffic_timer; /* until clients that send are polled again */
	struct door_policy policy;
	int listener; /* -1: closed */
	struct door_client_list waiting; /* by deadline */
	struct door_client_list served;
	struct traffic_limit limit;
	bool is_full; /* and a warning was logged */
};

/*
 * Watches |listener| (a listening, non-blocking socket; closed by door_close()). 0, or libuv's
 * error. |door| must not move until the loop has ended.
 */
int door_open(struct door *door, uv_loop_t *loop, int listener, const struct door_policy *policy);

/*
 * Accepts |fd|, a connected, non-blocking socket that somebody else accepted and has checked;
 * always takes it. A closed door closes it.
 */
void door_let_in(struct door *door, int fd);

/* Accepts no more clients; those that are served stay. A second call does nothing. */
void door_close(struct door *door);

#endif
