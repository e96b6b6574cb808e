/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in an open-addressing table of numbers; see keys.h. */
#include "daemon/devices/keys.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"

#define MAX_KEYS (1u << 30) /* twice as many slots still fit into 32 bits */

void keys_init(struct keys *k, uint32_t key_bytes)
{
	memset(k, 0, sizeof *k);
	k->seed = hash_seed();
	k->n_bytes = key_bytes;
}

void keys_deinit(struct keys *k)
{
	free(k->v);
	free(k->slots);
	keys_init(k, k->n_bytes);
}

static uint32_t hash(const struct keys *k, const void *key)
{
	uint64_t sum = k->seed->start;
	uint64_t word;

	for (uint32_t at = 0; at < k->n_bytes; at += (uint32_t)sizeof word) {
		memcpy(&word, (const uint8_t *)key + at, sizeof word);
		sum = hash_mix(k->seed, sum, word);
	}
	return hash_end(k->seed, sum);
}

/* The slot that holds |key|, or the empty one where it belongs. Needs n_slots > n. */
static uint32_t *find_slot(const struct keys *k, const void *key)
{
	uint32_t mask = k->n_slots - 1;
	uint32_t i = hash(k, key) & mask;

	while (k->slots[i] && memcmp(keys_get(k, k->slots[i] - 1), key, k->n_bytes) != 0)
		i = (i + 1) & mask;
	return &k->slots[i];
}

static int grow_slots(struct keys *k)
{
	uint32_t n_slots = k->n_slots ? k->n_slots * 2 : 64;
	uint32_t *slots = calloc(n_slots, sizeof *slots);

	if (!slots)
		return 0;
	free(k->slots);
	k->slots = slots;
	k->n_slots = n_slots;
	for (uint32_t i = 0; i < k->n; i++)
		*find_slot(k, keys_get(k, i)) = i + 1;
	return 1;
}

static int make_room(struct keys *k)
{
	if (k->n >= MAX_KEYS || grow(&k->v, &k->n_allocated, ((size_t)k->n + 1) * k->n_bytes))
		return 0;
	return k->n < k->n_slots / 2 || grow_slots(k);
}

uint32_t keys_intern_other(struct keys *k, const void *key)
{
	uint32_t *slot;

	if (!make_room(k))
		return KEYS_NONE;
	slot = find_slot(k, key);
	if (!*slot) {
		memcpy(k->v + (size_t)k->n * k->n_bytes, key, k->n_bytes);
		*slot = ++k->n;
	}
	k->last = *slot - 1;
	return k->last;
}
