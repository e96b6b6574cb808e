/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that differs from the machine's; see own_clock.h. */
#include "tests/programs/own_clock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

void own_clock_forbid_counter(char *arguments)
{
	(void)arguments;
	printf("%d\n", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) ? -errno : 0);
}

static int write_offset(const char *seconds)
{
	FILE *f = fopen("/proc/self/timens_offsets", "w");

	if (!f)
		return -errno;
	fprintf(f, "monotonic %s 0\n", seconds);
	return fclose(f) ? -errno : 0;
}

void own_clock_for_children(char *arguments)
{
	printf("%d\n", unshare(CLONE_NEWTIME) ? -errno : write_offset(arguments));
}
