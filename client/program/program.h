/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is to be started with libproftap in it: where it is, and whether that can work. */
#ifndef CLIENT_PROGRAM_H
#define CLIENT_PROGRAM_H

#include <limits.h>

struct diag;

struct program {
	char path[PATH_MAX];
	char first_library[64]; /* must be preloaded before any other; "": none */
};

/*
 * Finds |name| as a shell does and looks whether a library can be preloaded into it. 0, or with |d|: -ENOENT not
 * found, -EACCES or -ENOEXEC not executable, -ENOTSUP executable but not with a library preloaded.
 */
int program_find(const char *name, struct program *out, struct diag *d);

/* The path of libproftap.so.1: $PROFTAP_LIB, beside this client, where it was installed. 0 or -ENOENT with |d|. */
int program_find_library(char path[static PATH_MAX], struct diag *d);

#endif
