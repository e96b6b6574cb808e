/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the drawing of a timeline: which spans of a view are chosen, how deep they are,
 * and their form in the answer.
 */
#include "trace/report/drawing.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"

static const struct view_options options_of_view = {.align = VIEW_ALIGN_EPOCH};
static json_t *drawing;

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	drawing = NULL;
}

static void tear_down(void)
{
	json_decref(drawing);
	view_fixture_close();
	space_fixture_close();
}

static json_t *write_and_read(const struct drawing_options *options)
{
	struct diag d = DIAG_INIT;
	char *text = NULL;
	json_t *all;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	ck_assert_msg(drawing_write_json(view, options, out, &d) == 0, "%s", d.text);
	fclose(out);
	all = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(all != NULL, "%s", text);
	free(text);
	return all;
}

static void draw(size_t n_spans, size_t depth)
{
	const struct drawing_options options = {.n_spans = n_spans, .depth = depth};

	if (!view) {
		view_add_space(space, "a.xplane.pb");
		view_make(&options_of_view);
	}
	json_decref(drawing);
	drawing = write_and_read(&options);
}

static size_t append_span(char *text, size_t n, const json_t *span)
{
	size_t name = (size_t)json_integer_value(json_array_get(span, 0));
	const json_t *step = json_array_get(span, 4);

	ck_assert_uint_eq(json_array_size(span), 5);
	n += (size_t)sprintf(text + n, "%s%s %lld+%lld/%lld", n ? ", " : "",
		json_string_value(json_array_get(json_object_get(drawing, "names"), name)),
		(long long)json_integer_value(json_array_get(span, 1)),
		(long long)json_integer_value(json_array_get(span, 2)),
		(long long)json_integer_value(json_array_get(span, 3)));
	if (!json_is_null(step))
		n += (size_t)sprintf(text + n, "#%lld", (long long)json_integer_value(step));
	return n;
}

/* Returns the spans of a track as "name start+duration/depth", steps with "#number". */
static const char *list(size_t track)
{
	static char text[8192];
	const json_t *spans =
		json_object_get(json_array_get(json_object_get(drawing, "tracks"), track), "spans");
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < json_array_size(spans); i++)
		n = append_span(text, n, json_array_get(spans, i));
	return text;
}

static size_t count_tracks(void)
{
	return json_array_size(json_object_get(drawing, "tracks"));
}

static long long get(const char *key)
{
	return json_integer_value(json_object_get(drawing, key));
}

/* The choice of spans. */

START_TEST(spans_are_as_deep_as_others_are_around_them)
{
	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	add("c", 20, 20, 0);
	add("d", 70, 10, 0);
	add("e", 100, 5, 0);
	draw(10, 64);
	ck_assert_str_eq(list(0), "a 0+100/0, b 10+50/1, c 20+20/2, d 70+10/1, e 100+5/0");
	ck_assert_int_eq(get("n_left_out"), 0);
	draw(10, 2);
	ck_assert_str_eq(list(0), "a 0+100/0, b 10+50/1, d 70+10/1, e 100+5/0");
	/* A span that is too deep is not counted as left out for want of room. */
	ck_assert_int_eq(get("n_left_out"), 0);
	draw(10, 1);
	ck_assert_str_eq(list(0), "a 0+100/0, e 100+5/0");
}
END_TEST

/* Spans of a device's streams overlap. */
START_TEST(overlapping_spans_lie_below_each_other)
{
	add("a", 0, 100, 0);
	add("b", 90, 50, 0);
	add("c", 120, 50, 0);
	add("d", 150, 5, 0);
	draw(10, 64);
	ck_assert_str_eq(list(0), "a 0+100/0, b 90+50/1, c 120+50/1, d 150+5/1");
}
END_TEST

/* Spans that JAX's server recorded of a thread are drawn in its row, below those of our server. */
START_TEST(a_thread_that_two_servers_saw_is_one_track)
{
	const json_t *files;

	view_add_stock(4242, "vm");
	view_add_ours("42 -91\n");
	view_make(&options_of_view);
	draw(10, 64);
	ck_assert_uint_eq(count_tracks(), 3);
	for (size_t i = 0; i < 3; i++) {
		files = json_object_get(
			json_array_get(json_object_get(drawing, "tracks"), i), "files");
		if (files)
			ck_assert_str_eq(list(i), "ours 0+10/0, jax 0+20/1");
		if (files)
			break;
	}
	ck_assert_uint_eq(json_array_size(files), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *file = json_array_get(files, i);

		ck_assert_str_eq(json_string_value(json_object_get(file, "name")),
			i ? "vm_9012" : "vm_4242");
		ck_assert_int_eq(json_integer_value(json_object_get(file, "depth")), (int)i);
	}
}
END_TEST

