/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps the ids of a foreign file, which may be sparse, huge or negative, to our indices. The map is
 * filled first, then searched. Ids are dense in nearly all files; then a search is one comparison.
 * A map of all zero bytes is empty.
 */
#ifndef TRACE_IDMAP_H
#define TRACE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_entry {
	int64_t id;
	uint32_t index;
	uint32_t order; /* position of insertion: the last of equal ids wins */
};

struct idmap {
	struct idmap_entry *entries;
	size_t n_entries;
	size_t n_allocated;
};

#define IDMAP_NONE UINT32_MAX

void idmap_deinit(struct idmap *map);
int idmap_add(struct idmap *map, int64_t id, uint32_t index); /* 0 or -ENOMEM */
/* Call this once between the last idmap_add() and the first idmap_find(). */
void idmap_sort(struct idmap *map);
uint32_t idmap_find(const struct idmap *map, int64_t id); /* IDMAP_NONE for an unknown id */

#endif
