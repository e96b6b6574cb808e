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
 * Connects to |destination|, which ssh and the user's configuration interpret, and changes the
 * addresses to our end of the tunnel. Pids and names are looked up there first; so is a bare number
 * if nothing listens on that port there. Hosts are resolved there, and localhost means that
 * machine. While ssh asks for a password there is no time limit; an interrupt ends the call.
 * Returns an enum exit_code, with |d| unless it is EXIT_DONE. Call tunnel_close() in either case.
 */
int tunnel_open(struct tunnel *t, const char *destination, struct address *targets,
	size_t n_targets, struct diag *d);
void tunnel_close(struct tunnel *t);

#endif