START_TEST(steps_are_there_however_deep)
{
	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	add("step", 20, 20, int_stats("step_num", 17, "_r"));
	draw(10, 1);
	ck_assert_str_eq(list(0), "a 0+100/0, step 20+20/2#17");
	/* Longer spans displace them. */
	draw(1, 64);
	ck_assert_str_eq(list(0), "step 20+20/2#17");
	ck_assert_int_eq(get("n_left_out"), 2);
}
END_TEST

START_TEST(depth_of_very_deep_spans_is_limited)
{
	for (int i = 0; i < 1200; i++)
		add("a", i, 3000 - 2 * i, i == 1199 ? int_stats("step_num", 1, "_r") : 0);
	add("b", 4000, 1, 0);
	draw(2000, DRAWING_MAX_DEPTH);
	ck_assert_uint_eq(json_array_size(json_object_get(
				  json_array_get(json_object_get(drawing, "tracks"), 0), "spans")),
		DRAWING_MAX_DEPTH + 2);
	draw(2, 1);
	ck_assert_str_eq(list(0), "a 0+3000/0, a 1199+602/1024#1");
}
END_TEST

START_TEST(longest_spans_are_kept)
{
	for (int i = 0; i < 100; i++)
		add("a", 1000 * i, 1 + i * 37 % 100, 0);
	draw(3, 1);
	ck_assert_str_eq(list(0), "a 27000+100/0, a 54000+99/0, a 81000+98/0");
	ck_assert_int_eq(get("n_left_out"), 97);
}
END_TEST

/* The order of the lengths does not matter. */
START_TEST(longest_spans_are_kept_in_any_order)
{
	char expected[32];

	for (int i = 0; i < 100; i++)
		add("b", 1000 * i, 200 - i, 0);
	line = plane_add_line(plane, 43, "other", 0);
	for (int i = 0; i < 100; i++)
		add("a", 1000 * i, 1 + i, 0);
	draw(50, 1);
	ck_assert_uint_eq(count_tracks(), 1);
	for (int i = 0; i < 50; i++) {
		sprintf(expected, "b %d+%d/0", 1000 * i, 200 - i);
		ck_assert_msg(strstr(list(0), expected) != NULL, "%s", expected);
	}
	draw(150, 1);
	ck_assert_ptr_nonnull(strstr(list(0), "b 99000+101/0"));
	ck_assert_ptr_nonnull(strstr(list(1), "a 99000+100/0"));
	ck_assert_ptr_nonnull(strstr(list(1), "a 50000+51/0"));
	ck_assert_ptr_null(strstr(list(1), "a 49000+50/0"));
}
END_TEST

START_TEST(first_of_equally_long_spans_are_kept)
{
	for (int i = 0; i < 10; i++)
		add("a", 10 * i, 5, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("b", 0, 5, 0);
	draw(3, 1);
	ck_assert_uint_eq(count_tracks(), 1);
	ck_assert_str_eq(list(0), "a 0+5/0, a 10+5/0, a 20+5/0");
}
END_TEST

/* The attributes of spans. */

START_TEST(names_are_reported_once)
{
	add("unseen", 0, 1, 0);
	add("b", 10, 50, 0);
	add("a", 70, 50, 0);
	add("b", 130, 50, 0);
	draw(3, 1);
	ck_assert_uint_eq(json_array_size(json_object_get(drawing, "names")), 2);
	ck_assert_str_eq(list(0), "b 10+50/0, a 70+50/0, b 130+50/0");
}
END_TEST

static const char *text_of(const json_t *track, const char *key)
{
	return json_string_value(json_object_get(track, key));
}

START_TEST(tracks_name_their_process_or_device)
{
	const json_t *track;

	plane_set_int(plane, "process_id", 4242);
	plane_set_string(plane, "ptap_process_name", "train");
	add("a", 0, 1, 0);
	plane = space_add_plane(space, 1, "/device:GPU:3");
	line = plane_add_line(plane, 7, "Stream #7", 0);
	add("kernel", 0, 9, 0);
	draw(10, 1);
	ck_assert_uint_eq(count_tracks(), 2);
	track = json_array_get(json_object_get(drawing, "tracks"), 0);
	ck_assert_str_eq(text_of(track, "process"), "train");
	ck_assert_str_eq(text_of(track, "thread"), "main");
	ck_assert_int_eq(json_integer_value(json_object_get(track, "pid")), 4242);
	ck_assert_int_eq(json_integer_value(json_object_get(track, "tid")), 42);
	ck_assert(json_is_null(json_object_get(track, "device")));
	track = json_array_get(json_object_get(drawing, "tracks"), 1);
	ck_assert_str_eq(text_of(track, "thread"), "Stream #7");
	ck_assert(json_is_integer(json_object_get(track, "device")));
	ck_assert_int_eq(json_integer_value(json_object_get(track, "device")), 0);
	ck_assert_str_eq(list(1), "kernel 0+9/0");
}
END_TEST

/* These are instants, spans that cross in any way, and events that repeat others. */
START_TEST(events_that_no_lane_can_hold_are_left_out)
{
	add("instant", 5, 0, 0);
	line = plane_add_line(plane, 44, "async", 0);
	add("anywhere", 5, 7, int_stats("_a", 1, "x"));
	line = plane_add_line(plane, (int64_t)0xdeadbeef, "Steps", 0);
	add("again", 5, 10, 0);
	draw(10, 64);
	ck_assert_uint_eq(count_tracks(), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(drawing, "names")), 0);
	ck_assert_int_eq(get("n_left_out"), 0);
	ck_assert_int_eq(get("end_ns"), 15);
}
END_TEST

