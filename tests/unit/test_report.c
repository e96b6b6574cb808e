/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the report as text, as JSON and as CSV. */
#include "trace/report/report.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/digest_fixture.h"
#include "tests/unit/unit.h"

#define LONG_LOSS "ptap_lost_in_a_ring_whose_name_is_longer_than_sixty_four_bytes_and_is_not_cut"

static char *text;

static void set_up(void)
{
	digest_fixture_open();
	text = NULL;
}

static void tear_down(void)
{
	digest_fixture_close();
	free(text);
}

typedef int report_writer(struct digest *, const struct report_options *, FILE *);

static const char *write_with(report_writer *writer, struct report_options options)
{
	size_t n;
	FILE *out;

	if (!digest)
		digest_space();
	free(text);
	out = open_memstream(&text, &n);
	options.title = "runs/a.xplane.pb";
	ck_assert_int_eq(writer(digest, &options, out), 0);
	fclose(out);
	return text;
}

static const char *write_report(report_writer *writer)
{
	return write_with(writer, (struct report_options){.width = 0});
}

/* Expects a line of |report|, with each run of blanks as one blank. */
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

static void digest_two_sources(void)
{
	static const struct view_options options = {.align = VIEW_ALIGN_EPOCH};

	view_add_stock(4242, "vm");
	view_add_ours("42 -91\n");
	view_make(&options);
	ck_assert_int_eq(digest_make(view, &digest, NULL), 0);
}

/* Time that one server's spans cover counts once: 20 of 20 ns, and not 30. */
START_TEST(a_thread_that_two_servers_saw_is_one_row)
{
	digest_two_sources();
	write_with(report_write_text, (struct report_options){.width = 120, .by_thread = true});
	assert_has_line(text, "100.0 % ██████████ 2 0 ns main (42), vm_4242 and vm_9012");
	assert_has_line(text, "thread main (42), vm_4242: 1 spans");
	assert_has_line(text, "thread main (42), vm_9012: 1 spans");
	ck_assert_uint_eq(digest->totals.n_threads, 3);
}
END_TEST

START_TEST(json_lists_each_source_of_a_thread)
{
	digest_two_sources();
	write_report(report_write_json);
	ck_assert_ptr_nonnull(strstr(text, "\"file\":\"vm_4242\",\"other_sources\":[{\"id\":-91,"
					   "\"name\":\"python\",\"n_spans\":1,"));
	ck_assert_ptr_nonnull(strstr(text, "\"file\":\"vm_9012\"}]}"));
	ck_assert_ptr_eq(strstr(text, "\"id\":-91"), strstr(text, "\"other_sources\"") + 18);
	ck_assert_ptr_null(strstr(strstr(text, "\"id\":-91") + 1, "\"id\":-91"));
}
END_TEST

