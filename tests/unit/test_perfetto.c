/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests Perfetto's format, packet by packet; tests/interop tests how
 * trace_processor understands it.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/unit/perfetto_fixture.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/codec/perfetto_rows.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/grouping.h"
#include "trace/xspace/pbwire.h"

#define EPOCH_NS INT64_C(1700000000000000000)

static const struct view_options plain = {.align = VIEW_ALIGN_EPOCH};

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	perfetto_fixture_open();
}

static void tear_down(void)
{
	perfetto_fixture_close();
	view_fixture_close();
	space_fixture_close();
}

static void convert(void)
{
	view_add_space(space, "gpu7.xplane.pb");
	view_make(&plain);
	perfetto_read();
}

static uint32_t one_stat(const char *name, enum stat_type type, uint64_t value)
{
	struct trace_stat stat = {.type = type, .value.u64 = value};

	stat.name = names_intern(&plane->stat_names, name, strlen(name));
	return plane_add_stats(plane, &stat, 1);
}

static uint32_t text_stat(const char *name, const char *text)
{
	return one_stat(name, STAT_STRING, names_intern(&plane->stat_names, text, strlen(text)));
}

static void add_line(int64_t id, const char *name)
{
	line = plane_add_line(plane, id, name, 0);
}

/* --- clocks, machines and tracks ----------------------------------------------------------- */

START_TEST(clocks_come_first)
{
	struct plane *environment;

	plane_set_int(plane, "process_id", 4242);
	add("a", 5, 1, 0);
	environment = space_add_plane(space, 1, PLANE_ENVIRONMENT);
	plane_set_int(environment, "profile_start_time", EPOCH_NS);
	convert();
	ck_assert_str_eq(perfetto_packet(0), "6{1{1:6 2:0} 1{1:1 2:1700000000000000000} 2:6}");
	ck_assert(strncmp(perfetto_packet(1), "89{1:", 5) == 0);
	ck_assert_str_eq(perfetto_packet(2), "45{4:\"proftap " PACKAGE_VERSION "\" 17:\"gpu7\"}");
	ck_assert_str_eq(
		perfetto_find("host.0.file"), "126{1{1:\"proftap.host.0.file\" 3:\"gpu7\"}}\n");
}
END_TEST

START_TEST(tracks_are_described_before_events)
{
	plane_set_int(plane, "process_id", 4242);
	plane_set_string(plane, "ptap_process_name", "train");
	add("a", 5, 1, 0);
	convert();
	ck_assert_str_eq(perfetto_find("60{"), "8:5 60{1:1 3{1:4242 6:\"train\"} 11:3}\n"
					       "8:5 60{1:2 4{1:4242 2:42 5:\"main\"}}\n");
	ck_assert_str_eq(perfetto_find("59{"),
		"10:1 13:1 87:1 59{11{11:2} 58:64} 6{1{1:64 2:0 3:1} 1{1:6 2:0}}\n");
}
END_TEST

START_TEST(loss_comes_last)
{
	size_t n = 0;

	plane_set_uint(plane, "dropped_traces", 12);
	add("a", 5, 1, 0);
	convert();
	while (perfetto_packet(n + 1))
		n++;
	ck_assert_ptr_nonnull(strstr(perfetto_packet(n), "35{1{1:"));
	ck_assert_ptr_nonnull(strstr(perfetto_packet(n), " 19:12} 18{1:1 4:0}}"));
}
END_TEST

START_TEST(archives_of_one_pid_are_machines)
{
	names_intern(&space->hostnames, "gpu7", 4);
	plane_set_int(plane, "process_id", 4242);
	add("a", 5, 1, 0);
	view_add_space(space, "gpu7_1.xplane.pb");
	view_add_space(space, "gpu7_2.xplane.pb");
	view_make(&plain);
	perfetto_read();
	ck_assert_str_eq(perfetto_packet(1), "98:1 6{1{1:6 2:0} 2:6}");
	ck_assert_str_eq(perfetto_find("3{1:4242"),
		"8:0 60{1:1 3{1:4242 6:\"/host:CPU\" 8:\"gpu7\"} 11:3}\n"
		"8:0 98:1 60{1:2 3{1:4242 6:\"/host:CPU\" 8:\"gpu7\"} 11:3}\n");
	ck_assert_str_eq(perfetto_find("11{9:1"),
		"8:0 10:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"a\"}} 11{9:1 10:1}\n"
		"8:0 10:2 98:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"a\"}} 11{9:1 10:1}\n");
	ck_assert_str_eq(perfetto_find("11{9:2"), "8:1 10:1 11{9:2}\n8:1 10:2 98:1 11{9:2}\n");
}
END_TEST

