/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings; see mappings.h. */
#include "client/doctor/mappings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/doctor/system.h"

static void take_mapping(struct mappings *out, const char *line)
{
	unsigned long begin;
	unsigned long end;
	char rights[8];
	const char *path = strchr(line, '/');

	if (!path || sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3)
		return;
	if (strncmp(path, "/memfd:proftap", 14) == 0) {
		out->reserved_bytes += end - begin;
		out->open_bytes += strncmp(rights, "rw", 2) == 0 ? end - begin : 0;
	} else if (strstr(path, "/libproftap.so")) {
		snprintf(out->library, sizeof out->library, "%.*s", (int)strcspn(path, "\n"), path);
	}
}

void mappings_read(const struct system *sys, pid_t pid, struct mappings *out)
{
	char full[PATH_MAX];
	char *line = NULL;
	size_t n = 0;
	FILE *file;

	memset(out, 0, sizeof *out);
	snprintf(full, sizeof full, "%s/proc/%d/maps", sys->root, (int)pid);
	file = fopen(full, "re");
	if (!file)
		return;
	while (getline(&line, &n, file) > 0) {
		out->is_known = true;
		take_mapping(out, line);
	}
	free(line);
	fclose(file);
}
