/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two traces, and what only seems to. */
#include "trace/report/diff.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/digest_fixture.h"
#include "trace/report/diff_report.h"

static struct view *view_a;
static struct digest *digest_a;
static struct diff diff;

static void set_up(void)
{
	digest_fixture_open();
	view_a = NULL;
	digest_a = NULL;
	diff = (struct diff){.v = NULL};
}

static void tear_down(void)
{
	diff_deinit(&diff);
	digest_free(digest_a);
	view_free(view_a);
	digest_fixture_close();
}

/* What was added until now is the first trace; a new space is begun. */
static void end_first(void)
{
	digest_space();
	digest_a = digest;
	digest = NULL;
	view_a = view;
	view_fixture_forget();
	space_fixture_close();
	space_fixture_open();
}

static void compare(void)
{
	digest_space();
	ck_assert_int_eq(diff_make(digest_a, digest, &diff), 0);
}

/* |n| spans of about |ns|, none like another. */
static void add_spans(const char *name, int n, int64_t ns)
{
	for (int i = 0; i < n; i++)
		add(name, i * 100000, ns + i % 7, 0);
}

static const struct diff_row *find(const char *name)
{
	for (size_t i = 0; i < diff.n; i++)
		if (strcmp(diff.v[i].name, name) == 0)
			return &diff.v[i];
	return NULL;
}

static void add_sample(int64_t longer_ns)
{
	add_spans("same", 20, 1000);
	line = plane_add_line(plane, 43, "b", 0);
	add_spans("slower", 20, 1000 + longer_ns);
	line = plane_add_line(plane, 44, "c", 0);
	add_spans("few", 3, 1000 + longer_ns);
}

START_TEST(nothing_differs_from_itself)
{
	add_sample(0);
	end_first();
	add_sample(0);
	compare();
	ck_assert_uint_eq(diff.n, 0);
	ck_assert_uint_eq(diff.n_same, 3);
}
END_TEST

START_TEST(what_takes_longer_is_found)
{
	add_sample(0);
	end_first();
	add_sample(200);
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_ptr_null(find("same"));
	ck_assert_int_eq(find("slower")->verdict, DIFF_SURE);
	ck_assert_double_eq_tol(diff_get_change(find("slower")), 0.2, 0.001);
	ck_assert_int_eq(diff_get_growth(find("slower")), 20 * 200);
	ck_assert(diff_is_above(find("slower"), 0.19));
	ck_assert(!diff_is_above(find("slower"), 0.21));
	ck_assert_int_eq(find("few")->verdict, DIFF_TOO_FEW);
	ck_assert_double_gt(diff_get_change(find("few")), 0.19);
	ck_assert(!diff_is_above(find("few"), 0.1));
}
END_TEST

/* As many of each, in another order, and one that took a thousand times as long. */
START_TEST(an_outlier_is_no_difference)
{
	add_spans("a", 40, 1000);
	end_first();
	add_spans("a", 40, 1000);
	add("a", 50 * 100000, 1000000, 0);
	compare();
	ck_assert_int_eq(find("a")->verdict, DIFF_NOT_SURE);
	ck_assert(!diff_is_above(find("a"), 0));
}
END_TEST

/* Two fifths take next to nothing any more, and the median of all rises. */
START_TEST(a_median_that_rises_while_durations_fall_is_not_too_much)
{
	for (int i = 0; i < 100; i++)
		add("w", i * 10000, i < 51 ? 1000 : 2000, 0);
	end_first();
	for (int i = 0; i < 100; i++)
		add("w", i * 10000, i < 60 ? 1200 : 10, 0);
	compare();
	ck_assert_int_eq(find("w")->verdict, DIFF_SURE);
	ck_assert_int_eq(find("w")->direction, -1);
	ck_assert_double_eq_tol(diff_get_change(find("w")), 0.2, 0.001);
	ck_assert(!diff_is_above(find("w"), 0.1));
}
END_TEST

