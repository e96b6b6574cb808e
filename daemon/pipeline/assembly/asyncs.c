/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async spans; see asyncs.h. The marks are sorted by name, id and time. In each group of one name
 * and id an end takes the latest open begin. An end that is the first mark of its group belongs to
 * a begin before the capture, unless marks are missing.
 */
#include "daemon/pipeline/assembly/asyncs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/async_carry.h"
#include "daemon/pipeline/assembly/stats.h"
#include "daemon/target/entry.h"
#include "daemon/target/timeline.h"
#include "trace/model/space.h"

/* Makes spans from marks. */
struct async_matcher {
	struct asyncs *asyncs;
	const struct assemble_input *in;
	struct plane *plane;
	struct stats *stats;
	struct trace_event *spans;
	size_t n_spans;
	size_t *open; /* open begins of the present group, as indices of marks; the latest last */
	size_t n_open;
	/* each id of the name is used once: no missing mark can lie between a begin and an end */
	bool is_used_once;
	/* all marks of the group are of one thread: missing oldest marks cannot lie between them */
	bool is_of_one_thread;
};

void asyncs_deinit(struct asyncs *a)
{
	free(a->marks);
	free(a->args);
	memset(a, 0, sizeof *a);
}

static int add_mark(struct asyncs *a, const struct async_mark *mark)
{
	if (grow(&a->marks, &a->n_allocated, a->n_marks + 1))
		return -ENOMEM;
	a->marks[a->n_marks] = *mark;
	a->marks[a->n_marks].number = a->n_marks;
	a->n_marks++;
	return 0;
}

/* Adds |n| arguments and sets |*out| to the value of async_mark.args. */
static int add_args(struct asyncs *a, const struct trace_stat *args, uint32_t n, uint32_t *out)
{
	*out = 0;
	if (!n)
		return 0;
	if (a->n_args > UINT32_MAX - n || grow(&a->args, &a->n_args_allocated, a->n_args + n))
		return -ENOMEM;
	*out = (uint32_t)a->n_args + 1;
	for (uint32_t i = 0; i < n; i++) {
		a->args[a->n_args] = args[i];
		a->args[a->n_args++].is_last = i + 1 == n;
	}
	return 0;
}

static const struct trace_stat *get_args(const struct asyncs *a, const struct async_mark *mark)
{
	return mark->args ? &a->args[mark->args - 1] : NULL;
}

/* True when a mark between these two times may be missing. */
static bool may_miss_mark(const struct asyncs *a, uint64_t after_ticks, uint64_t before_ticks)
{
	return a->complete_ticks > after_ticks || gaps_has(&a->gaps, after_ticks, before_ticks);
}

int asyncs_add(struct asyncs *a, const struct entry *e, uint32_t name, uint64_t id,
	const struct trace_stat *args, uint32_t n)
{
	struct async_mark mark = {
		.ticks = e->start,
		.id = id,
		.name = name,
		.thread = a->thread,
		.is_end = e->kind == RECORD_ASYNC_END,
	};
	int r = add_args(a, args, n, &mark.args);

	return r ? r : add_mark(a, &mark);
}

/* --- from part to part --------------------------------------------------------------------- */

static int carry_mark(const struct asyncs *a, struct async_carry *carry,
	const struct async_mark *mark, const struct plane *plane)
{
	return async_carry_add(carry, mark, names_get(&plane->event_names, mark->name),
		get_args(a, mark), &plane->stat_names);
}

/* Adds a mark that the earlier part has left. */
static int take_carried_mark(struct asyncs *a, const struct async_carry *carry,
	const struct async_mark *left, struct plane *plane)
{
	struct trace_stat args[ASYNC_CARRY_MAX_ARGS];
	const char *text = names_get(&carry->names, left->name);
	struct async_mark mark = *left;
	uint32_t n = 0;
	int r;

	mark.thread = 0;
	mark.name = names_intern(&plane->event_names, text, strlen(text));
	if (mark.name == NAMES_NONE)
		return -ENOMEM;
	r = async_carry_get_args(carry, left, &plane->stat_names, args, &n);
	if (!r)
		r = add_args(a, args, n, &mark.args);
	return r ? r : add_mark(a, &mark);
}

