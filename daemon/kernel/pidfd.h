/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a pidfd that another process sent. */
#ifndef DAEMON_PIDFD_H
#define DAEMON_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns the pid in our namespace; 0: it has none there, or the process has ended. -EBADF: this is
 * no pidfd.
 */
pid_t pidfd_find_pid(int pidfd);

/* Whether its process has ended; false for -1. */
bool pidfd_has_ended(int pidfd);

#endif
