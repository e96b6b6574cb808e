/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a listening port of this machine is. */
#ifndef CLIENT_PORT_OWNER_H
#define CLIENT_PORT_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct system;

struct port_owner {
	uid_t uid; /* who made the socket; systemd makes them as root */
	pid_t pid; /* who has it, the youngest; 0: a process that this user may not look into */
	char name[64]; /* of that; "" */
};

/* Of 127.0.0.1:|port|, or of all addresses of IPv4. False: nobody listens, or it cannot be known. */
bool port_owner_find(const struct system *sys, unsigned port, struct port_owner *out);

/* Those ports that |pid| has, |max| of them at most; none where this user may not look into it. Returns how many. */
size_t port_owner_list(const struct system *sys, pid_t pid, unsigned *ports, size_t max);

#endif
