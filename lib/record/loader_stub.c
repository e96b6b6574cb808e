/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the dynamic loader in libproftap.a; see loader.h. It does not refer to dlopen(), not
 * even weakly: the linker would warn of it in each program that links glibc statically, and
 * dlopen() would load a second libc there.
 */
#include "lib/record/loader.h"

#include <errno.h>
#include <unistd.h>

#include "base/diag.h"

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
	(void)function;
	(void)out;
	return diag_set(d, -ENOTSUP,
		"%s: libproftap.a opens no plug-ins; link the program with libproftap.so", path);
}
