/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests views: the processes and tracks that a file's planes and lines become, and
 * the times of their events.
 */
#include "trace/read/view.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/read/archive.h"

#define EPOCH_NS INT64_C(1700000000000000000)

static const struct view_options by_epoch = {.align = VIEW_ALIGN_EPOCH};

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
}

static void tear_down(void)
{
	view_fixture_close();
	space_fixture_close();
}

static void add_line(int64_t id, const char *name)
{
	line = plane_add_line(plane, id, name, 0);
}

static void add_plane(const char *name, int64_t pid)
{
	plane = space_add_plane(space, (int64_t)space->n_planes, name);
	if (pid)
		plane_set_int(plane, "process_id", pid);
}

static const struct view_process *process_of(const char *track)
{
	const struct view_track *t = view_find_track(track);

	ck_assert_ptr_nonnull(t);
	return view_get_process(view, t);
}

/* Processes. */

START_TEST(planes_of_a_pid_are_one_process)
{
	plane_set_int(plane, "process_id", 4242);
	plane_set_string(plane, "ptap_process_name", "train");
	add("a", 0, 1, 0);
	add_plane("/host:CPU child [17]", 17);
	add_line(17, "of the child");
	add("b", 0, 1, 0);
	add_plane("/host:python-tracer", 0);
	add_line(99, "beside");
	add("c", 0, 1, 0);
	view_add_space(space, "dir/gpu7_9999.xplane.pb");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_processes, 2);
	ck_assert_str_eq(process_of("main")->name, "train");
	ck_assert_int_eq(process_of("main")->pid, 4242);
	ck_assert(process_of("main")->is_real);
	ck_assert_ptr_eq(process_of("main"), process_of("beside"));
	ck_assert_int_eq(process_of("of the child")->pid, 17);
	ck_assert_str_eq(view->hosts[0].stem, "gpu7_9999");
}
END_TEST

START_TEST(devices_count_over_all_hosts)
{
	add_plane("/device:GPU:0", 4242);
	add_line(7, "Stream #7");
	add("kernel", 0, 1, 0);
	add_plane("/device:GPU:3", 4242);
	add_line(7, "Stream #8");
	add("kernel", 0, 1, 0);
	view_add_space(space, "a.xplane.pb");
	view_add_space(space, "b.xplane.pb");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_processes, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert(view->processes[i].is_device);
		ck_assert(!view->processes[i].is_real);
		ck_assert_int_eq(view->processes[i].device, i);
		ck_assert_int_eq(view->processes[i].local_device, i % 2 ? 3 : 0);
		for (int k = 0; k < i; k++)
			ck_assert_int_ne(view->processes[i].pid, view->processes[k].pid);
	}
	ck_assert_int_eq(view->tracks[0].kind, TRACK_STREAM);
}
END_TEST

static void add_device(const char *name, const char *line_name)
{
	add_plane(name, 0);
	add_line(7, line_name);
	add("kernel", 0, 1, 0);
}

START_TEST(plane_beside_a_device_belongs_to_it)
{
	add_device("/device:CUSTOM:GPU:1", "too early");
	add_device("/device:GPU:1", "stream");
	add_device("/device:GPU:1", "of the same number");
	add_device("/device:CUSTOM:GPU:1", "memory");
	add_device("/device:CUSTOM:GPU:11", "of another");
	view_add_space(space, "a.xplane.pb");
	space_fixture_close();
	space_fixture_open();
	add_device("/device:CUSTOM:GPU:1", "of another host");
	view_add_space(space, "b.xplane.pb");
	view_make(&by_epoch);
	ck_assert_ptr_eq(process_of("memory"), process_of("stream"));
	ck_assert_uint_eq(view->n_processes, 5);
	ck_assert_ptr_ne(process_of("of the same number"), process_of("stream"));
	ck_assert_ptr_ne(process_of("of another host"), process_of("stream"));
	ck_assert_ptr_ne(process_of("too early"), process_of("of another host"));
}
END_TEST

static bool is_derived(const char *name)
{
	const struct view_track *t = view_find_track(name);

	ck_assert_msg(t, "no track %s", name);
	return t->is_derived;
}

/*
 * XLA reserves the 32-bit ids from 0xdeadbeef on, 390 in all. As signed numbers they are negative.
 */
