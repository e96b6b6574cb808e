/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings; see mappings.h. */
#include "client/doctor/mappings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/doctor/gpu.h"
#include "client/doctor/system.h"

static void take_mapping(struct proftap_mappings *out, const char *line)
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

void mappings_read(const struct system *sys, pid_t pid, struct proftap_mappings *out)
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

/* --- CUDA ---------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void set_cuda_path(char out[CUDA_PATH_BYTES], const char *path)
{
	snprintf(out, CUDA_PATH_BYTES, "%s", path);
}

static void take_cupti(struct cuda_mappings *out, const char *path)
{
	if (!out->cupti[0])
		set_cuda_path(out->cupti, path);
	else if (strcmp(out->cupti, path) != 0)
		set_cuda_path(out->second_cupti, path);
}

static void take_cuda_mapping(struct cuda_mappings *out, const char *path)
{
	static const char *const others[] = {"libcublas", "libcudnn", "libnccl", "libcufft"};
	const char *name = strrchr(path, '/') + 1;

	if (begins_with(name, "libcuda.so"))
		set_cuda_path(out->driver, path);
	else if (begins_with(name, "libcupti.so"))
		take_cupti(out, path);
	else if (strcmp(name, GPU_PLUGIN) == 0)
		set_cuda_path(out->plugin, path);
	else if (begins_with(name, "libcudart.so.")) {
		set_cuda_path(out->runtime, path);
		out->major = atoi(name + strlen("libcudart.so."));
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0] && !out->runtime[0]; i++)
		if (begins_with(name, others[i]))
			set_cuda_path(out->runtime, path);
}

void cuda_mappings_read(const struct system *sys, pid_t pid, struct cuda_mappings *out)
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
		char *path = strchr(line, '/');

		out->is_known = true;
		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		take_cuda_mapping(out, path);
	}
	free(line);
	fclose(file);
}
