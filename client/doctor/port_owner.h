/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a listening port of this machine is. */
#ifndef CLIENT_PORT_OWNER_H
#define CLIENT_PORT_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct system;

struct port_owner {
	uid_t uid; /* who made the socket; systemd makes them as root */
	pid_t pid; /* who has it, the youngest; 0: a process that this user may not look into */
	char name[64]; /* of that; "" */
};

/* Of 127.0.0.1:|port|, or of all addresses of IPv4. False: nobody listens, or it cannot be known. */
bool port_owner_find(const struct system *sys, unsigned port, struct port_owner *out);

#endif
