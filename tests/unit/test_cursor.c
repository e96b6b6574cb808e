/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests cursors: the order of items, their meaning, and the program's arguments; and the
 * lanes of items that overlap.
 */
#include "trace/read/cursor.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/lanes.h"
#include "trace/read/selection.h"

static struct cursor cursor;
static struct item item;

static const struct view_options plain = {.align = VIEW_ALIGN_EPOCH};

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	cursor = (struct cursor){.view = NULL};
}

static void tear_down(void)
{
	cursor_close(&cursor);
	view_fixture_close();
	space_fixture_close();
}

static void open_first(void)
{
	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
	ck_assert_int_eq(cursor_open(&cursor, view, &view->tracks[0], NULL), 0);
}

static void next(void)
{
	ck_assert_int_eq(cursor_next(&cursor, &item), 1);
}

/* Order. */

/* Adds a line of two events with the ids 1 and 2 and the given offsets; then {1: "a", 2: "b"}. */
static void add_two(char first_ps, char first_duration_ps, char second_ps, char second_duration_ps)
{
	char text[] = "\x0a\x28\x1a\x10\x22\x06\x08\x01\x10.\x18.\x22\x06\x08\x02\x10.\x18."
		      "\x22\x08\x08\x01\x12\x04\x12\x02"
		      "aa\x22\x08\x08\x02\x12\x04\x12\x02"
		      "bb";

	text[9] = first_ps;
	text[11] = first_duration_ps;
	text[17] = second_ps;
	text[19] = second_duration_ps;
	text[1] = (char)(sizeof text - 1 - 2);
	view_add_bytes(text, sizeof text - 1, "a.xplane.pb");
	view_make(&plain);
}

START_TEST(a_line_in_order_is_read_as_it_is)
{
	add_two(0, 10, 0, 5);
	ck_assert(view->tracks[0].line->is_ordered);
	ck_assert_str_eq(view_list(&view->tracks[0]), "aa 0+0, bb 0+0");
}
END_TEST

START_TEST(a_line_that_is_out_of_order_is_sorted)
{
	add("late", 50, 5, 0);
	add("inner", 10, 1, 0);
	add("outer", 10, 30, 0);
	add("same", 10, 30, 0);
	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
	ck_assert(!view->tracks[0].line->is_ordered);
	ck_assert_str_eq(
		view_list(&view->tracks[0]), "outer 10+30, same 10+30, inner 10+1, late 50+5");
	ck_assert_int_eq(view->first_ns, 10);
	ck_assert_int_eq(view->end_ns, 55);
}
END_TEST

START_TEST(rewinding_does_not_sort_again)
{
	const struct cursor_place *order;

	add("late", 50, 5, 0);
	add("early", 10, 1, 0);
	open_first();
	order = cursor.sources[0].order;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(cursor_next(&cursor, &item), 1);
		ck_assert_int_eq(item.start_ns, 10);
		ck_assert_int_eq(cursor_next(&cursor, &item), 1);
		ck_assert_int_eq(item.start_ns, 50);
		ck_assert_int_eq(cursor_next(&cursor, &item), 0);
		cursor_rewind(&cursor);
	}
	ck_assert_ptr_eq(cursor.sources[0].order, order);
}
END_TEST

/* The events are enough for every way of sorting. Many have one start, some one before 0. */
START_TEST(events_in_any_order_are_sorted)
{
	int64_t last_start = INT64_MIN;
	int64_t last_duration = 0;
	int n_bad = 0;
	int n = 0;

	srandom(7);
	for (int i = 0; i < 5000; i++)
		add("a", random() % 500 * (i % 3 ? 1 : 1000000007) - 200, random() % 10, 0);
	open_first();
	ck_assert(!view->tracks[0].line->is_ordered);
	for (; cursor_next(&cursor, &item) > 0; n++) {
		n_bad += item.start_ns < last_start ||
			 (item.start_ns == last_start && item.duration_ns > last_duration);
		last_start = item.start_ns;
		last_duration = item.duration_ns;
	}
	ck_assert_int_eq(n, 5000);
	ck_assert_int_eq(n_bad, 0);
}
END_TEST

/* Names. */

