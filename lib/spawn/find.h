/* SPDX-License-Identifier: Apache-2.0 */
/* Where proftapd is, and what environment it gets. */
#ifndef SPAWN_FIND_H
#define SPAWN_FIND_H

#include <stddef.h>

struct diag;

/* server_path_find() (base/server_path.h), for this library. */
int find_proftapd(char *path, size_t size, struct diag *d);

/*
 * The environment without LD_*, PROFTAP_*, GRPC_* and *_proxy. The array is malloc'ed, the strings are
 * the host's. NULL when memory ran out.
 */
char **clean_environment(void);

#endif