/* Arrows are drawn between several programs of one host. */
START_TEST(archives_of_a_host_are_one_machine)
{
	struct names *hosts = &space->hostnames;

	names_intern(hosts, "gpu7", 4);
	for (int pid = 1; pid <= 2; pid++) {
		plane_set_int(plane, "process_id", pid);
		add("a", 5, 1, 0);
		view_add_space(space, "gpu7.xplane.pb");
	}
	view_make(&plain);
	perfetto_read();
	ck_assert_str_eq(perfetto_find("98:"), "");
	ck_assert_str_eq(
		perfetto_find("45{"), "45{4:\"proftap " PACKAGE_VERSION "\" 17:\"gpu7\"}\n");
}
END_TEST

static void group_by_category(void)
{
	struct grouping grouping = {0};
	const struct view_options grouped = {.align = VIEW_ALIGN_EPOCH, .grouping = &grouping};

	ck_assert_int_eq(grouping_list_parse(&grouping.primary, "-p", "category", NULL), 0);
	ck_assert_int_eq(grouping_list_parse(&grouping.secondary, "-s", "tid", NULL), 0);
	view_make(&grouped);
	perfetto_read();
}

/* The group's pid is made up, so labels beside it name the programs of its rows. */
START_TEST(groups_are_labelled_with_their_programs)
{
	plane_set_int(plane, "process_id", 4242);
	add("a", 5, 1, 0);
	add_line(43, "of the same");
	add("a", 5, 1, 0);
	view_add_space(space, "gpu7.xplane.pb");
	plane_set_string(plane, "ptap_process_name", "train");
	view_add_space(space, "gpu8.xplane.pb");
	group_by_category();
	ck_assert_ptr_nonnull(strstr(perfetto_find("threads"),
		"3{1:1 6:\"threads\" 8:\"gpu7 /host:CPU 4242\" 8:\"gpu8 train 4242\"}"));
}
END_TEST

START_TEST(labels_of_a_large_group_are_cut)
{
	char text[32];

	add("a", 5, 1, 0);
	for (int i = 0; i < 12; i++) {
		snprintf(text, sizeof text, "gpu%d.xplane.pb", i);
		view_add_space(space, text);
	}
	group_by_category();
	ck_assert_ptr_nonnull(strstr(perfetto_find("threads"),
		" 8:\"gpu6 /host:CPU\" 8:\"gpu7 /host:CPU\" 8:\"and more\"}"));
}
END_TEST

START_TEST(times_before_the_beginning_are_moved)
{
	add("early", -700, 100, 0);
	add("a", 5, 1, 0);
	convert();
	ck_assert_str_eq(perfetto_find(" 11{"),
		"8:0 10:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"early\"}} 11{9:1 10:1}\n"
		"8:100 10:1 11{9:2}\n"
		"8:605 10:1 12{2{1:2 2:\"a\"}} 11{9:1 10:2}\n"
		"8:1 10:1 11{9:2}\n");
	ck_assert_uint_eq(result.n_losses, 0);
}
END_TEST

/* --- spans --------------------------------------------------------------------------------- */

