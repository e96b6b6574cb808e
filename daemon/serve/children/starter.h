/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that starts servers for programs that cannot start one (docs/internals/host.md). It
 * is forked off the host daemon before the daemon has threads, and keeps the right to become
 * another user, which the daemon gives up. The daemon passes connections to the starter without
 * reading their requests. So an attacker who controls the daemon can start servers only for
 * programs that request one.
 *
 * It also starts processes that become other users and look for profiler servers of JAX and
 * TensorFlow among those users' processes (stock_query.h), one query at a time.
 */
#ifndef DAEMON_STARTER_H
#define DAEMON_STARTER_H

#include <stdbool.h>

#include "lib/wire/serve.h"

/* The limit of servers that run at a time. Servers of an earlier daemon are not counted. */
#define STARTER_MAX_SERVERS 256
/* The same limit for each user except root. */
#define STARTER_MAX_OF_USER 64

struct starter {
	int socket; /* -1: no starter runs */
	bool may_become_others; /* the starter is not root, but has CAP_SETUID and CAP_SETGID */
};

/*
 * Forks the starter. Call it while the process has one thread. 0, or a negative errno. The starter
 * ends when the daemon has ended and its socket is closed; the servers continue.
 */
int starter_open(struct starter *s);

/*
 * Passes |connection| (borrowed) to the starter, which answers the program. Call it when
 * serve_request_is_next(). If the starter cannot be reached, this function answers.
 */
void starter_hand_over(struct starter *s, int connection);

/*
 * The request that a program which cannot start a server sends to the registry's socket: a text and
 * descriptors. Every byte and descriptor may be hostile.
 */

/* The descriptors of a request. The caller owns them. */
struct serve_brought {
	int arena;
	int listener; /* -1: no client may connect */
};

/* Returns true if the next message at |fd| is such a request. The message stays in the socket. */
bool serve_request_is_next(int fd);

/*
 * Receives the request. 0; -EAGAIN: no message has come; -EPROTO, -EBADMSG or another negative
 * errno: the message is no request, has no sealed arena, or has a second descriptor that is no
 * listening stream socket.
 * After a failure no descriptor is left open.
 */
int serve_request_read(int fd, struct serve_request *request, struct serve_brought *brought);

/* Sends the answer without waiting. 0, or a negative errno: the program is gone. */
int serve_request_answer(int fd, int result);

#endif
