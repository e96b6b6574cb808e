/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph: one HTML file that loads nothing, with the page's code and the data as JSON
 * (docs/man/proftap-flame.1 describes them). Each row has the times that one thread spent with one
 * stack of spans and one stack of functions; the page adds them up. The rows are written thread by
 * thread, and the stacks that they refer to come behind them, so memory grows with the distinct
 * stacks only.
 */
#include "trace/codec/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/codec/codec.h"
#include "trace/codec/flame_page.h"
#include "trace/codec/sink.h"
#include "trace/codec/stack_tree.h"
#include "trace/model/stacks.h"
#include "trace/read/archive.h"
#include "trace/read/enclosing_spans.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

/* The times of a row. Each is a sum of its own; they are never added to each other. */
struct flame_times {
	int64_t cpu_ns; /* processor time that CPU samples stand for */
	int64_t waiting_ns; /* time in which the thread did not run */
	int64_t span_ns; /* time of the innermost span, without that of spans inside of it */
};

/* Rows of the thread that is being read. */
struct flame_rows {
	/* A row's number is that of a pair: |callers| is of |spans|, |frame| of |functions| */
	struct stacks pairs;
	struct flame_times *times;
	size_t n_allocated;
};

struct flame {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	struct sink text; /* the JSON of one text */
	struct stacks spans; /* stacks of spans; their frames are names of the view */
	struct stacks functions; /* their frames are texts of the view's stacks */
	uint32_t *paths; /* for each stack of the view its number in |functions| */
	struct stack_tree tree;
	struct enclosing_spans open;
	int64_t period_ns; /* of the thread that is being read */
	struct flame_rows rows;
	uint64_t n_rows; /* written */
};

static void flame_deinit(struct flame *f)
{
	sink_deinit(&f->text);
	stacks_deinit(&f->spans);
	stacks_deinit(&f->functions);
	free(f->paths);
	stack_tree_deinit(&f->tree);
	stacks_deinit(&f->rows.pairs);
	free(f->rows.times);
}

/* --- texts --------------------------------------------------------------------------------- */

/* A '<' is escaped, so that no text can end the script element that has the data. */
static void put_text(struct flame *f, const char *text)
{
	const uint8_t *bytes;
	size_t n = 0;

	sink_clear_memory(&f->text);
	sink_json(&f->text, text, strlen(text));
	bytes = sink_get_memory(&f->text, &n);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '<')
			sink_text(f->sink, "\\u003c");
		else
			sink_put(f->sink, (char)bytes[i]);
	}
	if (!bytes && !f->sink->error)
		f->sink->error = -ENOMEM;
}

/* Writes the texts that the stacks use, and "" for all others. */
static int put_texts(
	struct flame *f, const char *member, const struct stacks *s, const struct names *texts)
{
	bool *is_used = calloc((size_t)texts->n_texts + 1, sizeof *is_used);

	if (!is_used)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		is_used[s->v[i].frame] = true;
	sink_printf(f->sink, ",\n\"%s\":[", member);
	for (uint32_t i = 0; i < texts->n_texts; i++) {
		if (i)
			sink_put(f->sink, ',');
		put_text(f, is_used[i] ? names_get(texts, i) : "");
	}
	sink_put(f->sink, ']');
	free(is_used);
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------- */

static struct flame_times *take_row(struct flame_rows *rows, uint32_t spans, uint32_t functions)
{
	size_t n_before = rows->pairs.n;
	uint32_t row = stacks_take(&rows->pairs, spans, functions);

