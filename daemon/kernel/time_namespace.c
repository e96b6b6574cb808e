/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets of clocks; see time_namespace.h. */
#include "daemon/kernel/time_namespace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"

/* Beyond, a sum of two does not fit. */
#define MAX_S (INT64_MAX / 4 / NS_PER_S)

static void find_folder(const char *root, pid_t pid, char *out, size_t size)
{
	if (pid)
		snprintf(out, size, "%s/proc/%d", root, (int)pid);
	else
		snprintf(out, size, "%s/proc/self", root);
}

static void read_namespace(const char *folder, const char *name, char *out, size_t size)
{
	char path[700];
	ssize_t n;

	snprintf(path, sizeof path, "%s/ns/%s", folder, name);
	n = readlink(path, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

/* The offsets that the kernel tells are those of children to come. Who may not look takes them for the process's own. */
static int are_its_own(const char *folder)
{
	char own[64];
	char of_children[64];

	read_namespace(folder, "time", own, sizeof own);
	read_namespace(folder, "time_for_children", of_children, sizeof of_children);
	return strcmp(own, of_children) == 0;
}

int64_t time_namespace_find_ahead_ns(const char *root, pid_t pid)
{
	char folder[600];
	char path[640];
	char text[256];
	int64_t s;
	int64_t ns;

	find_folder(root, pid, folder, sizeof folder);
	snprintf(path, sizeof path, "%s/timens_offsets", folder);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) ||
		sscanf(text, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) != 2 || s > MAX_S ||
		s < -MAX_S || ns < 0 || ns >= NS_PER_S || !are_its_own(folder))
		return 0;
	return s * NS_PER_S + ns;
}
