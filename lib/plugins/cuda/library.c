/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding CUPTI; see library.h. In this order: what the user says; a copy that the program has loaded, for two copies are in each
 * other's way; beside the CUDA libraries that it has loaded, as Python's wheels have it; where the linker looks; where the
 * toolkit is. Of the CUDA that the program has loaded first, for its records are what the driver's are.
 */
#include "lib/plugins/cuda/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/sentence.h"

#define NAME "libcupti.so"

/* The endings of its name, by CUDA's major version, and its package of Python's: the newest first. */
static const struct {
	int major;
	const char *ending;
	const char *package;
} endings[] = {
	{13, ".13", "nvidia-cuda-cupti"},
	{12, ".12", "nvidia-cuda-cupti-cu12"},
	{11, ".11.8", "nvidia-cuda-cupti-cu11"},
};

/* Relative to the folder of a CUDA library in a wheel. */
static const char *const beside[] = {
	"", /* nvidia/cu13/lib */
	"/../../cuda_cupti/lib", /* nvidia/cuda_runtime/lib, and the like: CUDA 11 and 12 */
	"/../extras/CUPTI/lib64", /* of a toolkit */
};

static const char *const toolkits[] = {
	"/usr/local/cuda/lib64",
	"/usr/local/cuda/extras/CUPTI/lib64",
	"/opt/cuda/extras/CUPTI/lib64",
};

#define N_ENDINGS (sizeof endings / sizeof endings[0])
#define N_BESIDE (sizeof beside / sizeof beside[0])
#define N_TOOLKITS (sizeof toolkits / sizeof toolkits[0])

/* What is mapped, as far as it tells where CUPTI is. */
struct mapped {
	char cupti[LIBRARY_PATH_BYTES];
	char runtime[LIBRARY_PATH_BYTES]; /* libcudart, or another CUDA library if it has none */
	int major; /* of libcudart; 0: not known */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static int note_mapped(struct dl_phdr_info *info, size_t size, void *context)
{
	static const char *const of_cuda[] = {"libcublas", "libcudnn", "libnccl", "libcufft"};
	struct mapped *m = context;
	const char *name = base_name(info->dlpi_name);

	(void)size;
	if (begins(name, NAME))
		snprintf(m->cupti, sizeof m->cupti, "%s", info->dlpi_name);
	if (begins(name, "libcudart.so.")) {
		snprintf(m->runtime, sizeof m->runtime, "%s", info->dlpi_name);
		m->major = atoi(name + strlen("libcudart.so."));
	}
	for (size_t i = 0; i < sizeof of_cuda / sizeof of_cuda[0] && !m->runtime[0]; i++)
		if (begins(name, of_cuda[i]))
			snprintf(m->runtime, sizeof m->runtime, "%s", info->dlpi_name);
	return 0;
}

/* Remembers why not; a file that is not there needs no reason. */
static void *open_path(struct library *l, const char *path, int flags)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	const char *reason;

	if (handle) {
		snprintf(l->path, sizeof l->path, "%s", path);
		return handle;
	}
	reason = dlerror();
	if (strchr(path, '/') && access(path, F_OK) == 0 && !l->refused[0])
		snprintf(l->refused, sizeof l->refused, "%s", reason ? reason : path);
	return NULL;
}

/* libcupti of each version in |folder| (NULL: where the linker looks), that of |major| first. */
static void *open_in(struct library *l, const char *folder, int major)
{
	char path[LIBRARY_PATH_BYTES + 64];
	void *handle = NULL;

	append(l->looked, sizeof l->looked, "%s%s", l->looked[0] ? ", " : "",
		folder ? folder : "the linker's folders");
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < N_ENDINGS && !handle; i++) {
			if ((endings[i].major == major) != (pass == 0))
				continue;
			snprintf(path, sizeof path, "%s%s" NAME "%s", folder ? folder : "",
				folder ? "/" : "", endings[i].ending);
			handle = open_path(l, path, 0);
		}
	return handle;
}

static void *open_beside(struct library *l, const struct mapped *m, int major)
{
	char folder[LIBRARY_PATH_BYTES + 64];
	int n = (int)(base_name(m->runtime) - m->runtime) - 1;
	void *handle = NULL;

	for (size_t i = 0; i < N_BESIDE && n > 0 && !handle; i++) {
		snprintf(folder, sizeof folder, "%.*s%s", n, m->runtime, beside[i]);
		handle = open_in(l, folder, major);
	}
	return handle;
}

static void *open_anywhere(struct library *l, const struct mapped *m, int major)
{
	void *handle;

	if (m->cupti[0]) {
		append(l->looked, sizeof l->looked, "%s, which the program has loaded", m->cupti);
		return open_path(l, m->cupti, RTLD_NOLOAD);
	}
	handle = open_beside(l, m, major);
	if (!handle)
		handle = open_in(l, NULL, major);
	for (size_t i = 0; i < N_TOOLKITS && !handle; i++)
		handle = open_in(l, toolkits[i], major);
	return handle;
}

/* Only beside other ones is it looked for in Python's wheels. */
static int has_wheels(const struct mapped *m)
{
	return strstr(m->runtime, "/nvidia/") != NULL;
}

static int say_not_found(const struct library *l, const struct mapped *m, int major, char *why)
{
	const char *package = endings[0].package;

	if (l->refused[0])
		return say(why, -ENOENT, "libcupti.so could not be opened: %s", l->refused);
	for (size_t i = 0; i < N_ENDINGS; i++)
		if (endings[i].major == major)
			package = endings[i].package;
	if (has_wheels(m))
		return say(why, -ENOENT, "libcupti.so was not found (looked in %s); pip install %s",
			l->looked, package);
	return say(why, -ENOENT,
		"libcupti.so was not found (looked in %s); install cuda-cupti of the CUDA %d toolkit, or pip "
		"install %s and start the program with " LIBRARY_VARIABLE "=/path/to/libcupti.so",
		l->looked, major, package);
}

static int find_anywhere(struct library *l, int driver, char *why)
{
	struct mapped m = {.major = 0};
	int major;

	dl_iterate_phdr(note_mapped, &m);
	major = m.major ? m.major : driver / 1000;
	l->handle = open_anywhere(l, &m, major);
	return l->handle ? 0 : say_not_found(l, &m, major, why);
}

static int open_asked(struct library *l, const char *asked, char *why)
{
	l->handle = open_path(l, asked, 0);
	if (l->handle)
		return 0;
	if (l->refused[0])
		return say(why, -ENOENT, LIBRARY_VARIABLE "=%s cannot be opened: %s", asked,
			l->refused);
	return say(why, -ENOENT,
		LIBRARY_VARIABLE "=%s: %s; start the program without it, and CUPTI is looked for",
		asked,
		strchr(asked, '/') ? "there is no such file" : "the linker knows no such library");
}

int library_open(struct library *l, int driver, struct cupti *out, char *why)
{
	const char *asked = secure_getenv(LIBRARY_VARIABLE);
	int r;

	memset(l, 0, sizeof *l);
	r = asked && asked[0] ? open_asked(l, asked, why) : find_anywhere(l, driver, why);
	return r ? r : cupti_bind(out, l->handle, l->path, why);
}
