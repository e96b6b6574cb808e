/* SPDX-License-Identifier: Apache-2.0 */
/* Tests selections: their words, and the items that remain. */
#include "trace/read/selection.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/model/names.h"
#include "trace/model/space.h"

static struct selection selection;
static struct view_options options;

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	selection = (struct selection)SELECTION_INIT;
	options = (struct view_options){.selection = &selection};
}

static void tear_down(void)
{
	view_fixture_close();
	space_fixture_close();
	selection_deinit(&selection);
}

static void make(void)
{
	view_add_space(space, "a.xplane.pb");
	view_make(&options);
}

static void set(int (*set_words)(struct selection *, const char *, const char *, struct diag *),
	const char *value)
{
	ck_assert_int_eq(set_words(&selection, "--x", value, NULL), 0);
}

/* Words. */

START_TEST(times_have_units)
{
	static const struct {
		const char *text;
		int64_t ns;
	} times[] = {{"5ns", 5}, {"250us", 250000}, {"20ms", 20000000}, {"1.5s", 1500000000},
		{"7", 7000000}, {"-2ms", -2000000}, {"0.5us", 500}};
	int64_t ns;

	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		ck_assert_int_eq(selection_parse_time("--x", times[i].text, &ns, NULL), 0);
		ck_assert_int_eq(ns, times[i].ns);
	}
}
END_TEST

START_TEST(bad_times_are_refused)
{
	static const char *const texts[] = {
		"", "ms", "5x", "5 ms", "1e300s", "nan", "inf", "--5", "5msms", "99999999999s"};
	struct diag d = DIAG_INIT;
	int64_t ns;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ck_assert_int_eq(selection_parse_time("--from", texts[i], &ns, &d), -EINVAL);
	ck_assert_ptr_nonnull(strstr(d.text, "--from: bad value \"99999999999s\": must be a time"));
}
END_TEST

START_TEST(iterations_are_numbers_and_ranges)
{
	set(selection_set_iterations, "[1,[3-4]]");
	ck_assert_uint_eq(selection.n_iterations, 2);
	ck_assert_int_eq(selection.iterations[0].last, 1);
	ck_assert_int_eq(selection.iterations[1].first, 3);
	ck_assert_int_eq(selection.iterations[1].last, 4);
	set(selection_set_iterations, "7");
	ck_assert_uint_eq(selection.n_iterations, 1);
}
END_TEST

START_TEST(bad_iterations_are_refused)
{
	static const char *const texts[] = {
		"", "[]", "1,x", "[1", "1]", "4-3", "-1", "1-", "1--2", "99999999999999999999"};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ck_assert_int_eq(
			selection_set_iterations(&selection, "--x", texts[i], NULL), -EINVAL);
}
END_TEST

START_TEST(bad_patterns_are_refused)
{
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(selection_set_name(&selection, "--name", "(", &d), -EINVAL);
	ck_assert_ptr_nonnull(strstr(d.text, "--name: bad value \"(\": not a regular expression"));
	ck_assert(!selection.has_name);
}
END_TEST

/* Names and tracks. */

START_TEST(names_are_matched_and_excluded)
{
	add("load", 0, 1, 0);
	add("loader", 1, 1, 0);
	add("store", 2, 1, 0);
	set(selection_set_name, "^(load|st)");
	set(selection_set_exclude, "er$");
	make();
	ck_assert_str_eq(view_list(&view->tracks[0]), "load 0+1, store 2+1");
}
END_TEST

START_TEST(span_that_ends_at_from_is_in_and_one_that_begins_at_to_is_not)
{
	add("ends before", 10, 9, 0);
	add("ends then", 10, 10, 0);
	add("begins before", 29, 5, 0);
	add("begins then", 30, 5, 0);
	selection.from_ns = 20;
	selection.to_ns = 30;
	make();
	ck_assert_str_eq(view_list(&view->tracks[0]), "ends then 10+10, begins before 29+5");
}
END_TEST