START_TEST(names_are_cut_to_the_top)
{
	add_rivals();
	line = plane_add_line(plane, 43, "other", 0);
	add("x", 0, 5, int_stats("step_num", 1, "_r"));
	write_with(report_write_text,
		(struct report_options){.sort = ROW_COUNT, .n_top = 1, .by_thread = true});
	assert_has_line(text, "names by count");
	assert_has_line(text, "50 ns ▏ 50 50 ns 1 ns 1 ns many");
	assert_has_line(text, "… and 4 more names; --top 5 shows all");
	assert_has_line(text, "… and 3 more names; --top 4 shows all");
	ck_assert_ptr_null(strstr(text, "  long\n"));
	write_with(report_write_json, (struct report_options){.sort = ROW_COUNT, .n_top = 1});
	ck_assert_ptr_nonnull(strstr(text, "\"many\""));
	ck_assert_ptr_null(strstr(text, "{\"name\":\"long\""));
	write_with(report_write_text, (struct report_options){.n_top = 4, .sort = ROW_NAME});
	assert_has_line(text, "names in alphabetical order");
	assert_has_line(text, "… and 1 more name; --top 5 shows all");
	write_with(report_write_text, (struct report_options){.n_top = 1});
	assert_has_line(text, "… and 1 more thread; --top 2 shows all");
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
	plane_set_uint(plane, "dropped_traces", 1239);
	plane_set_uint(plane, LONG_LOSS, 5);
	plane_set_string(environment, "ptap_reason", "queue is\x1b[0m full");
	plane_set_string(plane, "ptap_recorder_windows",
		"main (42): the last 2.000 ms, 7 overwritten\nother (43): nothing, 9 overwritten\n");
	names_intern(&space->hostnames, "node1", 5);
	space_add_warning(space, "gpu: not there");
	add("train", 0, 2500000, int_stats("step_num", 1, "_r"));
	add("load\nfile", 1000, 999, int_stats("unfinished", 1, "x"));
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	add("rss", 0, 0, double_stat(1.5));
	report = write_with(report_write_text, (struct report_options){.by_thread = true});
	assert_has_line(report, "runs/a.xplane.pb");
	assert_has_line(report, "recorded 2026-01-01 00:00:00 UTC for 500 ms");
	assert_has_line(report, "host node1");
	assert_has_line(report, "process train?[31m (4242)");
	assert_has_line(report, "spans 2 on 1 thread · counters 1 (1 samples) · steps 1 · "
				"dropped 1,239");
	assert_has_line(text, "unfinished 1");
	assert_has_line(report, "warning: gpu: not there");
	assert_has_line(report, "lost: ptap_lost_ring_full 1,234");
	ck_assert_ptr_null(strstr(report, "dropped_traces"));
	assert_has_line(report, "lost: " LONG_LOSS " 5");
	assert_has_line(report, "reason: queue is?[0m full");
	assert_has_line(report, "window: main (42): the last 2.000 ms, 7 overwritten");
	assert_has_line(report, "window: other (43): nothing, 9 overwritten");
	assert_has_line(report, "steps");
	assert_has_line(report, "1 2.50 ms 2.50 ms 2.50 ms 2.50 ms train");
	assert_has_line(report, "self count total p50 p99 name");
	assert_has_line(report, "2.50 ms ███████ 1 2.50 ms 2.50 ms 2.50 ms train");
	assert_has_line(report, "999 ns ▏ 1 999 ns - - load?file [1 unfinished]");
	assert_has_line(report, "0.5 % ▏ 2 498 ms main (42)");
	assert_has_line(report, "498 ms 99.5 % 2.50 ms after train, to the end");
	assert_has_line(report, "1.5 1.5 1.5 1.5 ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄ rss");
	assert_has_line(report, "thread main (42): 2 spans");
}
END_TEST

/* The limit is the geometric mean of median and tail, 100 and 300 ns: see slow_choice.c. */
START_TEST(slow_steps_are_reported)
{
	for (int i = 0; i < 20; i++)
		add("train", i * 1000,
			i == 7	  ? 300
			: i == 9  ? 151
			: i == 11 ? 150
				  : 100,
			int_stats("step_num", 500 + i, "_r"));
	write_report(report_write_text);
	assert_has_line(text, "1 is slow (174 ns or longer):");
	assert_has_line(text, "300 ns 3.0 × the median: step 507, at 7.00 us");
	ck_assert_ptr_null(strstr(text, "step 509"));
	write_with(report_write_text, (struct report_options){.slow = 2.5});
	assert_has_line(text, "1 is slow (174 ns or longer):");
	write_report(report_write_json);
	ck_assert_ptr_nonnull(strstr(text,
		"\"outliers\":1,\"limit_ns\":174,\"slowest\":[{\"step_num\":507,\"start_"
		"ns\":7000,\"duration_ns\":300}]"));
}
END_TEST