	if (row == STACKS_NONE || grow(&rows->times, &rows->n_allocated, rows->pairs.n))
		return NULL;
	if (rows->pairs.n > n_before)
		rows->times[row] = (struct flame_times){0};
	return &rows->times[row];
}

/* Numbers in the file are higher by 1, and 0 means that there is no stack. */
static void put_number(struct flame *f, uint32_t stack)
{
	sink_uint(f->sink, (uint64_t)(uint32_t)(stack + 1));
	sink_put(f->sink, ',');
}

/* |thread| is an index into the threads of the file. */
static void put_rows(struct flame *f, size_t thread)
{
	const struct flame_rows *rows = &f->rows;

	for (size_t i = 0; i < rows->pairs.n && !f->sink->error; i++) {
		const struct flame_times *times = &rows->times[i];

		if (f->n_rows++)
			sink_text(f->sink, ",\n");
		sink_uint(f->sink, thread);
		sink_put(f->sink, ',');
		put_number(f, rows->pairs.v[i].callers);
		put_number(f, rows->pairs.v[i].frame);
		sink_int(f->sink, times->cpu_ns);
		sink_put(f->sink, ',');
		sink_int(f->sink, times->waiting_ns);
		sink_put(f->sink, ',');
		sink_int(f->sink, times->span_ns);
	}
	stacks_deinit(&f->rows.pairs);
}

/* --- CPU samples --------------------------------------------------------------------------- */

/* Frames of one function at several addresses become one. */
static int make_paths(struct flame *f)
{
	const struct stacks *s = &f->view->stacks;

	f->paths = calloc(s->n + 1, sizeof *f->paths);
	if (!f->paths)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		uint32_t callers = s->v[i].callers;

		f->paths[i] = stacks_take(&f->functions,
			callers == STACKS_NONE ? STACKS_NONE : f->paths[callers],
			s->frames[s->v[i].frame].function);
		if (f->paths[i] == STACKS_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Finds the stack of the spans that are open at the sample. 0 or -ENOMEM. */
static int take_open_spans(struct flame *f, uint32_t *out)
{
	*out = STACKS_NONE;
	for (size_t i = 0; i < f->open.n; i++) {
		*out = stacks_take(&f->spans, *out, f->open.v[i].name);
		if (*out == STACKS_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int count_sample(void *context, const struct item *item)
{
	struct flame *f = context;
	struct flame_times *times;
	uint32_t spans;
	int r = enclosing_spans_move(&f->open, item->start_ns);

	if (!r)
		r = take_open_spans(f, &spans);
	if (r)
		return r;
	times = take_row(
		&f->rows, spans, item->stack == STACKS_NONE ? STACKS_NONE : f->paths[item->stack]);
	if (!times)
		return -ENOMEM;
	f->result->n_items++;
	if (item->duration_ns)
		times->waiting_ns = add_saturated(times->waiting_ns, item_get_waiting(item));
	else
		times->cpu_ns = add_saturated(times->cpu_ns, f->period_ns);
	return 0;
}

/* Without a period, a sample counts as a nanosecond, so that the shares are right. */
static int64_t find_period(const struct view_track *samples)
{
	int64_t period_ns = archive_plane_find_int(samples->plane, "ptap_sample_period_ns");

	return period_ns > 0 ? period_ns : 1;
}

/* With a grouping, threads with spans are others than threads with samples. */
static size_t find_thread(const struct view *v, const struct view_track *samples)
{
	const struct view_track *t =
		view_is_grouped(v) ? NULL : view_find_sampled_thread(v, samples);

	return t ? (size_t)(t - v->tracks) : v->n_tracks + (size_t)(samples - v->samples);
}

static int put_samples(struct flame *f, const struct view_track *samples, struct diag *d)
{
	int r = enclosing_spans_begin(&f->open, f->view, samples, d);

	f->period_ns = find_period(samples);
	if (!r)
		r = cursor_read(f->view, samples, count_sample, f, d);
	enclosing_spans_end(&f->open);
	if (!r)
		put_rows(f, find_thread(f->view, samples));
	return r;
}

/* --- spans --------------------------------------------------------------------------------- */

/* |numbers| has room for each node of the tree, and gets its number in f->spans. */
static int count_spans(struct flame *f, uint32_t *numbers)
{
	const struct stack_tree *t = &f->tree;

	numbers[0] = STACKS_NONE;
	for (size_t i = 1; i < t->n_nodes; i++) {
		struct flame_times *times;

		numbers[i] = stacks_take(&f->spans, numbers[t->nodes[i].parent], t->nodes[i].name);
		times = numbers[i] == STACKS_NONE ? NULL
						  : take_row(&f->rows, numbers[i], STACKS_NONE);
		if (!times)
			return -ENOMEM;
		times->span_ns = t->nodes[i].self_ns;
		f->result->n_items += t->nodes[i].n_spans;
	}
	return 0;
}

static int put_spans(struct flame *f, size_t i, struct diag *d)
{
	int r = stack_tree_read(&f->tree, f->view, &f->view->tracks[i], d);
	uint32_t *numbers;

	if (r)
		return r;
	numbers = malloc(f->tree.n_nodes * sizeof *numbers);
	r = numbers ? count_spans(f, numbers) : -ENOMEM;
	free(numbers);
	if (!r)
		put_rows(f, i);
	return r;
}

/* --- the data ------------------------------------------------------------------------------ */

static void put_process(struct flame *f, const struct view_process *p)
{
	sink_text(f->sink, "{\"name\":");
	put_text(f, p->name);
	if (p->is_real)
		sink_printf(f->sink, ",\"pid\":%lld", (long long)p->pid);
	if (view_names_hosts(f->view)) {
		sink_text(f->sink, ",\"host\":");
		put_text(f, f->view->hosts[p->host].name);
	}
	sink_put(f->sink, '}');
}

/* With a grouping, the processes that it made come first, then those with the samples. */
static void put_processes(struct flame *f)
{
	const struct view *v = f->view;

	sink_text(f->sink, ",\n\"processes\":[");
	for (size_t i = 0; i < v->n_processes; i++) {
		sink_text(f->sink, i ? ",\n" : "");
		put_process(f, &v->processes[i]);
	}
	for (size_t i = 0; view_is_grouped(v) && i < v->n_origins; i++) {
		sink_text(f->sink, ",\n");
		put_process(f, &v->origins[i]);
	}
	sink_put(f->sink, ']');
}

static void put_thread(struct flame *f, const struct view_track *track)
{
	const struct view *v = f->view;
	bool is_of_origin = track->kind == TRACK_SAMPLES && view_is_grouped(v);

	sink_text(f->sink, "{\"name\":");
	put_text(f, track->name);
	if (track->is_real)
		sink_printf(f->sink, ",\"tid\":%lld", (long long)track->tid);
	sink_printf(f->sink, ",\"process\":%zu}",
		is_of_origin ? v->n_processes + track->origin : track->process);
}

static void put_threads(struct flame *f)
{
	const struct view *v = f->view;

	sink_text(f->sink, ",\n\"threads\":[");
	for (size_t i = 0; i < v->n_tracks + v->n_samples; i++) {
		sink_text(f->sink, i ? ",\n" : "");
		put_thread(f, i < v->n_tracks ? &v->tracks[i] : &v->samples[i - v->n_tracks]);
	}
	sink_put(f->sink, ']');
}

static void put_stacks(struct flame *f, const char *member, const struct stacks *s)
{
	sink_printf(f->sink, ",\n\"%s\":[", member);
	for (size_t i = 0; i < s->n; i++) {
		sink_text(f->sink, i ? "," : "");
		put_number(f, s->v[i].callers);
		sink_uint(f->sink, s->v[i].frame);
	}
	sink_put(f->sink, ']');
}

/* Writes the period of all samples, or null if threads differ or there is none. */
static void put_period(struct flame *f)
{
	const struct view *v = f->view;
	int64_t period_ns = v->n_samples ? find_period(&v->samples[0]) : 0;

	for (size_t i = 1; i < v->n_samples; i++)
		if (find_period(&v->samples[i]) != period_ns)
			period_ns = 0;
	sink_text(f->sink, ",\n\"period_ns\":");
	if (period_ns)
		sink_int(f->sink, period_ns);
	else
		sink_text(f->sink, "null");
}

static int put_all_rows(struct flame *f, struct diag *d)
{
	int r = make_paths(f);

	sink_text(f->sink, ",\n\"rows\":[");
	for (size_t i = 0; i < f->view->n_tracks && !r; i++)
		r = put_spans(f, i, d);
	for (size_t i = 0; i < f->view->n_samples && !r; i++)
		r = put_samples(f, &f->view->samples[i], d);
	sink_put(f->sink, ']');
	return r ? r : f->sink->error;
}

static int put_data(struct flame *f, struct diag *d)
{
	const struct view *v = f->view;
	int r;

	sink_text(f->sink, "{\"version\":1,\n\"title\":");
	put_text(f, v->n_archives ? v->hosts[0].stem : "");
	sink_printf(f->sink, ",\n\"n_files\":%zu", v->n_archives);
	put_period(f);
	put_processes(f);
	put_threads(f);
	r = put_all_rows(f, d);
	if (r)
		return r;
	put_stacks(f, "spans", &f->spans);
	put_stacks(f, "functions", &f->functions);
	r = put_texts(f, "span_names", &f->spans, &v->names);
	if (!r)
		r = put_texts(f, "function_names", &f->functions, &v->stacks.texts);
	sink_text(f->sink, "}\n");
	stack_tree_lose(&f->tree, f->result);
	return r;
}

static int write_data(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct flame f = {.view = v, .sink = s, .result = result};
	int r = sink_init_memory(&f.text);

	(void)options;
	if (!r)
		r = put_data(&f, d);
	flame_deinit(&f);
	return r;
}

static int write_page(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	int r;

	sink_write(s, flame_page_head, n_flame_page_head);
	r = write_data(v, options, s, result, d);
	sink_write(s, flame_page_tail, n_flame_page_tail);
	return r;
}

static const char *const aliases[] = {"html", NULL};

const struct codec codec_flame = {
	.name = "flame",
	.aliases = aliases,
	.suffix = ".html",
	.help = "a flame graph of functions and spans in one HTML file, for a web browser",
	.write = write_page,
};

const struct codec codec_flame_data = {
	.name = "flame",
	.suffix = ".json",
	.help = "the data of a flame graph",
	.write = write_data,
};
