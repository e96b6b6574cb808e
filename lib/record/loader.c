/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic loader of libproftap.so; see loader.h. */
#include "lib/record/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

bool loader_find_own_file(char path[PATH_MAX])
{
	Dl_info own;

	return dladdr((void *)(size_t)&loader_find_own_file, &own) &&
	       snprintf(path, PATH_MAX, "%s", own.dli_fname) < PATH_MAX;
}

bool loader_was_early(void)
{
	const char *preloads = secure_getenv("LD_PRELOAD");
	char own[PATH_MAX];

	return preloads && loader_find_own_file(own) && own[0] && strstr(preloads, own);
}

int loader_find_function(const char *path, const char *function, void **out, struct diag *d)
{
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!so)
		return diag_set(d, -ENOENT, "cannot be opened: %s", dlerror());
	*out = dlsym(so, function);
	if (!*out)
		return diag_set(
			d, -EPROTO, "%s is not a collector: it has no %s()", path, function);
	return 0;
}
