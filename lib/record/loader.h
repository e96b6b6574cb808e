/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic loader. libproftap.a has loader_stub.c in place of loader.c: a static program has no
 * loader.
 */
#ifndef RECORD_LOADER_H
#define RECORD_LOADER_H

#include <limits.h>
#include <stdbool.h>

struct diag;

/* Writes the path of the file that holds this library: libproftap.so, or a static program. */
bool loader_find_own_file(char path[PATH_MAX]);

/*
 * Returns true if this library was mapped before the program began. If it was opened later (by
 * CUDA, in cuInit()), the opener holds the loader's lock during the library's constructor.
 */
bool loader_was_early(void);

/*
 * Opens the shared object |path|, which then stays open, and finds a function in it. 0 or a
 * negative errno, with |d|.
 */
int loader_find_function(const char *path, const char *function, void **out, struct diag *d);

#endif