/* Returns the arrows as "name track:ns/depth>track:ns/depth". */
static const char *list_flows(void)
{
	static char text[1024];
	const json_t *flows = json_object_get(drawing, "flows");
	long long v[7];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < json_array_size(flows); i++) {
		for (size_t k = 0; k < 7; k++)
			v[k] = json_integer_value(json_array_get(json_array_get(flows, i), k));
		n += (size_t)sprintf(text + n, "%s%s %lld:%lld/%lld>%lld:%lld/%lld", n ? ", " : "",
			json_string_value(
				json_array_get(json_object_get(drawing, "names"), (size_t)v[0])),
			v[1], v[2], v[3], v[4], v[5], v[6]);
	}
	return text;
}

START_TEST(flows_are_arrows_from_span_to_span)
{
	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	add("job", 20, 0, int_stats("_p", 17, "_r"));
	add("lost", 30, 0, int_stats("_p", 18, "_r"));
	line = plane_add_line(plane, 43, "other", 0);
	add("c", 40, 100, 0);
	add("job", 50, 0, int_stats("_c", 17, "_r"));
	line = plane_add_line(plane, 44, "without spans", 0);
	add("job", 60, 0, int_stats("_c", 17, "_r"));
	add("of nobody", 70, 0, int_stats("_c", 19, "_r"));
	draw(10, 64);
	ck_assert_str_eq(list_flows(), "job 0:20/1>1:50/0, job 0:20/1>2:60/0");
	ck_assert_uint_eq(count_tracks(), 3);
	ck_assert_str_eq(list(2), "");
	ck_assert_int_eq(get("n_flows_left_out"), 0);
}
END_TEST

START_TEST(flows_beyond_the_limit_are_left_out_whole)
{
	for (int i = 0; i < 10000; i++)
		add("job", 2 * i, 0, int_stats("_p", 1 + i, "_r"));
	line = plane_add_line(plane, 43, "other", 0);
	for (int i = 0; i < 10000; i++)
		add("job", 2 * i + 1, 0, int_stats("_c", 1 + i, "_r"));
	draw(10, 64);
	ck_assert_uint_eq(json_array_size(json_object_get(drawing, "flows")) +
				  (size_t)get("n_flows_left_out"),
		10000);
	ck_assert_uint_gt(json_array_size(json_object_get(drawing, "flows")), 500);
}
END_TEST

static const json_t *points_of(size_t i)
{
	return json_object_get(json_array_get(json_object_get(drawing, "counters"), i), "points");
}

static double at(const json_t *points, size_t i, size_t k)
{
	return json_number_value(json_array_get(json_array_get(points, i), k));
}

