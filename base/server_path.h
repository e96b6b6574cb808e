/* SPDX-License-Identifier: Apache-2.0 */
/* Finds proftapd, for the library, which starts it, and for tools that show its path. */
#ifndef BASE_SERVER_PATH_H
#define BASE_SERVER_PATH_H

#include <stddef.h>

struct diag;

/*
 * Writes the path of an executable proftapd: $PROFTAPD if that is set; else the first one found at
 * the path fixed at build time; beside |library|, in ../sbin from there or in its build tree; and
 * in PATH. |library| is the path of libproftap, that of the program if it is linked with
 * libproftap.a, or NULL. A set-uid program uses only the path fixed at build time. -ENOENT with
 * |d|, which lists the places searched. Safe in a guest.
 */
int server_path_find(const char *library, char *path, size_t size, struct diag *d);

#endif