START_TEST(names_appear_and_vanish)
{
	add("old", 0, 10, 0);
	add("kept", 20, 10, 0);
	end_first();
	add("kept", 0, 10, 0);
	add("new", 20, 30, 0);
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_int_eq(find("old")->verdict, DIFF_VANISHED);
	ck_assert_ptr_null(find("old")->b);
	ck_assert_int_eq(find("new")->verdict, DIFF_APPEARED);
	ck_assert_int_eq(diff_get_growth(find("new")), 30);
	ck_assert_int_eq(diff_get_growth(find("old")), -10);
}
END_TEST

START_TEST(steps_come_first_and_once)
{
	for (int i = 0; i < 10; i++) {
		add("train", i * 1000, 100, int_stats("step_num", i, "_r"));
		add("work", i * 1000, 50, 0);
	}
	end_first();
	for (int i = 0; i < 10; i++) {
		add("train", i * 1000, 110, int_stats("step_num", i, "_r"));
		add("work", i * 1000, 90, 0);
	}
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_str_eq(diff.v[0].name, "train");
	ck_assert_int_eq(diff.v[0].list, LIST_STEPS);
	ck_assert_str_eq(diff.v[1].name, "work");
}
END_TEST

static void add_train(bool is_step)
{
	for (int i = 0; i < 10; i++)
		add("train", i * 1000, 100 + i + 10 * is_step,
			is_step ? int_stats("step_num", i, "_r") : 0);
}

/* It is compared as a span then, and is also told as a step that is only there. */
START_TEST(what_is_a_step_in_one_only_is_not_lost)
{
	add_train(_i == 0);
	end_first();
	add_train(_i == 1);
	compare();
	ck_assert_uint_eq(diff.n, 2);
	ck_assert_int_eq(diff.v[0].list, LIST_STEPS);
	ck_assert_int_eq(diff.v[0].verdict, _i == 0 ? DIFF_VANISHED : DIFF_APPEARED);
	ck_assert_int_eq(diff.v[1].list, LIST_SPANS);
	ck_assert(diff.v[1].a && diff.v[1].b);
}
END_TEST

START_TEST(from_nothing_is_an_infinite_change)
{
	add_spans("a", 1, 0);
	end_first();
	add_spans("a", 1, 5);
	compare();
	ck_assert(isinf(diff_get_change(find("a"))));
}
END_TEST

START_TEST(text_tells_what_is_too_much)
{
	static const struct diff_options options = {"A.pb", "B.pb", .limit = 0.1};
	char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");

	add_sample(0);
	end_first();
	add_sample(200);
	add("a name that is much too long for what is left of 80 columns", 0, 5, 0);
	compare();
	ck_assert_int_eq(diff_write_text(&diff, digest_a, digest, &options, out), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "\nnames\n  count A  count B    total    p50 A    "
					   "p50 B   change    name\n"));
	ck_assert_ptr_nonnull(strstr(text, "       20       20 +4.00 us  1.00 us  1.20 us  +19.9 % "
					   "*  slower  too much\n"));
	ck_assert_ptr_nonnull(strstr(text, "  1.20 us  +20.0 % ?  few\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nonly in B\n    count    total      p50  name\n"
					   "        1     5 ns     5 ns  a name that is much too"));
	ck_assert_ptr_nonnull(strstr(text, "\n* durations differ, not by chance (p < 0.01) · "));
	ck_assert_ptr_nonnull(strstr(text, "\nthe same: 1 name\n"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tests = tcase_create("diff");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, nothing_differs_from_itself);
	tcase_add_test(tests, what_takes_longer_is_found);
	tcase_add_test(tests, an_outlier_is_no_difference);
	tcase_add_test(tests, a_median_that_rises_while_durations_fall_is_not_too_much);
	tcase_add_test(tests, names_appear_and_vanish);
	tcase_add_test(tests, steps_come_first_and_once);
	tcase_add_loop_test(tests, what_is_a_step_in_one_only_is_not_lost, 0, 2);
	tcase_add_test(tests, from_nothing_is_an_infinite_change);
	tcase_add_test(tests, text_tells_what_is_too_much);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
