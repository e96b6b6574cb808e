/* SPDX-License-Identifier: Apache-2.0 */
/* What a pidfd that somebody sent is of. */
#ifndef DAEMON_PIDFD_H
#define DAEMON_PIDFD_H

#include <sys/types.h>

/* Our number of its process; 0: it has none here, or has ended. -EBADF: this is no pidfd. */
pid_t pidfd_find_pid(int pidfd);

/* Whether its process has ended; of -1, 0. */
int pidfd_has_ended(int pidfd);

#endif
