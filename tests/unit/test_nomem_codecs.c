/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests every format, the opening of a view, and the joining of captures, with an allocator that
 * fails at the n-th call, for all n: a failure is reported, and leaves nothing behind.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/view/conversion.h"
#include "tests/unit/failing.h"
#include "tests/unit/space_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/view_fixture.h"
#include "trace/codec/codec.h"
#include "trace/read/archive.h"
#include "trace/read/archive_join.h"
#include "trace/read/grouping.h"
#include "trace/read/selection.h"

static char directory[] = "/tmp/proftap-nomem.XXXXXX";
static struct selection selection;
static struct grouping grouping = GROUPING_INIT;

/* Adds spans that nest and overlap, steps, arguments, counters, flows, async spans, kernels, samples. */
static void fill_space(void)
{
	struct plane *host = plane;

	plane_set_int(host, "process_id", 7);
	for (int i = 0; i < 6; i++) {
		add("step", 100 * i, 90, int_stats("step_num", i, "_r"));
		add("inner", 100 * i + 10, 20, int_stats("size", i, "k"));
		add("crossing", 100 * i + 20, 40, int_stats("_p", i + 1, "_pt"));
	}
	line = plane_add_line(host, 2, "async", 0);
	add("request", 5, 300, int_stats("_a", 1, "k"));
	add("request", 6, 300, int_stats("_a", 1, "k"));
	line = plane_add_line(host, 3, LINE_COUNTERS, 0);
	add("depth", 10, 0, double_stat(1.5));
	plane = space_add_plane(space, 1, "/device:GPU:0");
	line = plane_add_line(plane, 8, "stream", 0);
	add("void gemm<2>(int)", 30, 50, int_stats("correlation_id", 3, "k"));
	add("copy", 60, 50, 0);
	add_samples();
}

static void set_up(void)
{
	space_fixture_open();
	view_fixture_open();
	fill_space();
	ck_assert_ptr_nonnull(mkdtemp(directory));
	selection = (struct selection)SELECTION_INIT;
	ck_assert_int_eq(selection_set_name(&selection, "--name", "e", NULL), 0);
	ck_assert_int_eq(selection_set_exclude(&selection, "--exclude", "^x", NULL), 0);
	ck_assert_int_eq(selection_set_iterations(&selection, "--iterations", "1-3", NULL), 0);
	selection.truncates_kernels = true;
	ck_assert_int_eq(grouping_list_parse(&grouping.primary, "-p", "category", NULL), 0);
}

static void tear_down(void)
{
	selection_deinit(&selection);
	view_fixture_close();
	space_fixture_close();
	rmdir(directory);
}

static bool is_empty(void)
{
	DIR *files = opendir(directory);
	const struct dirent *file;
	size_t n = 0;

	while ((file = readdir(files)))
		n += file->d_name[0] != '.' || strlen(file->d_name) > 2;
	closedir(files);
	return n == 0;
}

/* Returns whether memory ran out, which must be reported. */
static bool check_write(const struct codec *codec, const char *path, long n)
{
	struct codec_result result = {.n_items = 0};
	struct diag d = DIAG_INIT;
	char *file = NULL;
	bool has_failed;
	int rc;

	failing_start(n);
	rc = conversion_write_beside(codec, view, path, &file, &result, &d);
	has_failed = failing_stop();
	if (rc) {
		ck_assert_msg(has_failed && rc == -ENOMEM && strstr(d.text, "memory"),
			"%s, %ld: %d %s", codec->name, n, rc, d.text);
		ck_assert_ptr_null(file);
	} else {
		ck_assert_int_eq(unlink(file), 0);
		free(file);
	}
	ck_assert_msg(is_empty(), "%s, %ld: a file is left", codec->name, n);
	return has_failed;
}

START_TEST(every_allocation_of_a_codec_may_fail)
{
	static const struct view_options options = {.align = VIEW_ALIGN_EPOCH};
	const struct codec *codec = codecs[_i];
	char path[64];
	long n = 0;

	snprintf(path, sizeof path, "%s/a.xplane.pb", directory);
	view_add_space(space, path);
	view_make(&options);
	while (check_write(codec, path, n))
		n++;
	ck_assert_int_gt(n, 2);
}
END_TEST

