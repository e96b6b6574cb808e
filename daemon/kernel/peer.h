/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a loopback connection. */
#ifndef DAEMON_PEER_H
#define DAEMON_PEER_H

#include <sys/types.h>

/* What peer_find_uid() can answer besides a negative errno. */
enum peer_answer {
	PEER_KNOWN = 0, /* *uid is the user that made the peer's socket */
	PEER_REMOTE = 1, /* not a socket of this machine's (network namespace's) */
	PEER_GONE = 2, /* it was closed meanwhile: its uid cannot be trusted */
};

/* Asks the kernel (NETLINK_SOCK_DIAG) about the connected TCP socket |fd|. */
int peer_find_uid(int fd, uid_t *uid);

#endif