START_TEST(lines_with_reserved_ids_are_derived)
{
	static const struct {
		const char *name;
		int64_t id;
		bool is_derived;
	} lines[] = {
		{"before", INT64_C(0xdeadbeef) - 1, false},
		{"Steps", INT64_C(0xdeadbeef), true},
		{"last", INT64_C(0xdeadbeef) + 389, true},
		{"behind", INT64_C(0xdeadbeef) + 390, false},
		{"signed before", -559038738, false},
		{"signed Steps", -559038737, true},
		{"signed last", -559038737 + 389, true},
		{"signed behind", -559038737 + 390, false},
		{"wide", (INT64_C(1) << 32) + INT64_C(0xdeadbeef), false},
		{"wide signed", -559038737 - (INT64_C(1) << 32), false},
		{"Stream #7(Compute)", 7, false},
	};

	add_plane("/device:GPU:0", 0);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		add_line(lines[i].id, lines[i].name);
		add("event", 0, 1, 0);
	}
	view_add_space(space, "a.xplane.pb");
	view_make(&by_epoch);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		ck_assert_msg(
			is_derived(lines[i].name) == lines[i].is_derived, "%s", lines[i].name);
}
END_TEST

START_TEST(only_operations_of_a_tpu_are_not_derived)
{
	static const char *const names[] = {"Steps", "XLA Modules", "Source code", "XLA Ops",
		"Async XLA Ops", "Sparse Core Ops"};

	add_plane("/device:TPU:0", 0);
	for (int i = 0; i < 6; i++) {
		add_line(i, names[i]);
		add("event", 0, 1, 0);
	}
	view_add_space(space, "a.xplane.pb");
	view_make(&by_epoch);
	for (int i = 0; i < 6; i++)
		ck_assert_msg(is_derived(names[i]) == (i < 3), "%s", names[i]);
}
END_TEST

START_TEST(two_archives_of_one_pid_are_two_processes)
{
	plane_set_int(plane, "process_id", 4242);
	add("a", 0, 1, 0);
	view_add_space(space, "a.xplane.pb");
	view_add_space(space, "b.xplane.pb");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_processes, 2);
	ck_assert_uint_eq(view->processes[1].host, 1);
}
END_TEST

START_TEST(a_thread_that_two_servers_saw_is_one_row)
{
	const struct view_track *first;

	view_add_stock(4242, "vm");
	view_add_ours("43 17\n42 -91\n");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_processes, 1);
	ck_assert_str_eq(view->processes[0].name, "train");
	ck_assert_int_eq(view->processes[0].pid, 4242);
	ck_assert_uint_eq(view->processes[0].host, 1);
	ck_assert_uint_eq(view->n_tracks, 4);
	first = &view->tracks[0];
	while (!view_track_is_second(first + 1))
		first++;
	ck_assert(!view_track_is_second(first));
	ck_assert_ptr_eq(view_track_get_first(first + 1), first);
	for (int i = 0; i < 2; i++) {
		ck_assert(view_track_has_sources(view, &first[i]));
		ck_assert_str_eq(first[i].name, "main");
		ck_assert_int_eq(first[i].tid, 42);
		ck_assert(first[i].is_real);
	}
	ck_assert_str_eq(view_track_get_source(view, first), "vm_4242");
	ck_assert_str_eq(view_track_get_source(view, first + 1), "vm_9012");
	ck_assert_str_eq(view_list(first), "ours 0+10");
	ck_assert_str_eq(view_list(first + 1), "jax 0+20");
	ck_assert(!view_track_has_sources(view, view_find_track("other")));
	ck_assert_ptr_eq(process_of("tf_XLAEigen/92"), process_of("other"));
	ck_assert_int_eq(view_track_get_tid(view_find_track("tf_XLAEigen/92")), 92);
}
END_TEST

/*
 * The first track of a thread comes from the plane with the list of ids. A track of another plane
 * might itself be a second track of a thread.
 */
