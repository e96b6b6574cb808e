/* SPDX-License-Identifier: Apache-2.0 */
/* A way to targets on another machine: one ssh that forwards a private unix socket to each of them. */
#ifndef CLIENT_TUNNEL_H
#define CLIENT_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "client/connect/ssh.h"

struct address;
struct diag;

struct tunnel {
	struct ssh ssh;
	char **argv; /* of ssh */
	size_t n_argv;
	char dir[64]; /* with the sockets in it; "": none */
	size_t n_sockets;
	bool is_open;
};

#define TUNNEL_INIT                   \
	{                             \
		.ssh = SSH_INIT, NULL \
	}

/*
 * Connects to |destination|, as ssh and the user's configuration have it, and changes the addresses to our end of the
 * tunnel; pids and names are looked up there first, and a number alone on which nobody listens there as a pid. Hosts are those that |destination| knows; localhost is itself. Waits for passwords as long as the user
 * does; an interrupt ends it. An enum exit_code, with |d| when it is not EXIT_DONE; close in every case.
 */
int tunnel_open(struct tunnel *t, const char *destination, struct address *targets,
	size_t n_targets, struct diag *d);
void tunnel_close(struct tunnel *t);

#endif
