/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the totals of a trace model. */
#include "trace/xspace/totals.h"

#include <check.h>

#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"

START_TEST(totals_tell_spans_from_counters)
{
	struct report_totals t;

	add("a", 0, 5, int_stats("unfinished", 1, "x"));
	add("train", 5, 5, int_stats("step_num", 1, "_r"));
	line = plane_add_line(plane, 98, "idle", 0);
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rss", 0, 0, double_stat(1));
	add("load", 1, 0, double_stat(1));
	add("rss", 2, 0, double_stat(1));
	plane_set_uint(plane, "dropped_traces", 17);
	report_count(space, &t);
	ck_assert_uint_eq(t.n_spans, 2);
	ck_assert_uint_eq(t.n_threads, 1);
	ck_assert_uint_eq(t.n_counters, 2);
	ck_assert_uint_eq(t.n_counter_samples, 3);
	ck_assert_uint_eq(t.n_steps, 1);
	ck_assert_uint_eq(t.n_unfinished, 1);
	ck_assert_uint_eq(t.n_dropped, 17);
}
END_TEST

/* Adds two lines of async spans beside a thread with both ends of a flow. */
static void add_links(void)
{
	add("work", 0, 100, 0);
	add("point", 5, 0, 0);
	add("point", 6, 0, 0);
	add("job", 10, 0, int_stats("_p", -7, "_pt"));
	add("job", 20, 0, int_stats("_c", -7, "_ct"));
	add("job", 30, 0, int_stats("_c", -7, "_ct"));
	line = plane_add_line(plane, 1 << 30, "request", 0);
	add("request", 0, 3000, int_stats("id", 1, "_a"));
	add("request", 4000, 1000, int_stats("unfinished", 1, "_a"));
	line = plane_add_line(plane, (1 << 30) + 1, "request", 0);
	add("request", 100, 5000, int_stats("id", 2, "_a"));
}

START_TEST(totals_tell_async_spans_from_threads)
{
	struct report_totals t;

	add_links();
	report_count(space, &t);
	ck_assert_uint_eq(t.n_spans, 1);
	ck_assert_uint_eq(t.n_instants, 2);
	ck_assert_uint_eq(t.n_threads, 1);
	ck_assert_uint_eq(t.n_asyncs, 3);
	ck_assert_uint_eq(t.n_flow_marks, 3);
	ck_assert_uint_eq(t.n_unfinished, 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(totals_tell_spans_from_counters),
	UNIT_TEST(totals_tell_async_spans_from_threads),
	{NULL},
};

UNIT_MAIN("totals", .set_up = space_fixture_open, .tear_down = space_fixture_close, .tests = tests)
