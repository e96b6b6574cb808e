/* SPDX-License-Identifier: Apache-2.0 */
/* One track of a digest, in one pass with the stack of open spans; see digest.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/digest_parts.h"
#include "trace/saturate.h"

/* A span that the current one may lie in. */
struct open_span {
	int64_t end_ns;
	size_t row;
};

struct reading {
	struct digest *digest;
	struct digest_plane *plane;
	const struct view_track *view_track;
	struct digest_track *track; /* of a thread or stream */
	struct open_span *stack;
	size_t n_stack;
	size_t n_stack_allocated;
	uint64_t n_items; /* of a derived line, as the next one */
	bool is_device;
};

int digest_add_marks(struct digest *g, struct digest_plane *plane, const struct item *item)
{
	g->totals.n_unfinished += item->is_unfinished;
	if (item->is_step) {
		g->totals.n_steps++;
		if (rows_add_step(&plane->steps, item))
			return -ENOMEM;
	}
	if (!item->flow_out && !item->flow_in)
		return 0;
	g->totals.n_flow_marks++;
	return flows_add(&plane->flows, item);
}

static bool is_wanted(const struct digest *g, const struct item *item)
{
	return !g->wanted || g->wanted[item->name];
}

static void count_rest(struct digest *g, const struct item *item)
{
	struct digest_rest *rest = &g->rest;

	if (!is_wanted(g, item))
		return;
	if (item->kind == ITEM_SAMPLE) {
		rest->n_samples++;
		return;
	}
	rest->n_flow_ends += (item->flow_out != 0) + (uint64_t)(item->flow_in != 0);
	rest->n_args += item->n_args;
}

/* --- threads and streams ------------------------------------------------------------------- */

static enum digest_kind get_kind(const struct item *item)
{
	if (item->kind == ITEM_SPAN)
		return DIGEST_SPAN;
	return item->flow_out || item->flow_in ? DIGEST_FLOW_MARK : DIGEST_INSTANT;
}

/* The innermost open span loses what lies inside of it. What ends behind it, as kernels of one stream may, runs beside it. */
static void charge_parent(struct reading *r, int64_t start_ns, int64_t end_ns)
{
	struct row *row;

	while (r->n_stack && r->stack[r->n_stack - 1].end_ns <= start_ns)
		r->n_stack--;
	if (!r->n_stack || r->stack[r->n_stack - 1].end_ns < end_ns)
		return;
	row = &r->track->rows.v[r->stack[r->n_stack - 1].row];
	row->self_ns = sub_saturated(row->self_ns, end_ns - start_ns);
}

static void note_around(const struct reading *r, struct row *row)
{
	if (!r->n_stack)
		row->around = ROW_OUTERMOST;
	else if (row->count == 1)
		row->around = r->track->rows.v[r->stack[r->n_stack - 1].row].name;
}

static int push(struct reading *r, int64_t end_ns, size_t row)
{
	if (grow(&r->stack, &r->n_stack_allocated, r->n_stack + 1))
		return -ENOMEM;
	r->stack[r->n_stack++] = (struct open_span){end_ns, row};
	return 0;
}

static int read_span(struct reading *r, const struct item *item)
{
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);
	struct item span = *item;
	int64_t row;

	span.duration_ns = end_ns - item->start_ns;
	row = rows_add(&r->track->rows, &span);
	if (row < 0)
		return -ENOMEM;
	r->track->n_of_kind[get_kind(item)]++;
	r->track->rows.v[row].n_steps += item->is_step;
	r->track->rows.v[row].n_flow_marks += get_kind(item) == DIGEST_FLOW_MARK;
	charge_parent(r, item->start_ns, end_ns);
	note_around(r, &r->track->rows.v[row]);
	if (busy_add(&r->track->busy, item->start_ns, end_ns, item->name))
		return -ENOMEM;
	return push(r, end_ns, (size_t)row);
}

static int read_thread_item(void *reading, const struct item *item)
{
	struct reading *r = reading;

	count_rest(r->digest, item);
	return read_span(r, item) ? -ENOMEM : digest_add_marks(r->digest, r->plane, item);
}

