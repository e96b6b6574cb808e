/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async spans; see asyncs.h. The marks, sorted by name, id and time, are groups in which an end takes the
 * latest begin that is open. An end before any other mark of its group belongs to a begin before the
 * capture, unless marks are missing.
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
#include "daemon/pipeline/assembly/async_lines.h"
#include "daemon/pipeline/assembly/stats.h"
#include "daemon/target/entry.h"
#include "daemon/target/timeline.h"
#include "trace/model/space.h"

/* Marks under way to spans. */
struct builder {
	struct asyncs *asyncs;
	const struct assemble_input *in;
	struct plane *plane;
	struct stats *stats;
	struct trace_event *spans;
	size_t n_spans;
	size_t *open; /* begins of the group at hand, as indices of marks; the latest last */
	size_t n_open;
	bool is_used_once; /* each id of the name: no mark that is missing is between a begin and an end */
	bool is_of_one_thread; /* the group: nor is one of the oldest that are missing */
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

/* Sets |*out| to what a mark has for |n| arguments. */
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

/* Whether a mark between these two times may be missing. */
static bool has_gap(const struct asyncs *a, uint64_t after_ticks, uint64_t before_ticks)
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

static int leave(const struct asyncs *a, struct async_carry *carry, const struct async_mark *mark,
	const struct plane *plane)
{
	return async_carry_add(carry, mark, names_get(&plane->event_names, mark->name),
		get_args(a, mark), &plane->stat_names);
}

/* What the part before has left becomes this one's. */
static int bring_one(struct asyncs *a, const struct async_carry *carry,
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

static int bring(struct asyncs *a, struct async_carry *carry, struct plane *plane)
{
	int r = 0;

	for (size_t i = 0; i < carry->n_marks && !r; i++)
		r = bring_one(a, carry, &carry->marks[i], plane);
	async_carry_deinit(carry);
	return r;
}

/* All threads' marks are there up to |settled_ticks|: the later ones wait for those that are not. */
static int leave_late(struct asyncs *a, uint64_t settled_ticks, struct async_carry *carry,
	const struct plane *plane)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < a->n_marks && !r; i++) {
		if (a->marks[i].ticks > settled_ticks)
			r = leave(a, carry, &a->marks[i], plane);
		else
			a->marks[n++] = a->marks[i];
	}
	a->n_marks = n;
	return r;
}

static int exchange(struct asyncs *a, const struct assemble_input *in, struct plane *plane)
{
	int r = bring(a, in->carry, plane);

	return r ? r : leave_late(a, in->settled_ticks, in->carry, plane);
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

static int add_span(
	struct builder *b, const struct async_span *span, uint64_t start_ticks, uint64_t end_ticks)
{
	struct trace_event *event = &b->spans[b->n_spans++];

	event->start_ns = timeline_convert(b->in->timeline, start_ticks);
	event->duration_ns = assemble_find_end_ns(b->in, end_ticks) - event->start_ns;
	event->name = span->name;
	event->stats = stats_add_async(b->stats, span);
	event->is_span = true;
	return b->stats->error;
}

/* Whether no other mark of the group was between them. */
static bool is_sure(
	const struct builder *b, const struct async_mark *latest, const struct async_mark *end)
{
	if (b->is_used_once)
		return true;
	return b->is_of_one_thread ? !gaps_has(&b->asyncs->gaps, latest->ticks, end->ticks)
				   : !has_gap(b->asyncs, latest->ticks, end->ticks);
}

/* |latest|: the begin that is open and is the latest. */
static int join(struct builder *b, const struct async_mark *latest, const struct async_mark *end)
{
	struct async_span span = {.id = end->id, .name = end->name};

	if (!is_sure(b, latest, end)) {
		b->asyncs->n_beginless++;
		b->asyncs->n_endless++;
		return 0;
	}
	span.args = get_args(b->asyncs, latest);
	return add_span(b, &span, latest->ticks, end->ticks);
}

/* An end that no begin is open for. |before|: the mark of its group before it; NULL: it is the first. */
static int take_lone_end(
	struct builder *b, const struct async_mark *before, const struct async_mark *end)
{
	struct async_span span = {.id = end->id, .name = end->name, .is_started_before = 1};

	if (has_gap(b->asyncs, before ? before->ticks : 0, end->ticks)) {
		b->asyncs->n_beginless++;
		return 0;
	}
	if (!before)
		return add_span(b, &span, b->in->window_ticks, end->ticks);
	b->asyncs->n_unmatched++;
	return 0;
}

/* Cut at the end of the capture, or of its process. */
static int cut_one(struct builder *b, const struct async_mark *mark)
{
	struct async_span span = {
		.id = mark->id,
		.args = get_args(b->asyncs, mark),
		.name = mark->name,
		.is_unfinished = true,
	};
	uint64_t stop = assemble_find_cut(b->in);
	int r;

	if (has_gap(b->asyncs, mark->ticks, UINT64_MAX)) {
		b->asyncs->n_endless++;
		return 0;
	}
	r = add_span(b, &span, mark->ticks, stop > mark->ticks ? stop : mark->ticks);
	return r || !b->in->carry ? r : leave(b->asyncs, b->in->carry, mark, b->plane);
}

/* Cuts the spans that are still open at the end of their group. */
static int cut_open(struct builder *b)
{
	int r = 0;

	while (b->n_open && !r)
		r = cut_one(b, &b->asyncs->marks[b->open[--b->n_open]]);
	return r;
}

/* The marks from |first| to before |end| are those of one id. */
static int match_id(struct builder *b, size_t first, size_t end)
{
	const struct async_mark *marks = b->asyncs->marks;
	int r = 0;

	for (size_t i = first; i < end && !r; i++) {
		r = cancel_look_at(b->in->cancel, i);
		if (r)
			return r;
		if (!marks[i].is_end)
			b->open[b->n_open++] = i;
		else if (b->n_open)
			r = join(b, &marks[b->open[--b->n_open]], &marks[i]);
		else
			r = take_lone_end(b, i > first ? &marks[i - 1] : NULL, &marks[i]);
	}
	return r ? r : cut_open(b);
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

/* Whether the marks from |first| to before |end|, all of one id, tell of more than one span. */
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

/* The marks from |first| to before |end| are those of one name. */
static int match_name(struct builder *b, size_t first, size_t end)
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

static int match(struct builder *b)
{
	int r = 0;

	for (size_t i = 0, next; i < b->asyncs->n_marks && !r; i = next) {
		next = find_end_of_name(b->asyncs, i);
		r = match_name(b, i, next);
	}
	return r;
}

static int add_all(
	struct asyncs *a, const struct assemble_input *in, struct plane *plane, struct stats *stats)
{
	_cleanup_free_ struct trace_event *spans = reallocarray(NULL, a->n_marks, sizeof *spans);
	_cleanup_free_ size_t *open = reallocarray(NULL, a->n_marks, sizeof *open);
	struct builder b = {.asyncs = a,
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
	r = match(&b);
	return r ? r : async_lines_add(plane, spans, b.n_spans, in->cancel);
}

int asyncs_add_lines(
	struct asyncs *a, const struct assemble_input *in, struct plane *plane, struct stats *stats)
{
	int r = in->carry ? exchange(a, in, plane) : 0;

	return r ? r : add_all(a, in, plane, stats);
}
