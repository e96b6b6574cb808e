/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashing with a seed that each process chooses: whoever chooses the keys (a target, the writer of
 * a file) cannot choose keys that all hash to one slot, which would make each search as long as the
 * table. Any thread may call it.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

struct hash_seed {
	uint64_t start; /* the initial sum of a key */
	uint64_t factor; /* an odd number */
};

/* Returns the seed, which is made at the first call and never changes. */
const struct hash_seed *hash_seed(void);

/*
 * Adds |word| to |sum|. Both halves of the product count: the low half alone would pass on a
 * difference in the top bit unchanged, for any factor.
 */
static inline uint64_t hash_mix(const struct hash_seed *seed, uint64_t sum, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(sum ^ word) * seed->factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Folds the sum of all words of a key to 32 bits. */
static inline uint32_t hash_end(const struct hash_seed *seed, uint64_t sum)
{
	sum = hash_mix(seed, sum, seed->start);
	return (uint32_t)(sum ^ sum >> 32);
}

/* The hash of a key of one word. */
static inline uint32_t hash_word(const struct hash_seed *seed, uint64_t word)
{
	uint64_t sum = hash_mix(seed, seed->start, word);

	return (uint32_t)(sum ^ sum >> 32);
}

/*
 * A table from hashes to the numbers of entries, which the caller keeps in his own array. It has
 * open addressing, and at most half of its slots are used. All zero is the empty table. This finds
 * an entry, or the slot for a new one:
 *
 *   slot = hash_table_first(&t, hash);
 *   while (slot->number && !(slot->hash == hash && is_equal(&entries[slot->number - 1], key)))
 *           slot = hash_table_next(&t, slot);
 */
struct hash_slot {
	uint32_t hash;
	uint32_t number; /* of the entry, + 1; 0: the slot is empty */
};

struct hash_table {
	struct hash_slot *slots;
	uint32_t n_slots; /* 0 or a power of two */
	uint32_t n; /* entries */
};

/* The most entries: twice as many slots still fit into 32 bits. */
#define HASH_TABLE_MAX (1u << 30)

/* Doubles the slots; see hash_table_make_room(). */
int hash_table_grow(struct hash_table *t);

/*
 * Makes room for one more entry. 0; -ENOMEM, and -EOVERFLOW beyond HASH_TABLE_MAX entries; then
 * nothing has changed.
 */
static inline int hash_table_make_room(struct hash_table *t)
{
	return t->n < t->n_slots / 2 ? 0 : hash_table_grow(t);
}

/* Removes all entries, and keeps the slots. */
void hash_table_clear(struct hash_table *t);
void hash_table_deinit(struct hash_table *t);

/* The table must have slots: hash_table_make_room() makes the first ones. */
static inline struct hash_slot *hash_table_first(const struct hash_table *t, uint32_t hash)
{
	return &t->slots[hash & (t->n_slots - 1)];
}

static inline struct hash_slot *hash_table_next(
	const struct hash_table *t, const struct hash_slot *slot)
{
	return &t->slots[(uint32_t)(slot - t->slots + 1) & (t->n_slots - 1)];
}

/*
 * Puts the next entry, number t->n, into the empty |slot|. Call hash_table_make_room() before the
 * slot is searched.
 */
static inline void hash_table_add(struct hash_table *t, struct hash_slot *slot, uint32_t hash)
{
	*slot = (struct hash_slot){hash, ++t->n};
}

#endif
