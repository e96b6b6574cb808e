/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the hash table. */
#include "base/hash.h"

#include <check.h>
#include <errno.h>

#include "tests/unit/unit.h"

#define N_KEYS 5000

static uint32_t keys[N_KEYS];

/* Returns the slot of |key|, or the empty one for it. */
static struct hash_slot *find_key(const struct hash_table *t, uint32_t hash, uint32_t key)
{
	struct hash_slot *slot = hash_table_first(t, hash);

	while (slot->number && !(slot->hash == hash && keys[slot->number - 1] == key))
		slot = hash_table_next(t, slot);
	return slot;
}

static void add_key(struct hash_table *t, uint32_t hash, uint32_t key)
{
	struct hash_slot *slot;

	ck_assert_int_eq(hash_table_make_room(t), 0);
	slot = find_key(t, hash, key);
	ck_assert_uint_eq(slot->number, 0);
	keys[t->n] = key;
	hash_table_add(t, slot, hash);
}

static uint32_t hash_key(uint32_t key)
{
	const struct hash_seed *seed = hash_seed();

	return hash_end(seed, hash_mix(seed, seed->start, key));
}

START_TEST(finds_added_keys_and_no_others)
{
	struct hash_table t = {.slots = NULL};

	for (uint32_t i = 0; i < N_KEYS; i++)
		add_key(&t, hash_key(i * 3), i * 3);
	ck_assert_uint_eq(t.n, N_KEYS);
	ck_assert_uint_ge(t.n_slots, 2 * N_KEYS);
	for (uint32_t i = 0; i < N_KEYS; i++)
		ck_assert_uint_eq(find_key(&t, hash_key(i * 3), i * 3)->number, i + 1);
	ck_assert_uint_eq(find_key(&t, hash_key(1), 1)->number, 0);
	hash_table_deinit(&t);
	ck_assert_ptr_null(t.slots);
}
END_TEST

START_TEST(equal_hashes_are_told_apart_by_their_keys)
{
	struct hash_table t = {.slots = NULL};

	/* The hashes begin at the last slot, so the search goes on at the first. */
	for (uint32_t i = 0; i < 100; i++)
		add_key(&t, UINT32_MAX, i);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(find_key(&t, UINT32_MAX, i)->number, i + 1);
	ck_assert_uint_eq(find_key(&t, UINT32_MAX, 100)->number, 0);
	hash_table_deinit(&t);
}
END_TEST

START_TEST(a_cleared_table_keeps_its_slots)
{
	struct hash_table t = {.slots = NULL};
	uint32_t n_slots;

	hash_table_clear(&t);
	add_key(&t, hash_key(7), 7);
	n_slots = t.n_slots;
	hash_table_clear(&t);
	ck_assert_uint_eq(t.n, 0);
	ck_assert_uint_eq(t.n_slots, n_slots);
	ck_assert_uint_eq(find_key(&t, hash_key(7), 7)->number, 0);
	hash_table_deinit(&t);
}
END_TEST

START_TEST(a_full_table_says_so)
{
	struct hash_slot slots[1];
	struct hash_table t = {.slots = slots, .n_slots = 1, .n = HASH_TABLE_MAX};

	ck_assert_int_eq(hash_table_make_room(&t), -EOVERFLOW);
	ck_assert_ptr_eq(t.slots, slots);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finds_added_keys_and_no_others),
	UNIT_TEST(equal_hashes_are_told_apart_by_their_keys),
	UNIT_TEST(a_cleared_table_keeps_its_slots),
	UNIT_TEST(a_full_table_says_so),
	{NULL},
};

UNIT_MAIN("hash table", .tests = tests)