START_TEST(counters_have_their_samples)
{
	line = plane_add_line(plane, 43, "_counters_", 0);
	add("load", 5, 0, double_stat(7));
	add("depth", 6, 0, double_stat(1));
	add("load", 15, 0, double_stat(8.5));
	draw(10, 64);
	ck_assert_uint_eq(count_tracks(), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(drawing, "counters")), 2);
	ck_assert_str_eq(json_string_value(json_object_get(
				 json_array_get(json_object_get(drawing, "counters"), 0), "name")),
		"load");
	ck_assert_uint_eq(json_array_size(points_of(0)), 2);
	ck_assert_double_eq(at(points_of(0), 1, 0), 15);
	ck_assert_double_eq(at(points_of(0), 1, 1), 8.5);
}
END_TEST

/* A window between two samples has a value, too. */
START_TEST(samples_around_a_window_are_kept)
{
	struct selection window = SELECTION_INIT;
	const struct view_options options = {.align = VIEW_ALIGN_EPOCH, .selection = &window};

	window.from_ns = 25;
	window.to_ns = 35;
	line = plane_add_line(plane, 43, "_counters_", 0);
	for (int i = 0; i < 10; i++)
		add("load", 10 * i, 0, double_stat(i));
	view_add_space(space, "a.xplane.pb");
	view_make(&options);
	draw(10, 64);
	ck_assert_uint_eq(json_array_size(points_of(0)), 3);
	ck_assert_double_eq(at(points_of(0), 0, 0), 20);
	ck_assert_double_eq(at(points_of(0), 2, 0), 40);
}
END_TEST

START_TEST(many_samples_are_halved)
{
	line = plane_add_line(plane, 43, "_counters_", 0);
	for (int i = 0; i < 2000; i++)
		add("load", 10 * i, 0, double_stat(i));
	draw(10, 64);
	ck_assert_uint_eq(json_array_size(points_of(0)), 1000);
	ck_assert_int_eq(get("n_points_left_out"), 1000);
	ck_assert_double_eq(at(points_of(0), 999, 0), 19980);
}
END_TEST

static void set_epoch(int64_t unix_ns)
{
	struct plane *environment = space_add_plane(space, 9, "Task Environment");

	plane_set_uint(environment, "profile_start_time", (uint64_t)unix_ns);
}

START_TEST(time_is_the_views)
{
	add("a", 100, 50, 0);
	set_epoch(INT64_C(1700000000123456789));
	draw(10, 1);
	ck_assert_str_eq(text_of(drawing, "epoch_unix_ns"), "1700000000123456789");
	ck_assert_int_eq(get("end_ns"), 150);
}
END_TEST

START_TEST(a_trace_that_tells_no_epoch_has_none)
{
	draw(10, 1);
	ck_assert(json_is_null(json_object_get(drawing, "epoch_unix_ns")));
	ck_assert_uint_eq(count_tracks(), 0);
}
END_TEST

START_TEST(write_error_is_reported)
{
	const struct drawing_options options = {.n_spans = 10, .depth = 1};
	FILE *full = fopen("/dev/full", "we");
	struct diag d = DIAG_INIT;

	add("a", 0, 1, 0);
	view_add_space(space, "a.xplane.pb");
	view_make(&options_of_view);
	ck_assert_int_eq(drawing_write_json(view, &options, full, &d), -ENOSPC);
	ck_assert_str_ne(d.text, "");
	fclose(full);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(spans_are_as_deep_as_others_are_around_them),
	UNIT_TEST(overlapping_spans_lie_below_each_other),
	UNIT_TEST(a_thread_that_two_servers_saw_is_one_track),
	UNIT_TEST(steps_are_there_however_deep),
	UNIT_TEST(depth_of_very_deep_spans_is_limited),
	UNIT_TEST(longest_spans_are_kept),
	UNIT_TEST(longest_spans_are_kept_in_any_order),
	UNIT_TEST(first_of_equally_long_spans_are_kept),
	UNIT_TEST(names_are_reported_once),
	UNIT_TEST(tracks_name_their_process_or_device),
	UNIT_TEST(events_that_no_lane_can_hold_are_left_out),
	UNIT_TEST(flows_are_arrows_from_span_to_span),
	UNIT_TEST(flows_beyond_the_limit_are_left_out_whole),
	UNIT_TEST(counters_have_their_samples),
	UNIT_TEST(samples_around_a_window_are_kept),
	UNIT_TEST(many_samples_are_halved),
	UNIT_TEST(time_is_the_views),
	UNIT_TEST(a_trace_that_tells_no_epoch_has_none),
	UNIT_TEST(write_error_is_reported),
	{NULL},
};

UNIT_MAIN("drawing", .set_up = set_up, .tear_down = tear_down, .tests = tests)
