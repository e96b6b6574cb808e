/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to sockets of other servers, "unix:/path". */
#ifndef DAEMON_UNIX_PEER_H
#define DAEMON_UNIX_PEER_H

#include <sys/types.h>

/*
 * Connects without waiting, and closes with exec. The descriptor; -EAGAIN: it lives, and too many are before us;
 * -ECONNREFUSED, -ENOENT and others: nobody is there; -EINVAL: no such address.
 */
int unix_peer_connect(const char *address);
/* The same to a socket of messages (SOCK_SEQPACKET). */
int unix_peer_connect_messages(const char *address);

/* The process at the other end of |fd|, and its user. 0, or a negative errno; then both are as they were. */
int unix_peer_identify(int fd, pid_t *pid, uid_t *uid);

#endif
