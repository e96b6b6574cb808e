/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples by function; see functions.h. The samples of a thread and its spans are both in the
 * order of time, so one pass over both finds the spans that were open at each sample.
 */
#include "trace/report/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/enclosing_spans.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"

/* A reading of the samples of one thread. */
struct function_reading {
	struct functions *f;
	const struct view *view;
	struct enclosing_spans open;
	/* For each function the number of the last sample that counted it. */
	uint64_t *counted;
	struct diag *d;
};

/* --- rows --------------------------------------------------------------------------------- */

static struct function_row *take_row(struct function_row **v, size_t *n, size_t *n_allocated,
	struct name_map *places, uint32_t function)
{
	int64_t place;

	if (grow(v, n_allocated, *n + 1))
		return NULL;
	place = name_map_put(places, function);
	if (place < 0)
		return NULL;
	if ((size_t)place == *n)
		(*v)[(*n)++] = (struct function_row){.function = function};
	return &(*v)[place];
}

static struct span_functions *take_span(struct functions *f, uint32_t name)
{
	int64_t place;

	if (grow(&f->spans, &f->n_spans_allocated, f->n_spans + 1))
		return NULL;
	place = name_map_put(&f->span_places, name);
	if (place < 0)
		return NULL;
	if ((size_t)place == f->n_spans)
		f->spans[f->n_spans++] = (struct span_functions){.name = name};
	return &f->spans[place];
}

/* --- spans -------------------------------------------------------------------------------- */

/* True if a span outside of |i| has its name: then that one has counted the sample. */
static bool span_is_counted(const struct enclosing_spans *o, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (o->v[k].name == o->v[i].name)
			return true;
	return false;
}

static int count_in_spans(struct function_reading *reading, uint32_t function)
{
	const struct enclosing_spans *o = &reading->open;

	for (size_t i = 0; i < o->n; i++) {
		struct span_functions *span;
		struct function_row *row;

		if (span_is_counted(o, i))
			continue;
		span = take_span(reading->f, o->v[i].name);
		row = span ? take_row(&span->v, &span->n, &span->n_allocated, &span->places,
				     function)
			   : NULL;
		if (!row)
			return -ENOMEM;
		span->n_samples++;
		row->n_self++;
	}
	return 0;
}

/* --- samples ------------------------------------------------------------------------------ */

static int count_function(struct function_reading *reading, uint32_t function, bool is_self)
{
	struct functions *f = reading->f;
	struct function_row *row = take_row(&f->v, &f->n, &f->n_allocated, &f->places, function);

	if (!row)
		return -ENOMEM;
	row->n_self += is_self;
	row->n_total += reading->counted[function] != f->n_samples;
	reading->counted[function] = f->n_samples;
	return 0;
}

static int read_sample(void *context, const struct item *item)
{
	struct function_reading *reading = context;
	const struct stacks *s = &reading->view->stacks;
	uint32_t at = item->stack;
	int r;

	if (at == STACKS_NONE)
		return 0;
	reading->f->n_samples++;
	r = enclosing_spans_move(&reading->open, item->start_ns);
	if (!r)
		r = count_in_spans(reading, s->frames[s->v[at].frame].function);
	for (; at != STACKS_NONE && !r; at = s->v[at].callers)
		r = count_function(reading, s->frames[s->v[at].frame].function, at == item->stack);
	return r;
}

static void note_period(struct functions *f, const struct view_track *track)
{
	int64_t period_ns = archive_plane_find_int(track->plane, "ptap_sample_period_ns");

	if (!f->n_samples)
		f->period_ns = period_ns;
	else if (f->period_ns != period_ns)
		f->period_ns = 0;
}

static int read_thread(struct function_reading *reading, const struct view_track *track)
{
	int r = enclosing_spans_begin(&reading->open, reading->view, track, reading->d);

	note_period(reading->f, track);
	if (!r)
		r = cursor_read(reading->view, track, read_sample, reading, reading->d);
	enclosing_spans_end(&reading->open);
	return r;
}

/* --- the order ---------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
	const struct function_row *a = left;
	const struct function_row *b = right;

	if (a->n_self != b->n_self)
		return a->n_self > b->n_self ? -1 : 1;
	if (a->n_total != b->n_total)
		return a->n_total > b->n_total ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static int compare_spans(const void *left, const void *right)
{
	const struct span_functions *a = left;
	const struct span_functions *b = right;

	if (a->n_samples != b->n_samples)
		return a->n_samples > b->n_samples ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static void functions_sort(struct functions *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof *f->v, compare_rows);
	for (size_t i = 0; i < f->n_spans; i++)
		qsort(f->spans[i].v, f->spans[i].n, sizeof *f->spans[i].v, compare_rows);
	if (f->n_spans)
		qsort(f->spans, f->n_spans, sizeof *f->spans, compare_spans);
}

int functions_make(const struct digest *g, struct functions *out, struct diag *d)
{
	struct function_reading reading = {.f = out, .view = g->view, .d = d};
	int r = 0;

	*out = (struct functions){.n = 0};
	reading.counted =
		calloc((size_t)g->view->stacks.texts.n_texts + 1, sizeof *reading.counted);
	if (!reading.counted)
		return -ENOMEM;
	for (size_t i = 0; i < g->view->n_samples && !r; i++)
		r = read_thread(&reading, &g->view->samples[i]);
	free(reading.counted);
	functions_sort(out);
	if (r)
		functions_deinit(out);
	return r;
}

void functions_deinit(struct functions *f)
{
	for (size_t i = 0; i < f->n_spans; i++) {
		free(f->spans[i].v);
		name_map_deinit(&f->spans[i].places);
	}
	free(f->spans);
	free(f->v);
	name_map_deinit(&f->places);
	name_map_deinit(&f->span_places);
	*f = (struct functions){.n = 0};
}
