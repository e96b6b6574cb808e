/* SPDX-License-Identifier: Apache-2.0 */
/* What a timeline draws: which spans of a view are chosen, how deep they are, and how they are told. */
#include "trace/report/drawing.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "tests/unit/space_fixture.h"
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

/* The spans of a track as "name start+duration/depth", steps with "#number". */
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

/* Which ones. */

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
	/* What is too deep was not left out for want of room. */
	ck_assert_int_eq(get("n_left_out"), 0);
	draw(10, 1);
	ck_assert_str_eq(list(0), "a 0+100/0, e 100+5/0");
}
END_TEST

/* As on a device's streams. */
START_TEST(those_that_overlap_lie_below_each_other)
{
	add("a", 0, 100, 0);
	add("b", 90, 50, 0);
	add("c", 120, 50, 0);
	add("d", 150, 5, 0);
	draw(10, 64);
	ck_assert_str_eq(list(0), "a 0+100/0, b 90+50/1, c 120+50/1, d 150+5/1");
}
END_TEST

START_TEST(steps_are_there_however_deep)
{
	add("a", 0, 100, 0);
	add("b", 10, 50, 0);
	add("step", 20, 20, int_stats("step_num", 17, "_r"));
	draw(10, 1);
	ck_assert_str_eq(list(0), "a 0+100/0, step 20+20/2#17");
	/* Longer ones make room for them. */
	draw(1, 64);
	ck_assert_str_eq(list(0), "step 20+20/2#17");
	ck_assert_int_eq(get("n_left_out"), 2);
}
END_TEST

START_TEST(of_very_deep_ones_the_depth_is_counted_no_further)
{
	for (int i = 0; i < 200; i++)
		add("a", i, 1000 - 2 * i, i == 199 ? int_stats("step_num", 1, "_r") : 0);
	add("b", 2000, 1, 0);
	draw(1000, DRAWING_MAX_DEPTH);
	ck_assert_uint_eq(json_array_size(json_object_get(
				  json_array_get(json_object_get(drawing, "tracks"), 0), "spans")),
		DRAWING_MAX_DEPTH + 2);
	draw(2, 1);
	ck_assert_str_eq(list(0), "a 0+1000/0, a 199+602/64#1");
}
END_TEST

START_TEST(of_more_than_are_wanted_the_longest_are_kept)
{
	for (int i = 0; i < 100; i++)
		add("a", 1000 * i, 1 + i * 37 % 100, 0);
	draw(3, 1);
	ck_assert_str_eq(list(0), "a 27000+100/0, a 54000+99/0, a 81000+98/0");
	ck_assert_int_eq(get("n_left_out"), 97);
}
END_TEST

/* Whichever way they come. */
START_TEST(it_is_the_same_of_those_that_grow_or_shrink)
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

START_TEST(of_equals_the_first_are_kept)
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

/* What is told of them. */

START_TEST(names_are_told_once)
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

START_TEST(tracks_say_whose_they_are)
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

/* Instants, samples of counters, spans that begin and end anywhere, and what says again what others say. */
START_TEST(what_no_lane_has_is_left_out)
{
	add("instant", 5, 0, 0);
	line = plane_add_line(plane, 43, "_counters_", 0);
	add("counter", 5, 0, double_stat(7));
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

START_TEST(what_cannot_be_written_is_said)
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

int main(void)
{
	Suite *suite = suite_create("drawing");
	TCase *tests = tcase_create("drawing");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, spans_are_as_deep_as_others_are_around_them);
	tcase_add_test(tests, those_that_overlap_lie_below_each_other);
	tcase_add_test(tests, steps_are_there_however_deep);
	tcase_add_test(tests, of_very_deep_ones_the_depth_is_counted_no_further);
	tcase_add_test(tests, of_more_than_are_wanted_the_longest_are_kept);
	tcase_add_test(tests, it_is_the_same_of_those_that_grow_or_shrink);
	tcase_add_test(tests, of_equals_the_first_are_kept);
	tcase_add_test(tests, names_are_told_once);
	tcase_add_test(tests, tracks_say_whose_they_are);
	tcase_add_test(tests, what_no_lane_has_is_left_out);
	tcase_add_test(tests, time_is_the_views);
	tcase_add_test(tests, a_trace_that_tells_no_epoch_has_none);
	tcase_add_test(tests, what_cannot_be_written_is_said);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
