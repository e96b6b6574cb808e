/* SPDX-License-Identifier: Apache-2.0 */
/* Tests grafts: the trace of a child in that of its parent, on the parent's time. */
#include "trace/xspace/graft.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/graft_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

#define PID 4242
#define SHIFT_NS 300

static struct space *child;
static struct plane *host;
static struct graft graft;
static struct space *made;

static void add_event(struct line *line, int64_t start_ns, int64_t duration_ns)
{
	struct trace_event event = {.start_ns = start_ns, .duration_ns = duration_ns};

	event.name = names_intern(&host->event_names, "span", 4);
	ck_assert_int_eq(line_add_event(line, &event), 0);
}

static void setup(void)
{
	ck_assert_int_eq(space_new(&child), 0);
	host = space_add_plane(child, 0, PLANE_HOST);
	ck_assert_int_eq(plane_set_string(host, "ptap_process_name", "child"), 0);
	plane_add_line(host, 1, "main", 4);
	names_intern(&child->hostnames, "here", 4);
	memset(&graft, 0, sizeof graft);
	made = NULL;
}

static void teardown(void)
{
	child = space_free(child);
	made = space_free(made);
	graft_deinit(&graft);
}

static int pass(const uint8_t *p, void *context)
{
	(void)context;
	ck_assert(p >= graft_file.bytes && p <= graft_file.bytes + sizeof graft_file.bytes);
	return 0;
}

static void decode(void)
{
	uint8_t *bytes = graft_fixture_read(&graft);
	struct diag d = DIAG_INIT;

	ck_assert_msg(xspace_decode(bytes, graft.total_bytes, &made, &d) == 0, "%s", d.text);
	free(bytes);
}

static int make(int64_t shift_ns)
{
	struct chunks encoded = CHUNKS_INIT;
	uint64_t offset;

	ck_assert_int_eq(xspace_encode(child, &encoded), 0);
	graft_file.n_bytes = 0;
	ck_assert_int_eq(graft_fixture_store(&encoded, &offset, NULL), 0);
	chunks_deinit(&encoded);
	graft.data = graft_file.bytes;
	graft.n_bytes = graft_file.n_bytes;
	graft.pid = PID;
	graft.shift_ns = shift_ns;
	graft.pass = pass;
	graft.store = graft_fixture_store;
	return graft_make(&graft);
}

static void make_well(int64_t shift_ns)
{
	ck_assert_int_eq(make(shift_ns), 0);
	decode();
}

static void check_event(const struct line *line, size_t i, int64_t start_ns, int64_t duration_ns)
{
	ck_assert_uint_gt(line->n_events, i);
	ck_assert_int_eq(line->events[i].start_ns, start_ns);
	ck_assert_int_eq(line->events[i].duration_ns, duration_ns);
}

START_TEST(moves_events_by_the_difference_of_the_starts)
{
	add_event(&host->lines[0], 1000, 500);
	add_event(&host->lines[0], 5000, 10);
	make_well(SHIFT_NS);
	check_event(&made->planes[0]->lines[0], 0, 1300, 500);
	check_event(&made->planes[0]->lines[0], 1, 5300, 10);
	ck_assert_str_eq(made->planes[0]->lines[0].name, "main");
}
END_TEST

/*
 * A child's span that is shorter than the clock's step does not become an instant in the parent's
 * trace, whether it is moved or cut.
 */
START_TEST(spans_without_length_stay_spans)
{
	struct trace_event event = {.start_ns = 900, .duration_ns = 600, .is_span = 1};

	event.name = names_intern(&host->event_names, "span", 4);
	ck_assert_int_eq(line_add_event(&host->lines[0], &event), 0);
	event.start_ns = 1500;
	event.duration_ns = 0;
	ck_assert_int_eq(line_add_event(&host->lines[0], &event), 0);
	add_event(&host->lines[0], 1600, 0);
	make_well(-1200);
	ck_assert_uint_eq(made->planes[0]->lines[0].n_events, 3);
	ck_assert_uint_eq(made->planes[0]->lines[0].events[0].is_span, 1);
	check_event(&made->planes[0]->lines[0], 1, 300, 0);
	ck_assert_uint_eq(made->planes[0]->lines[0].events[1].is_span, 1);
	check_event(&made->planes[0]->lines[0], 2, 400, 0);
	ck_assert_uint_eq(made->planes[0]->lines[0].events[2].is_span, 0);
}
END_TEST

/* Only the graft's frame is new, however many events the file has. */
START_TEST(leaves_later_events_where_they_are)
{
	for (int i = 0; i < 100000; i++)
		add_event(&host->lines[0], i * 10, 5);
	make_well(SHIFT_NS);
	ck_assert_uint_eq(graft_file.n_bytes, graft.n_bytes);
	ck_assert_uint_lt(graft.frame.total_bytes, 8192);
	ck_assert_uint_eq(made->planes[0]->lines[0].n_events, 100000);
	check_event(&made->planes[0]->lines[0], 99999, 999990 + SHIFT_NS, 5);
}
END_TEST

/*
 * Spans that are open at the start are cut there, the outermost first; those that had ended are
 * left out.
 */
