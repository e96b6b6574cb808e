/* SPDX-License-Identifier: Apache-2.0 */
/* Clock offsets of namespaces; see time_namespace.h. */
#include "daemon/kernel/time_namespace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"

/* Beyond this, the sum of two offsets would overflow. */
#define MAX_S (INT64_MAX / 4 / NS_PER_S)

static void namespace_find_folder(const char *root, pid_t pid, char *out, size_t size)
{
	if (pid)
		snprintf(out, size, "%s/proc/%d", root, (int)pid);
	else
		snprintf(out, size, "%s/proc/self", root);
}

static void namespace_read_link(const char *folder, const char *name, char *out, size_t size)
{
	char path[700];
	ssize_t n;

	snprintf(path, sizeof path, "%s/ns/%s", folder, name);
	n = readlink(path, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

/*
 * /proc shows the offsets for future children. If we may not read the namespace links, we assume
 * that the process itself has these offsets, too.
 */
static bool offsets_are_its_own(const char *folder)
{
	char own[64];
	char of_children[64];

	namespace_read_link(folder, "time", own, sizeof own);
	namespace_read_link(folder, "time_for_children", of_children, sizeof of_children);
	return strcmp(own, of_children) == 0;
}

int64_t time_namespace_find_ahead_ns(const char *root, pid_t pid)
{
	char folder[600];
	char path[640];
	char text[256];
	int64_t s;
	int64_t ns;

	namespace_find_folder(root, pid, folder, sizeof folder);
	snprintf(path, sizeof path, "%s/timens_offsets", folder);
	if (proc_file_read(AT_FDCWD, path, text, sizeof text) ||
		sscanf(text, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) != 2 || s > MAX_S ||
		s < -MAX_S || ns < 0 || ns >= NS_PER_S || !offsets_are_its_own(folder))
		return 0;
	return s * NS_PER_S + ns;
}