START_TEST(missing_names_are_made_of_ids)
{
	static const char text[] = "\x0a\x0a\x1a\x08\x22\x06\x08\x07\x10\x01\x18\x02";

	view_add_bytes(text, sizeof text - 1, "a.xplane.pb");
	view_make(&plain);
	ck_assert_str_eq(view_list(&view->tracks[0]), "?7 0+0");
}
END_TEST

START_TEST(archives_share_names)
{
	add("a", 0, 1, 0);
	view_add_space(space, "a.xplane.pb");
	add("b", 1, 1, 0);
	view_add_space(space, "b.xplane.pb");
	view_make(&plain);
	ck_assert_str_eq(view_list(&view->tracks[0]), "a 0+1");
	ck_assert_str_eq(view_list(&view->tracks[1]), "a 0+1, b 1+1");
	ck_assert_uint_eq(view->names.n_texts, 3); /* including the name for items without one */
}
END_TEST

/* Meaning. */

START_TEST(items_have_the_kinds_of_their_events)
{
	add("span", 0, 1, 0);
	add("instant", 1, 0, 0);
	add("step", 2, 0, int_stats("step_num", 17, "_r"));
	add("open", 3, 0, int_stats("x", 3, "unfinished"));
	open_first();
	next();
	ck_assert_int_eq(item.kind, ITEM_SPAN);
	next();
	ck_assert_int_eq(item.kind, ITEM_INSTANT);
	next();
	ck_assert_int_eq(item.kind, ITEM_SPAN);
	ck_assert(item.is_step);
	ck_assert_int_eq(item.step_num, 17);
	ck_assert_uint_eq(item.n_args, 1);
	ck_assert_str_eq(item.args[0].key, "step_num");
	next();
	ck_assert_int_eq(item.kind, ITEM_SPAN);
	ck_assert(item.is_unfinished);
	ck_assert_int_eq(cursor_next(&cursor, &item), 0);
}
END_TEST

START_TEST(samples_have_their_value_first)
{
	double value = 0;

	line = plane_add_line(plane, 7, LINE_COUNTERS, 0);
	add("rss", 5, 0, double_stat(2.5));
	open_first();
	next();
	ck_assert_int_eq(item.kind, ITEM_SAMPLE);
	ck_assert(item_arg_to_double(&item.args[0], &value));
	ck_assert_double_eq(value, 2.5);
}
END_TEST

START_TEST(only_proftaps_flows_join_two_archives)
{
	uint64_t ours;
	uint64_t others;

	plane_set_string(plane, "ptap_process_name", "train");
	add("out", 0, 0, int_stats("_p", 7, "x"));
	add("typed", 1, 0, int_stats("_p", 7, "_pt"));
	view_add_space(space, "a.xplane.pb");
	space_fixture_close();
	space_fixture_open();
	plane_set_string(plane, "ptap_process_name", "train");
	add("in", 0, 0, int_stats("_c", 7, "x"));
	add("typed", 1, 0, int_stats("_c", 7, "_ct"));
	view_add_space(space, "b.xplane.pb");
	view_make(&plain);
	ck_assert_int_eq(cursor_open(&cursor, view, &view->tracks[0], NULL), 0);
	next();
	ours = item.flow_out;
	next();
	others = item.flow_out;
	ck_assert_uint_ne(ours, 0);
	ck_assert_uint_ne(ours, others);
	ck_assert_uint_eq(item.n_args, 0);
	cursor_close(&cursor);
	ck_assert_int_eq(cursor_open(&cursor, view, &view->tracks[1], NULL), 0);
	next();
	ck_assert_uint_eq(item.flow_in, ours);
	next();
	ck_assert_uint_ne(item.flow_in, others);
}
END_TEST

/* Lists a thread's marks of one flow, in order, by their ids in the view. */
static void list_flows(size_t track, uint64_t *flows, size_t n)
{
	ck_assert_int_eq(cursor_open(&cursor, view, &view->tracks[track], NULL), 0);
	for (size_t i = 0; i < n; i++) {
		next();
		flows[i] = item.flow_in + item.flow_out;
	}
	cursor_close(&cursor);
}

