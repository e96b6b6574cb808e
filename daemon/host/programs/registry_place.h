/* SPDX-License-Identifier: Apache-2.0 */
/* Where the registry's socket lies. */
#ifndef DAEMON_REGISTRY_PLACE_H
#define DAEMON_REGISTRY_PLACE_H

#include <stddef.h>

struct diag;

/*
 * Into |path|: |wanted|, or when that is "" registry.sock in the first runtime directory that can be had: root's is the machine's. 0,
 * or a negative errno with |d|.
 */
int registry_place_find(const char *wanted, char *path, size_t n, struct diag *d);

#endif