/* --- the others ---------------------------------------------------------------------------- */

static int read_async_item(void *reading, const struct item *item)
{
	struct reading *r = reading;

	count_rest(r->digest, item);
	r->digest->totals.n_asyncs++;
	if (rows_add(&r->plane->asyncs, item) < 0)
		return -ENOMEM;
	return digest_add_marks(r->digest, r->plane, item);
}

static int read_sample(void *reading, const struct item *item)
{
	struct reading *r = reading;

	count_rest(r->digest, item);
	r->digest->totals.n_counter_samples++;
	return gauges_add(
		&r->plane->counters, item, (uint64_t)(r->view_track - r->digest->view->tracks));
}

/* Derived lines repeat what the lists have already: their spans are only counted. */
static int read_derived_item(void *reading, const struct item *item)
{
	struct reading *r = reading;
	struct digest *g = r->digest;
	/* The cursor calls all events of a device's line spans. */
	bool is_span = item->duration_ns || item->is_step || item->is_unfinished;

	r->n_items++;
	count_rest(g, item);
	g->rest.n_derived += is_span && is_wanted(g, item);
	g->totals.n_spans += is_span;
	g->totals.n_device_spans += is_span && r->is_device;
	g->totals.n_instants += !is_span && !item->flow_out && !item->flow_in;
	return digest_add_marks(g, r->plane, item);
}

static int read_derived(struct reading *r, const struct view_track *track, struct diag *d)
{
	int rc;

	r->is_device = view_get_origin(r->digest->view, track)->is_device;
	rc = cursor_read(r->digest->view, track, read_derived_item, r, d);
	r->digest->totals.n_threads += r->n_items > 0;
	return rc;
}

size_t digest_find_plane(const struct digest *g, const struct view_track *track)
{
	const struct archive *archive = g->view->hosts[track->host].archive;

	return g->first_plane[track->host] + (size_t)(track->plane - archive->planes);
}

/* The lists of the whole get the durations. */
static int finish_thread(struct digest *g, struct digest_track *t)
{
	bool is_stream = t->track->kind == TRACK_STREAM;

	g->totals.n_spans += t->n_of_kind[DIGEST_SPAN];
	g->totals.n_device_spans +=
		view_get_origin(g->view, t->track)->is_device ? t->n_of_kind[DIGEST_SPAN] : 0;
	g->totals.n_instants += t->n_of_kind[DIGEST_INSTANT];
	g->totals.n_threads += t->rows.n > 0 && !(digest_track_is_second(g, t) && t[-1].rows.n);
	rows_finish(&t->rows);
	rows_trim(&t->rows);
	if (busy_finish(&t->busy))
		return -ENOMEM;
	return rows_take(&g->lists[is_stream ? LIST_KERNELS : LIST_SPANS], &t->rows);
}

static int read_thread(struct reading *r, const struct view_track *track, struct diag *d)
{
	struct digest *g = r->digest;
	struct digest_window window;
	int rc;

	r->track = &g->tracks[g->n_tracks++];
	r->track->track = track;
	window = digest_find_window(g, track);
	busy_init(&r->track->busy, window.begin_ns, window.end_ns);
	rc = cursor_read(g->view, track, read_thread_item, r, d);
	free(r->stack);
	return rc ? rc : finish_thread(g, r->track);
}

int digest_read_track(struct digest *g, const struct view_track *track, struct diag *d)
{
	struct reading r = {
		.digest = g,
		.plane = &g->planes[digest_find_plane(g, track)],
		.view_track = track,
	};

	if (track->is_derived)
		return read_derived(&r, track, d);
	switch (track->kind) {
	case TRACK_THREAD:
	case TRACK_STREAM:
		return read_thread(&r, track, d);
	case TRACK_ASYNC:
		return cursor_read(g->view, track, read_async_item, &r, d);
	case TRACK_COUNTERS:
		return cursor_read(g->view, track, read_sample, &r, d);
	}
	return 0;
}
