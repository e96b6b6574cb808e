/* SPDX-License-Identifier: Apache-2.0 */
/* The hash seed and the table; see hash.h. */
#include "base/hash.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static struct hash_seed seed;

static void make_seed(void)
{
	/*
	 * This never blocks, and never fails on a machine that has booted. If it fails, the seed is
	 * the constants below.
	 */
	(void)!getrandom(&seed, sizeof seed, GRND_NONBLOCK);
	seed.start ^= 0x243f6a8885a308d3u;
	seed.factor = (seed.factor ^ 0x9e3779b97f4a7c15u) | 1;
}

const struct hash_seed *hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_seed);
	return &seed;
}

/* --- The table ------------------------------------------------------------------------------- */

#define FIRST_SLOTS 32

static void hash_table_move(struct hash_table *to, struct hash_slot slot)
{
	struct hash_slot *free_slot = hash_table_first(to, slot.hash);

	while (free_slot->number)
		free_slot = hash_table_next(to, free_slot);
	*free_slot = slot;
}

int hash_table_grow(struct hash_table *t)
{
	struct hash_table larger = {
		.n_slots = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS, .n = t->n};

	if (t->n >= HASH_TABLE_MAX)
		return -EOVERFLOW;
	larger.slots = calloc(larger.n_slots, sizeof *larger.slots);
	if (!larger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].number)
			hash_table_move(&larger, t->slots[i]);
	free(t->slots);
	*t = larger;
	return 0;
}

void hash_table_clear(struct hash_table *t)
{
	if (t->n)
		memset(t->slots, 0, t->n_slots * sizeof *t->slots);
	t->n = 0;
}

void hash_table_deinit(struct hash_table *t)
{
	free(t->slots);
	*t = (struct hash_table){.slots = NULL};
}
