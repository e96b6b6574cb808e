/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rows of spans that nest deeper than one row allows. */
#include "trace/codec/perfetto_rows.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_bundle.h"
#include "trace/codec/sink.h"

static struct codec_result result;
static struct sink sink;
static struct perfetto writer;
static struct perfetto_rows rows;

static void set_up(void)
{
	static const struct view_options plain = {.align = VIEW_ALIGN_EPOCH};

	space_fixture_open();
	view_fixture_open();
	add("a", 0, 1, 0);
	view_add_space(space, "a.xplane.pb");
	view_make(&plain);
	writer = (struct perfetto){.view = view, .result = &result};
	rows = (struct perfetto_rows){.v = NULL};
	ck_assert_int_eq(sink_init(&sink, open("/dev/null", O_WRONLY | O_CLOEXEC), 0), 0);
	ck_assert_int_eq(bundles_start(&sink, 0, 1, NULL, &writer.bundles), 0);
	ck_assert_int_eq(perfetto_machines_init(&writer.machines, view), 0);
	ck_assert_int_eq(perfetto_rows_begin(&rows, &writer, view->tracks), 0);
}

static void tear_down(void)
{
	perfetto_rows_deinit(&rows);
	perfetto_machines_deinit(&writer.machines);
	bundles_free(writer.bundles);
	free(writer.packets.data);
	sink_deinit(&sink);
	view_fixture_close();
	space_fixture_close();
}

static int64_t place(int64_t start_ns, int64_t duration_ns)
{
	return perfetto_rows_place(&rows, &writer, view->tracks, start_ns, duration_ns);
}

/* Fills |n| rows, one below the other. */
static void fill(int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t row = place(i, 2 * (n - i));

		ck_assert_int_eq(row, i);
		rows.v[row].depth = PERFETTO_MAX_DEPTH;
	}
}

START_TEST(spans_go_to_the_uppermost_row_with_room)
{
	fill(10);
	rows.v[9].depth = 0;
	ck_assert_int_eq(place(10, 1), 9);
	for (int i = 4; i < 10; i++)
		rows.v[i].depth = 0;
	ck_assert_int_eq(place(16, 1), 4);
	rows.v[4].depth = PERFETTO_MAX_DEPTH;
	ck_assert_int_eq(place(17, 1), 5);
	for (int i = 0; i < 5; i++)
		rows.v[i].depth = 0;
	ck_assert_int_eq(place(30, 1), 0);
	ck_assert_uint_eq(rows.n, 10);
}
END_TEST

/* A search from the top for each span would take minutes. */
START_TEST(deeply_nested_spans_find_rows_quickly)
{
	fill(400000);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(spans_go_to_the_uppermost_row_with_room),
	UNIT_TEST(deeply_nested_spans_find_rows_quickly),
	{NULL},
};

UNIT_MAIN("perfetto_rows", .set_up = set_up, .tear_down = tear_down, .tests = tests)
