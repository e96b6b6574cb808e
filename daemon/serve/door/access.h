/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may ask this server: root, and the user whose the program is at that moment. A program may change its user while
 * its server runs on with the rights that it had; who was its user once may not ask any more.
 */
#ifndef DAEMON_ACCESS_H
#define DAEMON_ACCESS_H

#include <stdint.h>
#include <sys/types.h>

struct target;

struct access {
	struct target *target;
	int is_elsewhere; /* its port is in another network namespace than this process */
	_Atomic int64_t quiet_until_ns; /* CLOCK_MONOTONIC; no warning of a refusal before */
	_Atomic uint64_t n_unsaid; /* refusals since the last warning */
};

void access_init(struct access *access, struct target *target);

/* Of which network namespace the |listener| is. Before anybody is let in. */
void access_look(struct access *access, int listener);

/* Whether the peer of |fd|, a TCP connection, may ask; said in the log when not, once a second. */
int access_allows_tcp(struct access *access, int fd);
/* The same of the socket that the program asked for instead of a port. */
int access_allows_path(struct access *access, int fd);
/* The same of a private socket's peer, whatever the program allows others. */
int access_allows_local(struct access *access, int fd);

#endif
