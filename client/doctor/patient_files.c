/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a target; see patient_files.h. */
#include "client/doctor/patient_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/doctor/finding.h"
#include "client/doctor/patient.h"
#include "client/doctor/system.h"

bool patient_is_there(const struct system *sys, struct finding *f)
{
	const struct patient *p = sys->patient;

	if (!p->pid)
		finding_none(f, p->is_here ? "its process is not known"
					   : "it is on another machine: ask there");
	return p->pid != 0;
}

const char *patient_path(const struct system *sys, const char *file, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "/proc/%d/%s", (int)sys->patient->pid, file);
	return path;
}

int patient_read_status(const struct system *sys, const char *name, char *out, size_t n)
{
	char path[PATH_MAX];

	return system_read_field(sys, patient_path(sys, "status", path), name, out, n);
}

int patient_read_environment(const struct system *sys, const char *name, char *out, size_t n)
{
	_cleanup_free_ char *entry = NULL;
	size_t length = strlen(name);
	size_t room = 0;
	char path[PATH_MAX];
	char full[PATH_MAX + 8];
	int r = -ENODATA;
	FILE *file;

	snprintf(full, sizeof full, "%s%s", sys->root, patient_path(sys, "environ", path));
	file = fopen(full, "re");
	if (!file)
		return -errno;
	while (r && getdelim(&entry, &room, '\0', file) > 0) {
		if (strncmp(entry, name, length) != 0 || entry[length] != '=')
			continue;
		snprintf(out, n, "%s", entry + length + 1);
		r = 0;
	}
	fclose(file);
	return r;
}

bool patient_has_other_namespace(const struct system *sys, const char *kind)
{
	char path[PATH_MAX];
	char file[32];
	char full[PATH_MAX + 8];
	char theirs[64];
	char ours[64];
	ssize_t n;

	snprintf(file, sizeof file, "ns/%s", kind);
	snprintf(full, sizeof full, "%s%s", sys->root, patient_path(sys, file, path));
	n = readlink(full, theirs, sizeof theirs - 1);
	if (n <= 0)
		return false;
	theirs[n] = '\0';
	snprintf(full, sizeof full, "%s/proc/self/ns/%s", sys->root, kind);
	n = readlink(full, ours, sizeof ours - 1);
	ours[n > 0 ? n : 0] = '\0';
	return strcmp(theirs, ours) != 0;
}

const char *patient_root(const struct system *sys, char root[static PATH_MAX])
{
	char path[PATH_MAX];

	if (patient_has_other_namespace(sys, "mnt"))
		snprintf(
			root, PATH_MAX, "%.1024s%.64s", sys->root, patient_path(sys, "root", path));
	else
		snprintf(root, PATH_MAX, "%s", sys->root);
	return root;
}
