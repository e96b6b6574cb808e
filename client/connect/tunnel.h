/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tunnel to targets on another machine: one ssh that forwards a private unix socket to each of
 * them.
 */
#ifndef CLIENT_TUNNEL_H
#define CLIENT_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "client/connect/ssh.h"

struct address;
struct diag;

struct tunnel {
	struct ssh ssh;
	char **argv; /* ssh's command line */
	size_t n_argv;
	char dir[64]; /* the directory with the sockets; "": none */
	size_t n_sockets;
	bool is_open;
};

#define TUNNEL_INIT                   \
	{                             \
		.ssh = SSH_INIT, NULL \
	}

/*
 * Connects to |destination|, which ssh interprets with the user's configuration, and changes each
 * address of |targets| to our end of the tunnel. Pids and names of targets are first looked up on
 * the destination machine. A bare number is a port if something listens on that port there, else a
 * pid. Host names are resolved on that machine, and localhost means that machine. If ssh has a
 * terminal on which it can ask for a password, there is no time limit; an interrupt ends the call.
 * Returns an enum exit_code, and fills |d| unless it is EXIT_DONE. Call tunnel_close() in either
 * case.
 */
int tunnel_open(struct tunnel *t, const char *destination, struct address *targets,
	size_t n_targets, struct diag *d);
void tunnel_close(struct tunnel *t);

#endif
