/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic loader in libproftap.a; see loader.h. Its functions are weak: a dynamic program has
 * them, and a static one must not get them from libc.a, where glibc's linker warns of them.
 */
#include "lib/record/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "base/diag.h"

#pragma weak dlerror
#pragma weak dlopen
#pragma weak dlsym

bool loader_find_own_file(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool loader_was_early(void)
{
	return true;
}

int loader_find_function(const char *path, const char *function, void **out, struct diag *d)
{
	void *so;

	if (!dlopen || !dlsym || !dlerror)
		return diag_set(d, -ENOTSUP,
			"%s: this program is linked statically, so it opens no plug-ins; link it "
			"dynamically",
			path);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!so)
		return diag_set(d, -ENOENT, "cannot be opened: %s", dlerror());
	*out = dlsym(so, function);
	return *out ? 0 : diag_set(d, -EPROTO, "%s has no %s()", path, function);
}
