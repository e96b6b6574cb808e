/* SPDX-License-Identifier: Apache-2.0 */
/* proftapd for one process: started by the library, or by a host daemon (lent.h); gone when the process is gone. */
#ifndef DAEMON_ATTACHED_H
#define DAEMON_ATTACHED_H

#include <sys/types.h>

/* Serves the process |pid| on the descriptors that the library left, or, with |is_lent|, a host daemon; returns the exit status. */
int attached_run(pid_t pid, int is_lent);

#endif
