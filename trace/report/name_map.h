/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps numbers, mostly indices of a view's names, to places in a list, which grows by one for each
 * new number.
 */
#ifndef TRACE_REPORT_NAME_MAP_H
#define TRACE_REPORT_NAME_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* A map of all zero bytes is empty. */
struct name_map {
	uint64_t *names; /* by place */
	size_t n_allocated;
	struct hash_table table;
};

/* Returns the place of |name|, or -ENOMEM. A new name's place is the number of names so far. */
int64_t name_map_put(struct name_map *map, uint64_t name);
void name_map_deinit(struct name_map *map);

#endif
