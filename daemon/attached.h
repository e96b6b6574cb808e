/* SPDX-License-Identifier: Apache-2.0 */
/* proftapd for one process: started by the library, gone when the process is gone. */
#ifndef DAEMON_ATTACHED_H
#define DAEMON_ATTACHED_H

#include <sys/types.h>

/* Serves the process |pid| on the descriptors that the library left; returns the exit status. */
int attached_run(pid_t pid);

#endif
