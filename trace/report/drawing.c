/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the spans, arrows and samples to be drawn, and writes them as JSON. */
#include "trace/report/drawing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/grow.h"
#include "base/heap.h"
#include "trace/json.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/output.h"

struct drawn {
	uint32_t track;
	uint32_t name; /* index into the view's names */
	uint32_t depth;
	bool is_step;
	int64_t step_num;
	int64_t start_ns;
	int64_t duration_ns;
};

/* A point where a flow leaves a thread, or arrives at one. */
struct flow_end {
	uint64_t id;
	int64_t ns;
	uint32_t track;
	uint32_t name;
	uint32_t depth; /* depth of its span, or of that around its mark */
	bool is_in;
};

/* An arrow between two ends of a flow. */
struct arrow {
	const struct flow_end *out;
	const struct flow_end *in;
};

struct point {
	int64_t ns;
	double value;
};

struct counter {
	uint32_t track;
	uint32_t name;
	struct point *v;
	size_t n;
	size_t n_allocated;
	size_t stride; /* of this many samples, one is kept */
	size_t n_seen; /* number of samples in the window */
	bool is_over; /* the first sample behind the window was read */
};

struct drawing {
	const struct view *view;
	const struct drawing_options *options;
	struct drawn *heap; /* the least important span first */
	size_t n;
	uint64_t n_left_out;
	uint32_t track; /* the track that is read, or the first one of its thread */
	size_t n_above; /* depths of earlier tracks of the same thread */
	size_t n_depths; /* |n_above|, and the depths of this track */
	uint32_t *first_depths; /* first depth of the spans of each of the view's tracks */
	/*
	 * The ends of the spans around the next one, or the last of them if there are too many; in
	 * descending order.
	 */
	int64_t ends[DRAWING_MAX_DEPTH];
	size_t n_ends;
	/* Index + 1 of each of the view's names in the output; 0: it is not written */
	uint32_t *names;
	uint32_t *places; /* index + 1 of each of the view's tracks in the output, likewise */
	struct flow_end *flows;
	size_t n_flows;
	uint64_t flow_mask; /* flows with one of these bits in their hash are left out */
	uint64_t n_flows_left_out;
	struct arrow *arrows;
	size_t n_arrows;
	struct counter *counters;
	size_t n_counters;
	size_t n_counters_allocated;
	size_t n_points; /* samples of all counters */
	uint64_t n_points_left_out;
};

/*
 * True if the span |left| is less important: steps come first, then longer spans, then earlier
 * ones.
 */
static bool drawn_is_less(const void *left, const void *right)
{
	const struct drawn *a = left;
	const struct drawn *b = right;

	if (a->is_step != b->is_step)
		return a->is_step < b->is_step;
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns < b->duration_ns;
	if (a->track != b->track)
		return a->track > b->track;
	return a->start_ns > b->start_ns;
}

/* --- choosing ------------------------------------------------------------------------------ */

static void keep_span(struct drawing *w, const struct drawn *span)
{
	if (w->n < w->options->n_spans) {
		w->heap[w->n++] = *span;
		heap_sift_up(w->heap, w->n, sizeof *w->heap, drawn_is_less);
		return;
	}
	w->n_left_out++;
	if (!drawn_is_less(&w->heap[0], span))
		return;
	w->heap[0] = *span;
	heap_sift_down(w->heap, w->n, sizeof *w->heap, drawn_is_less);
}

/* Returns the number of spans around a span that begins at |start_ns|, up to the limit. */
static size_t find_depth(struct drawing *w, int64_t start_ns)
{
	while (w->n_ends && w->ends[w->n_ends - 1] <= start_ns)
		w->n_ends--;
	return w->n_ends;
}

/*
 * If there is no room, drops the earliest end: until that time all others are open, so the depth is
 * at its limit anyway.
 */
static void push_end(struct drawing *w, int64_t end_ns)
{
	size_t i = w->n_ends;

	if (i == DRAWING_MAX_DEPTH && w->ends[i - 1] >= end_ns)
		return;
	i -= i == DRAWING_MAX_DEPTH;
	w->n_ends = i + 1;
	for (; i > 0 && w->ends[i - 1] < end_ns; i--)
		w->ends[i] = w->ends[i - 1];
	w->ends[i] = end_ns;
}

/* --- flows --------------------------------------------------------------------------------- */

