/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a process; see owner.h. */
#include "daemon/kernel/owner.h"

#include <errno.h>
#include <stdio.h>

int owner_find_uid(const char *root, pid_t pid, uid_t *uid)
{
	char path[512];
	char line[256];
	unsigned real;
	unsigned effective;
	unsigned saved;
	int r = -ENOENT;
	FILE *f;

	snprintf(path, sizeof path, "%s/proc/%d/status", root, (int)pid);
	f = fopen(path, "re");
	while (f && r && fgets(line, sizeof line, f))
		if (sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3)
			r = 0;
	if (f)
		fclose(f);
	if (r == 0)
		*uid = real == effective && real == saved ? real : 0;
	return r;
}
