/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what answers on a port of this machine, and who owns the port. */
#ifndef CLIENT_PORT_H
#define CLIENT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct system;

enum port_answer {
	PORT_NOBODY, /* the connection is refused */
	PORT_GRPC, /* HTTP/2 */
	PORT_WEB, /* HTTP/1 */
	PORT_OTHER, /* something else, which |said| describes or quotes */
};

/* Connects to 127.0.0.1:|port|. Returns an enum port_answer. */
int port_ask(unsigned port, char *said, size_t n);

/* --- owners -------------------------------------------------------------------------------- */

struct port_owner {
	uid_t uid; /* the user that made the socket; systemd makes sockets as root */
	/* The process with the highest pid that has the socket; 0: this user may not inspect it. */
	pid_t pid;
	char name[64]; /* the name of that process, or "" */
};

/*
 * Finds the owner of 127.0.0.1:|port| or 0.0.0.0:|port|. False: /proc/net/tcp has no such listener,
 * or cannot be read.
 */
bool port_owner_find(const struct system *sys, unsigned port, struct port_owner *out);

/*
 * Lists up to |max| ports on which |pid| listens; none if this user may not inspect the process.
 * Returns the number.
 */
size_t port_owner_list(const struct system *sys, pid_t pid, unsigned *ports, size_t max);

#endif
