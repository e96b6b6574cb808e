/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "trace/space.h"
#include "trace/summary.h"

static struct space *space;
static struct plane *plane;
static struct line *line;
static char *text;

static void set_up(void)
{
	ck_assert_int_eq(space_new(&space), 0);
	plane = space_add_plane(space, 0, PLANE_HOST);
	line = plane_add_line(plane, 42, "main", 0);
	text = NULL;
}

static void tear_down(void)
{
	space = space_free(space);
	free(text);
}

static uint32_t stat_name(const char *name)
{
	return names_intern(&plane->stat_names, name, strlen(name));
}

static void add(const char *name, int64_t start_ns, int64_t duration_ns, uint32_t stats)
{
	struct trace_event event = {start_ns, duration_ns,
		names_intern(&plane->event_names, name, strlen(name)), stats};

	ck_assert_int_eq(line_add_event(line, &event), 0);
}

static uint32_t int_stats(const char *first, int64_t first_value, const char *second)
{
	struct trace_stat stats[2] = {
		{.name = stat_name(first), .type = STAT_INT64, .value.i64 = first_value},
		{.name = stat_name(second), .type = STAT_INT64, .value.i64 = 1}};

	return plane_add_stats(plane, stats, 2);
}

static uint32_t double_stat(double value)
{
	struct trace_stat stat = {.name = stat_name("v"), .type = STAT_DOUBLE, .value.f64 = value};

	return plane_add_stats(plane, &stat, 1);
}

typedef int report_writer(
	const struct space *, const char *, const struct report_options *, FILE *);

static const char *write_report_of(report_writer *writer, const struct report_options *options)
{
	size_t n;
	FILE *out;

	free(text);
	out = open_memstream(&text, &n);
	ck_assert_int_eq(writer(space, "runs/a.xplane.pb", options, out), 0);
	fclose(out);
	return text;
}

static const char *write_report(report_writer *writer)
{
	return write_report_of(writer, NULL);
}