/* A flow leaves the thread main at 100, 300 and 500, and arrives elsewhere at 200, 400 and 600. */
static void use_again(void)
{
	space_fixture_close();
	space_fixture_open();
	plane_set_string(plane, "ptap_process_name", "train");
	plane_set_int(space_add_plane(space, 1, PLANE_ENVIRONMENT), "profile_start_time", 1000000);
	for (int i = 0; i < 3; i++)
		add("slot", 200 * i + 100, 0, int_stats("_p", 7, "x"));
	line = plane_add_line(plane, 43, "elsewhere", 0);
	for (int i = 0; i < 3; i++)
		add("slot", 200 * i + 200, 0, int_stats("_c", 7, "x"));
}

START_TEST(each_use_of_a_flow_s_id_is_a_flow)
{
	uint64_t out[3];
	uint64_t in[3];

	use_again();
	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
	list_flows(0, out, 3);
	list_flows(1, in, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_ne(out[i], 0);
		ck_assert_uint_eq(in[i], out[i]);
		ck_assert_uint_ne(out[i], out[(i + 1) % 3]);
	}
	ck_assert_uint_eq(view->notes.n_texts, 0);
}
END_TEST

static void expect_lone(uint64_t first, uint64_t second, uint64_t third, const char *note)
{
	const uint64_t joins[] = {first, second, third};
	uint64_t out[3];
	uint64_t in[3];

	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
	list_flows(0, out, 3);
	list_flows(1, in, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(in[i], joins[i] ? out[i] : 0);
	ck_assert_uint_eq(view->notes.n_texts, 1);
	ck_assert_ptr_nonnull(strstr(view->notes.texts[0], note));
}

START_TEST(a_flow_with_a_begin_that_may_be_lost_joins_nothing)
{
	use_again();
	plane_set_uint(plane, "ptap_complete_since_ns", 1000250);
	expect_lone(0, 1, 1, "1 ends of flows are not joined");
}
END_TEST

START_TEST(flows_are_not_joined_across_lost_records)
{
	use_again();
	plane_set_string(plane, "ptap_gaps_ns", "1000150-1000160 1000510-1000520");
	expect_lone(0, 1, 0, "2 ends of flows are not joined");
}
END_TEST

START_TEST(a_flow_of_a_unique_id_is_joined_across_lost_records)
{
	uint64_t out;
	uint64_t in;

	use_again();
	plane_set_string(plane, "ptap_gaps_ns", "1000000-1000900");
	line = &plane->lines[0];
	add("once", 700, 0, int_stats("_p", 8, "x"));
	line = plane_add_line(plane, 44, "third", 0);
	add("once", 800, 0, int_stats("_c", 8, "x"));
	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
	list_flows(2, &in, 1);
	ck_assert_int_eq(cursor_open(&cursor, view, &view->tracks[0], NULL), 0);
	for (int i = 0; i < 4; i++)
		next();
	out = item.flow_out;
	ck_assert_uint_ne(in, 0);
	ck_assert_uint_eq(in, out);
}
END_TEST

START_TEST(a_launch_points_to_its_kernel)
{
	uint64_t flow;

	add("launch", 0, 1, int_stats("correlation_id", 5, "x"));
	plane = space_add_plane(space, 1, "/device:GPU:0");
	line = plane_add_line(plane, 7, "Stream #7", 0);
	add("kernel", 2, 1, int_stats("correlation_id", 5, "x"));
	open_first();
	next();
	flow = item.flow_out;
	ck_assert_uint_ne(flow, 0);
	cursor_close(&cursor);
	ck_assert_int_eq(cursor_open(&cursor, view, &view->tracks[1], NULL), 0);
	next();
	ck_assert_uint_eq(item.flow_in, flow);
	ck_assert_uint_eq(item.flow_out, 0);
}
END_TEST

/* Selection. */

START_TEST(a_selection_is_of_times_and_lengths)
{
	static const struct selection of_some = {
		.from_ns = 10, .to_ns = 20, .min_duration_ns = 2, .device = SELECTION_ALL_DEVICES};
	struct view_options o = {.selection = &of_some};

	add("before", 0, 9, 0);
	add("into", 0, 10, 0);
	add("short", 12, 1, 0);
	add("within", 12, 3, 0);
	add("after", 20, 5, 0);
	view_add_space(space, "a.xplane.pb");
	view_make(&o);
	ck_assert_str_eq(view_list(&view->tracks[0]), "into 0+10, within 12+3");
	ck_assert_uint_eq(view->n_events, 5);
}
END_TEST

/* A sample without a duration says that the thread ran, and one with a duration that it waited. */
START_TEST(waits_have_a_duration_and_are_cut_as_spans_are)
{
	static const struct selection of_some = {
		.from_ns = 10, .to_ns = 20, .device = SELECTION_ALL_DEVICES};
	struct view_options o = {.selection = &of_some};

	plane = space_add_plane(space, 2, PLANE_HOST PLANE_SAMPLES_SUFFIX);
	plane_set_int(plane, "process_id", 7);
	plane_set_bytes(plane, PLANE_STACKS, "", 0);
	line = plane_add_line(plane, 42, "main", 0);
	add("wait", 5, 10, 0);
	add("run", 15, 0, 0);
	add("wait", 18, 4, 0);
	view_add_space(space, "a.xplane.pb");
	view_make(&o);
	ck_assert_str_eq(view_list(&view->samples[0]), "wait 5+10, run 15+0, wait 18+4");
	view->clips_spans = true;
	ck_assert_str_eq(view_list(&view->samples[0]), "wait 10+5, run 15+0, wait 18+2");
}
END_TEST

/* Lanes. */

#define N_SPANS 3000

struct span {
	int64_t start_ns;
	int64_t end_ns;
	int64_t lane;
};

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left;
	const struct span *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}

