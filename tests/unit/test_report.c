/* SPDX-License-Identifier: Apache-2.0 */
/* The reports, in both forms, and the totals. */
#include "trace/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/space_fixture.h"
#include "trace/summary.h"

static char *text;

static void set_up(void)
{
	space_fixture_open();
	text = NULL;
}

static void tear_down(void)
{
	space_fixture_close();
	free(text);
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
	options.n_top = 3;
	write_report_of(report_write_text, &options);
	assert_has_line(text, "… and 1 more name");
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
	plane_set_string(environment, "ptap_reason", "queue is\x1b[0m full");
	plane_set_string(plane, "ptap_recorder_windows",
		"main (42): the last 2.000 ms, 7 overwritten\nother (43): nothing, 9 overwritten\n");
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
	assert_has_line(report, "reason: queue is?[0m full");
	assert_has_line(report, "window: main (42): the last 2.000 ms, 7 overwritten");
	assert_has_line(report, "window: other (43): nothing, 9 overwritten");
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

START_TEST(text_sums_async_spans_and_flows_by_name)
{
	const char *report;

	add_links();
	report = write_report(report_write_text);
	assert_has_line(report,
		"spans 1 on 1 thread · async spans 3 · instants 2 · flow marks 3 · counters 0 "
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
	ck_assert(strstr(report, "\"async_spans\":3,\"instants\":2,\"flow_marks\":3,"));
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
		"\"hostnames\":[],\"reason\":null,\"totals\":{\"spans\":1,\"threads\":1,"
		"\"async_spans\":0,\"instants\":0,\"flow_marks\":0,\"counters\":0,\"counter_samples\":0,\"steps\":0,\"dropped\":0,\"unfinished\":0},"
		"\"errors\":[],\"warnings\":[],\"planes\":[{\"name\":\"/host:CPU\",\"id\":0,"
		"\"process_name\":null,\"process_id\":7,\"lost\":{},\"windows\":[],\"threads\":[{\"id\":42,"
		"\"name\":\"main\",\"n_spans\":1,\"n_instants\":0,\"n_flow_marks\":0,\"spans\":[{\"name\":\"say \\\"hi\\\\\\\"\\u000a?\","
		"\"count\":1,\"unfinished\":0,\"total_ns\":10,\"self_ns\":10,\"min_ns\":10,"
		"\"mean_ns\":10,\"p50_ns\":10,\"p99_ns\":10,\"max_ns\":10}]}],\"steps\":[],"
		"\"async_spans\":[],\"flows\":[],\"counters\":[]}]}\n");
}
END_TEST

START_TEST(json_tells_of_a_recorder)
{
	struct plane *environment = space_add_plane(space, 1, PLANE_ENVIRONMENT);
	char windows[600];
	const char *report;

	memset(windows, 'w', sizeof windows);
	memcpy(windows, "main\n\n", 6);
	windows[sizeof windows - 1] = '\0';
	plane_set_string(environment, "ptap_reason", "queue is full");
	plane_set_string(plane, "ptap_recorder_windows", windows);
	report = write_report(report_write_json);
	ck_assert_ptr_nonnull(strstr(report, "\"reason\":\"queue is full\""));
	ck_assert_ptr_nonnull(strstr(report, "\"windows\":[\"main\",\"\",\"www"));
	/* Of a stranger's line a part is enough. */
	ck_assert_ptr_null(strstr(report, windows + sizeof windows - 1 - 256));
	ck_assert_ptr_nonnull(strstr(report, windows + sizeof windows - 1 - 255));
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
	tcase_add_test(tcase, names_are_chosen_and_cut);
	tcase_add_test(tcase, totals_tell_spans_from_counters);
	tcase_add_test(tcase, text_has_all_parts);
	tcase_add_test(tcase, durations_carry_over_to_the_next_unit);
	tcase_add_test(tcase, totals_tell_async_spans_from_threads);
	tcase_add_test(tcase, text_sums_async_spans_and_flows_by_name);
	tcase_add_test(tcase, json_sums_async_spans_and_flows_by_name);
	tcase_add_test(tcase, json_escapes_and_has_stable_keys);
	tcase_add_test(tcase, json_tells_of_a_recorder);
	tcase_add_test(tcase, a_full_device_is_an_error);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
