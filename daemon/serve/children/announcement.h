/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between an attached server and the host daemon on the registry's socket
 * (docs/internals/host.md). The server sends
 *
 *	PROFTAP PROGRAM 1\n and the lines of base/status.h
 *
 * where the first one brings a pidfd of the program, and the daemon sends
 *
 *	PROFTAP STATUS 1\n	to be answered with PROGRAM
 *	PROFTAP MEMORY 1\n	the same, with the share of memory
 *	PROFTAP CHANNEL 1\n	with a connected socket, which the server is to serve
 *
 * Either side trusts only the kernel's word about the sender and the descriptor.
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
	int fd; /* it came with the message; -1: none */
};

/*
 * Sends all of it at once: 0, -EAGAIN: there is no room now, or another negative errno. a->fd is
 * borrowed.
 */
int announcement_send(int socket, const struct announcement *a);

/*
 * Takes the next message: 1, and out->fd is the caller's. 0 at the end; -EAGAIN: there is none;
 * -EPROTO, or another negative errno: it is none of these, and nothing is left open.
 */
int announcement_receive(int socket, struct announcement *out);

#endif
