/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared libraries that are opened when they are needed: a program starts faster and is smaller
 * without them, and runs where they are not installed.
 */
#ifndef BASE_SHARED_LIBRARY_H
#define BASE_SHARED_LIBRARY_H

#include <stddef.h>

struct diag;

struct shared_library_name {
	const char *file; /* with the number of the ABI of the header, "libfoo.so.1" */
	const char *use; /* "serving pages needs it" */
	const char *package; /* of Debian */
};

extern const struct shared_library_name shared_library_microhttpd;
extern const struct shared_library_name shared_library_sqlite;
extern const struct shared_library_name shared_library_dw;

struct shared_library_function {
	const char *name;
	size_t offset; /* of the pointer to the function, in a struct of the caller */
};

struct shared_library {
	const struct shared_library_name *name;
	const struct shared_library_function *functions;
	size_t n_functions;
};

/*
 * Opens the library and writes the addresses of its functions into |functions|, a struct of the
 * caller. The library stays open. 0; or -ENOSYS with |d| if the library cannot be loaded, or a
 * function is missing.
 */
int shared_library_open(const struct shared_library *l, void *functions, struct diag *d);

#endif
