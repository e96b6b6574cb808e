/* SPDX-License-Identifier: Apache-2.0 */
/* Tests durations in bounded memory, and the limits that split two samples of them. */
#include "trace/report/sample.h"

#include <check.h>

#include "tests/unit/unit.h"

static struct sample a;
static struct sample b;

static void set_up(void)
{
	a = (struct sample){.n = 0};
	b = (struct sample){.n = 0};
}

static void tear_down(void)
{
	sample_deinit(&a);
	sample_deinit(&b);
}

static void add_all(struct sample *s, int64_t first, int64_t n, int64_t factor)
{
	for (int64_t i = 0; i < n; i++)
		ck_assert_int_eq(sample_add(s, first + i * factor), 0);
}

/* Percentiles. */

START_TEST(percentiles_of_few_values_are_exact)
{
	add_all(&a, 1000001, SAMPLE_EXACT, 1);
	ck_assert_ptr_null(a.buckets);
	ck_assert_int_eq(sample_percentile(&a, 50), 1000000 + SAMPLE_EXACT / 2);
	ck_assert_int_eq(sample_percentile(&a, 100), 1000000 + SAMPLE_EXACT);
}
END_TEST

START_TEST(percentiles_of_many_values_are_right_within_a_256th)
{
	add_all(&a, 1, 1000000, 1000);
	ck_assert_ptr_nonnull(a.buckets);
	ck_assert_ptr_null(a.values);
	for (unsigned int percent = 1; percent <= 100; percent++) {
		double exact = 10000.0 * 1000 * percent;

		ck_assert_double_eq_tol(
			(double)sample_percentile(&a, percent), exact, exact / 256 + 1000);
	}
}
END_TEST

START_TEST(the_smallest_and_the_largest_have_buckets)
{
	add_all(&a, 0, SAMPLE_EXACT + 1, 0);
	ck_assert_int_eq(sample_percentile(&a, 99), 0);
	for (int i = 0; i < 3 * SAMPLE_EXACT; i++)
		sample_add(&a, INT64_MAX);
	ck_assert_int_gt(sample_percentile(&a, 99), INT64_MAX - (INT64_MAX >> 8));
	ck_assert_uint_eq(sample_count_above(&a, 1), 3 * SAMPLE_EXACT);
}
END_TEST

/* The target is empty; then both samples have single values; then one sample has buckets. */
START_TEST(taking_moves_all)
{
	struct sample c = {.n = 0};

	add_all(&b, 100, 10, 1);
	ck_assert_int_eq(sample_take(&a, &b), 0);
	ck_assert_uint_eq(b.n, 0);
	add_all(&b, 110, 10, 1);
	ck_assert_int_eq(sample_take(&a, &b), 0);
	ck_assert_uint_eq(a.n, 20);
	ck_assert_int_eq(sample_percentile(&a, 50), 109);
	add_all(&b, 50, SAMPLE_EXACT + 1, 0);
	ck_assert_int_eq(sample_take(&a, &b), 0);
	ck_assert_int_eq(sample_percentile(&a, 50), 50);
	ck_assert_int_eq(sample_percentile(&a, 100), 119);
	add_all(&c, 120, 10, 1);
	ck_assert_int_eq(sample_take(&a, &c), 0);
	ck_assert_int_eq(sample_percentile(&a, 100), 129);
	ck_assert_uint_eq(a.n, SAMPLE_EXACT + 31);
}
END_TEST

/* Limits that split two samples together. */

static const double shares[] = {0.5, 0.1, 0.01};

static void ck_split(int64_t half, int64_t tenth, int64_t hundredth)
{
	int64_t limits[3];

	ck_assert_int_eq(sample_split(&a, &b, shares, 3, limits), 0);
	ck_assert_int_eq(limits[0], half);
	ck_assert_int_eq(limits[1], tenth);
	ck_assert_int_eq(limits[2], hundredth);
}

START_TEST(a_split_leaves_the_given_share_above)
{
	add_all(&a, 0, 500, 2);
	add_all(&b, 1, 500, 2);
	ck_split(500, 900, 990);
}
END_TEST

/*
 * Each sample has 1,960 short values. 40 long ones are the slowest hundredth of all
 * 4,000, and 41 are nearly so.
 */
START_TEST(a_split_lies_between_equal_values)
{
	add_all(&a, 200, 2000, 0);
	add_all(&b, 200, 1959, 0);
	add_all(&b, 20000, 41, 0);
	ck_split(10100, 10100, 10100);
}
END_TEST

START_TEST(equal_values_are_not_split)
{
	int64_t limits[3];

	add_all(&a, 7, 100, 0);
	add_all(&b, 7, 50, 0);
	ck_assert_int_eq(sample_split(&a, &b, shares, 3, limits), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_le(limits[i], 7);
}
END_TEST

START_TEST(buckets_are_split_with_values)
{
	int64_t limits[3];

	add_all(&a, 1, 100000, 1000);
	add_all(&b, 1, 1000, 100000);
	ck_assert_ptr_nonnull(a.buckets);
	ck_assert_int_eq(sample_split(&a, &b, shares, 3, limits), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_double_eq_tol((double)limits[i], 1e8 * (1 - shares[i]), 1e8 / 128);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(percentiles_of_few_values_are_exact),
	UNIT_TEST(percentiles_of_many_values_are_right_within_a_256th),
	UNIT_TEST(the_smallest_and_the_largest_have_buckets),
	UNIT_TEST(taking_moves_all),
	UNIT_TEST(a_split_leaves_the_given_share_above),
	UNIT_TEST(a_split_lies_between_equal_values),
	UNIT_TEST(equal_values_are_not_split),
	UNIT_TEST(buckets_are_split_with_values),
	{NULL},
};

UNIT_MAIN("sample", .set_up = set_up, .tear_down = tear_down, .tests = tests)
