/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the trace model, its codec and its reports with an allocator that fails
 * at the n-th call, for all n.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/unit/failing.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/outline.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/report.h"
#include "trace/xspace/xspace.h"

static int add_events(struct plane *plane, struct line *line)
{
	/* Out of order, so that the line has to be sorted. */
	for (int i = 0; i < 200; i++) {
		struct trace_stat stat = {.type = STAT_INT64, .value.i64 = 1};
		struct trace_event event = {.start_ns = (i * 37) % 200, .duration_ns = 200};

		stat.name =
			names_intern(&plane->stat_names, i % 2 ? "_r" : "step_num", i % 2 ? 2 : 8);
		event.name = names_intern(&plane->event_names, "work", 4);
		if (stat.name == NAMES_NONE || event.name == NAMES_NONE)
			return -ENOMEM;
		event.stats = plane_add_stats(plane, &stat, 1);
		if (!event.stats || line_add_event(line, &event))
			return -ENOMEM;
	}
	line_sort(line);
	return 0;
}

static int build(struct space **out)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct plane *plane;
	struct line *line;

	if (space_new(&space))
		return -ENOMEM;
	plane = space_add_plane(space, 0, PLANE_HOST);
	if (!plane || space_add_warning(space, "%d lost", 3) ||
		plane_set_string(plane, "ptap_process_name", "train") ||
		plane_set_bytes(plane, "raw", "abc", 3))
		return -ENOMEM;
	line = plane_add_line(plane, 1, "main", 0);
	if (!line || add_events(plane, line))
		return -ENOMEM;
	line = plane_add_line(plane, 2, LINE_COUNTERS, 10);
	if (!line || add_events(plane, line))
		return -ENOMEM;
	*out = space;
	space = NULL;
	return 0;
}

static int report(const uint8_t *bytes, size_t n_bytes)
{
	static const struct view_options options = {.align = VIEW_ALIGN_EPOCH};
	static const struct report_options by_thread = {.by_thread = true};
	_cleanup_(view_freep) struct view *view = NULL;
	_cleanup_(digest_freep) struct digest *digest = NULL;
	FILE *out = fopen("/dev/null", "we");
	struct archive *archive;
	int rc = out ? archive_read(bytes, n_bytes, "x", &archive, NULL) : -ENOMEM;

	if (rc == 0)
		rc = view_open(&archive, 1, &options, &view, NULL);
	if (rc == 0)
		rc = digest_make(view, &digest, NULL);
	if (rc == 0)
		rc = report_write_text(digest, &by_thread, out);
	if (rc == 0)
		rc = report_write_json(digest, &by_thread, out);
	if (rc == 0)
		rc = digest_gather_steps(digest);
	if (out)
		fclose(out);
	return rc;
}

/* After a failure the outline has what was read, which must be freed as well. */
static int outline(const uint8_t *bytes, size_t n_bytes)
{
	struct outline o;
	int rc = outline_read(&o, bytes, n_bytes, NULL, NULL, NULL);

	if (rc == 0 && o.n_events < 200)
		rc = -EBADMSG;
	outline_deinit(&o);
	return rc;
}

static int encode_and_decode(const struct space *space)
{
	_cleanup_(space_freep) struct space *again = NULL;
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
	_cleanup_free_ uint8_t *bytes = NULL;
	int rc = xspace_encode(space, &out);

	if (rc)
		return rc;
	bytes = xspace_flatten(&out);
	if (!bytes)
		return -ENOMEM;
	rc = xspace_decode(bytes, out.total_bytes, &again, NULL);
	if (rc)
		return rc;
	/* ck_ macros allocate memory, too, so none is used here. */
	if (again->planes[0]->lines[0].n_events != 200)
		return -EBADMSG;
	rc = outline(bytes, out.total_bytes);
	return rc ? rc : report(bytes, out.total_bytes);
}

static int run_all(void)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int rc = build(&space);

	return rc ? rc : encode_and_decode(space);
}

START_TEST(every_allocation_may_fail)
{
	bool has_failed;
	long n = 0;
	int rc;

	do {
		failing_start(n++);
		rc = run_all();
		has_failed = failing_stop();
		/*
		 * Sorting and counting series work without memory. All other failures are reported.
		 */
		ck_assert(rc == 0 || (rc == -ENOMEM && has_failed));
	} while (has_failed);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_gt(n, 50);
}
END_TEST

START_TEST(sorts_without_memory)
{
	struct space *space = NULL;
	struct plane *plane;
	struct line *line;

	ck_assert_int_eq(space_new(&space), 0);
	plane = space_add_plane(space, 0, "p");
	line = plane_add_line(plane, 1, "main", 0);
	for (uint32_t i = 0; i < 5000; i++) {
		struct trace_event event = {i * 7919 % 1009, i * 31 % 3, i, 0, 0};

		ck_assert_int_eq(line_add_event(line, &event), 0);
	}
	failing_start(0);
	line_sort(line);
	ck_assert(failing_stop());
	for (size_t i = 1; i < line->n_events; i++) {
		const struct trace_event *a = &line->events[i - 1];
		const struct trace_event *b = &line->events[i];

		ck_assert(a->start_ns < b->start_ns ||
			  (a->start_ns == b->start_ns && a->duration_ns > b->duration_ns) ||
			  (a->start_ns == b->start_ns && a->duration_ns == b->duration_ns &&
				  a->name < b->name));
	}
	space_free(space);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(every_allocation_may_fail),
	UNIT_TEST(sorts_without_memory),
	{NULL},
};

UNIT_MAIN("nomem", .timeout_s = 60, .tests = tests)