static void make_spans(struct span *spans, int64_t longest_ns)
{
	for (int i = 0; i < N_SPANS; i++) {
		spans[i].start_ns = random() % 10000;
		spans[i].end_ns = spans[i].start_ns + random() % longest_ns;
	}
	qsort(spans, N_SPANS, sizeof *spans, compare_spans);
}

static bool overlap_badly(const struct span *a, const struct span *b)
{
	return a->lane == b->lane && b->start_ns < a->end_ns && b->end_ns > a->end_ns;
}

static int count_bad(const struct span *spans)
{
	int n = 0;

	for (int i = 0; i < N_SPANS; i++)
		for (int k = i + 1; k < N_SPANS && spans[k].start_ns < spans[i].end_ns; k++)
			n += overlap_badly(&spans[i], &spans[k]);
	return n;
}

/* Short spans need few lanes, and long ones need more than LANES_NESTING. */
START_TEST(on_a_lane_spans_nest)
{
	static struct span spans[N_SPANS];
	struct lanes lanes = {.v = NULL};
	int64_t n_lanes = 0;

	srandom((unsigned int)_i);
	make_spans(spans, _i ? 5000 : 4);
	for (int i = 0; i < N_SPANS; i++) {
		spans[i].lane =
			lanes_place(&lanes, spans[i].start_ns, spans[i].end_ns - spans[i].start_ns);
		ck_assert_int_le(spans[i].lane, n_lanes);
		n_lanes += spans[i].lane == n_lanes;
	}
	ck_assert_int_eq(count_bad(spans), 0);
	if (_i)
		ck_assert_int_gt(n_lanes, LANES_NESTING);
	else
		ck_assert_int_lt(n_lanes, 12);
	lanes_deinit(&lanes);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_line_in_order_is_read_as_it_is),
	UNIT_TEST(a_line_that_is_out_of_order_is_sorted),
	UNIT_TEST(rewinding_does_not_sort_again),
	UNIT_TEST(events_in_any_order_are_sorted),
	UNIT_TEST(missing_names_are_made_of_ids),
	UNIT_TEST(archives_share_names),
	UNIT_TEST(items_have_the_kinds_of_their_events),
	UNIT_TEST(samples_have_their_value_first),
	UNIT_TEST(waits_have_a_duration_and_are_cut_as_spans_are),
	UNIT_TEST(only_proftaps_flows_join_two_archives),
	UNIT_TEST(each_use_of_a_flow_s_id_is_a_flow),
	UNIT_TEST(a_flow_with_a_begin_that_may_be_lost_joins_nothing),
	UNIT_TEST(flows_are_not_joined_across_lost_records),
	UNIT_TEST(a_flow_of_a_unique_id_is_joined_across_lost_records),
	UNIT_TEST(a_launch_points_to_its_kernel),
	UNIT_TEST(a_selection_is_of_times_and_lengths),
	UNIT_LOOP(on_a_lane_spans_nest, 3),
	{NULL},
};

UNIT_MAIN("cursor", .set_up = set_up, .tear_down = tear_down, .tests = tests)
