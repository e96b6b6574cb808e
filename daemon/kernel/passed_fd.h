/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that come with a message on a unix socket. */
#ifndef DAEMON_PASSED_FD_H
#define DAEMON_PASSED_FD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The message that is there at the socket |from|: returns how many bytes it had, 0 at the end, or a negative errno, also
 * -EAGAIN. *fd is its one descriptor, the caller's from then on, or -1. -EBADMSG when it had more than one, -EPROTO when it had
 * more than |size| bytes and its end is lost; then nothing is left open.
 */
ssize_t passed_fd_receive(int from, void *to, size_t size, int *fd);

/* The same for up to |max| of them: those that came are in fds[0] and on, in their order; the rest is -1. */
ssize_t passed_fds_receive(int from, void *to, size_t size, int *fds, unsigned max);

/*
 * Sends |n| bytes, and with them the descriptor |fd| (borrowed; -1: none), without waiting: all of it or nothing. 0, or a
 * negative errno; -EAGAIN: there is no room now.
 */
int passed_fd_send(int to, const void *bytes, size_t n, int fd);

#endif
