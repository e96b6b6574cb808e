/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the sums over a trace: times by name, percentiles, order, steps, counters, and idle times.
 */
#include "trace/report/digest.h"

#include <check.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "tests/unit/digest_fixture.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/unit.h"
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

START_TEST(overlapping_span_is_no_child)
{
	add("a", 0, 100, 0);
	add("b", 90, 50, 0);
	add("c", 95, 5, 0);
	digest_space();
	ck_assert_int_eq(find_span("a")->self_ns, 100);
	ck_assert_int_eq(find_span("b")->self_ns, 45);
}
END_TEST

/* Durations from 1 to 1000 in an irregular order, twice, for two names. */
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
	ck_assert_int_eq(find_span("a")->p99_ns, 10);
	ck_assert_uint_eq(digest->n_tracks, 2);
	ck_assert_uint_eq(find_row(&digest->tracks[1].rows, "a")->n_whole, 0);
}
END_TEST

/* Requests of 800 ms, 50 a second, recorded for 1.2 s; and steps of 400 ms for 1 s. */
static void add_cut_requests(void)
{
	line = plane_add_line(plane, 98, "rq", 0);
	for (int64_t at = -780; at < 1200; at += 20) {
		int64_t start = at < 0 ? 0 : at;
		int64_t end = at + 800 > 1200 ? 1200 : at + 800;
		uint32_t stats = int_stats("id", at + 1000, "_a");

		if (at < 0)
			stats = int_stats("started_before", 1, "_a");
		else if (at + 800 > 1200)
			stats = int_stats("unfinished", 1, "_a");
		add("rq", start, end - start, stats);
	}
}

START_TEST(cut_spans_have_a_time_but_no_duration)
{
	const struct row *row;

	add_cut_requests();
	digest_space();
	row = find_row(&digest->lists[LIST_ASYNCS], "rq");
	ck_assert_uint_eq(row->count, 99);
	ck_assert_uint_eq(row->n_began_before, 39);
	ck_assert_uint_eq(row->n_unfinished, 39);
	ck_assert_uint_eq(row->n_whole, 21);
	ck_assert_uint_eq(row_count_begun(row), 60);
	ck_assert_int_eq(row_get(row, ROW_MEAN), 800);
	ck_assert_int_eq(row->min_ns, 800);
	ck_assert_int_eq(row->p50_ns, 800);
	ck_assert_int_eq(row->p90_ns, 800);
	ck_assert_int_eq(row->p99_ns, 800);
	ck_assert_int_eq(row->max_ns, 800);
	/* 39 cut requests at each end have 20 to 780 ms within the recording. */
	ck_assert_int_eq(row->total_ns, 21 * 800 + 2 * 39 * 400);
}
END_TEST

START_TEST(steps_that_were_cut_are_not_slow_or_fast)
{
	const struct row *row;

	add("step", 100, 400, int_stats("step_num", 1, "_r"));
	add("step", 500, 400, int_stats("step_num", 2, "_r"));
	add("step", 900, 100, int_stats("unfinished", 1, "_r"));
	add("only begun", 1000, 300, int_stats("unfinished", 1, "x"));
	digest_space();
	row = find_span("step");
	ck_assert_int_eq(row_get(row, ROW_MEAN), 400);
	ck_assert_int_eq(row->p50_ns, 400);
	ck_assert_int_eq(row->min_ns, 400);
	ck_assert_int_eq(row->total_ns, 900);
	ck_assert_uint_eq(find_span("only begun")->n_whole, 0);
	ck_assert_int_eq(row_get(find_span("only begun"), ROW_MEAN), 0);
	ck_assert_int_eq(find_span("only begun")->total_ns, 300);
}
END_TEST

/*
 * "main" contains 100 spans "work", one after the other. Children before the window are not read.
 */
START_TEST(times_are_clipped_to_the_selected_window)
{
	struct selection s = SELECTION_INIT;

	add("main", 0, 10000, int_stats("unfinished", 1, "x"));
	for (int i = 0; i < 100; i++)
		add("work", i * 100, 100, 0);
	add("later", 10000, 100, 0);
	s.from_ns = 6050;
	s.to_ns = 7030;
	digest_selection(&s);
	ck_assert_int_eq(find_span("main")->total_ns, 980);
	ck_assert_int_eq(find_span("main")->self_ns, 0);
	ck_assert_uint_eq(find_span("main")->n_unfinished, 1);
	ck_assert_uint_eq(find_span("main")->n_began_before, 1);
	ck_assert_int_eq(find_span("work")->total_ns, 980);
	ck_assert_int_eq(find_span("work")->self_ns, 980);
	ck_assert_uint_eq(find_span("work")->count, 11);
	ck_assert_uint_eq(find_span("work")->n_whole, 9);
	ck_assert_int_eq(find_span("work")->min_ns, 100);
}
END_TEST

