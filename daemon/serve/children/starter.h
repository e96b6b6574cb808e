/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that starts servers for programs that can start none (docs/internals/host.md). It is
 * forked off the host daemon before the daemon has threads, and keeps the right to become another
 * user, which the daemon gives up. It is handed connections with requests that the daemon has not
 * read: so a daemon that was taken over can start no server but those that programs ask for.
 *
 * It also has a process of another user look for profiler servers of another make among that user's
 * processes (stock_look.h), one look at a time.
 */
#ifndef DAEMON_STARTER_H
#define DAEMON_STARTER_H

#include <stdbool.h>

#include "lib/wire/serve.h"

/* Servers that live at a time. Those of an earlier daemon are not counted. */
#define STARTER_MAX_SERVERS 256
/* The same, of one user who is not root. */
#define STARTER_MAX_OF_USER 64

struct starter {
	int socket; /* -1: there is none */
	bool may_become_others; /* it is not root's, and has the two capabilities */
};

/*
 * Forks the starter. For a process with one thread. 0, or a negative errno. The starter ends with
 * the daemon, whose end closes the socket; the servers go on.
 */
int starter_open(struct starter *s);

/*
 * Hands |connection| over (borrowed), where serve_request_is_next(). The starter answers the
 * program; this function does so when the starter cannot be reached.
 */
void starter_hand_over(struct starter *s, int connection);

/*
 * The request, at the registry's socket, of a program that cannot start a server: a text and
 * descriptors. Every byte and descriptor may be hostile.
 */

/* The descriptors of a request. They are the caller's. */
struct serve_brought {
	int arena;
	int listener; /* -1: nobody shall connect */
};

/* Whether such a request is next at |fd|. It stays there, with all that it brings. */
bool serve_request_is_next(int fd);

/*
 * Takes it. 0; -EAGAIN: none is there; -EPROTO, -EBADMSG or another negative errno: it is no
 * request, or does not bring what it must: an arena that is sealed, and a stream's listener. Then
 * nothing is left open.
 */
int serve_request_read(int fd, struct serve_request *request, struct serve_brought *brought);

/* Answers without waiting for anybody. 0, or a negative errno: the program is gone. */
int serve_request_answer(int fd, int result);

#endif
