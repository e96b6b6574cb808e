/* SPDX-License-Identifier: Apache-2.0 */
/* The processors that a process may run on. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <sys/types.h>

/* Returns how many processors |pid| (0: the caller) may run on; 1 if that is unknown. */
int cpus_count(pid_t pid);

#endif
