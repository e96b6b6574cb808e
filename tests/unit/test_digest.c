/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace amounts to: times by name, percentiles, order, steps, counters, and when nothing happened. */
#include "trace/report/digest.h"

#include <check.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/digest_fixture.h"
#include "trace/read/cursor.h"

/* Spans. */

START_TEST(self_time_excludes_direct_children_only)
{
	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	add("c", 20, 20, 0);
	add("b", 70, 10, 0);
	add("a", 100, 40, 0);
	digest_space();
	ck_assert_uint_eq(find_span("a")->count, 2);
	ck_assert_int_eq(find_span("a")->total_ns, 140);
	ck_assert_int_eq(find_span("a")->self_ns, 80);
	ck_assert_int_eq(find_span("a")->min_ns, 40);
	ck_assert_int_eq(find_span("a")->max_ns, 100);
	ck_assert_int_eq(find_span("b")->total_ns, 60);
	ck_assert_int_eq(find_span("b")->self_ns, 40);
	ck_assert_int_eq(find_span("c")->self_ns, 20);
	ck_assert_str_eq(name_of(digest->lists[LIST_SPANS].v[0].name), "a");
}
END_TEST

START_TEST(self_time_of_recursion_adds_up_to_the_outermost)
{
	add("f", 0, 100, 0);
	add("f", 10, 80, 0);
	add("f", 20, 60, 0);
	digest_space();
	ck_assert_int_eq(find_span("f")->total_ns, 240);
	ck_assert_int_eq(find_span("f")->self_ns, 100);
}
END_TEST

START_TEST(what_ends_behind_it_is_not_inside)
{
	add("a", 0, 100, 0);
	add("b", 90, 50, 0);
	add("c", 95, 5, 0);
	digest_space();
	ck_assert_int_eq(find_span("a")->self_ns, 100);
	ck_assert_int_eq(find_span("b")->self_ns, 45);
}
END_TEST

/* Durations 1 to 1000 in an order that is neither up nor down, twice over two names. */
START_TEST(spans_have_nearest_rank_percentiles)
{
	int64_t at_ns = 0;

	for (int i = 1; i <= 1000; i++) {
		add("a", at_ns, i * 617 % 1001, 0);
		add("b", at_ns + 2000, 7, 0);
		at_ns += 4000;
	}
	add("once", at_ns, 3, 0);
	digest_space();
	ck_assert_int_eq(find_span("a")->p50_ns, 500);
	ck_assert_int_eq(find_span("a")->p99_ns, 990);
	ck_assert_int_eq(find_span("b")->p50_ns, 7);
	ck_assert_int_eq(find_span("b")->p99_ns, 7);
	ck_assert_int_eq(find_span("once")->p50_ns, 3);
	ck_assert_int_eq(find_span("once")->p99_ns, 3);
}
END_TEST

START_TEST(names_of_all_threads_are_one_row)
{
	add("a", 0, 10, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("a", 0, 30, int_stats("unfinished", 1, "x"));
	digest_space();
	ck_assert_uint_eq(find_span("a")->count, 2);
	ck_assert_uint_eq(find_span("a")->n_unfinished, 1);
	ck_assert_int_eq(find_span("a")->self_ns, 40);
	ck_assert_int_eq(find_span("a")->p50_ns, 10);
	ck_assert_int_eq(find_span("a")->p99_ns, 30);
	ck_assert_uint_eq(digest->n_tracks, 2);
	ck_assert_int_eq(find_row(&digest->tracks[1].rows, "a")->p50_ns, 30);
}
END_TEST

START_TEST(rows_are_sorted_as_asked)
{
	static const char *const first[] = {
		[ROW_SELF] = "total",
		[ROW_TOTAL] = "total",
		[ROW_COUNT] = "many",
		[ROW_MEAN] = "even",
		[ROW_P50] = "even",
		[ROW_P99] = "long",
		[ROW_MAX] = "long",
		[ROW_NAME] = "even",
	};
	const struct rows *of_thread;

	add_rivals();
	digest_space();
	of_thread = &digest->tracks[0].rows;
	for (size_t key = 0; key < sizeof first / sizeof first[0]; key++) {
		digest_sort(digest, (enum row_key)key);
		ck_assert_str_eq(name_of(of_thread->v[0].name), first[key]);
		ck_assert_str_eq(name_of(digest->lists[LIST_SPANS].v[0].name), first[key]);
	}
	ck_assert_str_eq(name_of(of_thread->v[3].name), "total");
}
END_TEST

START_TEST(kernels_are_a_list_of_their_own)
{
	add("launch", 0, 10, 0);
	plane = space_add_plane(space, 1, "/device:GPU:0");
	line = plane_add_line(plane, 7, "Stream #7", 0);
	add("gemm", 0, 10, 0);
	line = plane_add_line(plane, 8, "Stream #8", 0);
	add("copy", 5, 10, 0);
	add("gemm", 90, 10, 0);
	digest_space();
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 1);
	ck_assert_uint_eq(find_row(&digest->lists[LIST_KERNELS], "gemm")->count, 2);
	/* 0 to 15 and 90 to 100. */
	ck_assert_int_eq(digest->processes[1].busy.busy_ns, 25);
	ck_assert_uint_eq(digest->processes[1].n_spans, 3);
}
END_TEST

