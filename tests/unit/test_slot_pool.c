/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the pool of used memory for slots: it returns the memory that it took, and it keeps at most
 * 8 MiB and SLOT_POOL_MAX_ROOMS pieces.
 */
#include "daemon/pipeline/assembly/slot_pool.h"

#include <check.h>
#include <stdlib.h>

#include "lib/wire/record.h"
#include "tests/unit/unit.h"

#define MIB_SLOTS ((1u << 20) / SLOT_BYTES)

static struct slot_pool pool;

static void setup(void)
{
	slot_pool_init(&pool);
}

static void teardown(void)
{
	slot_pool_deinit(&pool);
}

static struct slot *make(size_t n)
{
	struct slot *slots = calloc(n, sizeof *slots);

	ck_assert_ptr_nonnull(slots);
	return slots;
}

START_TEST(gives_back_the_latest_room_first)
{
	struct slot *a = make(3);
	struct slot *b = make(5);
	size_t n = 7;

	slot_pool_take(&pool, a, 3);
	slot_pool_take(&pool, b, 5);
	slot_pool_take(&pool, NULL, 0);
	ck_assert_ptr_eq(slot_pool_steal(&pool, &n), b);
	ck_assert_uint_eq(n, 5);
	ck_assert_ptr_eq(slot_pool_steal(&pool, &n), a);
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_null(slot_pool_steal(&pool, &n));
	ck_assert_uint_eq(n, 0);
	free(a);
	free(b);
}
END_TEST

static size_t count(void)
{
	size_t n_rooms = 0;
	size_t n;
	struct slot *slots;

	while ((slots = slot_pool_steal(&pool, &n)) != NULL) {
		free(slots);
		n_rooms++;
	}
	return n_rooms;
}

START_TEST(keeps_8_mib_at_most)
{
	for (int i = 0; i < 20; i++)
		slot_pool_take(&pool, make(MIB_SLOTS), MIB_SLOTS);
	slot_pool_take(&pool, make(9 * MIB_SLOTS), 9 * MIB_SLOTS);
	ck_assert_uint_eq(count(), 8);
	slot_pool_take(&pool, make(9 * MIB_SLOTS), 9 * MIB_SLOTS);
	ck_assert_uint_eq(count(), 0);
	slot_pool_take(&pool, make(8 * MIB_SLOTS), 8 * MIB_SLOTS);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

START_TEST(keeps_a_bounded_number_of_rooms)
{
	for (int i = 0; i < SLOT_POOL_MAX_ROOMS + 10; i++)
		slot_pool_take(&pool, make(1), 1);
	ck_assert_uint_eq(count(), SLOT_POOL_MAX_ROOMS);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(gives_back_the_latest_room_first),
	UNIT_TEST(keeps_8_mib_at_most),
	UNIT_TEST(keeps_a_bounded_number_of_rooms),
	{NULL},
};

UNIT_MAIN("slot_pool", .set_up = setup, .tear_down = teardown, .tests = tests)
