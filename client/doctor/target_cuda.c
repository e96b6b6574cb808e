/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of CUDA in a target: whether it is used, which CUPTI the plug-in would find, and the
 * result of the last recording. The order of the search is that of lib/plugins/cuda/cupti.c.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/gpu.h"
#include "client/doctor/library.h"
#include "client/doctor/mappings.h"
#include "client/doctor/system.h"
#include "client/process/exit.h"

/* --- the search for CUPTI -------------------------------------------------------------------- */

struct cupti_search {
	const struct system *sys;
	const char *root; /* the root of all paths: the system's, or that of a program */
	int major; /* the CUDA version of the CUPTI to try first; 0: the newest */
	bool is_wanted; /* there is a GPU, or CUDA is in use */
	struct finding *f; /* the result: yes, or no if the library does not work */
	char searched[640]; /* the places without CUPTI; Python's paths are long */
};

/* The kinds of CUPTI, newest first. */
static const struct {
	int major;
	const char *name;
	const char *package; /* the Python package that contains this CUPTI */
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
	size_t n = strlen(s->searched);

	snprintf(s->searched + n, sizeof s->searched - n, "%s%s", n ? ", " : "", place);
}

/* Returns whether the search is over. |where| describes the place in messages. */
static bool cupti_try_file(struct cupti_search *s, const char *path, const char *where)
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

/* Tries the kinds in |folder|; returns whether the search is over. */
static bool cupti_try_folder(struct cupti_search *s, const char *folder, const char *where)
{
	note_place(s, folder);
	return try_kinds(s, where, try_in_folder, folder);
}

/* Tries the library that the linker finds for this process; returns whether the search is over. */
static bool cupti_try_linker(struct cupti_search *s)
{
	note_place(s, "the linker's folders");
	return try_kinds(s, NULL, try_by_name, NULL);
}

/* Sets the finding when no place had a library. */
static void cupti_set_missing(struct cupti_search *s)
{
	const char *package = kinds[0].package;

	if (!s->is_wanted) {
		finding_none(s->f, GPU_NONE);
		return;
	}
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].major == s->major)
			package = kinds[i].package;
	finding_no(s->f, "libcupti.so: not found (in %s)", s->searched);
	finding_set_command(s->f, "pip install %s", package);
}

/* --- CUPTI of this machine ----------------------------------------------------------------- */

/*
 * Patterns of folders that usually have CUPTI. For a program that uses CUDA already, proftap doctor
 * PID starts from the libraries that the program has loaded.
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

/* --- CUDA of the target ---------------------------------------------------------------------- */

/*
 * Reads the mappings. False: |f| says that the target does not use CUDA, or that this is not known.
 */
static bool read_cuda(const struct system *sys, struct cuda_mappings *m, struct finding *f)
{
	if (!doctor_target_is_there(sys, f))
		return false;
	cuda_mappings_read(sys, sys->target->pid, m);
	if (!m->is_known)
		finding_none(f, "its mappings may not be read");
	else if (!m->driver[0])
		finding_none(f, "it does not use CUDA: there is no libcuda.so in it");
	return m->driver[0] != '\0';
}

void check_target_cuda(const struct system *sys, const struct check *self, struct finding *f)
{
	struct cuda_mappings m;

	(void)self;
	if (read_cuda(sys, &m, f))
		finding_yes(f, "%s%s%s", m.driver, m.runtime[0] ? ", " : "", m.runtime);
}

/* --- CUPTI --------------------------------------------------------------------------------- */

/*
 * Tries folders relative to the folder of a CUDA library. They fit wheels of CUDA 13, older
 * wheels, and a toolkit.
 */
static bool try_beside(struct cupti_search *s, const char *library)
{
	static const char *const folders[] = {
		"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64"};
	const char *end = strrchr(library, '/');
	char folder[CUDA_PATH_BYTES + 32];

	for (size_t i = 0; end && i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(
			folder, sizeof folder, "%.*s%s", (int)(end - library), library, folders[i]);
		if (cupti_try_folder(s, folder, "beside its CUDA"))
			return true;
	}
	return false;
}

