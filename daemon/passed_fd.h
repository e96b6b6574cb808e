/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor that comes with a message on a unix socket. */
#ifndef DAEMON_PASSED_FD_H
#define DAEMON_PASSED_FD_H

struct msghdr;

/*
 * Of |message|, which recvmsg() has filled in: *fd is its one descriptor, the caller's from then on, or -1 when it has
 * none. -EBADMSG, and all that came are closed, when there are more, or when not all arrived.
 */
int passed_fd_take(struct msghdr *message, int *fd);

#endif