START_TEST(names_are_reported_once)
{
	add("a", 10, 100, 0);
	add("b", 20, 30, 0);
	add("a", 30, 20, 0);
	add("instant", 40, 0, 0);
	convert();
	ck_assert_str_eq(perfetto_find(" 11{"),
		"8:10 10:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"a\"}} 11{9:1 10:1}\n"
		"8:10 10:1 12{2{1:2 2:\"b\"}} 11{9:1 10:2}\n"
		"8:10 10:1 11{9:1 10:1}\n"
		"8:10 10:1 12{2{1:3 2:\"instant\"}} 11{9:3 10:3}\n"
		"8:10 10:1 11{9:2}\n"
		"8:0 10:1 11{9:2}\n"
		"8:60 10:1 11{9:2}\n");
	ck_assert_uint_eq(result.n_items, 4);
}
END_TEST

START_TEST(each_track_has_its_own_names)
{
	add("a", 10, 100, 0);
	add_line(43, "other");
	add("b", 10, 100, 0);
	add("a", 200, 5, 0);
	convert();
	ck_assert_str_eq(perfetto_find(" 11{9:1"),
		"8:10 10:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"a\"}} 11{9:1 10:1}\n"
		"8:10 10:2 12{1{1:1 2:\"step\"} 2{1:1 2:\"b\"}} 11{9:1 10:1}\n"
		"8:90 10:2 12{2{1:2 2:\"a\"}} 11{9:1 10:2}\n");
}
END_TEST

START_TEST(overlapping_spans_get_rows)
{
	plane_set_int(plane, "process_id", 4242);
	add("a", 10, 100, 0);
	add("b", 50, 100, 0);
	convert();
	ck_assert_str_eq(perfetto_find("60{1:3"), "8:10 60{1:3 2:\"main\" 5:2 12:0 15:3 17:1}\n");
	ck_assert_str_eq(perfetto_find(" 11{9"),
		"8:10 10:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"a\"}} 11{9:1 10:1}\n"
		"8:40 10:1 12{2{1:2 2:\"b\"}} 11{9:1 11:3 10:2}\n"
		"8:60 10:1 11{9:2}\n"
		"8:40 10:1 11{9:2 11:3}\n");
}
END_TEST

START_TEST(streams_and_async_spans_are_no_threads)
{
	add("request", 10, 5, one_stat("_a", STAT_INT64, 1));
	line = plane_add_line(
		plane = space_add_plane(space, 1, "/device:GPU:0"), 7, "Stream #7", 0);
	add("kernel", 10, 5, 0);
	convert();
	ck_assert_str_eq(perfetto_find("60{1:3"), "8:10 60{1:3 2:\"main\" 5:1 12:0}\n");
	ck_assert_str_eq(
		perfetto_find("60{1:4"), "8:10 60{1:4 2:\"Stream #7\" 5:2 12:1 15:3 17:2}\n");
}
END_TEST

START_TEST(unfinished_spans_stay_open)
{
	add("outer", 10, 90, one_stat("unfinished", STAT_INT64, 1));
	add("inner", 20, 10, 0);
	convert();
	ck_assert_str_eq(perfetto_find("11{9:2"), "8:10 10:1 11{9:2}\n");
}
END_TEST

START_TEST(unfinished_spans_in_finished_ones_end)
{
	add("outer", 10, 90, 0);
	add("inner", 20, 80, one_stat("unfinished", STAT_INT64, 1));
	convert();
	ck_assert_str_eq(perfetto_find("11{9:2"), "8:80 10:1 11{9:2}\n8:0 10:1 11{9:2}\n");
}
END_TEST

START_TEST(deep_spans_get_rows)
{
	for (int i = 0; i < 1001; i++)
		add("deep", i, 3000 - 2 * i, 0);
	convert();
	ck_assert_ptr_null(strstr(perfetto_find("12:0 15:3"), "60{1:5 "));
	ck_assert_ptr_nonnull(strstr(perfetto_find("12:0 15:3"), "60{1:4 "));
	ck_assert_str_eq(
		perfetto_find("11:4"), "8:1 10:1 11{9:1 11:4 10:1}\n8:1000 10:1 11{9:2 11:4}\n");
}
END_TEST

START_TEST(steps_have_a_category)
{
	add("train", 10, 5, int_stats("step_num", 3, "_r"));
	convert();
	ck_assert_str_eq(perfetto_find("11{9:1"),
		"8:10 10:1 12{1{1:1 2:\"step\"} 2{1:1 2:\"train\"} 3{1:1 2:\"step_num\"}} "
		"11{9:1 10:1 3:1 4{1:1 4:3}}\n");
}
END_TEST