/* A TPU's plane, as libtpu writes it: each operation is also a part of a step, a module and a scope. */
static void add_tpu(void)
{
	static const char *const derived[] = {"Steps", "XLA Modules", "Framework Name Scope"};

	plane = space_add_plane(space, 1, "/device:TPU:0");
	for (int i = 0; i < 3; i++) {
		line = plane_add_line(plane, i, derived[i], 0);
		add(derived[i], 0, 100, 0);
	}
	line = plane_add_line(plane, 3, "XLA Ops", 0);
	add("fusion.1", 10, 20, 0);
	add("fusion.2", 40, 20, 0);
	line = plane_add_line(plane, 4, "Async XLA Ops", 0);
	add("copy-start", 50, 20, 0);
}

START_TEST(derived_lines_are_in_the_totals_alone)
{
	struct report_totals expected;

	add("launch", 0, 10, 0);
	add_tpu();
	report_count(space, &expected);
	digest_space();
	ck_assert_uint_eq(digest->lists[LIST_KERNELS].n, 3);
	ck_assert_uint_eq(digest->processes[1].n_spans, 3);
	/* 10 to 30 and 40 to 70. */
	ck_assert_int_eq(digest->processes[1].busy.busy_ns, 50);
	ck_assert_uint_eq(digest->n_tracks, 3);
	ck_assert_uint_eq(digest->rest.n_derived, 3);
	ck_assert_mem_eq(&digest->totals, &expected, sizeof expected);
}
END_TEST

/* Steps, async spans, flows, counters. */

START_TEST(steps_have_percentiles_and_the_slowest)
{
	const struct row *train;

	for (int i = 1; i <= 100; i++)
		add("train", i * 1000, i, int_stats("step_num", 7000 + i, "_r"));
	add("not a step", 200000, 5, int_stats("step_num", 1, "other"));
	digest_space();
	ck_assert_uint_eq(digest->planes[0].steps.n, 1);
	train = &digest->planes[0].steps.v[0];
	ck_assert_uint_eq(train->count, 100);
	ck_assert_int_eq(train->p50_ns, 50);
	ck_assert_int_eq(train->p99_ns, 99);
	ck_assert_int_eq(train->min_ns, 1);
	ck_assert_int_eq(train->max_ns, 100);
	ck_assert_uint_eq(train->n_slowest, ROW_SLOWEST);
	ck_assert_int_eq(train->slowest[0].number, 7100);
	ck_assert_int_eq(train->slowest[0].start_ns, 100000);
	ck_assert_int_eq(train->slowest[ROW_SLOWEST - 1].duration_ns, 101 - ROW_SLOWEST);
	ck_assert_uint_eq(sample_count_above(&train->durations, 1.5 * 50), 25);
}
END_TEST

START_TEST(counters_have_range_mean_and_last)
{
	const struct gauges *counters;

	add("span", 0, 160, 0);
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("load", 0, 0, double_stat(1));
	add("load", 10, 0, double_stat(4));
	add("load", 15, 0, double_stat(-2));
	digest_space();
	counters = &digest->planes[0].counters;
	ck_assert_uint_eq(digest->n_tracks, 1);
	ck_assert_uint_eq(digest->totals.n_counters, 1);
	ck_assert_uint_eq(counters->n, 1);
	ck_assert_uint_eq(counters->v[0].n, 3);
	ck_assert_double_eq_tol(counters->v[0].mean, 1, 1e-12);
	ck_assert_double_eq(counters->v[0].min, -2);
	ck_assert_double_eq(counters->v[0].max, 4);
	ck_assert_double_eq(counters->v[0].last, -2);
	/* Of the sixteenths that are 10 ns long. */
	ck_assert_double_eq(counters->v[0].slots[0], 1);
	ck_assert_double_eq_tol(counters->v[0].slots[1], 1, 1e-12);
	ck_assert_uint_eq(counters->v[0].n_of_slot[1], 2);
	ck_assert_uint_eq(counters->v[0].n_of_slot[2], 0);
}
END_TEST