/* "1.9 at a time, 52 %" would compare two units. */
START_TEST(concurrent_spans_have_one_unit)
{
	for (int i = 0; i < 20; i++)
		add("train", i * 10000, i == 7 ? 8000 : 1000, int_stats("step_num", i, "_r"));
	line = plane_add_line(plane, 43, "worker", 0);
	for (int i = 0; i < 20; i++)
		add("lookup", i * 10000, i == 7 ? 8000 : 500, 0);
	line = plane_add_line(plane, 44, "helper", 0);
	add("lookup", 7 * 10000, 7200, 0);
	write_report(report_write_text);
	assert_has_line(
		text, "meanwhile `lookup` runs on worker, 1.9 at a time; while typical ones run,");
	assert_has_line(text, "0.5 at a time");
}
END_TEST

/* The first name lost more time, but its cause is unknown. */
START_TEST(json_has_the_slow_steps_of_the_text)
{
	for (int i = 0; i < 20; i++)
		add("alone", i * 1000000, i == 7 ? 90000 : 1000, int_stats("step_num", i, "_r"));
	line = plane_add_line(plane, 43, "worker", 0);
	for (int i = 0; i < 20; i++) {
		add("train", i * 1000000 + 500000, i == 8 ? 8000 : 1000,
			int_stats("step_num", i, "_r"));
		add("load", i * 1000000 + 500000, i == 8 ? 7500 : 500, 0);
	}
	write_with(report_write_text, (struct report_options){.n_top = 1});
	ck_assert_ptr_null(strstr(text, "  `alone`"));
	ck_assert_ptr_nonnull(strstr(text, "  `train`"));
	write_with(report_write_json, (struct report_options){.n_top = 1});
	ck_assert_ptr_null(strstr(text, "{\"kind\":\"step\",\"name\":\"alone\""));
	ck_assert_ptr_nonnull(strstr(text, "\"slow\":[{\"kind\":\"step\",\"name\":\"train\","));
	ck_assert_ptr_nonnull(
		strstr(text, "\"slow\":{\"count\":1,\"mean_ns\":8000,\"looked_at\":1},"
			     "\"typical\":{\"count\":19,\"mean_ns\":1000,\"looked_at\":19},"));
}
END_TEST

START_TEST(async_spans_and_flows_are_summed_by_name)
{
	add_asyncs();
	write_report(report_write_text);
	assert_has_line(text, "spans 1 on 1 thread · async spans 3 · instants 2 · flow marks 3");
	assert_has_line(text, "counters 0 (0 samples) · steps 0 · dropped 0 · unfinished 1");
	assert_has_line(text, "async spans");
	assert_has_line(text, "total count mean p50 p99 max name");
	assert_has_line(text, "9.00 us 3 4.00 us 3.00 us 5.00 us 5.00 us request [1 unfinished]");
	assert_has_line(text, "flows");
	assert_has_line(text, "1 2 job");
	/* A flow has no time, and is listed once. */
	ck_assert_ptr_eq(strstr(text, " job\n"), strrchr(text, 'j') - 1);
	write_report(report_write_json);
	ck_assert(strstr(text, "\"async_spans\":3,\"instants\":2,\"flow_marks\":3,"));
	ck_assert(
		strstr(text, "\"async_spans\":[{\"name\":\"request\",\"count\":3,\"unfinished\":1,"
			     "\"began_before\":0,\"whole\":2,"
			     "\"total_ns\":9000,\"min_ns\":3000,\"mean_ns\":4000,\"p50_ns\":3000,"
			     "\"p90_ns\":5000,\"p99_ns\":5000,\"p999_ns\":5000,\"max_ns\":5000}],"
			     "\"flows\":[{\"name\":\"job\",\"out\":1,\"in\":2}],"));
}
END_TEST

