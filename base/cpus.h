/* SPDX-License-Identifier: Apache-2.0 */
/* The processors that a process may run on. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <sys/types.h>

/* How many |pid| (0: who asks) may run on; 1 where that is not known. */
int cpus_count(pid_t pid);

#endif
