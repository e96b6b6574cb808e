/* SPDX-License-Identifier: Apache-2.0 */
/* Spans to be drawn; see drawing.h. */
#include "trace/report/drawing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/json.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/output.h"

struct drawn {
	uint32_t track;
	uint32_t name; /* of the view */
	uint32_t depth;
	int is_step;
	int64_t step_num;
	int64_t start_ns;
	int64_t duration_ns;
};

struct drawing {
	const struct view *view;
	const struct drawing_options *options;
	struct drawn *heap; /* the least wanted first */
	size_t n;
	uint64_t n_left_out;
	uint32_t track; /* that is read */
	/* Of the spans around the next one; of too many the last. Falling: those of a thread nest, and of a stream may not. */
	int64_t ends[DRAWING_MAX_DEPTH];
	size_t n_ends;
	uint32_t *
		names; /* of each of the view's its number, from 1, in what is written; 0: it is not */
};

/* Steps first, then the longest; of equals the first. */
static int is_less(const struct drawn *a, const struct drawn *b)
{
	if (a->is_step != b->is_step)
		return a->is_step < b->is_step;
	if (a->duration_ns != b->duration_ns)
		return a->duration_ns < b->duration_ns;
	if (a->track != b->track)
		return a->track > b->track;
	return a->start_ns > b->start_ns;
}

/* --- choosing ------------------------------------------------------------------------------ */

static void swap(struct drawn *a, struct drawn *b)
{
	struct drawn copy = *a;

	*a = *b;
	*b = copy;
}

static void sift_up(struct drawn *heap, size_t i)
{
	for (; i > 0 && is_less(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct drawn *heap, size_t n)
{
	size_t i = 0;

	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
			if (is_less(&heap[child], &heap[least]))
				least = child;
		if (least == i)
			return;
		swap(&heap[i], &heap[least]);
		i = least;
	}
}

static void choose(struct drawing *w, const struct drawn *span)
{
	if (w->n < w->options->n_spans) {
		w->heap[w->n] = *span;
		sift_up(w->heap, w->n++);
		return;
	}
	w->n_left_out++;
	if (!is_less(&w->heap[0], span))
		return;
	w->heap[0] = *span;
	sift_down(w->heap, w->n);
}

/* How many spans of the track are around one that begins there, as far as they are counted. */
static size_t find_depth(struct drawing *w, int64_t start_ns)
{
	while (w->n_ends && w->ends[w->n_ends - 1] <= start_ns)
		w->n_ends--;
	return w->n_ends;
}

/* Where there is no room the first end goes: as long as it counted, the others would, too. */
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

	if (item->kind != ITEM_SPAN)
		return 0;
	depth = find_depth(w, item->start_ns);
	span.depth = (uint32_t)depth;
	if (depth < w->options->depth || item->is_step)
		choose(w, &span);
	push_end(w, item->start_ns + item->duration_ns);
	return 0;
}

static int is_drawn(const struct view_track *track)
{
	return (track->kind == TRACK_THREAD || track->kind == TRACK_STREAM) && !track->is_derived;
}

static int read_tracks(struct drawing *w, struct diag *d)
{
	const struct view *v = w->view;
	int r = 0;

	for (size_t i = 0; i < v->n_tracks && !r; i++) {
		if (!is_drawn(&v->tracks[i]))
			continue;
		w->track = (uint32_t)i;
		w->n_ends = 0;
		r = cursor_read(v, &v->tracks[i], read_item, w, d);
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

/* In the order in which they are met. */
static void write_names(struct drawing *w, struct json *j)
{
	uint32_t n = 0;

	json_begin_list(j, "names");
	for (size_t i = 0; i < w->n; i++) {
		uint32_t name = w->heap[i].name;

		if (w->names[name])
			continue;
		w->names[name] = ++n;
		json_text(j, NULL, names_get(&w->view->names, name));
	}
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

static void write_place(const struct drawing *w, const struct view_track *track, struct json *j)
{
	const struct view_process *p = view_get_process(w->view, track);

	json_text(j, "process", p->name);
	json_int(j, "pid", p->pid);
	json_text(j, "thread", track->name);
	json_int(j, "tid", track->tid);
	if (p->device >= 0)
		json_int(j, "device", p->device);
	else
		json_nothing(j, "device");
}

static void write_tracks(const struct drawing *w, struct json *j)
{
	json_begin_list(j, "tracks");
	for (size_t i = 0; i < w->n;) {
		uint32_t track = w->heap[i].track;

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

static void write_all(struct drawing *w, FILE *out)
{
	const struct view *v = w->view;
	char epoch[24];
	struct json j;

	qsort(w->heap, w->n, sizeof *w->heap, compare_places);
	snprintf(epoch, sizeof epoch, "%" PRId64, v->epoch_ns);
	json_begin(&j, out);
	json_text(&j, "epoch_unix_ns", v->epoch_ns ? epoch : NULL);
	json_int(&j, "first_ns", v->first_ns);
	json_int(&j, "end_ns", v->end_ns);
	json_uint(&j, "n_left_out", w->n_left_out);
	write_names(w, &j);
	write_tracks(w, &j);
	json_end(&j);
}

static int draw(struct drawing *w, FILE *out, struct diag *d)
{
	int r;

	w->heap = calloc(w->options->n_spans, sizeof *w->heap);
	w->names = calloc((size_t)w->view->names.n_texts + 1, sizeof *w->names);
	if (!w->heap || !w->names)
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
	int r = draw(&w, out, d);

	free(w.heap);
	free(w.names);
	return r;
}
