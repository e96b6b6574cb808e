/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a program that is to be started with libproftap, and checks whether
 * libproftap can be preloaded.
 */
#ifndef CLIENT_PROGRAM_H
#define CLIENT_PROGRAM_H

#include <limits.h>

struct diag;

struct program_file {
	char path[PATH_MAX];
	char first_library[64]; /* the library that must be preloaded before any other; "": none */
};

/*
 * Finds |name| as a shell does, and checks whether a library can be preloaded into it. 0, or with
 * |d|: -ENOENT: not found; -EACCES or -ENOEXEC: not executable; -ENOTSUP: executable, but not with
 * a preloaded library.
 */
int program_find(const char *name, struct program_file *out, struct diag *d);

/*
 * Finds libproftap.so.1: $PROFTAP_LIB, else near this client, else where it was installed. 0 or
 * -ENOENT with |d|.
 */
int program_find_library(char path[static PATH_MAX], struct diag *d);

#endif
