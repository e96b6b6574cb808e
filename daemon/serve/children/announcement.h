/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between an attached server and the host daemon on the registry's socket
 * (docs/internals/host.md). The server sends
 *
 *	PROFTAP PROGRAM 1\n and the lines of base/status.h
 *
 * and attaches a pidfd of the program to the first of these messages. The daemon sends
 *
 *	PROFTAP STATUS 1\n	the server must answer with PROGRAM
 *	PROFTAP MEMORY 1\n	the same; the answer also has the share of memory
 *	PROFTAP CHANNEL 1\n	attaches a connected socket, which the server must serve
 *
 * Both sides trust only the kernel's facts about the sender and the descriptor.
 */
#ifndef DAEMON_ANNOUNCEMENT_H
#define DAEMON_ANNOUNCEMENT_H

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
	int fd; /* attached to the message; -1: none */
};

/*
 * Sends the whole message at once. 0; -EAGAIN: there is no room for it now; or another negative
 * errno. a->fd is borrowed.
 */
int announcement_send(int socket, const struct announcement *a);

/*
 * Receives the next message. 1: done, and the caller owns out->fd; 0: the connection has ended;
 * -EAGAIN: no message has come; -EPROTO or another negative errno: the message is invalid, and no
 * descriptor is left open.
 */
int announcement_receive(int socket, struct announcement *out);

#endif