START_TEST(flows_are_not_ended)
{
	const char *first;
	const char *id;
	char wanted[64];

	add("send", 10, 5, int_stats("_p", 7, "_x"));
	add("receive", 20, 5, int_stats("_c", 7, "_x"));
	convert();
	first = perfetto_packet(0) ? perfetto_find("\"send\"") : "";
	id = strstr(first, "47:#");
	ck_assert_ptr_nonnull(id);
	snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(id, " }"), id);
	ck_assert_ptr_nonnull(strstr(perfetto_find("\"receive\""), wanted));
	ck_assert_str_eq(perfetto_find("48:#"), "");
}
END_TEST

/* --- arguments ----------------------------------------------------------------------------- */

static void check_arg(uint32_t stats, const char *wanted)
{
	add("a", 10, 5, stats);
	convert();
	ck_assert_msg(strstr(perfetto_find("11{9:1"), wanted), "%s", perfetto_find("11{9:1"));
}

START_TEST(int_is_int)
{
	check_arg(one_stat("k", STAT_INT64, (uint64_t)-7),
		"3{1:1 2:\"k\"}} 11{9:1 10:1 4{1:1 4:-7}}");
}
END_TEST

START_TEST(uint_is_uint)
{
	check_arg(one_stat("k", STAT_UINT64, 7), "4{1:1 3:7}");
}
END_TEST

START_TEST(double_is_double)
{
	check_arg(double_stat(1.5), "4{1:1 5:#3ff8000000000000}");
}
END_TEST

START_TEST(text_is_text)
{
	check_arg(text_stat("k", "h\xc3\xa9"), "4{1:1 6:\"h\xc3\xa9\"}");
}
END_TEST

START_TEST(bytes_are_base64)
{
	check_arg(one_stat("k", STAT_BYTES, plane_add_blob(plane, "\x00\x01\xff\x02", 4)),
		"4{1:1 6:\"AAH/Ag==\"}");
}
END_TEST

/* The length takes two bytes, and the fields around the text stay right. */
START_TEST(long_texts_are_whole)
{
	char text[301] = "";
	char wanted[400];

	memset(text, 'x', 300);
	snprintf(wanted, sizeof wanted, "11{9:1 10:1 4{1:1 6:\"%s\"}}\n", text);
	check_arg(text_stat("k", text), wanted);
}
END_TEST

/* --- counters ------------------------------------------------------------------------------ */

START_TEST(counters_have_tracks_and_units)
{
	plane_set_int(plane, "process_id", 4242);
	add_line(-1, "_counters_");
	add("rss MiB", 10, 0, double_stat(1.5));
	add("rss MiB", 30, 0, double_stat(2.5));
	add("queue_bytes", 35, 0, one_stat("v", STAT_INT64, 5));
	convert();
	ck_assert_str_eq(perfetto_find(" 8{"), "8:10 60{1:3 2:\"rss MiB\" 5:1 12:0 8{6:\"MiB\"}}\n"
					       "8:10 60{1:4 2:\"queue_bytes\" 5:1 12:0 8{3:3}}\n");
	ck_assert_str_eq(perfetto_find("9:4"), "8:10 10:1 11{9:4 11:3 44:#3ff8000000000000}\n"
					       "8:20 10:1 11{9:4 11:3 44:#4004000000000000}\n"
					       "8:5 10:1 11{9:4 11:4 30:5}\n");
}
END_TEST

