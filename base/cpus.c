/* SPDX-License-Identifier: Apache-2.0 */
/* Processors; see cpus.h. */
#include "base/cpus.h"

#include <sched.h>

int cpus_count(pid_t pid)
{
	cpu_set_t set;

	return sched_getaffinity(pid, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}