START_TEST(spans_that_were_cut_are_told_apart)
{
	line = plane_add_line(plane, 1 << 30, "request", 0);
	add("request", 0, 300, int_stats("started_before", 1, "_a"));
	add("request", 0, 800, int_stats("id", 1, "_a"));
	add("request", 900, 100, int_stats("unfinished", 1, "_a"));
	line = plane_add_line(plane, (1 << 30) + 1, "endless", 0);
	add("endless", 0, 1000, int_stats("started_before", 1, "unfinished"));
	write_report(report_write_text);
	assert_has_line(text, "1.20 us 3 800 ns 800 ns 800 ns 800 ns request "
			      "[1 unfinished, 1 began before]");
	write_report(report_write_json);
	ck_assert(strstr(text, "\"count\":3,\"unfinished\":1,\"began_before\":1,\"whole\":1,"
			       "\"total_ns\":1200,\"min_ns\":800,"));
	ck_assert(strstr(text, "\"whole\":0,\"total_ns\":1000,\"self_ns\":1000,\"min_ns\":null,"
			       "\"mean_ns\":null,"));
}
END_TEST

static void add_ended(int64_t pid, const char *ending)
{
	plane = space_add_plane(space, pid, "/host:CPU");
	plane_set_int(plane, "process_id", pid);
	plane_set_string(plane, "ptap_process_name", "worker");
	plane_set_string(plane, "ptap_ended", ending);
	line = plane_add_line(plane, pid, "main", 0);
	add("serve", 0, 1000, 0);
}

/* A good ending needs no explanation. */
START_TEST(good_ends_are_one_line)
{
	for (int pid = 100; pid < 164; pid++)
		add_ended(pid, pid == 130 ? "with exit status 3" : "with exit status 0");
	write_report(report_write_text);
	assert_has_line(text, "at death: worker (130) ended with exit status 3");
	ck_assert_ptr_null(strstr(strstr(text, "at death") + 1, "at death"));
	assert_has_line(text, "ended with exit status 0: worker (100), worker (101), worker (102), "
			      "worker (103) and 59 more");
	ck_assert_ptr_null(strstr(strstr(text, "status 0") + 1, "status 0"));
}
END_TEST

START_TEST(durations_carry_over_to_the_next_unit)
{
	add("a", 0, 999400, 0);
	add("b", 1000000000, 999600, 0);
	add("c", 2000000000, 9996, 0);
	write_report(report_write_text);
	assert_has_line(text, "999 us ███████ 1 999 us 999 us 999 us a");
	assert_has_line(text, "1.00 ms ███████ 1 1.00 ms 1.00 ms 1.00 ms b");
	assert_has_line(text, "10.0 us ▏ 1 10.0 us 10.0 us 10.0 us c");
}
END_TEST

START_TEST(wide_pages_have_more_columns)
{
	add("a", 0, 5, 0);
	write_with(report_write_text, (struct report_options){.width = 98});
	assert_has_line(text, "self count total mean p50 p99 max name");
	assert_has_line(text, "5 ns ███████ 1 5 ns 5 ns 5 ns 5 ns 5 ns a");
	write_with(report_write_text, (struct report_options){.sort = ROW_MAX});
	assert_has_line(text, "self count total p50 p99 max name");
}
END_TEST

static void assert_is_whole(const char *name)
{
	ck_assert_ptr_nonnull(strstr(text, name));
	ck_assert_ptr_null(strstr(text, "…"));
}

/* Each of the name's characters takes two columns. Of the 80 columns 26 are left for it. */
START_TEST(names_are_cut_where_the_page_ends)
{
	char wide[4 * 30 + 1] = "";
	char expected[128];

	for (int i = 0; i < 30; i++)
		strcat(wide, i % 2 ? "前" : "名");
	snprintf(expected, sizeof expected, "%.*s…\n", 3 * 12, wide);
	add(wide, 0, 5, 0);
	write_with(report_write_text, (struct report_options){.width = 80});
	ck_assert_ptr_nonnull(strstr(text, expected));
	assert_has_line(text, "names that end with \"…\" are cut; --width 273 shows them whole");
	write_with(report_write_text, (struct report_options){.width = 273});
	assert_is_whole(wide);
}
END_TEST

