/* SPDX-License-Identifier: Apache-2.0 */
/* The mapped numbers, |names|, by place, and a hash table of the places; see name_map.h. */
#include "trace/report/name_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

int64_t name_map_put(struct name_map *map, uint64_t name)
{
	uint32_t hash = hash_word(hash_seed(), name);
	struct hash_slot *slot;

	if (hash_table_make_room(&map->table))
		return -ENOMEM;
	slot = hash_table_first(&map->table, hash);
	while (slot->number && (slot->hash != hash || map->names[slot->number - 1] != name))
		slot = hash_table_next(&map->table, slot);
	if (slot->number)
		return (int64_t)slot->number - 1;
	if (grow(&map->names, &map->n_allocated, (size_t)map->table.n + 1))
		return -ENOMEM;
	map->names[map->table.n] = name;
	hash_table_add(&map->table, slot, hash);
	return (int64_t)slot->number - 1;
}

void name_map_deinit(struct name_map *map)
{
	free(map->names);
	hash_table_deinit(&map->table);
	*map = (struct name_map){.names = NULL};
}