START_TEST(tracks_are_chosen_by_name_or_id)
{
	add("a", 0, 1, 0);
	line = plane_add_line(plane, 43, "worker-1", 0);
	add("b", 0, 1, 0);
	plane_set_int(plane, "process_id", 7);
	selection.threads = "nobody,work*";
	make();
	ck_assert_str_eq(view_list(view_find_track("main")), "");
	ck_assert_str_eq(view_list(view_find_track("worker-1")), "b 0+1");
	selection.threads = "42";
	ck_assert_str_eq(view_list(view_find_track("main")), "a 0+1");
	ck_assert_str_eq(view_list(view_find_track("worker-1")), "");
	selection.threads = NULL;
	selection.pids = "8";
	ck_assert_str_eq(view_list(view_find_track("main")), "");
	selection.pids = "8,7";
	ck_assert_str_eq(view_list(view_find_track("main")), "a 0+1");
}
END_TEST

static void add_device(const char *name)
{
	plane = space_add_plane(space, (int64_t)space->n_planes, name);
	line = plane_add_line(plane, 7, name, 0);
}

START_TEST(devices_and_hosts_can_be_apart)
{
	add("a", 0, 1, 0);
	add_device("/device:GPU:0");
	add("k0", 0, 1, 0);
	add_device("/device:GPU:1");
	add("k1", 0, 1, 0);
	make();
	selection.device = 1;
	ck_assert_str_eq(view_list(view_find_track("main")), "");
	ck_assert_str_eq(view_list(view_find_track("/device:GPU:0")), "");
	ck_assert_str_eq(view_list(view_find_track("/device:GPU:1")), "k1 0+1");
	selection.device = SELECTION_HOSTS;
	ck_assert_str_eq(view_list(view_find_track("main")), "a 0+1");
	ck_assert_str_eq(view_list(view_find_track("/device:GPU:1")), "");
}
END_TEST

/* Iterations. */

static void add_step(int64_t number, int64_t start_ns, int64_t duration_ns)
{
	add("step", start_ns, duration_ns, int_stats("step_num", number, "_r"));
}

