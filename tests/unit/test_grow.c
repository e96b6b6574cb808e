/* SPDX-License-Identifier: Apache-2.0 */
/* Tests growing arrays: their content, how often they move, and sizes that no memory can hold. */
#include "base/grow.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "tests/unit/unit.h"

START_TEST(keeps_its_elements_when_it_grows)
{
	_cleanup_free_ unsigned *v = NULL;
	size_t n_allocated = 0;

	for (unsigned i = 0; i < 1000; i++) {
		ck_assert_int_eq(grow(&v, &n_allocated, i + 1), 0);
		ck_assert_uint_gt(n_allocated, i);
		v[i] = i;
	}
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_uint_eq(v[i], i);
}
END_TEST

START_TEST(grows_seldom)
{
	_cleanup_free_ char *v = NULL;
	size_t n_allocated = 0;
	int n_times = 0;

	for (size_t i = 0; i < 1000000; i++) {
		size_t before = n_allocated;

		ck_assert_int_eq(grow(&v, &n_allocated, i + 1), 0);
		n_times += n_allocated != before;
	}
	ck_assert_int_lt(n_times, 20);
}
END_TEST

START_TEST(has_room_for_many_at_once)
{
	_cleanup_free_ uint64_t *v = NULL;
	size_t n_allocated = 0;

	ck_assert_int_eq(grow(&v, &n_allocated, 3000), 0);
	ck_assert_uint_ge(n_allocated, 3000);
	v[2999] = 1;
}
END_TEST

START_TEST(enough_is_left_alone)
{
	uint64_t *v = (uint64_t *)8; /* not a valid address */
	size_t n_allocated = 5;

	ck_assert_int_eq(grow(&v, &n_allocated, 0), 0);
	ck_assert_int_eq(grow(&v, &n_allocated, 5), 0);
	ck_assert_uint_eq(n_allocated, 5);
	ck_assert_ptr_eq(v, (uint64_t *)8);
}
END_TEST

/* |n| elements have more bytes than a size_t can count. */
static void check_refusal(size_t n)
{
	_cleanup_free_ uint64_t *v = NULL;
	size_t n_allocated = 0;
	uint64_t *before;

	ck_assert_int_eq(grow(&v, &n_allocated, 1), 0);
	before = v;
	v[0] = 7;
	ck_assert_int_eq(grow(&v, &n_allocated, n), -ENOMEM);
	ck_assert_ptr_eq(v, before);
	ck_assert_uint_eq(v[0], 7);
	ck_assert_uint_lt(n_allocated, 100);
}

START_TEST(too_many_are_refused)
{
	check_refusal(SIZE_MAX);
	check_refusal(SIZE_MAX / sizeof(uint64_t) + 1);
	/* The product overflows to 8 bytes. */
	check_refusal((SIZE_MAX >> 3) + 2);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(keeps_its_elements_when_it_grows),
	UNIT_TEST(grows_seldom),
	UNIT_TEST(has_room_for_many_at_once),
	UNIT_TEST(enough_is_left_alone),
	UNIT_TEST(too_many_are_refused),
	{NULL},
};

UNIT_MAIN("grow", .tests = tests)