/* An edge at which one span ends and the next begins cuts neither. */
START_TEST(an_edge_between_spans_cuts_none)
{
	struct selection s = SELECTION_INIT;

	add("work", 0, 100, 0);
	add("point", 100, 0, 0);
	add("work", 100, 100, 0);
	add("work", 200, 100, 0);
	s.from_ns = 100;
	s.to_ns = 200;
	digest_selection(&s);
	ck_assert_uint_eq(find_span("work")->count, 1);
	ck_assert_uint_eq(find_span("work")->n_whole, 1);
	ck_assert_uint_eq(find_span("point")->count, 1);
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
		[ROW_P999] = "long",
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

/*
 * A TPU's plane, as libtpu writes it: each operation is also a part of a step, a module and a
 * scope.
 */
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
	space_count_totals(space, &expected);
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
	/* Each value holds until the next one, the last until the end at 160 ns. */
	ck_assert_double_eq_tol(counters->v[0].mean, (10 * 1.0 + 5 * 4.0 - 145 * 2.0) / 160, 1e-12);
	ck_assert_double_eq(counters->v[0].min, -2);
	ck_assert_double_eq(counters->v[0].max, 4);
	ck_assert_double_eq(counters->v[0].last, -2);
	/* The sixteenths are 10 ns long. */
	ck_assert_double_eq_tol(counters->v[0].slots[0], 1, 1e-12);
	ck_assert_double_eq_tol(counters->v[0].slots[1], 1, 1e-12);
	ck_assert_double_eq_tol(counters->v[0].slots[2], -2, 1e-12);
	ck_assert_double_eq_tol(counters->v[0].slots[COUNTER_SLOTS - 1], -2, 1e-12);
}
END_TEST

/* The last value of a rate is repeated at its end, and must not count twice. */
START_TEST(the_mean_of_a_rate_times_the_time_is_the_total)
{
	const struct gauges *counters;

	add("span", 0, 160, 0);
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rate", 40, 0, double_stat(3));
	add("rate", 150, 0, double_stat(100));
	add("rate", 160, 0, double_stat(100));
	line = plane_add_line(plane, 100, LINE_COUNTERS, 0);
	add("moment", 160, 0, double_stat(1));
	add("moment", 160, 0, double_stat(2));
	digest_space();
	counters = &digest->planes[0].counters;
	ck_assert_uint_eq(counters->n, 2);
	ck_assert_double_eq_tol(counters->v[0].mean * 120, 110 * 3.0 + 10 * 100.0, 1e-9);
	ck_assert_double_eq_tol(counters->v[0].known_ns, 120, 1e-9);
	/* Nothing is known of the time before the first sample. */
	ck_assert_double_eq(counters->v[0].ns_of_slot[3], 0);
	/* The counter has only one moment, so its samples are averaged. */
	ck_assert_double_eq_tol(counters->v[1].mean, 1.5, 1e-12);
}
END_TEST

/* Two tracks of one name do not end each other's values. */
START_TEST(a_counter_on_two_tracks_has_the_mean_of_both)
{
	add("span", 0, 100, 0);
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("load", 0, 0, double_stat(1));
	line = plane_add_line(plane, 100, LINE_COUNTERS, 0);
	add("load", 50, 0, double_stat(4));
	digest_space();
	ck_assert_double_eq_tol(
		digest->planes[0].counters.v[0].mean, (100 * 1.0 + 50 * 4.0) / 150, 1e-12);
}
END_TEST