static int read_view(const uint8_t *data, size_t n_bytes, struct diag *d)
{
	const struct view_options options = {.selection = &selection, .grouping = &grouping};
	struct archive *archives[2];
	struct view *v = NULL;
	int rc = archive_read(data, n_bytes, "a.xplane.pb", &archives[0], d);

	if (rc == 0) {
		rc = archive_read(data, n_bytes, "b.xplane.pb", &archives[1], d);
		if (rc)
			archive_free(archives[0]);
	}
	if (rc == 0)
		rc = view_open(archives, 2, &options, &v, d);
	view_free(v);
	return rc;
}

START_TEST(every_allocation_of_a_view_may_fail)
{
	const struct archive *archive;
	bool has_failed;
	long n = 0;
	int rc;

	view_add_space(space, "a.xplane.pb");
	view_make(&(const struct view_options){.align = VIEW_ALIGN_EPOCH});
	archive = view->archives[0];
	do {
		struct diag d = DIAG_INIT;

		failing_start(n++);
		rc = read_view(archive->data, archive->n_bytes, &d);
		has_failed = failing_stop();
		ck_assert_msg(rc == 0 || (rc == -ENOMEM && has_failed && d.text[0]), "%ld: %d %s",
			n, rc, d.text);
		/* Every allocation is necessary. */
		ck_assert_int_eq(rc != 0, has_failed);
	} while (has_failed);
	ck_assert_int_gt(n, 50);
}
END_TEST

/* Joins the captures of one process: the same one twice, and another one, which has other lines. */
static int join(struct archive *const of[], size_t n, size_t *n_left, struct diag *d)
{
	struct archive *archives[3] = {NULL};
	size_t n_read = 0;
	int rc = 0;

	while (n_read < n && rc == 0) {
		rc = archive_read(
			of[n_read]->data, of[n_read]->n_bytes, "a.xplane.pb", &archives[n_read], d);
		n_read += rc == 0;
	}
	if (rc == 0)
		rc = archives_join(archives, &n_read, JOIN_PROCESSES);
	*n_left = n_read;
	for (size_t i = 0; i < n_read; i++)
		archive_free(archives[i]);
	return rc;
}

static void add_look(bool is_recorders, const char *path)
{
	struct plane *environment = space_add_plane(space, 9, PLANE_ENVIRONMENT);

	names_intern(&space->hostnames, "gpu7", 4);
	plane_set_uint(space->planes[0], "ptap_process_start", 99);
	plane_set_uint(space->planes[0], "dropped_traces", 3);
	if (is_recorders)
		plane_set_string(space->planes[0], "ptap_recorder_windows", "all");
	plane_set_int(environment, "ptap_monotonic_start_ns", 1000);
	plane_set_int(environment, "profile_start_time", 2000);
	plane_set_int(environment, "profile_stop_time", 3000);
	line = plane_add_line(space->planes[0], 4, path, 0);
	add(path, 1, 2, 0);
	line = plane_add_line(space->planes[0], 5, "async", 0);
	add("request", 7, 300, int_stats("_a", 1, "k"));
	view_add_space(space, path);
}

START_TEST(every_allocation_of_a_join_may_fail)
{
	size_t n_left = 0;
	bool has_failed;
	long n = 0;
	int rc;

	add_look(true, "a.xplane.pb");
	view_add_space(space, "b.xplane.pb");
	space_fixture_close();
	space_fixture_open();
	fill_space();
	add_look(false, "c.xplane.pb");
	view_make(&(const struct view_options){.align = VIEW_ALIGN_EPOCH});
	do {
		struct diag d = DIAG_INIT;

		failing_start(n++);
		rc = join(view->archives, 3, &n_left, &d);
		has_failed = failing_stop();
		ck_assert_msg(rc == (has_failed ? -ENOMEM : 0), "%ld: %d", n, rc);
	} while (has_failed);
	ck_assert_int_gt(n, 50);
	ck_assert_uint_eq(n_left, 1);
}
END_TEST

static int count_codecs(void)
{
	int n = 0;

	while (codecs[n])
		n++;
	return n;
}

static const struct unit_test tests[] = {
	UNIT_COUNTED(every_allocation_of_a_codec_may_fail, count_codecs),
	UNIT_TEST(every_allocation_of_a_view_may_fail),
	UNIT_TEST(every_allocation_of_a_join_may_fail),
	{NULL},
};

UNIT_MAIN("nomem_codecs", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
