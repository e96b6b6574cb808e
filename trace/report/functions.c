/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples by function; see functions.h. The samples of a thread and its spans are both in the
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
#include "trace/saturate.h"

/* --- functions of a stack --------------------------------------------------------------------- */

int stack_functions_init(struct stack_functions *s, const struct stacks *stacks)
{
	*s = (struct stack_functions){
		.stacks = stacks,
		.seen = calloc((size_t)stacks->texts.n_texts + 1, sizeof *s->seen),
		.v = malloc(STACKS_MAX_DEPTH * sizeof *s->v),
	};
	return s->seen && s->v ? 0 : -ENOMEM;
}

void stack_functions_deinit(struct stack_functions *s)
{
	free(s->seen);
	free(s->v);
	*s = (struct stack_functions){.n = 0};
}

void stack_functions_read(struct stack_functions *s, uint32_t stack)
{
	s->n_read++;
	s->n = 0;
	for (; stack != STACKS_NONE && s->n < STACKS_MAX_DEPTH;
		stack = s->stacks->v[stack].callers) {
		uint32_t function = s->stacks->frames[s->stacks->v[stack].frame].function;

		if (s->seen[function] != s->n_read)
			s->v[s->n++] = function;
		s->seen[function] = s->n_read;
	}
}

/* --- rows --------------------------------------------------------------------------------- */

/* A reading of the samples and spans of threads, one after the other. */
struct function_reading {
	struct functions *f;
	const struct view *view;
	struct enclosing_spans open;
	struct stack_functions stack;
	bool *is_timed; /* by the view's tracks: the time of its spans was counted */
	int64_t period_ns; /* processor time that a sample of the thread stands for */
	struct diag *d;
};

/* The weight that a sample adds to the functions of its stack. */
struct sample_weight {
	bool is_waiting;
	int64_t ns;
};

static struct function_row *take_row(struct function_list *list, uint32_t function)
{
	int64_t place;

