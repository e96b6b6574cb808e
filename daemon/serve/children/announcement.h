/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an attached server and the host daemon say to each other on the registry's socket (docs/internals/host.md): one
 * message each of
 *
 *	PROFTAP PROGRAM 1\n and the lines of base/status.h	server to daemon; the first one with a pidfd of the program
 *	PROFTAP STATUS 1\n				daemon to server: answer with that
 *	PROFTAP MEMORY 1\n				daemon to server: answer with that, and the share of memory in it
 *	PROFTAP CHANNEL 1\n				daemon to server, with a connected socket: serve it
 *
 * Nothing in them is believed but what the kernel says of the sender and of the descriptor.
 */
#ifndef DAEMON_ANNOUNCEMENT_H
#define DAEMON_ANNOUNCEMENT_H

#include <stddef.h>

#include "base/status.h"

enum announcement_kind {
	ANNOUNCEMENT_PROGRAM,
	ANNOUNCEMENT_STATUS,
	ANNOUNCEMENT_MEMORY,
	ANNOUNCEMENT_CHANNEL,
	ANNOUNCEMENT_KINDS
};

struct announcement {
	enum announcement_kind kind;
	struct status status; /* of ANNOUNCEMENT_PROGRAM */
	int fd; /* that came with it; -1: none */
};

/*
 * All of it at once: 0, -EAGAIN: there is no room now, or another negative errno. a->fd is
 * borrowed.
 */
int announcement_send(int socket, const struct announcement *a);

/*
 * The message that is there: 1, and out->fd is the caller's. 0 at the end; -EAGAIN: there is none;
 * -EPROTO, or another negative errno: what came is none of these, and nothing is left open.
 */
int announcement_receive(int socket, struct announcement *out);

#endif