START_TEST(ids_tell_of_threads_of_their_own_plane)
{
	plane_set_int(plane, "process_id", 4242);
	plane_set_string(plane, "ptap_stock_thread_ids", "41 -91\n");
	add("a", 0, 1, 0);
	add_plane("/host:beside", 4242);
	add_line(41, "beside");
	add("b", 0, 1, 0);
	view_add_space(space, "a.xplane.pb");
	view_add_stock(4242, "vm");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_processes, 2);
	for (size_t i = 0; i < view->n_tracks; i++)
		ck_assert(!view_track_has_sources(view, &view->tracks[i]));
}
END_TEST

START_TEST(threads_are_one_only_where_the_ids_say_so)
{
	static const struct {
		int64_t pid;
		const char *host;
		const char *ids;
	} others[] = {
		{4243, "vm", "42 -91\n"},
		{4242, "another", "42 -91\n"},
		{4242, "vm", "42 -90\n"},
		{4242, "vm", "44 -91\n"},
		/* One thread had the id after the other. */
		{4242, "vm", "42 -91\n43 -91\n"},
		{4242, "vm", "nonsense"},
		{4242, "vm", NULL},
	};

	view_add_ours(others[_i].ids);
	view_add_stock(others[_i].pid, others[_i].host);
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_processes, 2);
	for (size_t i = 0; i < view->n_tracks; i++)
		ck_assert(!view_track_has_sources(view, &view->tracks[i]));
}
END_TEST

/* Tracks. */

START_TEST(impossible_thread_ids_are_replaced)
{
	static const int64_t ids[] = {42, -1, 0, INT64_MAX, INT64_C(1) << 40, 43};
	static const char *const names[] = {"same", "minus", "zero", "huge", "wide", "own"};

	plane_set_int(plane, "process_id", 42);
	add("a", 0, 1, 0);
	for (int i = 0; i < 6; i++) {
		add_line(ids[i], names[i]);
		add("a", 0, 1, 0);
	}
	view_add_space(space, "a.xplane.pb");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_tracks, 7);
	for (size_t i = 0; i < 7; i++) {
		ck_assert_int_gt(view->tracks[i].tid, 0);
		ck_assert_int_lt(view->tracks[i].tid, INT32_MAX);
		for (size_t k = 0; k < i; k++)
			ck_assert_int_ne(view->tracks[i].tid, view->tracks[k].tid);
	}
	ck_assert(view_find_track("main")->is_real);
	ck_assert_int_eq(view_find_track("own")->tid, 43);
	ck_assert(!view_find_track("same")->is_real);
}
END_TEST

START_TEST(lines_are_of_four_kinds)
{
	add("a", 0, 1, 0);
	add_line(1, "asyncs");
	add("b", 0, 1, int_stats("_a", 1, "id"));
	add_line(2, "mixed");
	add("b", 0, 1, int_stats("_a", 1, "id"));
	add("b", 1, 1, int_stats("_a", 0, "id"));
	add_line(3, LINE_COUNTERS);
	add("rss", 0, 0, double_stat(1));
	add_line(4, "without events");
	view_add_space(space, "a.xplane.pb");
	view_make(&by_epoch);
	ck_assert_uint_eq(view->n_tracks, 4);
	ck_assert_int_eq(view_find_track("main")->kind, TRACK_THREAD);
	ck_assert_int_eq(view_find_track("asyncs")->kind, TRACK_ASYNC);
	ck_assert_int_eq(view_find_track("mixed")->kind, TRACK_THREAD);
	ck_assert_int_eq(view_find_track(LINE_COUNTERS)->kind, TRACK_COUNTERS);
	ck_assert_uint_eq(view->n_events, 5);
}
END_TEST

/* Times. */

static void add_archive_at(int64_t start_ns, int64_t offset_ns, const char *path)
{
	space_fixture_close();
	space_fixture_open();
	add("a", 10, 5, 0);
	plane = space_add_plane(space, 1, PLANE_ENVIRONMENT);
	if (start_ns)
		plane_set_uint(plane, "profile_start_time", (uint64_t)start_ns);
	if (offset_ns)
		plane_set_int(plane, "proftap_clock_offset_ns", offset_ns);
	view_add_space(space, path);
}

