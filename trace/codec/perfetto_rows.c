/* SPDX-License-Identifier: Apache-2.0 */
/* Places the spans of a track on rows. */
#include "trace/codec/perfetto_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"
#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_tracks.h"

static int64_t rows_add(struct perfetto_rows *rows, struct perfetto *w, uint64_t uuid)
{
	if (rows->n > UINT32_MAX || grow(&rows->v, &rows->n_allocated, rows->n + 1))
		return perfetto_fail_memory(w);
	rows->v[rows->n] = (struct perfetto_row){.uuid = uuid, .above = (uint32_t)rows->n};
	return (int64_t)rows->n++;
}

static int64_t rows_add_described(
	struct perfetto_rows *rows, struct perfetto *w, const struct view_track *track)
{
	int64_t uuid = perfetto_put_lane(w, track);

	return uuid < 0 ? uuid : rows_add(rows, w, (uint64_t)uuid);
}

static int rows_add_lane(struct perfetto_rows *rows, struct perfetto *w, int64_t row)
{
	if (row < 0)
		return (int)row;
	if (grow(&rows->of_lanes, &rows->n_lanes_allocated, rows->n_lanes + 1))
		return perfetto_fail_memory(w);
	rows->of_lanes[rows->n_lanes++] = (uint32_t)row;
	return 0;
}

int perfetto_rows_begin(
	struct perfetto_rows *rows, struct perfetto *w, const struct view_track *track)
{
	lanes_deinit(&rows->lanes);
	rows->n = 0;
	rows->n_lanes = 0;
	return rows_add_lane(rows, w, rows_add(rows, w, perfetto_track_uuid(w->view, track)));
}

void perfetto_rows_deinit(struct perfetto_rows *rows)
{
	lanes_deinit(&rows->lanes);
	free(rows->v);
	free(rows->of_lanes);
}

static bool row_is_full(const struct perfetto_rows *rows, uint32_t row)
{
	return rows->v[row].depth >= PERFETTO_MAX_DEPTH;
}

/* Returns the row below, which is added if there is none. */
static int64_t take_row_below(struct perfetto_rows *rows, struct perfetto *w,
	const struct view_track *track, uint32_t row)
{
	int64_t below = rows->v[row].below;

	if (below)
		return below;
	below = rows_add_described(rows, w, track);
	if (below < 0)
		return below;
	rows->v[row].below = (uint32_t)below;
	rows->v[below].above = row;
	return below;
}

/*
 * Finds the uppermost row of a lane that has room. |row| has the lane's last span. Since spans nest
 * on the lane, a row above it stays full until all spans on the rows below it have ended: the
 * search can begin at |row| instead of the top.
 */
static int64_t find_row_with_room(
	struct perfetto_rows *rows, struct perfetto *w, const struct view_track *track, int64_t row)
{
	while (rows->v[row].above != row && !row_is_full(rows, rows->v[row].above))
		row = rows->v[row].above;
	while (row >= 0 && row_is_full(rows, (uint32_t)row))
		row = take_row_below(rows, w, track, (uint32_t)row);
	return row;
}

int64_t perfetto_rows_place(struct perfetto_rows *rows, struct perfetto *w,
	const struct view_track *track, int64_t start_ns, int64_t duration_ns)
{
	int64_t lane = lanes_place(&rows->lanes, start_ns, duration_ns);
	int64_t row;
	int r = 0;

	if (lane < 0)
		return perfetto_fail_memory(w);
	while ((size_t)lane >= rows->n_lanes && r == 0)
		r = rows_add_lane(rows, w, rows_add_described(rows, w, track));
	if (r)
		return r;
	row = find_row_with_room(rows, w, track, rows->of_lanes[lane]);
	if (row >= 0)
		rows->of_lanes[lane] = (uint32_t)row;
	return row;
}

/* --- ends of open spans ----------------------------------------------------------------------- */

/*
 * A heap of ends. If spans nest, the last to begin is the first to end, and each operation takes
 * one step.
 */

static bool end_is_before(const void *left, const void *right)
{
	const struct perfetto_end *a = left;
	const struct perfetto_end *b = right;

	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order > b->order;
}

int perfetto_ends_add(struct perfetto_ends *e, const struct perfetto_end *end)
{
	if (grow(&e->heap, &e->n_allocated, e->n + 1))
		return -ENOMEM;
	e->heap[e->n++] = *end;
	heap_sift_up(e->heap, e->n, sizeof *e->heap, end_is_before);
	return 0;
}

struct perfetto_end perfetto_ends_take(struct perfetto_ends *e)
{
	struct perfetto_end first = e->heap[0];

	e->heap[0] = e->heap[--e->n];
	heap_sift_down(e->heap, e->n, sizeof *e->heap, end_is_before);
	return first;
}
