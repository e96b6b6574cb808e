/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's figures of this process's memory. */
#ifndef GUEST_MEMORY_H
#define GUEST_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a field of /proc/self/status, e.g. "VmLck:", in KiB. Returns -1 if the field is missing. */
static inline long memory_read_kib(const char *field)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, field, strlen(field)) == 0)
			kib = atol(line + strlen(field));
	if (f)
		fclose(f);
	return kib;
}

#endif
