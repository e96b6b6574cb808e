/* SPDX-License-Identifier: Apache-2.0 */
/* Finds proftapd, for the library, which starts it, and for tools that show its path. */
#ifndef BASE_SERVER_PATH_H
#define BASE_SERVER_PATH_H

#include <stddef.h>

struct diag;

/*
 * Writes the path of an executable proftapd: $PROFTAPD, the directory fixed at build time, beside
 * |library| (the path of libproftap, or NULL; its build tree included), PATH; in a set-uid program
 * only the second. -ENOENT with |d| listing the places. Safe in a guest.
 */
int server_path_find(const char *library, char *path, size_t size, struct diag *d);

#endif