static uint64_t hash_flow_id(uint64_t id)
{
	return (id * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

/* Drops half of the flows, with both of their ends. */
static void halve_flows(struct drawing *w)
{
	size_t n = 0;

	w->flow_mask = 2 * w->flow_mask + 1;
	for (size_t i = 0; i < w->n_flows; i++) {
		if (hash_flow_id(w->flows[i].id) & w->flow_mask)
			w->n_flows_left_out += !w->flows[i].is_in;
		else
			w->flows[n++] = w->flows[i];
	}
	w->n_flows = n;
}

static void add_flow_end(struct drawing *w, const struct item *item, uint64_t id, bool is_in)
{
	size_t depth = find_depth(w, item->start_ns);

	while (w->n_flows == DRAWING_MAX_FLOW_ENDS && w->flow_mask < UINT32_MAX)
		halve_flows(w);
	if (w->n_flows == DRAWING_MAX_FLOW_ENDS || hash_flow_id(id) & w->flow_mask) {
		w->n_flows_left_out += !is_in;
		return;
	}
	/* A span has its own depth, a mark that of the span around it. */
	w->flows[w->n_flows++] = (struct flow_end){.id = id,
		.ns = item->start_ns,
		.track = w->track,
		.name = item->name,
		.depth = (uint32_t)(w->n_above +
				    (item->kind == ITEM_SPAN || !depth ? depth : depth - 1)),
		.is_in = is_in};
}

static void add_flow(struct drawing *w, const struct item *item)
{
	if (item->flow_in)
		add_flow_end(w, item, item->flow_in, true);
	if (item->flow_out)
		add_flow_end(w, item, item->flow_out, false);
}

/*
 * Sorts the ends of a flow together, in the order of time; if one leaves and one arrives at the
 * same time, the one that leaves comes first.
 */
static int compare_flow_ends(const void *a, const void *b)
{
	const struct flow_end *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	if (left->ns != right->ns)
		return left->ns < right->ns ? -1 : 1;
	return left->is_in - right->is_in;
}

/* Joins each arrival of a flow to the last departure before it. */
static void join_flows(struct drawing *w)
{
	const struct flow_end *out = NULL;

	qsort(w->flows, w->n_flows, sizeof *w->flows, compare_flow_ends);
	for (size_t i = 0; i < w->n_flows; i++) {
		const struct flow_end *end = &w->flows[i];

		if (!end->is_in)
			out = end;
		else if (out && out->id == end->id)
			w->arrows[w->n_arrows++] = (struct arrow){out, end};
	}
}

/* --- counters ------------------------------------------------------------------------------ */

/* Finds the counter; samples of one counter mostly follow each other. */
static struct counter *get_counter(struct drawing *w, uint32_t name)
{
	for (size_t i = w->n_counters; i-- > 0 && w->counters[i].track == w->track;)
		if (w->counters[i].name == name)
			return &w->counters[i];
	if (grow(&w->counters, &w->n_counters_allocated, w->n_counters + 1))
		return NULL;
	w->counters[w->n_counters] = (struct counter){.track = w->track, .name = name, .stride = 1};
	return &w->counters[w->n_counters++];
}

static void halve_points(struct drawing *w, struct counter *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i += 2)
		c->v[n++] = c->v[i];
	w->n_points_left_out += c->n - n;
	w->n_points -= c->n - n;
	c->n = n;
	c->stride *= 2;
}

static int add_point(struct drawing *w, struct counter *c, const struct point *point)
{
	if (c->n == DRAWING_MAX_POINTS)
		halve_points(w, c);
	if (c->n_seen++ % c->stride || w->n_points == DRAWING_MAX_ALL_POINTS) {
		w->n_points_left_out++;
		return 0;
	}
	if (grow(&c->v, &c->n_allocated, c->n + 1))
		return -ENOMEM;
	c->v[c->n++] = *point;
	w->n_points++;
	return 0;
}

/*
 * Reads the samples in the window, the last one before it, which has the value at the window's
 * begin, and the first one after it.
 */
static int read_sample(void *context, const struct item *item)
{
	struct drawing *w = context;
	const struct selection *s = w->view->selection;
	struct point point = {.ns = item->start_ns};
	struct counter *c;

	if (item->kind != ITEM_SAMPLE || !item_get_sample(item, &point.value))
		return 0;
	c = get_counter(w, item->name);
	if (!c)
		return -ENOMEM;
	if (s && point.ns < s->from_ns) {
		w->n_points -= c->n;
		c->n = c->n_seen = 0;
	}
	if (c->is_over)
		return 0;
	c->is_over = s && s->to_ns != INT64_MAX && point.ns >= s->to_ns;
	return add_point(w, c, &point);
}

/* Reads all samples of the track; read_sample() selects them. */
static int read_counters(struct drawing *w, const struct view_track *track, struct diag *d)
{
	struct view all = *w->view;

	if (!selection_has_track(w->view, track))
		return 0;
	all.selection = NULL;
	return cursor_read(&all, track, read_sample, w, d);
}

/* --- reading ------------------------------------------------------------------------------- */

static int read_item(void *context, const struct item *item)
{
	struct drawing *w = context;
	struct drawn span = {.track = w->track,
		.name = item->name,
		.is_step = item->is_step,
		.step_num = item->step_num,
		.start_ns = item->start_ns,
		.duration_ns = item->duration_ns};
	size_t depth;

	add_flow(w, item);
	if (item->kind != ITEM_SPAN)
		return 0;
	depth = find_depth(w, item->start_ns);
	span.depth = (uint32_t)(w->n_above + depth);
	if (depth < w->options->depth || item->is_step) {
		if (w->n_depths <= span.depth)
			w->n_depths = span.depth + 1;
		keep_span(w, &span);
	}
	push_end(w, item->start_ns + item->duration_ns);
	return 0;
}

static bool track_is_drawn(const struct view_track *track)
{
	return (track->kind == TRACK_THREAD || track->kind == TRACK_STREAM) && !track->is_derived;
}

/*
 * If several servers recorded a thread, their spans are drawn in one row, one server below the
 * other: they need not nest.
 */
static void drawing_begin_track(struct drawing *w, const struct view_track *track)
{
	bool is_second = view_track_is_second(track);

	w->track = (uint32_t)(view_track_get_first(track) - w->view->tracks);
	w->n_above = is_second ? w->n_depths : 0;
	w->n_depths = w->n_above;
	w->first_depths[track - w->view->tracks] = (uint32_t)w->n_above;
	w->n_ends = 0;
}

static int read_tracks(struct drawing *w, struct diag *d)
{
	const struct view *v = w->view;
	int r = 0;

	for (size_t i = 0; i < v->n_tracks && !r; i++) {
		drawing_begin_track(w, &v->tracks[i]);
		if (track_is_drawn(&v->tracks[i]))
			r = cursor_read(v, &v->tracks[i], read_item, w, d);
		else if (v->tracks[i].kind == TRACK_COUNTERS)
			r = read_counters(w, &v->tracks[i], d);
	}
	return r;
}

/* --- writing ------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct drawn *left = a, *right = b;

	if (left->track != right->track)
		return left->track < right->track ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->depth > right->depth) - (left->depth < right->depth);
}

static void write_name(struct drawing *w, uint32_t name, uint32_t *n, struct json *j)
{
	if (w->names[name])
		return;
	w->names[name] = ++*n;
	json_text(j, NULL, names_get(&w->view->names, name));
}

/* Writes names in the order in which they are used. */
static void write_names(struct drawing *w, struct json *j)
{
	uint32_t n = 0;

	json_begin_list(j, "names");
	for (size_t i = 0; i < w->n; i++)
		write_name(w, w->heap[i].name, &n, j);
	for (size_t i = 0; i < w->n_arrows; i++)
		write_name(w, w->arrows[i].out->name, &n, j);
	json_end_list(j);
}

static void write_span(const struct drawing *w, const struct drawn *span, struct json *j)
{
	json_begin_list(j, NULL);
	json_uint(j, NULL, w->names[span->name] - 1);
	json_int(j, NULL, span->start_ns);
	json_int(j, NULL, span->duration_ns);
	json_uint(j, NULL, span->depth);
	if (span->is_step)
		json_int(j, NULL, span->step_num);
	else
		json_nothing(j, NULL);
	json_end_list(j);
}

/* Writes the files of a thread that several servers recorded, in the order of their depths. */
static void write_sources(const struct drawing *w, const struct view_track *track, struct json *j)
{
	const struct view *v = w->view;

	if (!view_track_has_sources(v, track))
		return;
	json_begin_list(j, "files");
	do {
		json_begin_object(j, NULL);
		json_text(j, "name", view_track_get_source(v, track));
		json_uint(j, "depth", w->first_depths[track - v->tracks]);
		json_end_object(j);
	} while (++track < v->tracks + v->n_tracks && view_track_is_second(track));
	json_end_list(j);
}

static void write_place(const struct drawing *w, const struct view_track *track, struct json *j)
{
	const struct view_process *p = view_get_process(w->view, track);

	json_text(j, "process", p->name);
	json_int(j, "pid", p->pid);
	json_text(j, "thread", track->name);
	json_int(j, "tid", track->tid);
	write_sources(w, track, j);
	if (p->device >= 0)
		json_int(j, "device", p->device);
	else
		json_nothing(j, "device");
}

/* Numbers the tracks that have items to be drawn. */
static void number_tracks(struct drawing *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		w->places[w->heap[i].track] = 1;
	for (size_t i = 0; i < w->n_arrows; i++)
		w->places[w->arrows[i].out->track] = w->places[w->arrows[i].in->track] = 1;
	for (size_t i = 0; i < w->view->n_tracks; i++)
		w->places[i] = w->places[i] ? ++n : 0;
}

static void write_tracks(const struct drawing *w, struct json *j)
{
	size_t i = 0;

	json_begin_list(j, "tracks");
	for (uint32_t track = 0; track < w->view->n_tracks; track++) {
		if (!w->places[track])
			continue;
		json_begin_object(j, NULL);
		write_place(w, &w->view->tracks[track], j);
		json_begin_list(j, "spans");
		for (; i < w->n && w->heap[i].track == track; i++)
			write_span(w, &w->heap[i], j);
		json_end_list(j);
		json_end_object(j);
	}
	json_end_list(j);
}

static void write_flow_end(const struct drawing *w, const struct flow_end *end, struct json *j)
{
	json_uint(j, NULL, w->places[end->track] - 1);
	json_int(j, NULL, end->ns);
	json_uint(j, NULL, end->depth);
}

static void write_flows(const struct drawing *w, struct json *j)
{
	json_begin_list(j, "flows");
	for (size_t i = 0; i < w->n_arrows; i++) {
		json_begin_list(j, NULL);
		json_uint(j, NULL, w->names[w->arrows[i].out->name] - 1);
		write_flow_end(w, w->arrows[i].out, j);
		write_flow_end(w, w->arrows[i].in, j);
		json_end_list(j);
	}
	json_end_list(j);
}

static void write_counter(const struct drawing *w, const struct counter *c, struct json *j)
{
	const struct view_process *p = view_get_process(w->view, &w->view->tracks[c->track]);

	json_begin_object(j, NULL);
	json_text(j, "name", names_get(&w->view->names, c->name));
	json_text(j, "process", p->name);
	json_int(j, "pid", p->pid);
	json_begin_list(j, "points");
	for (size_t i = 0; i < c->n; i++) {
		json_begin_list(j, NULL);
		json_int(j, NULL, c->v[i].ns);
		json_double(j, NULL, c->v[i].value);
		json_end_list(j);
	}
	json_end_list(j);
	json_end_object(j);
}

static void write_counters(const struct drawing *w, struct json *j)
{
	json_begin_list(j, "counters");
	for (size_t i = 0; i < w->n_counters; i++)
		write_counter(w, &w->counters[i], j);
	json_end_list(j);
}

static void write_all(struct drawing *w, FILE *out)
{
	const struct view *v = w->view;
	char epoch[24];
	struct json j;

	qsort(w->heap, w->n, sizeof *w->heap, compare_places);
	join_flows(w);
	number_tracks(w);
	snprintf(epoch, sizeof epoch, "%" PRId64, v->epoch_ns);
	json_begin(&j, out);
	json_text(&j, "epoch_unix_ns", v->epoch_ns ? epoch : NULL);
	json_int(&j, "first_ns", v->first_ns);
	json_int(&j, "end_ns", v->end_ns);
	json_uint(&j, "n_left_out", w->n_left_out);
	write_names(w, &j);
	write_tracks(w, &j);
	json_uint(&j, "n_flows_left_out", w->n_flows_left_out);
	write_flows(w, &j);
	json_uint(&j, "n_points_left_out", w->n_points_left_out);
	write_counters(w, &j);
	json_end(&j);
}

static int drawing_make(struct drawing *w, FILE *out, struct diag *d)
{
	int r;

	w->heap = calloc(w->options->n_spans, sizeof *w->heap);
	w->names = calloc((size_t)w->view->names.n_texts + 1, sizeof *w->names);
	w->first_depths = calloc(w->view->n_tracks + 1, sizeof *w->first_depths);
	w->places = calloc(w->view->n_tracks + 1, sizeof *w->places);
	w->flows = calloc(DRAWING_MAX_FLOW_ENDS, sizeof *w->flows);
	w->arrows = calloc(DRAWING_MAX_FLOW_ENDS, sizeof *w->arrows);
	if (!w->heap || !w->names || !w->first_depths || !w->places || !w->flows || !w->arrows)
		return diag_set(d, -ENOMEM, "out of memory");
	r = read_tracks(w, d);
	if (r)
		return r;
	write_all(w, out);
	r = output_finish(out);
	return r ? diag_set(d, r, "%s", errno_words(r)) : 0;
}

int drawing_write_json(
	const struct view *view, const struct drawing_options *options, FILE *out, struct diag *d)
{
	struct drawing w = {.view = view, .options = options};
	int r = drawing_make(&w, out, d);

	for (size_t i = 0; i < w.n_counters; i++)
		free(w.counters[i].v);
	free(w.counters);
	free(w.arrows);
	free(w.flows);
	free(w.places);
	free(w.first_depths);
	free(w.heap);
	free(w.names);
	return r;
}