/* Our own encoder leaves such samples out, but others might not. */
/* The second sample is one of waiting, for which there is no packet. */
START_TEST(samples_refer_to_stacks_that_their_sequence_defines)
{
	plane_set_int(plane, "process_id", 7);
	add("outer", 0, 100, 0);
	add_samples();
	convert();
	ck_assert_str_eq(perfetto_find("59{12{"), "10:2 13:1 87:1 59{12{1{4:1 1:10}}}\n");
	ck_assert_str_eq(perfetto_find("66{"),
		"8:15 10:2 12{5{1:4 2:\"main\"} 16{1:1 2:\"\001#\"} 17{1:1 2:\"/bin/train\"} "
		"19{1:1 2:1 7:1} 6{1:1 2:4 3:1 4:64} 5{1:5 2:\"work\"} 6{1:2 2:5 4:1} "
		"7{1:2 2:1 2:2}} 66{1:1 2:7 3:42 4:2 5:2}\n");
	ck_assert_uint_eq(result.n_items, 2);
	ck_assert_uint_eq(result.n_losses, 1);
	ck_assert_str_eq(result.losses[0].what, "samples of waiting");
	ck_assert_uint_eq(result.losses[0].n, 1);
}
END_TEST

START_TEST(samples_without_a_number_are_counted)
{
	static const char odd[] =
		"\x0a\x22\x1a\x14\x12\x0a_counters_\x22\x02\x08\x01\x22\x02\x08\x01"
		"\x22\x0a\x08\x01\x12\x06\x12\x04load";

	view_add_bytes(odd, sizeof odd - 1, "odd.xplane.pb");
	view_make(&plain);
	perfetto_read();
	ck_assert_uint_eq(view->n_events, 2);
	ck_assert_uint_eq(result.n_items, 0);
	ck_assert_uint_eq(result.n_losses, 1);
	ck_assert_uint_eq(result.losses[0].n, 2);
}
END_TEST

static const struct {
	const char *name;
	const char *unit; /* NULL: none */
} units[] = {
	{"process rss MiB", "MiB"},
	{"process read bytes/s", "bytes/s"},
	{"queue_bytes", "bytes"},
	{"latency (us)", "us"},
	{"load [%]", "%"},
	{"bytes", NULL},
	{"status", NULL},
	{"jobs", NULL},
	{"", NULL},
	{")", NULL},
};

START_TEST(unit_is_the_last_word)
{
	const struct perfetto_unit *unit = perfetto_find_unit(units[_i].name);

	if (units[_i].unit) {
		ck_assert_ptr_nonnull(unit);
		ck_assert_str_eq(unit->name, units[_i].unit);
	} else {
		ck_assert_ptr_null(unit);
	}
}
END_TEST

/* --- ends ---------------------------------------------------------------------------------- */

START_TEST(ends_come_in_order)
{
	struct perfetto_ends ends = {.heap = NULL};
	struct perfetto_end last = {.end_ns = INT64_MIN};

	for (uint64_t i = 0; i < 1000; i++) {
		struct perfetto_end end = {.end_ns = (int64_t)(i * 7919 % 100), .order = i};

		ck_assert_int_eq(perfetto_ends_add(&ends, &end), 0);
	}
	for (int i = 0; i < 1000; i++) {
		struct perfetto_end end = perfetto_ends_take(&ends);

		ck_assert(end.end_ns > last.end_ns ||
			  (end.end_ns == last.end_ns && end.order < last.order));
		last = end;
	}
	ck_assert_uint_eq(ends.n, 0);
	free(ends.heap);
}
END_TEST

/* --- bundles ------------------------------------------------------------------------------- */

/* Adds events for several bundles. */
static void add_many(void)
{
	for (int i = 0; i < 120000; i++)
		add("span", i * 10, 5, one_stat("k", STAT_INT64, (uint64_t)i * 7919));
	view_add_space(space, "gpu7.xplane.pb");
	view_make(&plain);
}

static size_t inflate_bundle(const struct pb_field *packet, unsigned char *out, size_t n_out)
{
	struct pb_reader r = pb_enter(packet);
	struct pb_field bundle;
	uLongf n = n_out;

	ck_assert_int_eq(pb_next(&r, &bundle), 1);
	ck_assert_uint_eq(bundle.tag, PB_TAG(50, PB_LEN));
	ck_assert_int_eq(uncompress(out, &n, bundle.data, bundle.n_bytes), Z_OK);
	ck_assert_uint_lt(n, 512 << 10);
	return n;
}