/* Our encoder leaves them out; others write them. */
START_TEST(samples_that_are_no_numbers_count_as_none)
{
	struct item_arg args[2] = {{.type = STAT_STRING, .text = "1"}, {.type = STAT_DOUBLE}};
	struct item item = {.kind = ITEM_SAMPLE, .name = 3, .args = args, .n_args = 1};
	struct gauges c = {.v = NULL};

	ck_assert_int_eq(gauges_add(&c, &item, 0, 10), 0);
	item.n_args = 2;
	args[1].value.f64 = 0.0 / 0.0;
	ck_assert_int_eq(gauges_add(&c, &item, 0, 10), 0);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_uint_eq(c.v[0].n, 0);
	args[1].value.f64 = 7;
	ck_assert_int_eq(gauges_add(&c, &item, 0, 10), 0);
	ck_assert_uint_eq(c.v[0].n, 1);
	ck_assert_double_eq(c.v[0].mean, 7);
	item.name = 4;
	item.n_args = 0;
	ck_assert_int_eq(gauges_add(&c, &item, 0, 0), 0);
	gauges_keep(&c, NULL);
	ck_assert_uint_eq(c.n, 1);
	gauges_deinit(&c);
}
END_TEST

static void add_links(void)
{
	add("work", 0, 100, 0);
	add("point", 5, 0, 0);
	add("job", 10, 0, int_stats("_p", -7, "_pt"));
	add("job", 20, 0, int_stats("_c", -7, "_ct"));
	add("job", 30, 0, int_stats("_c", -7, "_ct"));
	add("train", 40, 2, int_stats("step_num", 1, "_r"));
	line = plane_add_line(plane, 98, "request", 0);
	add("request", 0, 3000, int_stats("id", 1, "_a"));
	add("request", 4000, 1000, int_stats("unfinished", 1, "_a"));
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rss", 0, 0, double_stat(1));
	add("rss", 2, 0, double_stat(1));
	plane_set_uint(plane, "dropped_traces", 17);
}

/* That of a capture's one line, which is counted without a view. */
START_TEST(totals_are_those_of_the_trace_model)
{
	struct report_totals expected;

	add_links();
	report_count(space, &expected);
	digest_space();
	ck_assert_mem_eq(&digest->totals, &expected, sizeof expected);
	ck_assert_uint_eq(expected.n_flow_marks, 3);
	ck_assert_uint_eq(expected.n_dropped, 17);
}
END_TEST

START_TEST(async_spans_and_flows_are_summed_by_name)
{
	const struct digest_plane *p;

	add_links();
	digest_space();
	p = &digest->planes[0];
	ck_assert_uint_eq(p->asyncs.n, 1);
	ck_assert_int_eq(p->asyncs.v[0].total_ns, 4000);
	ck_assert_uint_eq(p->asyncs.v[0].n_unfinished, 1);
	ck_assert_int_eq(digest->lists[LIST_ASYNCS].v[0].p99_ns, 3000);
	ck_assert_uint_eq(p->flows.n, 1);
	ck_assert_str_eq(name_of(p->flows.v[0].name), "job");
	ck_assert_uint_eq(p->flows.v[0].n_out, 1);
	ck_assert_uint_eq(p->flows.v[0].n_in, 2);
}
END_TEST

/* Gaps. */

static void check_gap(const struct gap *gap, int64_t start_ns, int64_t end_ns, const char *after,
	const char *before)
{
	ck_assert_int_eq(gap->start_ns, start_ns);
	ck_assert_int_eq(gap->end_ns, end_ns);
	ck_assert_str_eq(name_of(gap->after), after);
	ck_assert_str_eq(name_of(gap->before), before);
}

static void record_for(uint64_t ns)
{
	struct plane *environment = space_add_plane(space, 9, PLANE_ENVIRONMENT);

	plane_set_uint(environment, "profile_start_time", 1000000);
	plane_set_uint(environment, "profile_stop_time", 1000000 + ns);
}