START_TEST(cuts_spans_that_began_before_the_parents_start)
{
	add_event(&host->lines[0], 100, 50);
	add_event(&host->lines[0], 900, 600);
	add_event(&host->lines[0], 1000, 5000);
	add_event(&host->lines[0], 1200, 7);
	add_event(&host->lines[0], 5000, 10);
	make_well(-1200);
	ck_assert_uint_eq(made->planes[0]->lines[0].n_events, 4);
	check_event(&made->planes[0]->lines[0], 0, 0, 4800);
	check_event(&made->planes[0]->lines[0], 1, 0, 300);
	check_event(&made->planes[0]->lines[0], 2, 0, 7);
	check_event(&made->planes[0]->lines[0], 3, 3800, 10);
	ck_assert_uint_eq(graft.n_left_out, 1);
}
END_TEST

START_TEST(keeps_the_rest_of_an_event_whose_times_change)
{
	struct trace_stat stat = {.type = STAT_INT64, .value.i64 = 77};
	struct trace_event event = {.start_ns = 2000, .duration_ns = 1};

	stat.name = names_intern(&host->stat_names, "bytes", 5);
	event.name = names_intern(&host->event_names, "read", 4);
	event.stats = plane_add_stats(host, &stat, 1);
	ck_assert_int_eq(line_add_event(&host->lines[0], &event), 0);
	make_well(-500);
	check_event(&made->planes[0]->lines[0], 0, 1500, 1);
	ck_assert_str_eq(
		names_get(&made->planes[0]->event_names, made->planes[0]->lines[0].events[0].name),
		"read");
	ck_assert_int_eq(
		plane_get_stats(made->planes[0], &made->planes[0]->lines[0].events[0])->value.i64,
		77);
}
END_TEST

/* There are more events than a batch has. */
START_TEST(writes_long_lines_anew)
{
	for (int i = 0; i < 200000; i++)
		add_event(&host->lines[0], i * 10, 5);
	make_well(-1000000);
	ck_assert_uint_eq(made->planes[0]->lines[0].n_events, 100000);
	check_event(&made->planes[0]->lines[0], 0, 0, 5);
	check_event(&made->planes[0]->lines[0], 99999, 999990, 5);
}
END_TEST

START_TEST(names_planes_per_process)
{
	ck_assert_ptr_nonnull(space_add_plane(child, 2, PLANE_HOST " worker [7]"));
	ck_assert_ptr_nonnull(space_add_plane(child, 1, PLANE_ENVIRONMENT));
	ck_assert_int_eq(space_add_warning(child, "careful"), 0);
	make_well(0);
	ck_assert_uint_eq(made->n_planes, 3);
	ck_assert_str_eq(made->planes[0]->name, "/host:CPU child [4242]");
	ck_assert_str_eq(made->planes[1]->name, "/host:CPU worker [7]");
	ck_assert_str_eq(made->planes[2]->name, "Task Environment [4242]");
	ck_assert_int_ne(made->planes[0]->id, made->planes[1]->id);
	ck_assert_str_eq(plane_find_text(made->planes[0], "ptap_process_name"), "child");
	ck_assert_uint_eq(names_find(&made->hostnames, "here"), NAMES_NONE);
	ck_assert_uint_ne(names_find(&made->warnings, "careful"), NAMES_NONE);
}
END_TEST

START_TEST(planes_with_samples_keep_the_end_of_their_names)
{
	struct plane *samples = space_add_plane(child, 2, PLANE_HOST PLANE_SAMPLES_SUFFIX);

	ck_assert_int_eq(plane_set_string(samples, "ptap_process_name", "child"), 0);
	ck_assert_ptr_nonnull(
		space_add_plane(child, 3, PLANE_HOST " worker [7]" PLANE_SAMPLES_SUFFIX));
	make_well(0);
	ck_assert_str_eq(made->planes[1]->name, "/host:CPU child [4242] samples");
	ck_assert_str_eq(made->planes[2]->name, "/host:CPU worker [7] samples");
}
END_TEST

START_TEST(refuses_a_truncated_trace)
{
	static const uint8_t cut_off[] = {0x0a, 0x7f, 0x01};

	graft.data = cut_off;
	graft.n_bytes = sizeof cut_off;
	graft.pass = pass;
	graft.store = graft_fixture_store;
	ck_assert_int_eq(graft_make(&graft), -EBADMSG);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(moves_events_by_the_difference_of_the_starts),
	UNIT_TEST(spans_without_length_stay_spans),
	UNIT_TEST(leaves_later_events_where_they_are),
	UNIT_TEST(cuts_spans_that_began_before_the_parents_start),
	UNIT_TEST(keeps_the_rest_of_an_event_whose_times_change),
	UNIT_TEST(writes_long_lines_anew),
	UNIT_TEST(names_planes_per_process),
	UNIT_TEST(planes_with_samples_keep_the_end_of_their_names),
	UNIT_TEST(refuses_a_truncated_trace),
	{NULL},
};

UNIT_MAIN("graft", .set_up = setup, .tear_down = teardown, .tests = tests)