/* A pipe has no width, so names stay whole. */
START_TEST(names_are_whole_where_there_is_no_width)
{
	char name[501] = "";
	char thread[301] = "";

	memset(name, 'n', sizeof name - 1);
	memset(thread, 't', sizeof thread - 1);
	line = plane_add_line(plane, 43, thread, 0);
	add(name, 0, 5, 0);
	add(name, 1000, 5, int_stats("unfinished", 1, "x"));
	write_report(report_write_text);
	assert_is_whole(name);
	assert_is_whole(thread);
}
END_TEST

START_TEST(colors_are_only_where_they_are_wanted)
{
	add("a", 0, 5, 0);
	write_report(report_write_text);
	ck_assert_ptr_null(strchr(text, '\033'));
	write_with(report_write_text, (struct report_options){.has_color = true});
	ck_assert_ptr_nonnull(strstr(text, "\033[36m███████\033[0m"));
}
END_TEST

START_TEST(json_escapes_and_has_stable_keys)
{
	plane_set_int(plane, "process_id", 7);
	add("say \"hi\\\"\n\xff", 0, 10, 0);
	ck_assert_str_eq(write_report(report_write_json),
		"{\"path\":\"runs/a.xplane.pb\",\"start_unix_ns\":null,\"duration_ns\":null,"
		"\"hostnames\":[],\"reason\":null,\"totals\":{\"spans\":1,\"device_spans\":0,\"threads\":1,"
		"\"async_spans\":0,\"instants\":0,\"flow_marks\":0,\"counters\":0,\"counter_samples\":0,\"cpu_samples\":0,\"steps\":0,\"dropped\":0,\"unfinished\":0},"
		"\"errors\":[],\"warnings\":[],\"planes\":[{\"name\":\"/host:CPU\",\"id\":0,"
		"\"process_name\":null,\"process_id\":7,\"lost\":{},\"windows\":[],\"threads\":[{\"id\":42,"
		"\"name\":\"main\",\"n_spans\":1,\"n_instants\":0,\"n_flow_marks\":0,\"spans\":[{\"name\":\"say \\\"hi\\\\\\\"\\u000a?\","
		"\"count\":1,\"unfinished\":0,\"began_before\":0,\"whole\":1,\"total_ns\":10,\"self_ns\":10,\"min_ns\":10,"
		"\"mean_ns\":10,\"p50_ns\":10,\"p90_ns\":10,\"p99_ns\":10,\"p999_ns\":10,\"max_ns\":10}],\"busy_ns\":10,\"known_ns\":10,\"idle\":[]}],\"steps\":[],"
		"\"async_spans\":[],\"flows\":[],\"counters\":[],\"host\":\"a\"}],\"deaths\":[],\"open_at_snapshot\":[],\"begin_ns\":0,\"end_ns\":10,"
		"\"processes\":[{\"host\":\"a\",\"name\":\"/host:CPU\",\"pid\":7,\"device\":null,\"descendant_of\":null,\"n_spans\":1,"
		"\"busy_ns\":10,\"known_ns\":10,\"idle\":[]}],\"names\":[{\"name\":\"say \\\"hi\\\\\\\"\\u000a?\","
		"\"count\":1,\"unfinished\":0,\"began_before\":0,\"whole\":1,\"total_ns\":10,\"self_ns\":10,\"min_ns\":10,"
		"\"mean_ns\":10,\"p50_ns\":10,\"p90_ns\":10,\"p99_ns\":10,\"p999_ns\":10,\"max_ns\":10}],\"kernels\":[],\"derived_spans\":0,\"notes\":[],\"complete_since_ns\":null,"
		"\"slow\":[],\"cpu_shares\":[],\"launches\":[],"
		"\"cpu_samples\":{\"samples\":0,\"period_ns\":null,\"functions\":[],\"spans\":[]},"
		"\"waiting\":{\"waits\":0,\"total_ns\":0,\"functions\":[]},\"thread_states\":[]}\n");
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
	/* A part of another server's long line is enough. */
	ck_assert_ptr_null(strstr(report, windows + sizeof windows - 1 - 256));
	ck_assert_ptr_nonnull(strstr(report, windows + sizeof windows - 1 - 255));
}
END_TEST

