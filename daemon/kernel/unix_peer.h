/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to unix sockets of other servers, "unix:/path". */
#ifndef DAEMON_UNIX_PEER_H
#define DAEMON_UNIX_PEER_H

#include <sys/types.h>

/*
 * Connects without waiting, with close-on-exec. Returns the descriptor; -EAGAIN: the server is
 * alive, but its queue is full; -ECONNREFUSED, -ENOENT and others: no server is there; -EINVAL: the
 * address is malformed.
 */
int unix_peer_connect(const char *address);
/* The same for a socket of messages (SOCK_SEQPACKET). */
int unix_peer_connect_messages(const char *address);

/*
 * Finds the process at the other end of |fd|, and its user. 0, or a negative errno; then both are
 * unchanged.
 */
int unix_peer_identify(int fd, pid_t *pid, uid_t *uid);

#endif