START_TEST(gaps_are_where_nothing_is_open)
{
	const struct busy *thread;
	const struct busy *process;

	record_for(1000);
	add("a", 100, 200, 0);
	add("inside", 150, 20, 0);
	add("b", 350, 50, 0);
	add("point", 500, 0, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("c", 390, 310, 0);
	digest_space();
	thread = &digest->tracks[0].busy;
	ck_assert_int_eq(thread->busy_ns, 250);
	ck_assert_uint_eq(thread->n_gaps, 3);
	check_gap(&thread->gaps[0], 400, 1000, "b", "-");
	check_gap(&thread->gaps[1], 0, 100, "-", "a");
	check_gap(&thread->gaps[2], 300, 350, "a", "b");
	process = &digest->processes[0].busy;
	ck_assert_int_eq(process->busy_ns, 550);
	ck_assert_uint_eq(process->n_gaps, 3);
	check_gap(&process->gaps[0], 700, 1000, "c", "-");
	check_gap(&process->gaps[1], 0, 100, "-", "a");
	check_gap(&process->gaps[2], 300, 350, "a", "b");
}
END_TEST

START_TEST(only_the_longest_gaps_are_kept)
{
	struct busy busy;

	busy_init(&busy, 0, 100000);
	for (int i = 1; i <= 20; i++)
		ck_assert_int_eq(busy_add(&busy, i * 1000 + i, i * 1000 + 1000, (uint32_t)i), 0);
	ck_assert_int_eq(busy_add(&busy, 100000, 200000, 77), 0);
	ck_assert_int_eq(busy_finish(&busy), 0);
	ck_assert_uint_eq(busy.n_gaps, BUSY_GAPS);
	ck_assert_int_eq(busy.gaps[0].end_ns - busy.gaps[0].start_ns, 79000);
	ck_assert_uint_eq(busy.gaps[0].before, BUSY_NO_NAME);
	ck_assert_int_eq(busy.gaps[1].end_ns - busy.gaps[1].start_ns, 1001);
	ck_assert_uint_eq(busy.gaps[2].before, 20);
	ck_assert_uint_eq(busy.gaps[2].after, 19);
	ck_assert_uint_eq(busy.gaps[BUSY_GAPS - 1].before, 22 - BUSY_GAPS + 1);
	busy_deinit(&busy);
}
END_TEST

/* Selections. */

START_TEST(names_that_are_left_out_still_count_in_self_times_and_totals)
{
	struct selection s = SELECTION_INIT;
	struct diag d = DIAG_INIT;

	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("b", 0, 5, 0);
	ck_assert_int_eq(selection_set_name(&s, "--name", "^a", &d), 0);
	digest_selection(&s);
	ck_assert_int_eq(find_span("a")->self_ns, 50);
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 1);
	ck_assert_uint_eq(digest->n_tracks, 1);
	ck_assert_uint_eq(digest->totals.n_spans, 3);
	selection_deinit(&s);
}
END_TEST

START_TEST(kernels_are_wanted_by_the_names_that_they_had)
{
	struct selection s = SELECTION_INIT;
	struct diag d = DIAG_INIT;

	plane = space_add_plane(space, 1, "/device:GPU:0");
	line = plane_add_line(plane, 7, "Stream #7", 0);
	add("gemm<float>(int)", 0, 10, 0);
	add("gemm<double>(int)", 20, 10, 0);
	add("copy<float>(int)", 40, 10, 0);
	s.truncates_kernels = true;
	ck_assert_int_eq(selection_set_exclude(&s, "--exclude", "^copy", &d), 0);
	digest_selection(&s);
	ck_assert_uint_eq(digest->lists[LIST_KERNELS].n, 1);
	ck_assert_uint_eq(find_row(&digest->lists[LIST_KERNELS], "gemm")->count, 2);
	selection_deinit(&s);
}
END_TEST

START_TEST(only_the_time_that_is_asked_for_is_looked_at)
{
	struct selection s = SELECTION_INIT;

	record_for(1000);
	add("a", 100, 200, 0);
	add("b", 700, 100, 0);
	s.from_ns = 200;
	s.to_ns = 600;
	digest_selection(&s);
	ck_assert_int_eq(digest->begin_ns, 200);
	ck_assert_int_eq(digest->end_ns, 600);
	ck_assert_int_eq(digest->processes[0].busy.busy_ns, 100);
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("digest");
	TCase *tests = tcase_create("digest");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, digest_fixture_open, digest_fixture_close);
	tcase_add_test(tests, self_time_excludes_direct_children_only);
	tcase_add_test(tests, self_time_of_recursion_adds_up_to_the_outermost);
	tcase_add_test(tests, what_ends_behind_it_is_not_inside);
	tcase_add_test(tests, spans_have_nearest_rank_percentiles);
	tcase_add_test(tests, names_of_all_threads_are_one_row);
	tcase_add_test(tests, rows_are_sorted_as_asked);
	tcase_add_test(tests, kernels_are_a_list_of_their_own);
	tcase_add_test(tests, derived_lines_are_in_the_totals_alone);
	tcase_add_test(tests, steps_have_percentiles_and_the_slowest);
	tcase_add_test(tests, counters_have_range_mean_and_last);
	tcase_add_test(tests, samples_that_are_no_numbers_count_as_none);
	tcase_add_test(tests, totals_are_those_of_the_trace_model);
	tcase_add_test(tests, async_spans_and_flows_are_summed_by_name);
	tcase_add_test(tests, gaps_are_where_nothing_is_open);
	tcase_add_test(tests, only_the_longest_gaps_are_kept);
	tcase_add_test(tests, names_that_are_left_out_still_count_in_self_times_and_totals);
	tcase_add_test(tests, kernels_are_wanted_by_the_names_that_they_had);
	tcase_add_test(tests, only_the_time_that_is_asked_for_is_looked_at);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
