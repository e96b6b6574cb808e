/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one track of a digest in one pass, with a stack of its open spans. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/saturate.h"

/* A span in which the next one may lie. */
struct digest_open_span {
	int64_t end_ns;
	size_t row;
};

struct digest_reading {
	struct digest *digest;
	struct digest_plane *plane;
	const struct view_track *view_track;
	struct digest_track *track; /* NULL unless it is a thread or a stream */
	struct digest_open_span *stack;
	size_t n_stack;
	size_t n_stack_allocated;
	uint64_t n_items; /* number of items of a derived line, of which nothing else is kept */
	bool is_device;
};

/* Adds the item to steps if it is one, and to flows if it is an end of one. 0 or -ENOMEM. */
static int digest_add_marks(struct digest *g, struct digest_plane *plane, const struct item *item)
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

/*
 * Subtracts the span from the self time of the innermost open span. A span that ends after that
 * one, as kernels of one stream may, is not inside of it.
 */
static void charge_parent(struct digest_reading *reading, int64_t start_ns, int64_t end_ns)
{
	struct row *row;

	while (reading->n_stack && reading->stack[reading->n_stack - 1].end_ns <= start_ns)
		reading->n_stack--;
	if (!reading->n_stack || reading->stack[reading->n_stack - 1].end_ns < end_ns)
		return;
	row = &reading->track->rows.v[reading->stack[reading->n_stack - 1].row];
	row->self_ns = sub_saturated(row->self_ns, end_ns - start_ns);
}

static void note_around(const struct digest_reading *reading, struct row *row)
{
	if (!reading->n_stack)
		row->around = ROW_OUTERMOST;
	else if (row->count == 1)
		row->around = reading->track->rows.v[reading->stack[reading->n_stack - 1].row].name;
}

static int push_open_span(struct digest_reading *reading, int64_t end_ns, size_t row)
{
	if (grow(&reading->stack, &reading->n_stack_allocated, reading->n_stack + 1))
		return -ENOMEM;
	reading->stack[reading->n_stack++] = (struct digest_open_span){end_ns, row};
	return 0;
}

static int read_span(struct digest_reading *reading, const struct item *item)
{
	int64_t end_ns = add_saturated(item->start_ns, item->duration_ns);
	struct item span = *item;
	int64_t row;

	span.duration_ns = end_ns - item->start_ns;
	row = rows_add(&reading->track->rows, &span);
	if (row < 0)
		return -ENOMEM;
	reading->track->n_of_kind[get_kind(item)]++;
	reading->track->rows.v[row].n_steps += item->is_step;
	reading->track->rows.v[row].n_flow_marks += get_kind(item) == DIGEST_FLOW_MARK;
	charge_parent(reading, item->start_ns, end_ns);
	note_around(reading, &reading->track->rows.v[row]);
	if (busy_add(&reading->track->busy, item->start_ns, end_ns, item->name))
		return -ENOMEM;
	return push_open_span(reading, end_ns, (size_t)row);
}

static int read_thread_item(void *reading, const struct item *item)
{
	struct digest_reading *r = reading;

	count_rest(r->digest, item);
	return read_span(r, item) ? -ENOMEM : digest_add_marks(r->digest, r->plane, item);
}

/* --- other tracks -------------------------------------------------------------------------- */

static int read_async_item(void *reading, const struct item *item)
{
	struct digest_reading *r = reading;

	count_rest(r->digest, item);
	r->digest->totals.n_asyncs++;
	if (rows_add(&r->plane->asyncs, item) < 0)
		return -ENOMEM;
	return digest_add_marks(r->digest, r->plane, item);
}

static int read_sample(void *reading, const struct item *item)
{
	struct digest_reading *r = reading;

	count_rest(r->digest, item);
	r->digest->totals.n_counter_samples++;
	return gauges_add(
		&r->plane->counters, item, (uint64_t)(r->view_track - r->digest->view->tracks));
}

/* Spans of derived lines are only counted: the lists have their time already. */
static int read_derived_item(void *reading, const struct item *item)
{
	struct digest_reading *r = reading;
	struct digest *g = r->digest;
	/* A cursor makes a span of every event on a device's line. */
	bool is_span = item->duration_ns || item->is_step || item->is_unfinished;

	r->n_items++;
	count_rest(g, item);
	g->rest.n_derived += is_span && is_wanted(g, item);
	g->totals.n_spans += is_span;
	g->totals.n_device_spans += is_span && r->is_device;
	g->totals.n_instants += !is_span && !item->flow_out && !item->flow_in;
	return digest_add_marks(g, r->plane, item);
}

static int read_derived(
	struct digest_reading *reading, const struct view_track *track, struct diag *d)
{
	int r;

	reading->is_device = view_get_origin(reading->digest->view, track)->is_device;
	r = cursor_read(reading->digest->view, track, read_derived_item, reading, d);
	reading->digest->totals.n_threads += reading->n_items > 0;
	return r;
}

