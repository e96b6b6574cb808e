/* SPDX-License-Identifier: Apache-2.0 */
/* Opens shared libraries; see shared_library.h. */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/diag.h"

int shared_library_open(const struct shared_library *l, void *functions, struct diag *d)
{
	void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return diag_set(d, -ENOSYS, "%s: not found, and %s; install it (Debian: %s)",
			l->file, l->use, l->package);
	for (size_t i = 0; i < l->n_functions; i++) {
		void *address = dlsym(handle, l->functions[i].name);

		if (!address)
			return diag_set(d, -ENOSYS, "%s: has no %s; install a newer one", l->file,
				l->functions[i].name);
		memcpy((char *)functions + l->functions[i].offset, &address, sizeof address);
	}
	return 0;
}
