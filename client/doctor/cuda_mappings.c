/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of CUDA; see cuda_mappings.h. */
#include "client/doctor/cuda_mappings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/doctor/gpu.h"
#include "client/doctor/system.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void note(char out[CUDA_PATH_BYTES], const char *path)
{
	snprintf(out, CUDA_PATH_BYTES, "%s", path);
}

static void take_cupti(struct cuda_mappings *out, const char *path)
{
	if (!out->cupti[0])
		note(out->cupti, path);
	else if (strcmp(out->cupti, path) != 0)
		note(out->second_cupti, path);
}

static void take(struct cuda_mappings *out, const char *path)
{
	static const char *const others[] = {"libcublas", "libcudnn", "libnccl", "libcufft"};
	const char *name = strrchr(path, '/') + 1;

	if (begins(name, "libcuda.so"))
		note(out->driver, path);
	else if (begins(name, "libcupti.so"))
		take_cupti(out, path);
	else if (strcmp(name, GPU_PLUGIN) == 0)
		note(out->plugin, path);
	else if (begins(name, "libcudart.so.")) {
		note(out->runtime, path);
		out->major = atoi(name + strlen("libcudart.so."));
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0] && !out->runtime[0]; i++)
		if (begins(name, others[i]))
			note(out->runtime, path);
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
		take(out, path);
	}
	free(line);
	fclose(file);
}
