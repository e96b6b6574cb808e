/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in an array, and a hash table of their numbers; see keys.h. */
#include "daemon/pipeline/devices/keys.h"

#include <stdlib.h>

#include "base/grow.h"

void keys_init(struct keys *k, uint32_t key_bytes)
{
	memset(k, 0, sizeof *k);
	k->seed = hash_seed();
	k->n_bytes = key_bytes;
}

void keys_deinit(struct keys *k)
{
	free(k->v);
	hash_table_deinit(&k->table);
	keys_init(k, k->n_bytes);
}

static uint32_t hash_key(const struct keys *k, const void *key)
{
	uint64_t sum = k->seed->start;
	uint64_t word;

	for (uint32_t at = 0; at < k->n_bytes; at += (uint32_t)sizeof word) {
		memcpy(&word, (const uint8_t *)key + at, sizeof word);
		sum = hash_mix(k->seed, sum, word);
	}
	return hash_end(k->seed, sum);
}

uint32_t keys_intern_other(struct keys *k, const void *key)
{
	uint32_t hash = hash_key(k, key);
	struct hash_slot *slot;

	if (grow(&k->v, &k->n_allocated, ((size_t)k->n + 1) * k->n_bytes) ||
		hash_table_make_room(&k->table))
		return KEYS_NONE;
	slot = hash_table_first(&k->table, hash);
	while (slot->number &&
		(slot->hash != hash || memcmp(keys_get(k, slot->number - 1), key, k->n_bytes) != 0))
		slot = hash_table_next(&k->table, slot);
	if (!slot->number) {
		memcpy(k->v + (size_t)k->n++ * k->n_bytes, key, k->n_bytes);
		hash_table_add(&k->table, slot, hash);
	}
	k->last = slot->number - 1;
	return k->last;
}
