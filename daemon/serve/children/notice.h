/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server of a child says to its parent's, on the private socket that PROFTAP_PARENT names: where it can be
 * asked. One message, no answer; the door knows it by its first bytes (greeting.h), so that no server starts gRPC for it.
 *
 *	PROFTAP CHILD NOTICE 1\r\n
 *	PID HOPS unix:/PATH\n		and, where the kernel knows them, with a pidfd of PID (SCM_RIGHTS)
 *
 * HOPS is below NOTICE_MAX_HOPS, and PATH can be printed.
 */
#ifndef DAEMON_NOTICE_H
#define DAEMON_NOTICE_H

#include <sys/types.h>

/*
 * Servers that pass it on to their own parents, at most: it ends where parents were set in a
 * circle.
 */
#define NOTICE_MAX_HOPS 8
#define NOTICE_ADDRESS_BYTES 128

struct notice {
	pid_t pid; /* of the program, as its pid namespace has it */
	unsigned n_hops; /* so many have passed it on */
	char address[NOTICE_ADDRESS_BYTES]; /* "unix:/path", of its server's private socket */
	int pidfd; /* of the program; -1: none */
};

/* All of it, at once: 0 or a negative errno. */
int notice_send(int fd, const struct notice *n);

/*
 * Reads what lies in the socket |fd|. 0, and out->pidfd is the caller's, or a negative errno for
 * what is no notice.
 */
int notice_read(int fd, struct notice *out);

#endif