/* Our encoder leaves them out; others write them. */
START_TEST(samples_that_are_no_numbers_count_as_none)
{
	struct item_arg args[2] = {{.type = STAT_STRING, .text = "1"}, {.type = STAT_DOUBLE}};
	struct item item = {.kind = ITEM_SAMPLE, .name = 3, .args = args, .n_args = 1};
	struct gauges c = {.end_ns = 10};

	ck_assert_int_eq(gauges_add(&c, &item, 0), 0);
	item.n_args = 2;
	args[1].value.f64 = 0.0 / 0.0;
	ck_assert_int_eq(gauges_add(&c, &item, 0), 0);
	ck_assert_uint_eq(c.n, 1);
	ck_assert_uint_eq(c.v[0].n, 0);
	args[1].value.f64 = 7;
	ck_assert_int_eq(gauges_add(&c, &item, 0), 0);
	ck_assert_uint_eq(c.v[0].n, 1);
	ck_assert_double_eq(c.v[0].mean, 7);
	item.name = 4;
	item.n_args = 0;
	ck_assert_int_eq(gauges_add(&c, &item, 0), 0);
	gauges_finish(&c, NULL);
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

/* The expected totals are counted from the trace model, without a view. */
START_TEST(totals_are_those_of_the_trace_model)
{
	struct report_totals expected;

	add_links();
	space_count_totals(space, &expected);
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

static void check_gap(const struct idle_gap *gap, int64_t start_ns, int64_t end_ns,
	const char *after, const char *before)
{
	ck_assert_int_eq(gap->start_ns, start_ns);
	ck_assert_int_eq(gap->end_ns, end_ns);
	ck_assert_str_eq(name_of(gap->after), after);
	ck_assert_str_eq(name_of(gap->before), before);
}

static struct plane *add_environment(uint64_t start_ns, uint64_t length_ns)
{
	struct plane *environment = space_add_plane(space, 9, PLANE_ENVIRONMENT);

	plane_set_uint(environment, "profile_start_time", start_ns);
	plane_set_uint(environment, "profile_stop_time", start_ns + length_ns);
	return environment;
}

static void record_for(uint64_t ns)
{
	plane_set_string(plane, "ptap_process_name", "train");
	add_environment(1000000, ns);
}

/*
 * Records like JAX's server, whose stop time is after the collection of
 * events. |asked_ms| is below 128.
 */
static void record_as_stock(uint64_t length_ns, uint8_t asked_ms)
{
	const uint8_t options[] = {9 << 3, asked_ms}; /* ProfileOptions.duration_ms */

	plane_set_bytes(add_environment(1000000, length_ns), "profile_options", options,
		asked_ms ? sizeof options : 0);
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

static int64_t get_length(void)
{
	return digest->end_ns - digest->begin_ns;
}

/*
 * A server like JAX's leaves out spans that were open at the begin and at the end, so
 * nothing is known of that time.
 */
START_TEST(a_thread_of_a_stock_server_is_known_from_its_first_event_to_its_last)
{
	record_as_stock(1500 * 1000, 1);
	add("a", 100 * 1000, 200 * 1000, 0);
	add("b", 350 * 1000, 50 * 1000, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("c", 500 * 1000, 200 * 1000, 0);
	digest_space();
	ck_assert_int_eq(get_length(), NS_PER_MS);
	ck_assert(digest_has_unknown_ends(digest));
	ck_assert_uint_eq(digest->tracks[0].busy.n_gaps, 1);
	check_gap(&digest->tracks[0].busy.gaps[0], 300 * 1000, 350 * 1000, "a", "b");
	ck_assert_double_eq_tol(busy_get_share(&digest->tracks[0].busy), 250.0 / 300, 1e-9);
	ck_assert_double_eq_tol(busy_get_share(&digest->tracks[1].busy), 1, 1e-9);
	ck_assert_uint_eq(digest->processes[0].busy.n_gaps, 2);
	check_gap(&digest->processes[0].busy.gaps[0], 400 * 1000, 500 * 1000, "b", "c");
	ck_assert_double_eq_tol(busy_get_share(&digest->processes[0].busy), 450.0 / 600, 1e-9);
}
END_TEST

START_TEST(a_stock_recording_is_as_long_as_was_asked)
{
	record_as_stock(15952 * NS_PER_MS / 1000, 12);
	add("a", 0, NS_PER_MS, 0);
	digest_space();
	ck_assert_int_eq(get_length(), 12 * NS_PER_MS);
}
END_TEST

/*
 * The last event decides if the recording was longer than requested, was stopped
 * early, or has no such option.
 */
START_TEST(other_stock_recordings_end_with_the_last_event)
{
	record_as_stock(9 * NS_PER_MS, _i == 0 ? 2 : _i == 1 ? 100 : 0);
	add("a", NS_PER_MS, 3 * NS_PER_MS, 0);
	digest_space();
	ck_assert_int_eq(get_length(), 4 * NS_PER_MS);
}
END_TEST

START_TEST(missing_time_at_the_begin_is_not_idle)
{
	struct selection whole = SELECTION_INIT;
	struct plane *environment;

	whole.is_whole = true;
	plane_set_string(plane, "ptap_process_name", "train");
	environment = add_environment(1000000, 1000);
	plane_set_int(environment, "ptap_missing_ns", 90);
	plane_set_uint(plane, "ptap_complete_since_ns", 1000000 + (_i ? 120 : 0));
	add("a", 200, 800, 0);
	digest_selection(&whole);
	ck_assert_uint_eq(digest->tracks[0].busy.n_gaps, 1);
	check_gap(&digest->tracks[0].busy.gaps[0], _i ? 120 : 90, 200, "-", "a");
}
END_TEST

/* The two programs of a run were recorded at different times, and each is measured in its own. */
START_TEST(programs_of_a_run_are_measured_each_in_its_own_recording)
{
	struct diag d = DIAG_INIT;

	plane_set_string(plane, "ptap_process_name", "first");
	add_environment(1000000, 1000);
	add("a", 0, 1000, 0);
	view_add_space(space, "runs/a.xplane.pb");
	space_fixture_close();
	space_fixture_open();
	plane_set_string(plane, "ptap_process_name", "second");
	add_environment(1000400, 2000);
	add("b", 0, 500, 0);
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("load", 0, 0, double_stat(7));
	view_add_space(space, "runs/b.xplane.pb");
	view_make(&(struct view_options){.align = VIEW_ALIGN_EPOCH});
	ck_assert_msg(digest_make(view, &digest, &d) == 0, "%s", d.text);
	ck_assert_int_eq(get_length(), 2400);
	ck_assert_uint_eq(digest->n_tracks, 2);
	ck_assert_uint_eq(digest->processes[0].busy.n_gaps, 0);
	ck_assert_double_eq_tol(busy_get_share(&digest->processes[0].busy), 1, 1e-9);
	ck_assert_double_eq_tol(busy_get_share(&digest->tracks[1].busy), 0.25, 1e-9);
	ck_assert_uint_eq(digest->processes[1].busy.n_gaps, 1);
	check_gap(&digest->processes[1].busy.gaps[0], 900, 2400, "b", "-");
	/* planes: those of the first file, then the second's */
	ck_assert_double_eq_tol(digest->planes[2].counters.v[0].known_ns, 2000, 1e-9);
}
END_TEST

/*
 * Adds a file as a host daemon makes it: a program, and the machine's counters
 * with a sample at the begin.
 */
static void add_file_of_machine(const char *host, uint64_t start_ns, uint64_t length_ns)
{
	struct plane *program = plane;

	names_intern(&space->hostnames, host, strlen(host));
	plane_set_string(program, "ptap_process_name", "train");
	add_environment(start_ns, length_ns);
	add("a", 0, 10, 0);
	plane = space_add_plane(space, 4095, PLANE_MACHINE);
	line = plane_add_line(plane, 1, LINE_COUNTERS, 0);
	add("cpu %", 0, 0, double_stat(1));
	view_add_space(space, "runs/a.xplane.pb");
	space_fixture_close();
	space_fixture_open();
}

START_TEST(a_machine_is_reported_once)
{
	static const struct {
		const char *hosts[3];
		uint64_t starts_ns[3];
		uint64_t n_counters;
	} cases[] = {
		{{"vm", "vm", "vm"}, {1000000, 1000100, 1000200}, 1},
		{{"vm", "other", "vm"}, {1000000, 1000100, 1000200}, 2},
		{{"vm", "vm", "vm"}, {1000000, 9000000, 1000200}, 2},
	};
	struct diag d = DIAG_INIT;

	for (size_t i = 0; i < 3; i++)
		add_file_of_machine(cases[_i].hosts[i], cases[_i].starts_ns[i], 1000 * (i + 1));
	view_make(&(struct view_options){.align = VIEW_ALIGN_EPOCH});
	ck_assert_msg(digest_make(view, &digest, &d) == 0, "%s", d.text);
	ck_assert_uint_eq(digest->totals.n_counters, cases[_i].n_counters);
	ck_assert_uint_eq(digest->totals.n_counter_samples, cases[_i].n_counters);
	/*
	 * Each file has three planes. The machine's counters are taken from the longer
	 * file, which is the last one.
	 */
	ck_assert_uint_eq(digest->planes[2].counters.n, 0);
	ck_assert_uint_eq(digest->planes[8].counters.n, 1);
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

START_TEST(only_the_requested_time_is_digested)
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

/* Makes a recorder's trace of 1,000 ns, in which records before 400 ns were overwritten. */
static void record_incompletely(void)
{
	record_for(1000);
	plane_set_uint(plane, "ptap_complete_since_ns", 1000400);
	add("a", 100, 200, 0);
	add("b", 350, 100, 0);
	add("c", 700, 100, 0);
}

START_TEST(digest_of_a_recorder_begins_where_all_is_complete)
{
	record_incompletely();
	digest_space();
	ck_assert_int_eq(digest->complete_ns, 400);
	ck_assert_int_eq(digest->begin_ns, 400);
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 2);
	ck_assert_uint_eq(find_span("b")->count, 1);
	ck_assert_int_eq(digest->processes[0].busy.busy_ns, 150);
}
END_TEST

START_TEST(a_recorder_is_digested_whole_on_request)
{
	struct selection s = SELECTION_INIT;

	record_incompletely();
	s.is_whole = true;
	ck_assert(!selection_is_all(&s));
	digest_selection(&s);
	ck_assert_int_eq(digest->complete_ns, 400);
	ck_assert_int_eq(digest->begin_ns, 0);
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 3);
}
END_TEST

START_TEST(a_time_that_is_asked_for_counts)
{
	struct selection s = SELECTION_INIT;

	record_incompletely();
	s.from_ns = 50;
	digest_selection(&s);
	ck_assert_int_eq(digest->begin_ns, 50);
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 3);
}
END_TEST

/* A report about nothing would be less useful. */
START_TEST(trace_that_is_never_complete_is_read_whole)
{
	record_incompletely();
	plane_set_uint(
		space_add_plane(space, 1, "/host:CPU other"), "ptap_complete_since_ns", 1001000);
	digest_space();
	ck_assert_int_eq(digest->complete_ns, 1000);
	ck_assert_int_eq(digest->begin_ns, 0);
	ck_assert_uint_eq(digest->lists[LIST_SPANS].n, 3);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(self_time_excludes_direct_children_only),
	UNIT_TEST(self_time_of_recursion_adds_up_to_the_outermost),
	UNIT_TEST(overlapping_span_is_no_child),
	UNIT_TEST(spans_have_nearest_rank_percentiles),
	UNIT_TEST(names_of_all_threads_are_one_row),
	UNIT_TEST(cut_spans_have_a_time_but_no_duration),
	UNIT_TEST(steps_that_were_cut_are_not_slow_or_fast),
	UNIT_TEST(times_are_clipped_to_the_selected_window),
	UNIT_TEST(an_edge_between_spans_cuts_none),
	UNIT_TEST(rows_are_sorted_as_asked),
	UNIT_TEST(kernels_are_a_list_of_their_own),
	UNIT_TEST(derived_lines_are_in_the_totals_alone),
	UNIT_TEST(steps_have_percentiles_and_the_slowest),
	UNIT_TEST(counters_have_range_mean_and_last),
	UNIT_TEST(the_mean_of_a_rate_times_the_time_is_the_total),
	UNIT_TEST(a_counter_on_two_tracks_has_the_mean_of_both),
	UNIT_TEST(samples_that_are_no_numbers_count_as_none),
	UNIT_TEST(totals_are_those_of_the_trace_model),
	UNIT_TEST(async_spans_and_flows_are_summed_by_name),
	UNIT_TEST(gaps_are_where_nothing_is_open),
	UNIT_TEST(a_thread_of_a_stock_server_is_known_from_its_first_event_to_its_last),
	UNIT_TEST(a_stock_recording_is_as_long_as_was_asked),
	UNIT_LOOP(other_stock_recordings_end_with_the_last_event, 3),
	UNIT_LOOP(missing_time_at_the_begin_is_not_idle, 2),
	UNIT_TEST(programs_of_a_run_are_measured_each_in_its_own_recording),
	UNIT_LOOP(a_machine_is_reported_once, 3),
	UNIT_TEST(only_the_longest_gaps_are_kept),
	UNIT_TEST(names_that_are_left_out_still_count_in_self_times_and_totals),
	UNIT_TEST(kernels_are_wanted_by_the_names_that_they_had),
	UNIT_TEST(only_the_requested_time_is_digested),
	UNIT_TEST(digest_of_a_recorder_begins_where_all_is_complete),
	UNIT_TEST(a_recorder_is_digested_whole_on_request),
	UNIT_TEST(a_time_that_is_asked_for_counts),
	UNIT_TEST(trace_that_is_never_complete_is_read_whole),
	{NULL},
};

UNIT_MAIN(
	"digest", .set_up = digest_fixture_open, .tear_down = digest_fixture_close, .tests = tests)
