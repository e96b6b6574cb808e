/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table with open addressing. At most half of the slots are taken, so that a free one is
 * near.
 */
#include "trace/report/name_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 16

static struct name_slot *find_slot(const struct name_map *map, uint64_t name)
{
	size_t i = (name * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	while (map->slots[i & (map->n_slots - 1)].place &&
		map->slots[i & (map->n_slots - 1)].name != name)
		i++;
	return &map->slots[i & (map->n_slots - 1)];
}

static int name_map_reserve(struct name_map *map)
{
	struct name_map larger = {
		.n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS, .n = map->n};

	if (2 * (map->n + 1) <= map->n_slots)
		return 0;
	larger.slots = calloc(larger.n_slots, sizeof *larger.slots);
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_slots; i++)
		if (map->slots[i].place)
			*find_slot(&larger, map->slots[i].name) = map->slots[i];
	free(map->slots);
	*map = larger;
	return 0;
}

int64_t name_map_put(struct name_map *map, uint64_t name)
{
	struct name_slot *slot = map->n_slots ? find_slot(map, name) : NULL;

	if (slot && slot->place)
		return (int64_t)slot->place - 1;
	if (name_map_reserve(map))
		return -ENOMEM;
	*find_slot(map, name) = (struct name_slot){name, (uint32_t)++map->n};
	return (int64_t)map->n - 1;
}

void name_map_deinit(struct name_map *map)
{
	free(map->slots);
	*map = (struct name_map){.slots = NULL};
}