START_TEST(archives_are_aligned_by_their_clocks)
{
	add_archive_at(EPOCH_NS + 700, 0, "a.xplane.pb");
	add_archive_at(EPOCH_NS + 1000, 500, "b.xplane.pb");
	view_make(&by_epoch);
	ck_assert_int_eq(view->epoch_ns, EPOCH_NS + 500);
	ck_assert_str_eq(view_list(&view->tracks[0]), "a 210+5");
	ck_assert_str_eq(view_list(&view->tracks[1]), "a 10+5");
	ck_assert_int_eq(view->first_ns, 10);
	ck_assert_int_eq(view->end_ns, 215);
	ck_assert_uint_eq(view->notes.n_texts, 0);
}
END_TEST

START_TEST(starts_can_be_laid_over_each_other)
{
	static const int64_t shifts[] = {0, 7};
	struct view_options o = {.align = VIEW_ALIGN_START, .shifts_ns = shifts, .n_shifts = 2};

	add_archive_at(EPOCH_NS + 700, 0, "a.xplane.pb");
	add_archive_at(EPOCH_NS + 1000, 500, "b.xplane.pb");
	view_make(&o);
	ck_assert_str_eq(view_list(&view->tracks[0]), "a 10+5");
	ck_assert_str_eq(view_list(&view->tracks[1]), "a 17+5");
}
END_TEST

START_TEST(an_archive_without_a_clock_is_noted)
{
	add_archive_at(EPOCH_NS + 700, 0, "a.xplane.pb");
	add_archive_at(0, 0, "b.xplane.pb");
	view_make(&by_epoch);
	ck_assert_str_eq(view_list(&view->tracks[1]), "a 0+5");
	ck_assert_uint_eq(view->notes.n_texts, 1);
	ck_assert_ptr_nonnull(strstr(view->notes.texts[0], "b.xplane.pb: it has no start time"));
}
END_TEST

/* Bad files. */

START_TEST(a_file_that_is_cut_is_refused_with_the_place)
{
	static const char text[] = "\x0a\x06\x1a\x04\x22\x02\x08\x01";
	struct diag d = DIAG_INIT;
	struct archive *s;

	for (size_t n = 1; n < sizeof text - 1; n++) {
		ck_assert_int_eq(archive_read((const uint8_t *)text, n, "x.pb", &s, &d), -EBADMSG);
		ck_assert_ptr_nonnull(strstr(d.text, "x.pb: not a readable trace: at byte "));
	}
	ck_assert_int_eq(archive_read((const uint8_t *)text, 8, "x.pb", &s, &d), 0);
	archive_free(s);
}
END_TEST

START_TEST(paths_that_are_no_files_are_refused)
{
	struct diag d = DIAG_INIT;
	struct archive *s;

	ck_assert_int_eq(archive_open("/nonexistent/x.pb", &s, &d), -ENOENT);
	ck_assert_str_eq(d.text, "/nonexistent/x.pb: cannot open: no such file or directory");
	ck_assert_int_eq(archive_open("/", &s, &d), -EINVAL);
	ck_assert_str_eq(d.text, "/: cannot read: not a file");
	ck_assert_int_eq(archive_open("/dev/null", &s, &d), -EINVAL);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(planes_of_a_pid_are_one_process),
	UNIT_TEST(devices_count_over_all_hosts),
	UNIT_TEST(plane_beside_a_device_belongs_to_it),
	UNIT_TEST(lines_with_reserved_ids_are_derived),
	UNIT_TEST(only_operations_of_a_tpu_are_not_derived),
	UNIT_TEST(two_archives_of_one_pid_are_two_processes),
	UNIT_TEST(a_thread_that_two_servers_saw_is_one_row),
	UNIT_TEST(ids_tell_of_threads_of_their_own_plane),
	UNIT_LOOP(threads_are_one_only_where_the_ids_say_so, 7),
	UNIT_TEST(impossible_thread_ids_are_replaced),
	UNIT_TEST(lines_are_of_four_kinds),
	UNIT_TEST(archives_are_aligned_by_their_clocks),
	UNIT_TEST(starts_can_be_laid_over_each_other),
	UNIT_TEST(an_archive_without_a_clock_is_noted),
	UNIT_TEST(a_file_that_is_cut_is_refused_with_the_place),
	UNIT_TEST(paths_that_are_no_files_are_refused),
	{NULL},
};

UNIT_MAIN("view", .set_up = set_up, .tear_down = tear_down, .tests = tests)
