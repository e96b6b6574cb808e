/* SPDX-License-Identifier: Apache-2.0 */
/* Views for tests; see view_fixture.h. */
#include "tests/unit/view_fixture.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "tests/unit/space_fixture.h"
#include "trace/read/archive.h"
#include "trace/xspace/xspace.h"

#define MAX_ARCHIVES 16

struct view *view;

static struct archive *archives[MAX_ARCHIVES];
static uint8_t *bytes[MAX_ARCHIVES];
static size_t n_archives;
static size_t n_forgotten; /* archives of views that tests own now */

void view_fixture_open(void)
{
	view = NULL;
	n_archives = 0;
	n_forgotten = 0;
}

void view_fixture_close(void)
{
	view = view_free(view);
	for (size_t i = 0; i < n_archives; i++)
		free(bytes[i]);
}

static void add_archive(uint8_t *data, size_t n, const char *path)
{
	struct diag d = DIAG_INIT;

	ck_assert_uint_lt(n_archives, MAX_ARCHIVES);
	bytes[n_archives] = data;
	ck_assert_msg(
		archive_read(data, n, path, &archives[n_archives], &d) == 0, "refused: %s", d.text);
	n_archives++;
}

void view_add_bytes(const void *data, size_t n, const char *path)
{
	uint8_t *copy = malloc(n + 1);

	memcpy(copy, data, n);
	add_archive(copy, n, path);
}

void view_add_space(const struct space *s, const char *path)
{
	struct chunks out = CHUNKS_INIT;
	uint8_t *data;
	size_t n = 0;

	ck_assert_int_eq(xspace_encode(s, &out), 0);
	data = malloc(out.total_bytes + 1);
	for (size_t i = 0; i < out.n_chunks; n += out.chunks[i++].used_bytes)
		memcpy(data + n, out.chunks[i].data, out.chunks[i].used_bytes);
	chunks_deinit(&out);
	add_archive(data, n, path);
}

void view_add_ours(const char *stock_ids)
{
	space_fixture_close();
	space_fixture_open();
	plane_set_int(plane, "process_id", 4242);
	plane_set_string(plane, "ptap_process_name", "train");
	if (stock_ids)
		plane_set_string(plane, "ptap_stock_thread_ids", stock_ids);
	names_intern(&space->hostnames, "vm", 2);
	add("ours", 0, 10, 0);
	line = plane_add_line(plane, 43, "other", 0);
	add("beside", 0, 1, 0);
	view_add_space(space, "vm_4242.xplane.pb");
}

void view_add_stock(int64_t pid, const char *host)
{
	space_fixture_close();
	space_fixture_open();
	plane_set_int(plane, "process_id", pid);
	names_intern(&space->hostnames, host, strlen(host));
	line = plane_add_line(plane, -91, "python", 0);
	add("jax", 0, 20, 0);
	line = plane_add_line(plane, 92, "tf_XLAEigen/92", 0);
	add("eigen", 2, 1, 0);
	view_add_space(space, "vm_9012.xplane.pb");
}

void view_make(const struct view_options *options)
{
	ck_assert_int_eq(
		view_open(archives + n_forgotten, n_archives - n_forgotten, options, &view, NULL),
		0);
}

void view_fixture_forget(void)
{
	view = NULL;
	n_forgotten = n_archives;
}

const struct view_track *view_find_track(const char *name)
{
	for (size_t i = 0; i < view->n_tracks; i++)
		if (strcmp(view->tracks[i].name, name) == 0)
			return &view->tracks[i];
	return NULL;
}

const char *view_list(const struct view_track *track)
{
	static char text[4096];
	struct cursor c;
	struct item item;
	size_t n = 0;

	text[0] = '\0';
	ck_assert_ptr_nonnull(track);
	ck_assert_int_eq(cursor_open(&c, view, track, NULL), 0);
	while (cursor_next(&c, &item) > 0) {
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %" PRId64 "+%" PRId64,
			n ? ", " : "", names_get(&view->names, item.name), item.start_ns,
			item.duration_ns);
		ck_assert_uint_lt(n, sizeof text);
	}
	cursor_close(&c);
	return text;
}
