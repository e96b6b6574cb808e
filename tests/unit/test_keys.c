/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pipeline/devices/keys.h"

#include <check.h>

#include "tests/unit/unit.h"

struct key {
	uint64_t a;
	uint64_t b;
};

static uint32_t intern(struct keys *k, uint64_t a, uint64_t b)
{
	struct key key = {a, b};

	return keys_intern(k, &key);
}

START_TEST(numbers_in_order_of_first_use)
{
	struct keys k;

	keys_init(&k, sizeof(struct key));
	ck_assert_uint_eq(intern(&k, 2, 1), 0);
	ck_assert_uint_eq(intern(&k, 1, 2), 1);
	ck_assert_uint_eq(intern(&k, 2, 1), 0);
	ck_assert_uint_eq(intern(&k, 0, 0), 2);
	ck_assert_uint_eq(intern(&k, 0, 0), 2);
	ck_assert_uint_eq(k.n, 3);
	ck_assert_mem_eq(keys_get(&k, 1), &((struct key){1, 2}), sizeof(struct key));
	keys_deinit(&k);
}
END_TEST

START_TEST(keeps_many_apart)
{
	struct keys k;

	keys_init(&k, sizeof(struct key));
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 50000; i++)
			ck_assert_uint_eq(intern(&k, i % 7, i), i);
	ck_assert_uint_eq(k.n, 50000);
	keys_deinit(&k);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(numbers_in_order_of_first_use),
	UNIT_TEST(keeps_many_apart),
	{NULL},
};

UNIT_MAIN("keys", .tests = tests)
