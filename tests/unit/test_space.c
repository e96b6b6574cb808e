/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/model/space.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct space *space;
static struct plane *plane;

static void set_up(void)
{
	ck_assert_int_eq(space_new(&space), 0);
	plane = space_add_plane(space, 1, PLANE_HOST);
	ck_assert_ptr_nonnull(plane);
}

static void tear_down(void)
{
	space = space_free(space);
}

static void add(struct line *line, int64_t start_ns, int64_t duration_ns, uint32_t name)
{
	struct trace_event event = {start_ns, duration_ns, name, 0, 0};

	ck_assert_int_eq(line_add_event(line, &event), 0);
}

START_TEST(planes_do_not_move_and_are_found)
{
	for (int i = 0; i < 100; i++)
		ck_assert_ptr_nonnull(space_add_plane(space, i, "other"));
	ck_assert_ptr_eq(space->planes[0], plane);
	ck_assert_ptr_eq(space_find_plane(space, PLANE_HOST), plane);
	ck_assert_ptr_null(space_find_plane(space, "none"));
	ck_assert_uint_eq(space->n_planes, 101);
}
END_TEST

START_TEST(keeps_each_warning_once)
{
	ck_assert_int_eq(space_add_warning(space, "lost %d", 3), 0);
	ck_assert_int_eq(space_add_warning(space, "lost %d", 3), 0);
	ck_assert_int_eq(space_add_warning(space, "lost %d", 4), 0);
	ck_assert_uint_eq(space->warnings.n_texts, 2);
	ck_assert_str_eq(names_get(&space->warnings, 1), "lost 4");
}
END_TEST

START_TEST(lines_keep_their_events)
{
	for (int i = 0; i < 50; i++) {
		struct line *line = plane_add_line(plane, i, "t", i % 2 ? 4 : 0);

		ck_assert_ptr_nonnull(line);
		for (int k = 0; k < 200; k++)
			add(line, k, 1, 0);
	}
	ck_assert_uint_eq(plane->n_lines, 50);
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(plane->lines[i].id, i);
		ck_assert_uint_eq(plane->lines[i].n_events, 200);
		ck_assert_int_eq(plane->lines[i].events[199].start_ns, 199);
	}
}
END_TEST

/* Checks order and stability: events of equal key were added with rising names. */
static void check_sorted(const struct line *line)
{
	for (size_t i = 1; i < line->n_events; i++) {
		const struct trace_event *a = &line->events[i - 1];
		const struct trace_event *b = &line->events[i];

		ck_assert_int_le(a->start_ns, b->start_ns);
		if (a->start_ns == b->start_ns)
			ck_assert_int_ge(a->duration_ns, b->duration_ns);
		if (a->start_ns == b->start_ns && a->duration_ns == b->duration_ns)
			ck_assert_uint_lt(a->name, b->name);
	}
}

START_TEST(sorts_by_start_then_longest_and_keeps_equals_in_order)
{
	static const size_t sizes[] = {0, 1, 2, 3, 7, 64, 65, 1000};
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct line *line = plane_add_line(plane, (int64_t)i, "t", 0);
		uint64_t sum = 0;

		for (size_t k = 0; k < sizes[i]; k++) {
			state = state * 1664525 + 1013904223;
			add(line, state >> 26, state >> 20 & 3, (uint32_t)k);
		}
		line_sort(line);
		check_sorted(line);
		for (size_t k = 0; k < sizes[i]; k++)
			sum += line->events[k].name;
		ck_assert_uint_eq(sum, sizes[i] * (sizes[i] - (sizes[i] > 0)) / 2);
	}
}
END_TEST

START_TEST(an_event_has_its_own_stats_only)
{
	struct trace_stat stats[3] = {{.name = 5, .type = STAT_INT64, .value.i64 = -1},
		{.name = 6, .type = STAT_UINT64, .value.u64 = 2},
		{.name = 7, .type = STAT_DOUBLE, .value.f64 = 0.5}};
	struct trace_event first = {.stats = plane_add_stats(plane, stats, 2)};
	struct trace_event second = {.stats = plane_add_stats(plane, stats + 2, 1)};
	struct trace_event none = {.stats = plane_add_stats(plane, stats, 0)};

	ck_assert_uint_eq(first.stats, 1);
	ck_assert_int_eq(plane_find_stat(plane, &first, 5)->value.i64, -1);
	ck_assert_uint_eq(plane_find_stat(plane, &first, 6)->value.u64, 2);
	ck_assert_ptr_null(plane_find_stat(plane, &first, 7));
	ck_assert_double_eq(plane_find_stat(plane, &second, 7)->value.f64, 0.5);
	ck_assert_ptr_null(plane_get_stats(plane, &none));
	ck_assert_ptr_null(stat_next(stat_next(plane_get_stats(plane, &first))));
}
END_TEST

START_TEST(plane_stats_are_one_of_a_name)
{
	const struct trace_stat *stat;

	ck_assert_int_eq(plane_set_int(plane, "process_id", 7), 0);
	ck_assert_int_eq(plane_set_string(plane, "name", "first"), 0);
	ck_assert_int_eq(plane_set_string(plane, "name", "second"), 0);
	ck_assert_int_eq(plane_set_uint(plane, "dropped_traces", 9), 0);
	ck_assert_int_eq(plane_set_bytes(plane, "options", "\0\1", 2), 0);
	ck_assert_uint_eq(plane->n_plane_stats, 4);
	ck_assert_int_eq(plane_find_own_stat(plane, "process_id")->value.i64, 7);
	ck_assert_uint_eq(plane_find_own_stat(plane, "dropped_traces")->type, STAT_UINT64);
	stat = plane_find_own_stat(plane, "name");
	ck_assert_str_eq(names_get(&plane->stat_names, stat->value.string), "second");
	stat = plane_find_own_stat(plane, "options");
	ck_assert_uint_eq(plane->blobs[stat->value.bytes].n_bytes, 2);
	ck_assert_mem_eq(plane->blobs[stat->value.bytes].data, "\0\1", 2);
	ck_assert_ptr_null(plane_find_own_stat(plane, "absent"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(planes_do_not_move_and_are_found),
	UNIT_TEST(keeps_each_warning_once),
	UNIT_TEST(lines_keep_their_events),
	UNIT_TEST(sorts_by_start_then_longest_and_keeps_equals_in_order),
	UNIT_TEST(an_event_has_its_own_stats_only),
	UNIT_TEST(plane_stats_are_one_of_a_name),
	{NULL},
};

UNIT_MAIN("space", .set_up = set_up, .tear_down = tear_down, .tests = tests)