static int take_carried_marks(struct asyncs *a, struct async_carry *carry, struct plane *plane)
{
	int r = 0;

	for (size_t i = 0; i < carry->n_marks && !r; i++)
		r = take_carried_mark(a, carry, &carry->marks[i], plane);
	async_carry_deinit(carry);
	return r;
}

/*
 * Leaves marks after |settled_ticks| to the next part, because other threads' marks of that time
 * may still be missing.
 */
static int carry_late_marks(struct asyncs *a, uint64_t settled_ticks, struct async_carry *carry,
	const struct plane *plane)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < a->n_marks && !r; i++) {
		if (a->marks[i].ticks > settled_ticks)
			r = carry_mark(a, carry, &a->marks[i], plane);
		else
			a->marks[n++] = a->marks[i];
	}
	a->n_marks = n;
	return r;
}

static int exchange_with_carry(
	struct asyncs *a, const struct assemble_input *in, struct plane *plane)
{
	int r = take_carried_marks(a, in->carry, plane);

	return r ? r : carry_late_marks(a, in->settled_ticks, in->carry, plane);
}

/* --- matching ------------------------------------------------------------------------------ */

static int compare_marks(const void *left, const void *right)
{
	const struct async_mark *a = left;
	const struct async_mark *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static int add_span(struct async_matcher *b, const struct async_span *span, uint64_t start_ticks,
	uint64_t end_ticks)
{
	struct trace_event *event = &b->spans[b->n_spans++];

	event->start_ns = timeline_convert(b->in->timeline, start_ticks);
	event->duration_ns = assemble_find_end_ns(b->in, end_ticks) - event->start_ns;
	event->name = span->name;
	event->stats = stats_add_async(b->stats, span);
	event->is_span = true;
	return b->stats->error;
}

/* True when no other mark of the group can have been between |latest| and |end|. */
static bool marks_are_neighbours(const struct async_matcher *b, const struct async_mark *latest,
	const struct async_mark *end)
{
	if (b->is_used_once)
		return true;
	return b->is_of_one_thread ? !gaps_has(&b->asyncs->gaps, latest->ticks, end->ticks)
				   : !may_miss_mark(b->asyncs, latest->ticks, end->ticks);
}

/* Joins |latest|, the latest open begin, and |end|. */
static int join_marks(
	struct async_matcher *b, const struct async_mark *latest, const struct async_mark *end)
{
	struct async_span span = {.id = end->id, .name = end->name};

	if (!marks_are_neighbours(b, latest, end)) {
		b->asyncs->n_beginless++;
		b->asyncs->n_endless++;
		return 0;
	}
	span.args = get_args(b->asyncs, latest);
	return add_span(b, &span, latest->ticks, end->ticks);
}

/*
 * Handles an end without an open begin. |before| is the last mark before it in its group; NULL: the
 * end is the first mark.
 */
static int handle_lone_end(
	struct async_matcher *b, const struct async_mark *before, const struct async_mark *end)
{
	struct async_span span = {.id = end->id, .name = end->name, .is_started_before = 1};

	if (may_miss_mark(b->asyncs, before ? before->ticks : 0, end->ticks)) {
		b->asyncs->n_beginless++;
		return 0;
	}
	if (!before)
		return add_span(b, &span, b->in->window_ticks, end->ticks);
	b->asyncs->n_unmatched++;
	return 0;
}

/* Cuts an open span at the end of the capture, or of its process. */
static int cut_open_span(struct async_matcher *b, const struct async_mark *mark)
{
	struct async_span span = {
		.id = mark->id,
		.args = get_args(b->asyncs, mark),
		.name = mark->name,
		.is_unfinished = true,
	};
	uint64_t stop = assemble_find_cut(b->in);
	int r;

	if (may_miss_mark(b->asyncs, mark->ticks, UINT64_MAX)) {
		b->asyncs->n_endless++;
		return 0;
	}
	r = add_span(b, &span, mark->ticks, stop > mark->ticks ? stop : mark->ticks);
	return r || !b->in->carry ? r : carry_mark(b->asyncs, b->in->carry, mark, b->plane);
}

/* Cuts the spans that are still open at the end of their group. */
static int cut_open_spans(struct async_matcher *b)
{
	int r = 0;

	while (b->n_open && !r)
		r = cut_open_span(b, &b->asyncs->marks[b->open[--b->n_open]]);
	return r;
}

/* Matches the marks from |first| to before |end|, which have one id. */
static int match_id(struct async_matcher *b, size_t first, size_t end)
{
	const struct async_mark *marks = b->asyncs->marks;
	int r = 0;

	for (size_t i = first; i < end && !r; i++) {
		r = cancel_check_at(b->in->cancel, i);
		if (r)
			return r;
		if (!marks[i].is_end)
			b->open[b->n_open++] = i;
		else if (b->n_open)
			r = join_marks(b, &marks[b->open[--b->n_open]], &marks[i]);
		else
			r = handle_lone_end(b, i > first ? &marks[i - 1] : NULL, &marks[i]);
	}
	return r ? r : cut_open_spans(b);
}

static size_t find_end_of_id(const struct asyncs *a, size_t first)
{
	size_t end = first + 1;

	while (end < a->n_marks && a->marks[end].name == a->marks[first].name &&
		a->marks[end].id == a->marks[first].id)
		end++;
	return end;
}

static size_t find_end_of_name(const struct asyncs *a, size_t first)
{
	size_t end = first + 1;

	while (end < a->n_marks && a->marks[end].name == a->marks[first].name)
		end++;
	return end;
}

/* True when the marks from |first| to before |end|, all of one id, belong to more than one span. */
static bool is_used_twice(const struct async_mark *marks, size_t first, size_t end)
{
	return end - first > 2 ||
	       (end - first == 2 && marks[first].is_end == marks[first + 1].is_end);
}

static bool is_of_one_thread(const struct async_mark *marks, size_t first, size_t end)
{
	while (first + 1 < end && marks[first].thread == marks[first + 1].thread)
		first++;
	return first + 1 == end && marks[first].thread;
}

/* Matches the marks from |first| to before |end|, which have one name. */
static int match_name(struct async_matcher *b, size_t first, size_t end)
{
	const struct async_mark *marks = b->asyncs->marks;
	bool is_twice = false;
	int r = 0;

	for (size_t i = first, next; i < end && !is_twice; i = next) {
		next = find_end_of_id(b->asyncs, i);
		is_twice = is_used_twice(marks, i, next);
	}
	for (size_t i = first, next; i < end && !r; i = next) {
		next = find_end_of_id(b->asyncs, i);
		b->is_used_once = !is_twice;
		b->is_of_one_thread = is_of_one_thread(marks, i, next);
		r = match_id(b, i, next);
	}
	return r;
}

static int match_all(struct async_matcher *b)
{
	int r = 0;

	for (size_t i = 0, next; i < b->asyncs->n_marks && !r; i = next) {
		next = find_end_of_name(b->asyncs, i);
		r = match_name(b, i, next);
	}
	return r;
}

/* --- lines -------------------------------------------------------------------------------- */

/*
 * Spans are sorted by name and start. Each span goes to the first line of its name that is free,
 * or to a new one. A name has at most 255 such lines, since more would not help a person. Beyond
 * this limit, or MAX_LINES in all, a span goes to one more line of its name, on which spans
 * overlap. Programs that read the trace know that async spans do so, and count them all. So no
 * span is left out, and a backlog of 5,000 requests has 256 lines.
 */
#define MAX_LINES_OF_NAME 255
#define MAX_LINES 4096
#define SHARED_LINE MAX_LINES_OF_NAME

struct line_builder {
	struct plane *plane;
	const _Atomic int *cancel;
	uint16_t *line_of; /* of the spans of the present name */
	size_t n_lines; /* lines of all names */
};

static int compare_async_spans(const void *left, const void *right)
{
	const struct trace_event *a = left;
	const struct trace_event *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->duration_ns > b->duration_ns ? -1 : a->duration_ns < b->duration_ns;
}

/*
 * Returns the first of |*n_lines| lines that is free at |start_ns|, or a new
 * line, or the shared line.
 */
static int choose_line(
	const struct line_builder *b, const int64_t *ends_ns, int *n_lines, int64_t start_ns)
{
	for (int i = 0; i < *n_lines; i++)
		if (ends_ns[i] <= start_ns)
			return i;
	if (*n_lines == MAX_LINES_OF_NAME || b->n_lines + (size_t)*n_lines >= MAX_LINES)
		return SHARED_LINE;
	return (*n_lines)++;
}

/*
 * Chooses the lines of |n| spans of one name; |counts| becomes the number of spans on each, 0 for
 * unused lines. 0 or -ECANCELED.
 */
static int choose_lines(
	struct line_builder *b, const struct trace_event *spans, size_t n, size_t *counts)
{
	int64_t ends_ns[MAX_LINES_OF_NAME];
	int n_lines = 0;

	memset(counts, 0, (SHARED_LINE + 1) * sizeof *counts);
	for (size_t i = 0; i < n; i++) {
		int line = choose_line(b, ends_ns, &n_lines, spans[i].start_ns);

		if (cancel_check_at(b->cancel, i))
			return -ECANCELED;
		b->line_of[i] = (uint16_t)line;
		counts[line]++;
		if (line != SHARED_LINE)
			ends_ns[line] = spans[i].start_ns + spans[i].duration_ns;
	}
	return 0;
}

static int add_async_line(struct line_builder *b, uint32_t name, size_t n_spans)
{
	int64_t id = LINE_ID_FIRST_ASYNC + (int64_t)b->n_lines++;

	return plane_add_line(b->plane, id, names_get(&b->plane->event_names, name), n_spans)
		       ? 0
		       : -ENOMEM;
}

static int add_lines_of_name(struct line_builder *b, const struct trace_event *spans, size_t n)
{
	size_t counts[SHARED_LINE + 1];
	size_t places[SHARED_LINE + 1];
	int r = choose_lines(b, spans, n, counts);

	for (int i = 0; i <= SHARED_LINE && !r; i++) {
		places[i] = b->plane->n_lines;
		if (counts[i])
			r = add_async_line(b, spans[0].name, counts[i]);
	}
	for (size_t i = 0; i < n && !r; i++)
		r = line_add_event(&b->plane->lines[places[b->line_of[i]]], &spans[i]);
	return r;
}

static int add_lines_of_names(struct line_builder *b, const struct trace_event *spans, size_t n)
{
	size_t first = 0;
	int r = 0;

	for (size_t i = 1; i <= n && !r; i++) {
		if (i < n && spans[i].name == spans[first].name)
			continue;
		r = add_lines_of_name(b, spans + first, i - first);
		first = i;
	}
	return r;
}

static int async_lines_add(
	struct plane *plane, struct trace_event *spans, size_t n, const _Atomic int *cancel)
{
	_cleanup_free_ uint16_t *line_of = reallocarray(NULL, n + 1, sizeof *line_of);
	struct line_builder b = {.plane = plane, .cancel = cancel, .line_of = line_of};

	if (!line_of)
		return -ENOMEM;
	qsort(spans, n, sizeof *spans, compare_async_spans);
	return add_lines_of_names(&b, spans, n);
}

/* --- all ---------------------------------------------------------------------------------- */

static int add_all_spans(
	struct asyncs *a, const struct assemble_input *in, struct plane *plane, struct stats *stats)
{
	_cleanup_free_ struct trace_event *spans = reallocarray(NULL, a->n_marks, sizeof *spans);
	_cleanup_free_ size_t *open = reallocarray(NULL, a->n_marks, sizeof *open);
	struct async_matcher b = {.asyncs = a,
		.in = in,
		.plane = plane,
		.stats = stats,
		.spans = spans,
		.open = open};
	int r;

	if (!a->n_marks)
		return 0;
	if (!spans || !open)
		return -ENOMEM;
	qsort(a->marks, a->n_marks, sizeof *a->marks, compare_marks);
	r = match_all(&b);
	return r ? r : async_lines_add(plane, spans, b.n_spans, in->cancel);
}

int asyncs_add_lines(
	struct asyncs *a, const struct assemble_input *in, struct plane *plane, struct stats *stats)
{
	int r = in->carry ? exchange_with_carry(a, in, plane) : 0;

	return r ? r : add_all_spans(a, in, plane, stats);
}