START_TEST(events_that_begin_in_wanted_steps_remain)
{
	add_step(1, 0, 10);
	add("in 1", 5, 2, 0);
	add_step(2, 10, 10);
	add("in 2", 19, 5, 0);
	add_step(3, 20, 10);
	add("in 3", 25, 1, 0);
	add("after", 30, 1, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("beside 2", 12, 1, 0);
	add("beside 3", 29, 100, 0);
	set(selection_set_iterations, "[1,[3-9]]");
	make();
	ck_assert_str_eq(
		view_list(view_find_track("main")), "step 0+10, in 1 5+2, step 20+10, in 3 25+1");
	ck_assert_str_eq(view_list(view_find_track("other")), "beside 3 29+100");
}
END_TEST

START_TEST(windows_of_several_threads_are_one)
{
	add_step(1, 0, 100);
	add_step(2, 100, 10);
	line = plane_add_line(plane, 43, "other", 0);
	add_step(1, 50, 20);
	add("late", 90, 1, 0);
	add("in 2", 105, 1, 0);
	set(selection_set_iterations, "1");
	make();
	ck_assert_str_eq(view_list(view_find_track("other")), "step 50+20, late 90+1");
}
END_TEST

static int count_items(struct cursor *c)
{
	struct item item;
	int n = 0;

	while (cursor_next(c, &item) > 0)
		n++;
	return n;
}

START_TEST(rewound_cursor_counts_anew)
{
	struct cursor c;

	add_device("/device:GPU:0");
	for (int i = 0; i < 6; i++)
		add("even", i, 1, 0);
	set(selection_set_iterations, "2-3");
	make();
	ck_assert_int_eq(cursor_open(&c, view, &view->tracks[0], NULL), 0);
	ck_assert_int_eq(count_items(&c), 2);
	cursor_rewind(&c);
	ck_assert_int_eq(count_items(&c), 2);
	cursor_close(&c);
}
END_TEST

START_TEST(without_steps_kernels_are_counted)
{
	add("a", 0, 1, 0);
	add_device("/device:GPU:0");
	for (int i = 0; i < 6; i++)
		add(i % 2 ? "odd" : "even", i, 1, 0);
	set(selection_set_iterations, "2-3");
	make();
	ck_assert_str_eq(view_list(view_find_track("main")), "a 0+1");
	ck_assert_str_eq(view_list(view_find_track("/device:GPU:0")),
		"even 2+1, odd 3+1, even 4+1, odd 5+1");
}
END_TEST

/* Kernels. */

START_TEST(kernels_are_truncated)
{
	static const char *const names[][2] = {
		{"void gemm<float, 2>(float const*, int)", "gemm"},
		{"reduce", "reduce"},
		{"ns::A<int, (c)1>::run(int)", "ns::A::run"},
		{"(anonymous namespace)::k(int)", "(anonymous namespace)::k"},
		{"Foo::operator()(int)", "Foo::operator()"},
		{"std::ostream& operator<<(std::ostream&)", "operator<<"},
		{"bool operator< <int>(int, int)", "operator<"},
		{"bool operator<= <int>(int, int)", "operator<="},
		{"Iterator<int>::operator->()", "Iterator::operator->"},
		{"int operator>><int>(int)", "operator>>"},
		{"void foo(int) [clone .kd]", "foo"},
		{"MemcpyD2H 4 bytes", "MemcpyD2H 4 bytes"},
		{"a < b", "a < b"},
		{"<odd>", "<odd>"},
		{"a<b<c>d", "a<bd"},
		{"a<<b> c", "a< c"},
		{"p->q<r<s>, t>(u)", "p->q"},
		{"", ""},
	};
	char expected[512] = "";
	size_t n = 0;

	add("gemm(host)", 0, 1, 0);
	add_device("/device:GPU:0");
	for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
		add(names[i][0], i, 1, 0);
		n += (size_t)snprintf(expected + n, sizeof expected - n, "%s%s %d+1", i ? ", " : "",
			names[i][1], i);
	}
	selection.truncates_kernels = true;
	make();
	ck_assert_str_eq(view_list(view_find_track("/device:GPU:0")), expected);
	ck_assert_str_eq(view_list(view_find_track("main")), "gemm(host) 0+1");
}
END_TEST

#define N_BRACKETS (1 << 20)

/*
 * The suite's time limit is some seconds. A search for the end of each bracket would take an hour.
 */
START_TEST(a_megabyte_of_brackets_is_truncated_at_once)
{
	char *name = malloc(N_BRACKETS + 3);

	memset(name, '<', N_BRACKETS);
	strcpy(name + N_BRACKETS, "x>");
	add_device("/device:GPU:0");
	add(name, 0, 1, 0);
	selection.truncates_kernels = true;
	make();
	name[N_BRACKETS - 1] = '\0';
	ck_assert_uint_ne(names_find(&view->names, name), NAMES_NONE);
	free(name);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(times_have_units),
	UNIT_TEST(bad_times_are_refused),
	UNIT_TEST(iterations_are_numbers_and_ranges),
	UNIT_TEST(bad_iterations_are_refused),
	UNIT_TEST(bad_patterns_are_refused),
	UNIT_TEST(names_are_matched_and_excluded),
	UNIT_TEST(span_that_ends_at_from_is_in_and_one_that_begins_at_to_is_not),
	UNIT_TEST(tracks_are_chosen_by_name_or_id),
	UNIT_TEST(devices_and_hosts_can_be_apart),
	UNIT_TEST(events_that_begin_in_wanted_steps_remain),
	UNIT_TEST(windows_of_several_threads_are_one),
	UNIT_TEST(rewound_cursor_counts_anew),
	UNIT_TEST(without_steps_kernels_are_counted),
	UNIT_TEST(kernels_are_truncated),
	UNIT_TEST(a_megabyte_of_brackets_is_truncated_at_once),
	{NULL},
};

UNIT_MAIN("selection", .set_up = set_up, .tear_down = tear_down, .tests = tests)
