/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for CUPTI; see cupti.h. */
#include "client/doctor/cupti.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/gpu.h"
#include "client/doctor/library.h"
#include "client/doctor/system.h"

/* The kinds of CUPTI, newest first. */
static const struct {
	int major;
	const char *name;
	const char *package; /* the Python package that has it */
} kinds[] = {
	{13, "libcupti.so.13", "nvidia-cuda-cupti"},
	{12, "libcupti.so.12", "nvidia-cuda-cupti-cu12"},
	{11, "libcupti.so.11.8", "nvidia-cuda-cupti-cu11"},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* |path| is for the loader, |shown| for messages. */
static bool try_one(struct cupti_search *s, const char *path, const char *shown, const char *where)
{
	char name[PATH_MAX + 64];

	snprintf(name, sizeof name, "%s%s%s%s", shown, where ? " (" : "", where ? where : "",
		where ? ")" : "");
	return gpu_ask_library(s->sys, LIBRARY_CUPTI, path, name, s->f) != -ENOENT;
}

static void note_place(struct cupti_search *s, const char *place)
{
	size_t n = strlen(s->looked);

	snprintf(s->looked + n, sizeof s->looked - n, "%s%s", n ? ", " : "", place);
}

bool cupti_try_file(struct cupti_search *s, const char *path, const char *where)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof full, "%s%s", s->root, path);
	return access(full, F_OK) == 0 && try_one(s, full, path, where);
}

/* Tries the kind of the wanted CUDA version first, then the others. */
static bool try_kinds(struct cupti_search *s, const char *where,
	bool (*try)(struct cupti_search *s, size_t kind, const char *folder, const char *where),
	const char *folder)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < N_KINDS; i++)
			if ((kinds[i].major == s->major) == (pass == 0) && try(s, i, folder, where))
				return true;
	return false;
}

static bool try_in_folder(
	struct cupti_search *s, size_t kind, const char *folder, const char *where)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", folder, kinds[kind].name);
	return cupti_try_file(s, path, where);
}

static bool try_by_name(struct cupti_search *s, size_t kind, const char *folder, const char *where)
{
	(void)folder;
	return try_one(s, kinds[kind].name, kinds[kind].name, where);
}

bool cupti_try_folder(struct cupti_search *s, const char *folder, const char *where)
{
	note_place(s, folder);
	return try_kinds(s, where, try_in_folder, folder);
}

bool cupti_try_linker(struct cupti_search *s)
{
	note_place(s, "the linker's folders");
	return try_kinds(s, NULL, try_by_name, NULL);
}

void cupti_set_missing(struct cupti_search *s)
{
	const char *package = kinds[0].package;

	if (!s->is_wanted) {
		finding_none(s->f, GPU_NONE);
		return;
	}
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].major == s->major)
			package = kinds[i].package;
	finding_no(s->f, "libcupti.so: not found (in %s)", s->looked);
	finding_set_command(s->f, "pip install %s", package);
}

/* --- of this machine ----------------------------------------------------------------------- */

/*
 * Patterns of folders that usually have it. For a program that uses CUDA already, proftap doctor
 * PID looks in the program.
 */
static const char *const patterns[] = {
	"/usr/local/cuda/lib64",
	"/usr/local/cuda/extras/CUPTI/lib64",
	"/opt/cuda/extras/CUPTI/lib64",
	"/usr/local/cuda-1*/extras/CUPTI/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/local/lib/python3*/*-packages/nvidia/*/lib",
	"/usr/lib/python3*/*-packages/nvidia/*/lib",
};

static bool try_pattern(struct cupti_search *s, const char *pattern)
{
	char full[PATH_MAX];
	bool is_over = false;
	glob_t found;

	snprintf(full, sizeof full, "%s%s", s->root, pattern);
	if (glob(full, GLOB_ONLYDIR, NULL, &found) == 0)
		for (size_t i = found.gl_pathc; i-- > 0 && !is_over;)
			is_over = try_kinds(
				s, NULL, try_in_folder, found.gl_pathv[i] + strlen(s->root));
	globfree(&found);
	return is_over;
}

static bool try_venv(struct cupti_search *s)
{
	const char *venv = getenv("VIRTUAL_ENV");
	char pattern[PATH_MAX];

	if (!venv || !*venv)
		return false;
	note_place(s, "$VIRTUAL_ENV");
	snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/nvidia/*/lib", venv);
	return try_pattern(s, pattern);
}

void check_cupti(const struct system *sys, const struct check *self, struct finding *f)
{
	struct cupti_search s = {
		.sys = sys, .root = sys->root, .is_wanted = gpu_is_there(sys), .f = f};

	(void)self;
	if (try_venv(&s) || cupti_try_linker(&s))
		return;
	note_place(&s, "/usr/local/cuda, and the system's Python");
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
		if (try_pattern(&s, patterns[i]))
			return;
	cupti_set_missing(&s);
}