/* A line of |report| in which all blanks are one. */
static void assert_has_line(const char *report, const char *wanted)
{
	char *line_start = strdup(report);
	char *rest = line_start;
	bool found = false;

	for (char *l = strsep(&rest, "\n"); l && !found; l = strsep(&rest, "\n")) {
		char squeezed[1024] = "";
		char *save = NULL;

		for (char *w = strtok_r(l, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
			strncat(squeezed, *squeezed ? " " : "", 2);
			strncat(squeezed, w, sizeof squeezed - strlen(squeezed) - 1);
		}
		found = strcmp(squeezed, wanted) == 0;
	}
	free(line_start);
	ck_assert_msg(found, "no line '%s' in:\n%s", wanted, report);
}

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

/* "many" leads by count, "long" by p99 and max, "even" by p50, "total" by total and self. */
static void add_rivals(void)
{
	int64_t at_ns = 0;

	for (int i = 0; i < 50; i++, at_ns += 1000)
		add("many", at_ns, 1, 0);
	for (int i = 0; i < 3; i++, at_ns += 1000)
		add("long", at_ns, i == 0 ? 900 : 2, 0);
	for (int i = 0; i < 2; i++, at_ns += 1000)
		add("even", at_ns, 400, 0);
	for (int i = 0; i < 20; i++, at_ns += 1000)
		add("total", at_ns, 100, 0);
}

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

static bool has_letter(const char *name, void *letter)
{
	return strchr(name, *(char *)letter) != NULL;
}

START_TEST(names_are_chosen_and_cut)
{
	char letter = 'e'; /* even */
	struct report_options options = {.keep_name = has_letter, .context = &letter};

	add_rivals();
	line = plane_add_line(plane, 43, "other", 0);
	add("x", 0, 5, int_stats("step_num", 1, "_r"));
	write_report_of(report_write_text, &options);
	ck_assert_ptr_nonnull(strstr(text, "even"));
	ck_assert_ptr_null(strstr(text, "many"));
	ck_assert_ptr_null(strstr(text, "thread other"));
	ck_assert_ptr_null(strstr(text, "steps\n"));
	assert_has_line(
		text, "spans 76 on 2 threads · counters 0 (0 samples) · steps 1 · dropped 0");
	options = (struct report_options){.sort = SUMMARY_COUNT, .n_top = 1};
	write_report_of(report_write_text, &options);
	assert_has_line(text, "50 50 ns 50 ns 1 ns 1 ns 1 ns 1 ns many");
	assert_has_line(text, "… and 3 more names");
	write_report_of(report_write_json, &options);
	ck_assert_ptr_nonnull(strstr(text, "\"many\""));
	ck_assert_ptr_null(strstr(text, "\"long\""));
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

START_TEST(text_has_all_parts)
{
	struct plane *environment = space_add_plane(space, 1, PLANE_ENVIRONMENT);
	const char *report;

	plane_set_uint(environment, "profile_start_time", 1767225600000000000);
	plane_set_uint(environment, "profile_stop_time", 1767225600500000000);
	plane_set_int(plane, "process_id", 4242);
	plane_set_string(plane, "ptap_process_name", "train\x1b[31m");
	plane_set_uint(plane, "ptap_lost_ring_full", 1234);
	names_intern(&space->hostnames, "node1", 5);
	space_add_warning(space, "gpu: not there");
	add("train", 0, 2500000, int_stats("step_num", 1, "_r"));
	add("load\nfile", 1000, 999, int_stats("unfinished", 1, "x"));
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rss", 0, 0, double_stat(1.5));
	report = write_report(report_write_text);
	assert_has_line(report, "runs/a.xplane.pb");
	assert_has_line(report, "recorded 2026-01-01 00:00:00 UTC for 500 ms");
	assert_has_line(report, "host node1");
	assert_has_line(report, "spans 2 on 1 thread · counters 1 (1 samples) · steps 1 · "
				"dropped 0 · unfinished 1");
	assert_has_line(report, "warning: gpu: not there");
	assert_has_line(report, "== /host:CPU · train?[31m · pid 4242 ==");
	assert_has_line(report, "lost: ptap_lost_ring_full 1,234");
	assert_has_line(report, "thread main (42): 2 spans");
	assert_has_line(report, "count total self mean p50 p99 max name");
	assert_has_line(report, "1 2.50 ms 2.50 ms 2.50 ms 2.50 ms 2.50 ms 2.50 ms train");
	assert_has_line(
		report, "1 999 ns 999 ns 999 ns 999 ns 999 ns 999 ns load?file [1 unfinished]");
	assert_has_line(report, "1 1.5 1.5 1.5 1.5 rss");
}
END_TEST

/* Two lines of async spans beside a thread with both ends of a flow. */
static void add_links(void)
{
	add("work", 0, 100, 0);
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
	ck_assert_uint_eq(t.n_spans, 4);
	ck_assert_uint_eq(t.n_threads, 1);
	ck_assert_uint_eq(t.n_asyncs, 3);
	ck_assert_uint_eq(t.n_flow_marks, 3);
	ck_assert_uint_eq(t.n_unfinished, 1);
}
END_TEST

START_TEST(text_sums_async_spans_and_flows_by_name)
{
	const char *report;

	add_links();
	report = write_report(report_write_text);
	assert_has_line(report, "spans 4 on 1 thread · async spans 3 · flow marks 3 · counters 0 "
				"(0 samples) · steps 0 · dropped 0 · unfinished 1");
	assert_has_line(report, "async spans");
	assert_has_line(report, "count total mean p50 p99 min max name");
	assert_has_line(report, "3 9.00 us 3.00 us 3.00 us 5.00 us 1.00 us 5.00 us request "
				"[1 unfinished]");
	assert_has_line(report, "flows");
	assert_has_line(report, "1 2 job");
	ck_assert_ptr_null(strstr(report, "thread request"));
}
END_TEST

START_TEST(json_sums_async_spans_and_flows_by_name)
{
	const char *report;

	add_links();
	report = write_report(report_write_json);
	ck_assert(strstr(report, "\"async_spans\":3,\"flow_marks\":3,"));
	ck_assert(strstr(report,
		"\"async_spans\":[{\"name\":\"request\",\"count\":3,\"unfinished\":1,"
		"\"total_ns\":9000,\"min_ns\":1000,\"mean_ns\":3000,\"p50_ns\":3000,"
		"\"p99_ns\":5000,\"max_ns\":5000}],"
		"\"flows\":[{\"name\":\"job\",\"out\":1,\"in\":2}],"));
}
END_TEST

START_TEST(durations_carry_over_to_the_next_unit)
{
	add("a", 0, 999400, 0);
	add("b", 1000000000, 999600, 0);
	add("c", 2000000000, 9996, 0);
	assert_has_line(
		write_report(report_write_text), "1 999 us 999 us 999 us 999 us 999 us 999 us a");
	assert_has_line(text, "1 1.00 ms 1.00 ms 1.00 ms 1.00 ms 1.00 ms 1.00 ms b");
	assert_has_line(text, "1 10.0 us 10.0 us 10.0 us 10.0 us 10.0 us 10.0 us c");
}
END_TEST

START_TEST(json_escapes_and_has_stable_keys)
{
	plane_set_int(plane, "process_id", 7);
	add("say \"hi\\\"\n\xff", 0, 10, 0);
	ck_assert_str_eq(write_report(report_write_json),
		"{\"path\":\"runs/a.xplane.pb\",\"start_unix_ns\":null,\"duration_ns\":null,"
		"\"hostnames\":[],\"totals\":{\"spans\":1,\"threads\":1,"
		"\"async_spans\":0,\"flow_marks\":0,\"counters\":0,\"counter_samples\":0,\"steps\":0,\"dropped\":0,\"unfinished\":0},"
		"\"errors\":[],\"warnings\":[],\"planes\":[{\"name\":\"/host:CPU\",\"id\":0,"
		"\"process_name\":null,\"process_id\":7,\"lost\":{},\"threads\":[{\"id\":42,"
		"\"name\":\"main\",\"n_spans\":1,\"spans\":[{\"name\":\"say \\\"hi\\\\\\\"\\u000a?\","
		"\"count\":1,\"unfinished\":0,\"total_ns\":10,\"self_ns\":10,\"min_ns\":10,"
		"\"mean_ns\":10,\"p50_ns\":10,\"p99_ns\":10,\"max_ns\":10}]}],\"steps\":[],"
		"\"async_spans\":[],\"flows\":[],\"counters\":[]}]}\n");
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
	FILE *out = fopen("/dev/full", "we");

	ck_assert_int_lt(report_write_text(space, "x", NULL, out), 0);
	ck_assert_int_lt(report_write_json(space, "x", NULL, out), 0);
	fclose(out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tcase = tcase_create("report");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, self_time_excludes_direct_children_only);
	tcase_add_test(tcase, self_time_of_recursion_adds_up_to_the_outermost);
	tcase_add_test(tcase, overlap_takes_off_only_the_common_part);
	tcase_add_test(tcase, steps_have_nearest_rank_percentiles);
	tcase_add_test(tcase, spans_have_nearest_rank_percentiles);
	tcase_add_test(tcase, rows_are_sorted_as_asked);
	tcase_add_test(tcase, names_are_chosen_and_cut);
	tcase_add_test(tcase, counters_have_range_mean_and_last_without_nan);
	tcase_add_test(tcase, totals_tell_spans_from_counters);
	tcase_add_test(tcase, text_has_all_parts);
	tcase_add_test(tcase, durations_carry_over_to_the_next_unit);
	tcase_add_test(tcase, totals_tell_async_spans_from_threads);
	tcase_add_test(tcase, text_sums_async_spans_and_flows_by_name);
	tcase_add_test(tcase, json_sums_async_spans_and_flows_by_name);
	tcase_add_test(tcase, json_escapes_and_has_stable_keys);
	tcase_add_test(tcase, a_full_device_is_an_error);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