static bool try_toolkits(struct cupti_search *s)
{
	static const char *const folders[] = {"/usr/local/cuda/lib64",
		"/usr/local/cuda/extras/CUPTI/lib64", "/opt/cuda/extras/CUPTI/lib64"};

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
		if (cupti_try_folder(s, folders[i], NULL))
			return true;
	return false;
}

static void search_cupti(struct cupti_search *s, const struct cuda_mappings *m, const char *asked)
{
	/*
	 * The linker's result for this process does not apply to a process that sees other files.
	 */
	bool is_same = strcmp(s->root, s->sys->root) == 0;

	if (*asked) {
		if (cupti_try_file(s, asked, "PROFTAP_CUPTI"))
			return;
		finding_no(s->f, "PROFTAP_CUPTI=%s: it cannot be opened", asked);
		finding_set_reason(s->f, "start the program with another path, or without it");
	} else if (!(m->cupti[0] && cupti_try_file(s, m->cupti, "already loaded")) &&
		   !try_beside(s, m->runtime) && !(is_same && cupti_try_linker(s)) &&
		   !try_toolkits(s)) {
		cupti_set_missing(s);
		finding_set_reason(s->f, "where the program finds CUPTI; or start the program with "
					 "PROFTAP_CUPTI=/path/to/libcupti.so");
	}
}

/* Returns the driver's major CUDA version, or 0. */
static int ask_driver(const struct system *sys)
{
	const struct library_question question = {LIBRARY_CUDA, "libcuda.so.1"};
	char said[160] = "";

	return sys->ask_library(&question, said, sizeof said) ? 0 : atoi(said);
}

/*
 * The finding's text is "PATH (WHERE): MAJOR.MINOR.PATCH". A CUPTI that is newer than the driver
 * does not work.
 */
static void compare_with_driver(const struct system *sys, struct finding *f)
{
	const char *version = strrchr(f->text, ':');
	int driver = ask_driver(sys);
	int major = version ? atoi(version + 1) : 0;
	char text[sizeof f->text];

	if (!driver || major <= driver)
		return;
	memcpy(text, f->text, sizeof text);
	finding_no(f, "%s, and the driver is of CUDA %d", text, driver);
	finding_set_command(f, "pip install nvidia-cuda-cupti-cu%d", driver);
	finding_set_reason(f, "or a newer driver");
}

void check_target_cupti(const struct system *sys, const struct check *self, struct finding *f)
{
	struct cupti_search s = {.sys = sys, .is_wanted = true, .f = f};
	struct cuda_mappings m;
	char asked[CUDA_PATH_BYTES] = "";
	char root[PATH_MAX];

	(void)self;
	if (!read_cuda(sys, &m, f))
		return;
	if (m.second_cupti[0]) {
		finding_no(f, "two are loaded, %s and %s", m.cupti, m.second_cupti);
		finding_set_reason(f,
			"only one at a time can record: remove one of the packages that have them");
		return;
	}
	s.root = doctor_target_root(sys, root);
	s.major = m.major ? m.major : ask_driver(sys);
	doctor_target_read_environment(sys, "PROFTAP_CUPTI", asked, sizeof asked);
	search_cupti(&s, &m, asked);
	if (f->state == FINDING_YES)
		compare_with_driver(sys, f);
}

/* CUPTI may be in use by another tool, so only a recording finds out whether it works. */
void check_target_gpu_said(const struct system *sys, const struct check *self, struct finding *f)
{
	const struct doctor_target *p = sys->target;

	(void)self;
	if (p->code != EXIT_DONE || p->n_programs != 1 || !p->status.gpu[0]) {
		finding_none(f, "unknown until a recording tries");
	} else if (strcmp(p->status.gpu, STATUS_GPU_RECORDED) == 0) {
		finding_yes(f, "its GPUs were recorded");
	} else {
		finding_no(f, "%s", p->status.gpu);
		finding_set_command(f, "man 7 proftap-errors");
		finding_set_reason(f, "explains it; another recording may have another result");
	}
}