START_TEST(csv_has_a_row_for_each_name)
{
	add("outer", 0, 100, 0);
	add("say \"hi\", \n\xff", 10, 30, int_stats("unfinished", 1, "x"));
	line = plane_add_line(plane, 99, "request", 0);
	add("request", 0, 3000, int_stats("id", 1, "_a"));
	plane = space_add_plane(space, 1, "/device:GPU:0");
	line = plane_add_line(plane, 7, "Stream #7", 0);
	add("gemm", 0, 7, 0);
	add("gemm", 10, 8, 0);
	ck_assert_str_eq(write_report(report_write_csv),
		"kind,name,count,unfinished,total_ns,self_ns,min_ns,mean_ns,p50_ns,p99_ns,max_ns,whole,began_before,"
		"p90_ns,p999_ns\r\n"
		"span,\"outer\",1,0,100,70,100,100,100,100,100,1,0,100,100\r\n"
		"span,\"say \"\"hi\"\", ??\",1,1,30,30,,,,,,0,0,,\r\n"
		"kernel,\"gemm\",2,0,15,15,7,7,7,8,8,2,0,8,8\r\n"
		"async,\"request\",1,0,3000,3000,3000,3000,3000,3000,3000,1,0,3000,3000\r\n");
}
END_TEST

START_TEST(csv_has_the_percentiles_of_json)
{
	for (int i = 0; i < 10000; i++)
		add("outer", i * 100000, i + 1, 0);
	write_report(report_write_json);
	ck_assert_ptr_nonnull(strstr(text,
		"\"p50_ns\":5000,\"p90_ns\":9000,\"p99_ns\":9900,\"p999_ns\":9990,\"max_ns\":10000"));
	write_report(report_write_csv);
	ck_assert_ptr_nonnull(strstr(text, ",5000,9900,10000,10000,0,9000,9990\r\n"));
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
	static const struct report_options defaults = {.width = 0};
	FILE *out = fopen("/dev/full", "we");

	digest_space();
	ck_assert_int_eq(report_write_text(digest, &defaults, out), -ENOSPC);
	ck_assert_int_eq(report_write_json(digest, &defaults, out), -ENOSPC);
	ck_assert_int_eq(report_write_csv(digest, &defaults, out), -ENOSPC);
	fclose(out);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(names_are_cut_to_the_top),
	UNIT_TEST(a_thread_that_two_servers_saw_is_one_row),
	UNIT_TEST(json_lists_each_source_of_a_thread),
	UNIT_TEST(text_has_all_parts),
	UNIT_TEST(slow_steps_are_reported),
	UNIT_TEST(concurrent_spans_have_one_unit),
	UNIT_TEST(json_has_the_slow_steps_of_the_text),
	UNIT_TEST(async_spans_and_flows_are_summed_by_name),
	UNIT_TEST(spans_that_were_cut_are_told_apart),
	UNIT_TEST(good_ends_are_one_line),
	UNIT_TEST(durations_carry_over_to_the_next_unit),
	UNIT_TEST(wide_pages_have_more_columns),
	UNIT_TEST(names_are_cut_where_the_page_ends),
	UNIT_TEST(names_are_whole_where_there_is_no_width),
	UNIT_TEST(colors_are_only_where_they_are_wanted),
	UNIT_TEST(json_escapes_and_has_stable_keys),
	UNIT_TEST(json_tells_of_a_recorder),
	UNIT_TEST(csv_has_a_row_for_each_name),
	UNIT_TEST(csv_has_the_percentiles_of_json),
	UNIT_TEST(a_full_device_is_an_error),
	{NULL},
};

UNIT_MAIN("report", .set_up = set_up, .tear_down = tear_down, .tests = tests)
