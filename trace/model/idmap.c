/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from ids to indices: a sorted array. The ids of a hostile file could make a hash table
 * slow, but not an array.
 */
#include "trace/model/idmap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

void idmap_deinit(struct idmap *map)
{
	free(map->entries);
	*map = (struct idmap){NULL, 0, 0};
}

int idmap_add(struct idmap *map, int64_t id, uint32_t index)
{
	if (map->n_entries >= UINT32_MAX)
		return -ENOMEM;
	if (grow(&map->entries, &map->n_allocated, map->n_entries + 1))
		return -ENOMEM;
	map->entries[map->n_entries] = (struct idmap_entry){id, index, (uint32_t)map->n_entries};
	map->n_entries++;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct idmap_entry *a = left;
	const struct idmap_entry *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void idmap_sort(struct idmap *map)
{
	size_t n = 0;

	if (map->n_entries)
		qsort(map->entries, map->n_entries, sizeof *map->entries, compare_entries);
	for (size_t i = 0; i < map->n_entries; i++) {
		if (n && map->entries[n - 1].id == map->entries[i].id)
			n--;
		map->entries[n++] = map->entries[i];
	}
	map->n_entries = n;
}

uint32_t idmap_find(const struct idmap *map, int64_t id)
{
	size_t low = 0;
	size_t high = map->n_entries;
	uint64_t guess;

	if (!high)
		return IDMAP_NONE;
	guess = (uint64_t)id - (uint64_t)map->entries[0].id;
	if (guess < high && map->entries[guess].id == id)
		return map->entries[guess].index;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == map->n_entries || map->entries[low].id != id)
		return IDMAP_NONE;
	return map->entries[low].index;
}
