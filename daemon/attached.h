/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftapd for one process: started by the library, or by a host daemon for a program that cannot
 * start one; it ends with the process.
 */
#ifndef DAEMON_ATTACHED_H
#define DAEMON_ATTACHED_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Serves the process |pid| on the descriptors that the library, or with |is_lent| the host daemon,
 * left open for this process; returns the exit status.
 */
int attached_run(pid_t pid, bool is_lent);

#endif
