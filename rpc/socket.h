/* SPDX-License-Identifier: Apache-2.0 */
/* A connected socket on its way to gRPC. */
#ifndef RPC_SOCKET_H
#define RPC_SOCKET_H

#include <sys/types.h>

/*
 * Sets what gRPC sets on the sockets that it opens by itself: close-on-exec and non-blocking, and
 * for TCP no delay. Also TCP keep-alive, so that a peer that vanished is noticed without our waking
 * up. Returns 0 or a negative errno.
 */
int socket_prepare(int fd);

/*
 * For a server: a TCP peer that takes nothing of its answer for a minute is given up. A client
 * sends little, and its server may take long to answer.
 */
void socket_limit_unread(int fd);

/* Returns a number that differs for two sockets that had the same descriptor; 0: |fd| is closed. */
ino_t socket_find_inode(int fd);

/* Ends the connection, whoever else holds it, with a reset when the last descriptor is closed. */
void socket_hang_up(int fd);

#endif
