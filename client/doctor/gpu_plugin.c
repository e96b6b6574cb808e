/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the plug-in that records CUDA, in the folders where libproftap looks for it
 * (lib/collect/plugin.c).
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/gpu.h"
#include "client/doctor/mappings.h"
#include "client/doctor/system.h"
#include "client/program/program.h"

static bool try_plugin(
	const char *root, const char *folder, size_t n, const char *below, struct finding *f)
{
	char path[PATH_MAX];
	char full[2 * PATH_MAX];

	snprintf(path, sizeof path, "%.*s/%s" GPU_PLUGIN, (int)n, folder, below);
	snprintf(full, sizeof full, "%s%s", root, path);
	if (access(full, R_OK))
		return false;
	finding_yes(f, "%s", path);
	return true;
}

/* Looks for the plug-in of |library|, the path of libproftap below |root|. */
static void find_plugin(const char *root, const char *library, struct finding *f)
{
	/* The first two are for an installed library, the last for a build tree. */
	static const char *const below[] = {"", "proftap/", "../plugins/cuda/.libs/"};
	const char *end = strrchr(library, '/');
	size_t n = end ? (size_t)(end - library) : 0;

	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
		if (try_plugin(root, library, n, below[i], f))
			return;
	if (try_plugin(root, PTAP_LIBDIR, strlen(PTAP_LIBDIR), "proftap/", f))
		return;
	finding_no(f, GPU_PLUGIN ": neither beside %s nor in " PTAP_LIBDIR "/proftap", library);
	finding_set_command(f, "make install");
	finding_set_reason(f, "in the source of proftap " PACKAGE_VERSION);
}

void check_gpu_plugin(const struct system *sys, const struct check *self, struct finding *f)
{
	char path[PATH_MAX];

	(void)self;
	/* The library is that of check_libproftap(), which does not depend on sys->root. */
	if (!gpu_is_there(sys))
		finding_none(f, GPU_NONE);
	else if (program_find_library(path, NULL))
		finding_none(f, "there is no libproftap that could open it");
	else
		find_plugin("", path, f);
}

void check_target_gpu_plugin(const struct system *sys, const struct check *self, struct finding *f)
{
	struct cuda_mappings cuda;
	struct mappings mappings;
	char root[PATH_MAX];

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	cuda_mappings_read(sys, sys->target->pid, &cuda);
	mappings_read(sys, sys->target->pid, &mappings);
	if (!cuda.driver[0])
		finding_none(f, "it does not use CUDA");
	else if (cuda.plugin[0])
		finding_yes(f, "%s, in use", cuda.plugin);
	else if (!mappings.library[0])
		finding_none(f, "it has no libproftap that could open it");
	else
		find_plugin(doctor_target_root(sys, root), mappings.library, f);
}
