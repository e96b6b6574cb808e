/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libraries into the test program, and copies them; see libraries.h. */
#include "tests/cuda/libraries.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *libraries_path(const char *name, char path[512])
{
	const char *build = getenv("top_builddir");

	ck_assert_msg(build != NULL, "top_builddir is not set");
	snprintf(path, 512, "%s/%s", build, name);
	return path;
}

void *libraries_open(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(handle != NULL, "%s", dlerror());
	return handle;
}

void *libraries_find(void *handle, const char *name)
{
	void *symbol = dlsym(handle, name);

	ck_assert_msg(symbol != NULL, "no %s", name);
	return symbol;
}

const struct fake *libraries_get_fake(void *cupti)
{
	void *symbol = libraries_find(cupti, FAKE_SYMBOL);
	fake_getter get;

	memcpy(&get, &symbol, sizeof symbol);
	return get();
}

const struct ptap_collector *libraries_open_collector(void)
{
	char path[512];
	void *symbol = libraries_find(
		libraries_open(libraries_path(LIBRARIES_COLLECTOR, path)), PTAP_COLLECTOR_SYMBOL);
	const struct ptap_collector *(*get)(uint32_t abi);
	const struct ptap_collector *collector;

	memcpy(&get, &symbol, sizeof symbol);
	collector = get(PTAP_COLLECTOR_ABI);
	ck_assert_ptr_nonnull(collector);
	return collector;
}

static void make_folders(const char *path)
{
	char folder[512];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
		mkdir(folder, 0755);
	}
}

void libraries_copy(const char *name, const char *to)
{
	char path[512];
	char bytes[4096];
	FILE *in = fopen(libraries_path(name, path), "re");
	FILE *out;
	size_t n;

	make_folders(to);
	out = fopen(to, "we");
	ck_assert_msg(in && out, "%s, to %s", path, to);
	while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
		ck_assert_uint_eq(fwrite(bytes, 1, n, out), n);
	fclose(in);
	ck_assert_int_eq(fclose(out), 0);
}
