/* SPDX-License-Identifier: Apache-2.0 */
/* A child's trace on its parent's time, under its own name. */
#include "trace/merge.h"

#include <check.h>
#include <errno.h>

#include "trace/space.h"

#define START_UNIX_NS INT64_C(1700000000000000000)
#define PID 4242

static struct space *space;
static struct plane *host;

static void add_event(struct line *line, int64_t start_ns, int64_t duration_ns)
{
	struct trace_event event = {.start_ns = start_ns, .duration_ns = duration_ns};

	event.name = names_intern(&host->event_names, "span", 4);
	ck_assert_int_eq(line_add_event(line, &event), 0);
}

static void setup(void)
{
	struct line *line;

	ck_assert_int_eq(space_new(&space), 0);
	host = space_add_plane(space, 0, PLANE_HOST);
	ck_assert_int_eq(plane_set_string(host, "ptap_process_name", "child"), 0);
	line = plane_add_line(host, 1, "main", 2);
	add_event(line, 1000, 500);
	add_event(line, 5000, 10);
	names_intern(&space->hostnames, "here", 4);
}

static void teardown(void)
{
	space = space_free(space);
}

static void set_start(int64_t unix_ns)
{
	struct plane *plane = space_add_plane(space, 1, PLANE_ENVIRONMENT);

	ck_assert_int_eq(plane_set_uint(plane, "profile_start_time", (uint64_t)unix_ns), 0);
}

START_TEST(moves_events_by_the_difference_of_the_starts)
{
	set_start(START_UNIX_NS + 300);
	ck_assert_int_eq(merge_prepare(space, START_UNIX_NS, PID), 0);
	ck_assert_int_eq(host->lines[0].events[0].start_ns, 1300);
	ck_assert_int_eq(host->lines[0].events[0].duration_ns, 500);
	ck_assert_int_eq(host->lines[0].events[1].start_ns, 5300);
}
END_TEST

START_TEST(cuts_what_began_before_the_parents_start)
{
	set_start(START_UNIX_NS - 1200);
	ck_assert_int_eq(merge_prepare(space, START_UNIX_NS, PID), 0);
	ck_assert_int_eq(host->lines[0].events[0].start_ns, 0);
	ck_assert_int_eq(host->lines[0].events[0].duration_ns, 300);
	ck_assert_int_eq(host->lines[0].events[1].start_ns, 3800);
}
END_TEST

START_TEST(names_planes_per_process)
{
	struct plane *grandchild = space_add_plane(space, 2, PLANE_HOST " worker [7]");

	ck_assert_ptr_nonnull(grandchild);
	set_start(START_UNIX_NS);
	ck_assert_int_eq(merge_prepare(space, START_UNIX_NS, PID), 0);
	ck_assert_str_eq(host->name, "/host:CPU child [4242]");
	ck_assert_str_eq(grandchild->name, "/host:CPU worker [7]");
	ck_assert_ptr_nonnull(space_find_plane(space, "Task Environment [4242]"));
	ck_assert_int_ne(host->id, grandchild->id);
	ck_assert_uint_eq(names_find(&space->hostnames, "here"), NAMES_NONE);
}
END_TEST

START_TEST(needs_a_time)
{
	ck_assert_int_eq(merge_prepare(space, START_UNIX_NS, PID), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *tcase = tcase_create("merge");
	SRunner *runner;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, moves_events_by_the_difference_of_the_starts);
	tcase_add_test(tcase, cuts_what_began_before_the_parents_start);
	tcase_add_test(tcase, names_planes_per_process);
	tcase_add_test(tcase, needs_a_time);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