size_t digest_find_plane(const struct digest *g, const struct view_track *track)
{
	const struct archive *archive = g->view->hosts[track->host].archive;

	return g->first_plane[track->host] + (size_t)(track->plane - archive->planes);
}

/* Moves the durations to the lists of the whole view. */
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

static int read_thread(
	struct digest_reading *reading, const struct view_track *track, struct diag *d)
{
	struct digest *g = reading->digest;
	struct digest_window window;
	int r;

	reading->track = &g->tracks[g->n_tracks++];
	reading->track->track = track;
	window = digest_find_window(g, track);
	busy_init(&reading->track->busy, window.begin_ns, window.end_ns);
	r = cursor_read(g->view, track, read_thread_item, reading, d);
	free(reading->stack);
	return r ? r : finish_thread(g, reading->track);
}

int digest_read_track(struct digest *g, const struct view_track *track, struct diag *d)
{
	struct digest_reading reading = {
		.digest = g,
		.plane = &g->planes[digest_find_plane(g, track)],
		.view_track = track,
	};

	if (track->is_derived)
		return read_derived(&reading, track, d);
	switch (track->kind) {
	case TRACK_THREAD:
	case TRACK_STREAM:
		return read_thread(&reading, track, d);
	case TRACK_ASYNC:
		return cursor_read(g->view, track, read_async_item, &reading, d);
	case TRACK_COUNTERS:
		return cursor_read(g->view, track, read_sample, &reading, d);
	case TRACK_SAMPLES: /* view->tracks has none of these two */
	case TRACK_STATES:
		break;
	}
	return 0;
}

/* --- counters --------------------------------------------------------------------------------- */

/* Sums up the samples of counters. */

void gauges_init(struct gauges *counters, int64_t begin_ns, int64_t end_ns)
{
	*counters = (struct gauges){.begin_ns = begin_ns, .end_ns = end_ns};
}

void gauges_deinit(struct gauges *counters)
{
	free(counters->v);
	name_map_deinit(&counters->places);
	gauges_init(counters, counters->begin_ns, counters->end_ns);
}

static struct gauge *get_gauge(struct gauges *counters, uint32_t name)
{
	int64_t place;

	if (grow(&counters->v, &counters->n_allocated, counters->n + 1))
		return NULL;
	place = name_map_put(&counters->places, name);
	if (place < 0)
		return NULL;
	if ((size_t)place == counters->n)
		counters->v[counters->n++] = (struct gauge){.name = name};
	return &counters->v[place];
}

/* Updates a weighted mean without a sum, which could overflow. */
static void gauge_move_mean(double *mean, double *weight, double value, double by)
{
	if (!(by > 0))
		return;
	*weight += by;
	*mean += value * (by / *weight) - *mean * (by / *weight);
}

/* Counts the last value, which held until |until_ns|. */
static void gauge_hold(struct gauge *c, const struct gauges *all, int64_t until_ns)
{
	double length = (double)all->end_ns - (double)all->begin_ns;
	double from = fmax((double)c->last_ns - (double)all->begin_ns, 0);
	double until = fmin((double)until_ns - (double)all->begin_ns, length);

	if (!c->n || !(until > from))
		return;
	/* So far |mean| was the mean of samples that held for no time */
	if (!(c->known_ns > 0))
		c->mean = 0;
	gauge_move_mean(&c->mean, &c->known_ns, c->last, until - from);
	for (size_t i = (size_t)(from / length * COUNTER_SLOTS); i < COUNTER_SLOTS; i++) {
		double begin = length * (double)i / COUNTER_SLOTS;
		double end = length * (double)(i + 1) / COUNTER_SLOTS;

		if (begin >= until)
			break;
		gauge_move_mean(&c->slots[i], &c->ns_of_slot[i], c->last,
			fmin(end, until) - fmax(begin, from));
	}
}

static void gauge_add(struct gauge *c, double value)
{
	double n = (double)c->n;

	c->min = !c->n || value < c->min ? value : c->min;
	c->max = !c->n || value > c->max ? value : c->max;
	if (!(c->known_ns > 0))
		gauge_move_mean(&c->mean, &n, value, 1);
	c->n++;
	c->last = value;
}

int gauges_add(struct gauges *counters, const struct item *item, uint64_t track)
{
	struct gauge *c = get_gauge(counters, item->name);
	double value;

	if (!c)
		return -ENOMEM;
	if (!item_get_sample(item, &value))
		return 0;
	gauge_hold(c, counters, c->track == track ? item->start_ns : counters->end_ns);
	gauge_add(c, value);
	c->last_ns = item->start_ns;
	c->track = track;
	return 0;
}

void gauges_finish(struct gauges *counters, const uint8_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < counters->n; i++) {
		gauge_hold(&counters->v[i], counters, counters->end_ns);
		if (counters->v[i].n && (!wanted || wanted[counters->v[i].name]))
			counters->v[n++] = counters->v[i];
	}
	counters->n = n;
	name_map_deinit(&counters->places);
}