START_TEST(bundles_hold_the_packets)
{
	size_t n_plain;
	size_t n_bundles;
	size_t n = 0;
	unsigned char *inflated = malloc(64u << 20);
	const unsigned char *bundles;
	unsigned char *expected;
	struct pb_reader r;
	struct pb_field packet;

	add_many();
	bundles = perfetto_convert(0, 1, &n_plain);
	expected = malloc(n_plain);
	memcpy(expected, bundles, n_plain);
	bundles = perfetto_convert(6, 3, &n_bundles);
	r = pb_reader(bundles, n_bundles);
	ck_assert_uint_lt(n_bundles, n_plain / 2);
	while (pb_next(&r, &packet) > 0)
		n += inflate_bundle(&packet, inflated + n, (64u << 20) - n);
	ck_assert_uint_eq(n, n_plain);
	ck_assert_mem_eq(inflated, expected, n);
	free(inflated);
	free(expected);
}
END_TEST

START_TEST(number_of_threads_does_not_change_the_output)
{
	size_t n_one;
	size_t n_many;
	const unsigned char *bytes;
	unsigned char *one;

	add_many();
	bytes = perfetto_convert(1, 1, &n_one);
	one = malloc(n_one);
	memcpy(one, bytes, n_one);
	bytes = perfetto_convert(1, 9, &n_many);
	ck_assert_uint_eq(n_one, n_many);
	ck_assert_mem_eq(one, bytes, n_one);
	free(one);
}
END_TEST

static const struct unit_test facts_tests[] = {
	UNIT_TEST(clocks_come_first),
	UNIT_TEST(tracks_are_described_before_events),
	UNIT_TEST(loss_comes_last),
	UNIT_TEST(archives_of_one_pid_are_machines),
	UNIT_TEST(archives_of_a_host_are_one_machine),
	UNIT_TEST(groups_are_labelled_with_their_programs),
	UNIT_TEST(labels_of_a_large_group_are_cut),
	UNIT_TEST(times_before_the_beginning_are_moved),
	{NULL},
};

static const struct unit_test spans_tests[] = {
	UNIT_TEST(names_are_reported_once),
	UNIT_TEST(each_track_has_its_own_names),
	UNIT_TEST(overlapping_spans_get_rows),
	UNIT_TEST(streams_and_async_spans_are_no_threads),
	UNIT_TEST(unfinished_spans_stay_open),
	UNIT_TEST(unfinished_spans_in_finished_ones_end),
	UNIT_TEST(deep_spans_get_rows),
	UNIT_TEST(steps_have_a_category),
	UNIT_TEST(flows_are_not_ended),
	UNIT_TEST(ends_come_in_order),
	{NULL},
};

static const struct unit_test args_tests[] = {
	UNIT_TEST(int_is_int),
	UNIT_TEST(uint_is_uint),
	UNIT_TEST(double_is_double),
	UNIT_TEST(text_is_text),
	UNIT_TEST(bytes_are_base64),
	UNIT_TEST(long_texts_are_whole),
	{NULL},
};

static const struct unit_test counters_tests[] = {
	UNIT_TEST(counters_have_tracks_and_units),
	UNIT_TEST(samples_without_a_number_are_counted),
	UNIT_TEST(samples_refer_to_stacks_that_their_sequence_defines),
	UNIT_LOOP(unit_is_the_last_word, sizeof units / sizeof *units),
	{NULL},
};

static const struct unit_test bundles_tests[] = {
	UNIT_TEST(bundles_hold_the_packets),
	UNIT_TEST(number_of_threads_does_not_change_the_output),
	{NULL},
};

static const struct unit cases[] = {
	{"facts", .set_up = set_up, .tear_down = tear_down, .tests = facts_tests},
	{"spans", .set_up = set_up, .tear_down = tear_down, .tests = spans_tests},
	{"args", .set_up = set_up, .tear_down = tear_down, .tests = args_tests},
	{"counters", .set_up = set_up, .tear_down = tear_down, .tests = counters_tests},
	{"bundles", .set_up = set_up, .tear_down = tear_down, .tests = bundles_tests},
	{NULL},
};

UNIT_MAIN_OF("perfetto", cases)
