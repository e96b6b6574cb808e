/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides who may call this server: root, and the present user of the program. A program may change
 * its user while its server keeps the rights that it was started with; the earlier user may then no
 * longer call the server.
 */
#ifndef DAEMON_ACCESS_H
#define DAEMON_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target;

struct access {
	struct target *target;
	bool is_elsewhere; /* the port is in another network namespace than this process */
	_Atomic int64_t quiet_until_ns; /* CLOCK_MONOTONIC; no warning of a refusal before that */
	_Atomic uint64_t n_unsaid; /* refusals that were not logged since the last warning */
};

void access_init(struct access *access, struct target *target);

/* Finds the network namespace of |listener|. Call it before the first connection. */
void access_find_namespace(struct access *access, int listener);

/*
 * Returns true if the peer of |fd|, a TCP connection, may call. Logs refusals, at most once a
 * second.
 */
bool access_allows_tcp(struct access *access, int fd);
/* Checks a connection to the Unix socket that the program asked for instead of a port. */
bool access_allows_path(struct access *access, int fd);
/* Checks a connection to a private socket, even if the program allows all local users. */
bool access_allows_local(struct access *access, int fd);

#endif
