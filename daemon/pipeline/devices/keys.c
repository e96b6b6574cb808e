/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in an open-addressing table of numbers; see keys.h. */
#include "daemon/pipeline/devices/keys.h"

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

/* The slot that holds |key|, or the empty one where it belongs. Needs n_slots > n. */
static struct key_slot *find_slot(const struct keys *k, uint32_t sum, const void *key)
{
	uint32_t mask = k->n_slots - 1;
	uint32_t i = sum & mask;

	while (k->slots[i].number &&
		(k->slots[i].hash != sum ||
			memcmp(keys_get(k, k->slots[i].number - 1), key, k->n_bytes) != 0))
		i = (i + 1) & mask;
	return &k->slots[i];
}

static void move_slot(struct key_slot *slots, uint32_t mask, struct key_slot slot)
{
	uint32_t i = slot.hash & mask;

	while (slots[i].number)
		i = (i + 1) & mask;
	slots[i] = slot;
}

static int grow_slots(struct keys *k)
{
	uint32_t n_slots = k->n_slots ? k->n_slots * 2 : 64;
	struct key_slot *slots = calloc(n_slots, sizeof *slots);

	if (!slots)
		return 0;
	for (uint32_t i = 0; i < k->n_slots; i++)
		if (k->slots[i].number)
			move_slot(slots, n_slots - 1, k->slots[i]);
	free(k->slots);
	k->slots = slots;
	k->n_slots = n_slots;
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
	uint32_t sum = hash_key(k, key);
	struct key_slot *slot;

	if (!make_room(k))
		return KEYS_NONE;
	slot = find_slot(k, sum, key);
	if (!slot->number) {
		memcpy(k->v + (size_t)k->n * k->n_bytes, key, k->n_bytes);
		*slot = (struct key_slot){sum, ++k->n};
	}
	k->last = slot->number - 1;
	return k->last;
}