	if (grow(&list->v, &list->n_allocated, list->n + 1))
		return NULL;
	place = name_map_put(&list->places, function);
	if (place < 0)
		return NULL;
	if ((size_t)place == list->n)
		list->v[list->n++] = (struct function_row){.function = function};
	return &list->v[place];
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

static void function_list_count(struct function_list *list, const struct sample_weight *weight)
{
	list->n_samples++;
	list->ns = add_saturated(list->ns, weight->ns);
}

static void function_row_count_self(struct function_row *row, const struct sample_weight *weight)
{
	row->n_self++;
	row->self_ns = add_saturated(row->self_ns, weight->ns);
}

/* --- spans -------------------------------------------------------------------------------- */

/* True if a span outside of |i| has its name: then that one has counted the time. */
static bool span_is_counted(const struct enclosing_spans *o, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (o->v[k].name == o->v[i].name)
			return true;
	return false;
}

/* Counts the time of the span that was opened last. */
static int count_wall_time(void *context, const struct enclosing_spans *o)
{
	struct functions *f = context;
	const struct enclosing_span *opened = &o->v[o->n - 1];
	struct span_functions *span;

	if (span_is_counted(o, o->n - 1))
		return 0;
	span = take_span(f, opened->name);
	if (!span)
		return -ENOMEM;
	span->wall_ns =
		add_saturated(span->wall_ns, sub_saturated(opened->end_ns, opened->start_ns));
	return 0;
}

static int count_in_spans(struct function_reading *reading, const struct sample_weight *weight)
{
	const struct enclosing_spans *o = &reading->open;

	for (size_t i = 0; i < o->n; i++) {
		struct span_functions *span;
		struct function_list *list;
		struct function_row *row;

		if (span_is_counted(o, i))
			continue;
		span = take_span(reading->f, o->v[i].name);
		if (!span)
			return -ENOMEM;
		list = weight->is_waiting ? &span->waited : &span->ran;
		row = take_row(list, reading->stack.v[0]);
		if (!row)
			return -ENOMEM;
		function_list_count(list, weight);
		function_row_count_self(row, weight);
	}
	return 0;
}

/* --- samples ------------------------------------------------------------------------------ */

static int count_functions(struct function_reading *reading, const struct sample_weight *weight)
{
	struct function_list *list = weight->is_waiting ? &reading->f->waited : &reading->f->ran;

	function_list_count(list, weight);
	for (size_t i = 0; i < reading->stack.n; i++) {
		struct function_row *row = take_row(list, reading->stack.v[i]);

		if (!row)
			return -ENOMEM;
		if (!i)
			function_row_count_self(row, weight);
		row->n_total++;
		row->total_ns = add_saturated(row->total_ns, weight->ns);
	}
	return 0;
}

static int read_sample(void *context, const struct item *item)
{
	struct function_reading *reading = context;
	bool is_waiting = item_is_waiting(item);
	struct sample_weight weight = {
		is_waiting, is_waiting ? item_get_waiting(item) : reading->period_ns};
	int r;

	if (item->stack == STACKS_NONE)
		return 0;
	stack_functions_read(&reading->stack, item->stack);
	r = enclosing_spans_move(&reading->open, item->start_ns);
	if (!r)
		r = count_in_spans(reading, &weight);
	return r ? r : count_functions(reading, &weight);
}

static void note_period(struct function_reading *reading, const struct view_track *samples)
{
	struct functions *f = reading->f;
	int64_t period_ns = archive_plane_find_int(samples->plane, "ptap_sample_period_ns");

	reading->period_ns = period_ns > 0 ? period_ns : 0;
	if (!f->ran.n_samples)
		f->period_ns = period_ns;
	else if (f->period_ns != period_ns)
		f->period_ns = 0;
}

/* Reads a thread; it may have no |samples|, or no spans, in which case |thread| is NULL. */
static int read_thread(struct function_reading *reading, const struct view_track *samples,
	const struct view_track *thread)
{
	bool *is_timed = thread ? &reading->is_timed[thread - reading->view->tracks] : NULL;
	int r;

	reading->open = (struct enclosing_spans){.context = reading->f};
	if (is_timed && !*is_timed) {
		reading->open.opened = count_wall_time;
		*is_timed = true;
	}
	r = enclosing_spans_begin_on(&reading->open, reading->view, thread, reading->d);
	if (samples)
		note_period(reading, samples);
	if (!r && samples)
		r = cursor_read(reading->view, samples, read_sample, reading, reading->d);
	/* Spans after the last sample take time, too. */
	if (!r)
		r = enclosing_spans_move(&reading->open, INT64_MAX);
	enclosing_spans_end(&reading->open);
	return r;
}

static bool origin_is_sampled(const struct view *v, uint32_t origin)
{
	for (size_t i = 0; i < v->n_samples; i++)
		if (v->samples[i].origin == origin)
			return true;
	return false;
}

/* Reads the spans of threads that were not seen to run or to wait, in processes with samples. */
static int read_other_threads(struct function_reading *reading)
{
	const struct view *v = reading->view;
	int r = 0;

	for (size_t i = 0; i < v->n_tracks && !r; i++) {
		const struct view_track *t = &v->tracks[i];

		if (t->kind == TRACK_THREAD && !t->is_derived && origin_is_sampled(v, t->origin) &&
			!reading->is_timed[i])
			r = read_thread(reading, NULL, t);
	}
	return r;
}

/* --- the order ---------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
	const struct function_row *a = left;
	const struct function_row *b = right;

	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	if (a->n_self != b->n_self)
		return a->n_self > b->n_self ? -1 : 1;
	if (a->n_total != b->n_total)
		return a->n_total > b->n_total ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void function_list_sort(struct function_list *list)
{
	if (list->n)
		qsort(list->v, list->n, sizeof *list->v, compare_rows);
}

static int compare_spans(const void *left, const void *right)
{
	const struct span_functions *a = left;
	const struct span_functions *b = right;
	uint64_t n_a = a->ran.n_samples + a->waited.n_samples;
	uint64_t n_b = b->ran.n_samples + b->waited.n_samples;
	int64_t ns_a = add_saturated(a->ran.ns, a->waited.ns);
	int64_t ns_b = add_saturated(b->ran.ns, b->waited.ns);

	if (!n_a != !n_b)
		return n_a ? -1 : 1;
	if (ns_a != ns_b)
		return ns_a > ns_b ? -1 : 1;
	if (n_a != n_b)
		return n_a > n_b ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static bool span_has_samples(const struct span_functions *span)
{
	return span->ran.n_samples || span->waited.n_samples;
}

static void functions_sort(struct functions *f)
{
	function_list_sort(&f->ran);
	function_list_sort(&f->waited);
	for (size_t i = 0; i < f->n_spans; i++) {
		function_list_sort(&f->spans[i].ran);
		function_list_sort(&f->spans[i].waited);
	}
	if (f->n_spans)
		qsort(f->spans, f->n_spans, sizeof *f->spans, compare_spans);
	/* Spans without samples come last, and hold no memory. */
	while (f->n_spans && !span_has_samples(&f->spans[f->n_spans - 1]))
		f->n_spans--;
}

int functions_make(const struct digest *g, struct functions *out, struct diag *d)
{
	const struct view *v = g->view;
	struct function_reading reading = {.f = out, .view = v, .d = d};
	int r;

	*out = (struct functions){.n_spans = 0};
	r = stack_functions_init(&reading.stack, &v->stacks);
	reading.is_timed = calloc(v->n_tracks + 1, sizeof *reading.is_timed);
	if (!reading.is_timed)
		r = -ENOMEM;
	for (size_t i = 0; i < v->n_samples && !r; i++)
		r = read_thread(
			&reading, &v->samples[i], view_find_sampled_thread(v, &v->samples[i]));
	if (!r)
		r = read_other_threads(&reading);
	free(reading.is_timed);
	stack_functions_deinit(&reading.stack);
	functions_sort(out);
	if (r)
		functions_deinit(out);
	return r;
}

static void function_list_deinit(struct function_list *list)
{
	free(list->v);
	name_map_deinit(&list->places);
}

void functions_deinit(struct functions *f)
{
	for (size_t i = 0; i < f->n_spans; i++) {
		function_list_deinit(&f->spans[i].ran);
		function_list_deinit(&f->spans[i].waited);
	}
	free(f->spans);
	function_list_deinit(&f->ran);
	function_list_deinit(&f->waited);
	name_map_deinit(&f->span_places);
	*f = (struct functions){.n_spans = 0};
}
