/* SPDX-License-Identifier: Apache-2.0 */
/* Durations in bounded memory, and whether two samples of them differ. */
#include "trace/report/sample.h"

#include <check.h>

#include "trace/report/rank_sum.h"

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

START_TEST(few_are_exact)
{
	add_all(&a, 1000001, SAMPLE_EXACT, 1);
	ck_assert_ptr_null(a.buckets);
	ck_assert_int_eq(sample_percentile(&a, 50), 1000000 + SAMPLE_EXACT / 2);
	ck_assert_int_eq(sample_percentile(&a, 100), 1000000 + SAMPLE_EXACT);
}
END_TEST

START_TEST(many_are_right_within_a_256th)
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

/* Each way: into nothing, values to values, either to buckets. */
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

/* The rank-sum test; expected are the formulas' results, computed by hand. */

START_TEST(samples_that_do_not_overlap_differ)
{
	struct rank_sum test;

	add_all(&a, 1, 8, 1);
	add_all(&b, 9, 8, 1);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	/* U = 0, mean 32, variance 64 * 17 / 12: z = 31.5 / 9.5219 */
	ck_assert_double_eq_tol(test.p, 0.000939, 0.000002);
	ck_assert_int_eq(test.direction, 1);
	ck_assert_int_eq(rank_sum_test(&b, &a, &test), 0);
	ck_assert_double_eq_tol(test.p, 0.000939, 0.000002);
	ck_assert_int_eq(test.direction, -1);
}
END_TEST

START_TEST(ties_share_their_ranks)
{
	struct rank_sum test;

	add_all(&a, 1, 4, 0);
	add_all(&a, 2, 4, 0);
	add_all(&b, 1, 2, 0);
	add_all(&b, 2, 6, 0);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	/* 60 instead of 68; variance 64 / 12 * (17 - 1200 / 240) = 64: z = 7.5 / 8 */
	ck_assert_double_eq_tol(test.p, 0.348501, 0.000002);
}
END_TEST

START_TEST(a_sample_does_not_differ_from_itself)
{
	struct rank_sum test;

	add_all(&a, 5, 100, 3);
	add_all(&b, 5, 100, 3);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	ck_assert_double_eq(test.p, 1);
	/* All of one value: there is no variance. */
	tear_down();
	add_all(&a, 5, 100, 0);
	add_all(&b, 5, 50, 0);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	ck_assert_double_eq(test.p, 1);
}
END_TEST

START_TEST(few_tell_nothing)
{
	struct rank_sum test;

	add_all(&a, 1, RANK_SUM_FEWEST - 1, 1);
	add_all(&b, 1000, 100, 1);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	ck_assert_double_lt(test.p, 0);
	ck_assert_int_eq(test.direction, 0);
}
END_TEST

/* One has buckets, the other none: equal values stay equal. */
START_TEST(few_are_compared_with_many)
{
	struct rank_sum test;

	add_all(&a, 1000000, SAMPLE_EXACT + 1, 0);
	add_all(&b, 1000000, 100, 0);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	ck_assert_double_eq(test.p, 1);
	add_all(&b, 1200000, 100, 0);
	ck_assert_int_eq(rank_sum_test(&a, &b, &test), 0);
	ck_assert_double_lt(test.p, 1e-9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *tests = tcase_create("sample");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, few_are_exact);
	tcase_add_test(tests, many_are_right_within_a_256th);
	tcase_add_test(tests, the_smallest_and_the_largest_have_buckets);
	tcase_add_test(tests, taking_moves_all);
	tcase_add_test(tests, samples_that_do_not_overlap_differ);
	tcase_add_test(tests, ties_share_their_ranks);
	tcase_add_test(tests, a_sample_does_not_differ_from_itself);
	tcase_add_test(tests, few_tell_nothing);
	tcase_add_test(tests, few_are_compared_with_many);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
