/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a plane by name: times, percentiles, order. */
#include "trace/summary.h"

#include <check.h>
#include <string.h>

#include "tests/unit/space_fixture.h"

static const struct summary_row *find_row(const struct summary *s, const char *name)
{
	for (size_t i = 0; i < s->lines[0].n_rows; i++) {
		const struct summary_row *row = &s->lines[0].rows[i];

		if (strcmp(names_get(&plane->event_names, row->name), name) == 0)
			return row;
	}
	ck_abort_msg("no row %s", name);
	return NULL;
}

START_TEST(self_time_excludes_direct_children_only)
{
	struct summary s;

	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	add("c", 20, 20, 0);
	add("b", 70, 10, 0);
	add("a", 100, 40, 0);
	ck_assert_int_eq(summary_init(&s, plane), 0);
	ck_assert_uint_eq(find_row(&s, "a")->count, 2);
	ck_assert_int_eq(find_row(&s, "a")->total_ns, 140);
	ck_assert_int_eq(find_row(&s, "a")->self_ns, 80);
	ck_assert_int_eq(find_row(&s, "a")->min_ns, 40);
	ck_assert_int_eq(find_row(&s, "a")->max_ns, 100);
	ck_assert_int_eq(find_row(&s, "b")->total_ns, 60);
	ck_assert_int_eq(find_row(&s, "b")->self_ns, 40);
	ck_assert_int_eq(find_row(&s, "c")->self_ns, 20);
	ck_assert_str_eq(names_get(&plane->event_names, s.lines[0].rows[0].name), "a");
	summary_deinit(&s);
}
END_TEST

START_TEST(self_time_of_recursion_adds_up_to_the_outermost)
{
	struct summary s;

	add("f", 0, 100, 0);
	add("f", 10, 80, 0);
	add("f", 20, 60, 0);
	ck_assert_int_eq(summary_init(&s, plane), 0);
	ck_assert_int_eq(find_row(&s, "f")->total_ns, 240);
	ck_assert_int_eq(find_row(&s, "f")->self_ns, 100);
	summary_deinit(&s);
}
END_TEST

START_TEST(overlap_takes_off_only_the_common_part)
{
	struct summary s;

	add("a", 0, 100, 0);
	add("b", 90, 50, 0);
	ck_assert_int_eq(summary_init(&s, plane), 0);
	ck_assert_int_eq(find_row(&s, "a")->self_ns, 90);
	ck_assert_int_eq(find_row(&s, "b")->self_ns, 50);
	summary_deinit(&s);
}
END_TEST

START_TEST(steps_have_nearest_rank_percentiles)
{
	struct summary s;

	for (int i = 1; i <= 100; i++)
		add("train", i * 1000, i, int_stats("step_num", i, "_r"));
	add("not a step", 200000, 5, int_stats("step_num", 1, "other"));
	ck_assert_int_eq(summary_init(&s, plane), 0);
	ck_assert_uint_eq(s.n_steps, 1);
	ck_assert_uint_eq(s.steps[0].n, 100);
	ck_assert_int_eq(s.steps[0].p50_ns, 50);
	ck_assert_int_eq(s.steps[0].p99_ns, 99);
	ck_assert_int_eq(s.steps[0].min_ns, 1);
	ck_assert_int_eq(s.steps[0].max_ns, 100);
	summary_deinit(&s);
}
END_TEST

/* Durations 1 to 1000 in an order that is neither up nor down, twice over two names. */
START_TEST(spans_have_nearest_rank_percentiles)
{
	struct summary s;
	int64_t at_ns = 0;

	for (int i = 1; i <= 1000; i++) {
		int64_t duration_ns = i * 617 % 1001;

		add("a", at_ns, duration_ns, 0);
		add("b", at_ns + 2000, 7, 0);
		at_ns += 4000;
	}
	add("once", at_ns, 3, 0);
	ck_assert_int_eq(summary_init(&s, plane), 0);
	ck_assert_int_eq(find_row(&s, "a")->p50_ns, 500);
	ck_assert_int_eq(find_row(&s, "a")->p99_ns, 990);
	ck_assert_int_eq(find_row(&s, "b")->p50_ns, 7);
	ck_assert_int_eq(find_row(&s, "b")->p99_ns, 7);
	ck_assert_int_eq(find_row(&s, "once")->p50_ns, 3);
	ck_assert_int_eq(find_row(&s, "once")->p99_ns, 3);
	summary_deinit(&s);
}
END_TEST

START_TEST(rows_are_sorted_as_asked)
{
	static const char *const first[] = {
		[SUMMARY_SELF] = "total",
		[SUMMARY_TOTAL] = "total",
		[SUMMARY_COUNT] = "many",
		[SUMMARY_P50] = "even",
		[SUMMARY_P99] = "long",
		[SUMMARY_MAX] = "long",
		[SUMMARY_NAME] = "even",
	};
	struct summary s;

	add_rivals();
	ck_assert_int_eq(summary_init(&s, plane), 0);
	for (size_t key = 0; key < sizeof first / sizeof first[0]; key++) {
		summary_sort(&s, (enum summary_key)key);
		ck_assert_str_eq(
			names_get(&plane->event_names, s.lines[0].rows[0].name), first[key]);
	}
	ck_assert_str_eq(names_get(&plane->event_names, s.lines[0].rows[3].name), "total");
	summary_deinit(&s);
}
END_TEST

START_TEST(counters_have_range_mean_and_last_without_nan)
{
	struct summary s;

	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("load", 0, 0, double_stat(1));
	add("load", 1, 0, double_stat(4));
	add("load", 2, 0, double_stat(0.0 / 0.0));
	add("load", 3, 0, double_stat(-2));
	ck_assert_int_eq(summary_init(&s, plane), 0);
	ck_assert_uint_eq(s.n_lines, 0);
	ck_assert_uint_eq(s.n_counters, 1);
	ck_assert_uint_eq(s.counters[0].n, 3);
	ck_assert_double_eq_tol(s.counters[0].mean, 1, 1e-12);
	ck_assert_double_eq(s.counters[0].min, -2);
	ck_assert_double_eq(s.counters[0].max, 4);
	ck_assert_double_eq(s.counters[0].last, -2);
	summary_deinit(&s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("summary");
	TCase *tests = tcase_create("summary");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, space_fixture_open, space_fixture_close);
	tcase_add_test(tests, self_time_excludes_direct_children_only);
	tcase_add_test(tests, self_time_of_recursion_adds_up_to_the_outermost);
	tcase_add_test(tests, overlap_takes_off_only_the_common_part);
	tcase_add_test(tests, steps_have_nearest_rank_percentiles);
	tcase_add_test(tests, spans_have_nearest_rank_percentiles);
	tcase_add_test(tests, rows_are_sorted_as_asked);
	tcase_add_test(tests, counters_have_range_mean_and_last_without_nan);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
