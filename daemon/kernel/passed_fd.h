/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors sent with a message on a unix socket. */
#ifndef DAEMON_PASSED_FD_H
#define DAEMON_PASSED_FD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Receives a message from the socket |from|: returns its length, 0 at the end, or a negative errno,
 * also -EAGAIN. *fd is its one descriptor, owned by the caller, or -1. -EBADMSG when the message
 * had more than one descriptor; -EPROTO when it had more than |size| bytes: the rest is lost.
 * After these errors no received descriptor stays open.
 */
ssize_t passed_fd_receive(int from, void *to, size_t size, int *fd);

/*
 * The same for up to |max| descriptors: fds[0] and on, in their order; the remaining elements are
 * -1.
 */
ssize_t passed_fds_receive(int from, void *to, size_t size, int *fds, unsigned max);

/*
 * Sends |n| bytes with the descriptor |fd| (borrowed; -1: none), without waiting: all or nothing.
 * 0, or a negative errno; -EAGAIN: there is no room now.
 */
int passed_fd_send(int to, const void *bytes, size_t n, int fd);

#endif
