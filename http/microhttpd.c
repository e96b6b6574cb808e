/* SPDX-License-Identifier: Apache-2.0 */
/* The library of HTTP; see microhttpd.h. */
#include "http/microhttpd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"

/* The ABI of the header that this is built with. */
#define LIBRARY "libmicrohttpd.so.12"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define ROW(name) {"MHD_" #name, offsetof(struct microhttpd, name)},
	MICROHTTPD_FUNCTIONS(ROW)
#undef ROW
};

/* NULL, or the name of what is missing. */
static const char *find_functions(void *library, struct microhttpd *out)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		void *address = dlsym(library, functions[i].name);

		if (!address)
			return functions[i].name;
		memcpy((char *)out + functions[i].offset, &address, sizeof address);
	}
	return NULL;
}

int microhttpd_load(const struct microhttpd **out, struct diag *d)
{
	static struct microhttpd library;
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *missing;

	if (!handle)
		return diag_set(d, -ENOSYS,
			LIBRARY ": not found, and serving pages needs it; install it (Debian: "
				"libmicrohttpd12)");
	missing = find_functions(handle, &library);
	if (missing)
		return diag_set(d, -ENOSYS, LIBRARY ": has no %s; install a newer one", missing);
	*out = &library;
	return 0;
}
