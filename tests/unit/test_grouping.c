/* SPDX-License-Identifier: Apache-2.0 */
/* Tests groupings: the names of attributes, and the rows that tracks become. */
#include "trace/read/grouping.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/model/space.h"

static struct grouping grouping;

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	grouping = (struct grouping)GROUPING_INIT;
}

static void tear_down(void)
{
	view_fixture_close();
	space_fixture_close();
}

static void group(const char *primary, const char *secondary)
{
	const struct view_options options = {.grouping = &grouping};

	ck_assert_int_eq(grouping_list_parse(&grouping.primary, "-p", primary, NULL), 0);
	ck_assert_int_eq(grouping_list_parse(&grouping.secondary, "-s", secondary, NULL), 0);
	view_add_space(space, "a.xplane.pb");
	view_add_space(space, "b.xplane.pb");
	view_make(&options);
}

/* Returns "PROCESS/ROW" for each row, in the view's order. A row of several tracks has a '*'. */
static const char *rows(void)
{
	static char text[2048];
	size_t n = 0;

	for (size_t i = 0; i < view->n_tracks; i++) {
		const struct view_track *t = &view->tracks[i];

		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s/%s%s", i ? ", " : "",
			view_get_process(view, t)->name, t->name, t->is_shared ? "*" : "");
	}
	return text;
}

static void add_threads_and_device(void)
{
	plane_set_int(plane, "process_id", 7);
	plane_set_string(plane, "ptap_process_name", "train");
	add("a", 0, 1, 0);
	line = plane_add_line(plane, 43, "loader", 0);
	add("b", 0, 1, 0);
	plane = space_add_plane(space, 1, "/device:GPU:0");
	line = plane_add_line(plane, 1, "Stream #1", 0);
	add("k", 0, 1, 0);
	line = plane_add_line(plane, 2, "Stream #2", 0);
	add("k", 0, 1, 0);
}

START_TEST(by_default_all_is_as_it_was_recorded)
{
	add_threads_and_device();
	group("host,pid", "tid");
	ck_assert(grouping_is_plain(&grouping));
	ck_assert_str_eq(rows(),
		"train/main, train/loader, /device:GPU:0/Stream #1, /device:GPU:0/Stream #2, "
		"train/main, train/loader, /device:GPU:0/Stream #1, /device:GPU:0/Stream #2");
	ck_assert_int_eq(view->tracks[0].tid, 42);
	ck_assert(view->tracks[0].is_real);
}
END_TEST

START_TEST(names_can_be_rows)
{
	add_threads_and_device();
	group("category", "process,thread");
	ck_assert_uint_eq(view->n_processes, 2);
	ck_assert_str_eq(rows(),
		"threads/train \xc2\xb7 main*, threads/train \xc2\xb7 main*, "
		"threads/train \xc2\xb7 loader*, threads/train \xc2\xb7 loader*, "
		"device//device:GPU:0 \xc2\xb7 no thread*, device//device:GPU:0 \xc2\xb7 no thread*, "
		"device//device:GPU:0 \xc2\xb7 no thread*, device//device:GPU:0 \xc2\xb7 no thread*");
}
END_TEST

/* Neuron's attributes are the same as ours: worker_gid, too, counts the devices of all hosts. */
START_TEST(neurons_names_mean_the_same)
{
	add_threads_and_device();
	group("instance_id,process_id", "worker_gid,lnc_idx,thread_id");
	ck_assert_str_eq(rows(),
		"a \xc2\xb7 pid 7/no device \xc2\xb7 no local device \xc2\xb7 main (42), "
		"a \xc2\xb7 pid 7/no device \xc2\xb7 no local device \xc2\xb7 loader (43), "
		"a \xc2\xb7 no pid/device 0 \xc2\xb7 local device 0 \xc2\xb7 Stream #1, "
		"a \xc2\xb7 no pid/device 0 \xc2\xb7 local device 0 \xc2\xb7 Stream #2, "
		"b \xc2\xb7 pid 7/no device \xc2\xb7 no local device \xc2\xb7 main (42), "
		"b \xc2\xb7 pid 7/no device \xc2\xb7 no local device \xc2\xb7 loader (43), "
		"b \xc2\xb7 no pid/device 1 \xc2\xb7 local device 0 \xc2\xb7 Stream #1, "
		"b \xc2\xb7 no pid/device 1 \xc2\xb7 local device 0 \xc2\xb7 Stream #2");
}
END_TEST

START_TEST(made_up_ids_are_different)
{
	add_threads_and_device();
	group("rank", "stream,tid");
	for (size_t i = 0; i < view->n_tracks; i++) {
		ck_assert_int_gt(view->tracks[i].tid, 0);
		ck_assert(!view->tracks[i].is_real);
		for (size_t k = 0; k < i; k++)
			ck_assert_int_eq(view->tracks[k].tid == view->tracks[i].tid,
				view->tracks[k].row == view->tracks[i].row);
	}
	ck_assert_uint_eq(view->n_processes, 2);
	ck_assert_int_ne(view->processes[0].pid, view->processes[1].pid);
}
END_TEST

/* A track keeps the times and flows of its own program, in whatever row it is drawn. */
START_TEST(grouped_track_keeps_its_origin)
{
	add_threads_and_device();
	group("category", "category");
	for (size_t i = 0; i < view->n_tracks; i++) {
		const struct view_track *t = &view->tracks[i];

		ck_assert_int_eq(view_get_origin(view, t)->is_device, t->kind == TRACK_STREAM);
		ck_assert_str_eq(view_get_origin(view, t)->name,
			t->kind == TRACK_STREAM ? "/device:GPU:0" : "train");
	}
	ck_assert_uint_eq(view->n_origins, 4);
}
END_TEST

START_TEST(unknown_attributes_are_refused)
{
	static const char *const texts[] = {"", "host,", ",host", "hosts", "host pid",
		"host,host,host,host,host,host,host,host,host"};
	struct diag d = DIAG_INIT;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ck_assert_int_eq(
			grouping_list_parse(&grouping.primary, "--primary_group", texts[i], &d),
			-EINVAL);
	ck_assert_ptr_nonnull(strstr(d.text, "--primary_group: bad value \"host,host"));
	ck_assert_ptr_nonnull(strstr(d.text,
		"must be some of host, pid, process, rank, device, local_device, stream, tid, thread, category, "
		"instance_id, process_id, thread_id, lnc_idx, worker_gid, with commas"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(by_default_all_is_as_it_was_recorded),
	UNIT_TEST(names_can_be_rows),
	UNIT_TEST(neurons_names_mean_the_same),
	UNIT_TEST(made_up_ids_are_different),
	UNIT_TEST(grouped_track_keeps_its_origin),
	UNIT_TEST(unknown_attributes_are_refused),
	{NULL},
};

UNIT_MAIN("grouping", .set_up = set_up, .tear_down = tear_down, .tests = tests)
