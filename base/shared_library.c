/* SPDX-License-Identifier: Apache-2.0 */
/* Opens shared libraries; see shared_library.h. */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/diag.h"

const struct shared_library_name shared_library_microhttpd = {
	.file = "libmicrohttpd.so.12",
	.use = "serving pages needs it",
	.package = "libmicrohttpd12",
};

const struct shared_library_name shared_library_sqlite = {
	.file = "libsqlite3.so.0",
	.use = "writing a database needs it",
	.package = "libsqlite3-0",
};

const struct shared_library_name shared_library_dw = {
	.file = "libdw.so.1",
	.use = "finding the callers of functions needs it",
	.package = "libdw1",
};

/* The loader's reason may begin with the file's name, which the message has already. */
static const char *find_reason(const char *file)
{
	const char *reason = dlerror();
	size_t n = strlen(file);

	return strncmp(reason, file, n) == 0 && strncmp(reason + n, ": ", 2) == 0 ? reason + n + 2
										  : reason;
}

int shared_library_open(const struct shared_library *l, void *functions, struct diag *d)
{
	const struct shared_library_name *name = l->name;
	void *handle = dlopen(name->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return diag_set(d, -ENOSYS,
			"%s cannot be loaded (%.200s), and %s; install it (Debian: %s)", name->file,
			find_reason(name->file), name->use, name->package);
	for (size_t i = 0; i < l->n_functions; i++) {
		void *address = dlsym(handle, l->functions[i].name);

		if (!address)
			return diag_set(d, -ENOSYS, "%s: has no %s; install a newer one",
				name->file, l->functions[i].name);
		memcpy((char *)functions + l->functions[i].offset, &address, sizeof address);
	}
	return 0;
}
