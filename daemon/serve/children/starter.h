/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that starts servers for programs that can start none (docs/internals/host.md). It is
 * forked off the host daemon before that has threads, and keeps what right there is to become
 * another user, which the daemon gives up. It is handed connections, on which programs have said
 * what the daemon has not read: so a daemon that was taken over can have no server started but
 * those that somebody asks for.
 *
 * It also has a process of another user look for profiler servers of another make among that user's
 * processes (stock_look.h), one look at a time.
 */
#ifndef DAEMON_STARTER_H
#define DAEMON_STARTER_H

/* Servers at a time; of a user who is not root. Those of an earlier daemon are not counted. */
#define STARTER_MAX_SERVERS 256
#define STARTER_MAX_OF_USER 64

struct starter {
	int socket; /* -1: there is none */
	int may_become_others; /* it is not root's, and has the two capabilities */
};

/*
 * Forks it. For a process with one thread. 0, or a negative errno: then there is none. It ends with
 * the daemon, whose end closes the socket; the servers go on.
 */
int starter_open(struct starter *s);

/*
 * Hands |connection| over (borrowed), where serve_request_is_next(). Who asks is answered there, or
 * here when that is impossible.
 */
void starter_hand_over(struct starter *s, int connection);

#endif
