/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async spans; see asyncs.h. The marks, sorted by name, id and time, are groups in which an end takes the
 * latest begin that is open. An end before any other mark of its group belongs to a begin before the
 * capture.
 */
#include "daemon/assembly/asyncs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "daemon/assembly/assemble.h"
#include "daemon/assembly/async_carry.h"
#include "daemon/assembly/async_lines.h"
#include "daemon/assembly/stats.h"
#include "daemon/target/entry.h"
#include "daemon/target/timeline.h"
#include "trace/space.h"

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

int asyncs_add(struct asyncs *a, const struct entry *e, uint32_t name, uint64_t id,
	const struct trace_stat *args, uint32_t n)
{
	struct async_mark mark = {
		.ticks = e->start,
		.id = id,
		.name = name,
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
	event->duration_ns = timeline_convert(b->in->timeline, end_ticks) - event->start_ns;
	event->name = span->name;
	event->stats = stats_add_async(b->stats, span);
	return b->stats->error;
}

static int take_end(struct builder *b, const struct async_mark *mark, int is_first)
{
	struct async_span span = {.id = mark->id, .name = mark->name};
	uint64_t start = b->in->window_ticks;

	if (b->n_open) {
		const struct async_mark *begin = &b->asyncs->marks[b->open[--b->n_open]];

		start = begin->ticks;
		span.args = get_args(b->asyncs, begin);
	} else if (is_first) {
		span.is_started_before = 1;
	} else {
		b->asyncs->n_unmatched++;
		return 0;
	}
	return add_span(b, &span, start, mark->ticks);
}

/* What is still open at the end of its group is cut at the end of the capture, or of its process. */
static int cut_open(struct builder *b)
{
	int r = 0;

	while (b->n_open && !r) {
		const struct async_mark *mark = &b->asyncs->marks[b->open[--b->n_open]];
		struct async_span span = {
			.id = mark->id,
			.args = get_args(b->asyncs, mark),
			.name = mark->name,
			.is_unfinished = 1,
		};
		uint64_t stop = assemble_find_cut(b->in);

		r = add_span(b, &span, mark->ticks, stop > mark->ticks ? stop : mark->ticks);
		if (!r && b->in->carry)
			r = leave(b->asyncs, b->in->carry, mark, b->plane);
	}
	return r;
}

static int match(struct builder *b)
{
	const struct async_mark *marks = b->asyncs->marks;
	int r = 0;

	for (size_t i = 0; i < b->asyncs->n_marks && !r; i++) {
		int is_first = i == 0 || marks[i].name != marks[i - 1].name ||
			       marks[i].id != marks[i - 1].id;

		r = cancel_look_at(b->in->cancel, i);
		if (!r && is_first)
			r = cut_open(b);
		if (r)
			return r;
		if (marks[i].is_end)
			r = take_end(b, &marks[i], is_first);
		else
			b->open[b->n_open++] = i;
	}
	return r ? r : cut_open(b);
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
	return r ? r : async_lines_add(plane, spans, b.n_spans, in->cancel, &a->n_crowded);
}

int asyncs_add_lines(
	struct asyncs *a, const struct assemble_input *in, struct plane *plane, struct stats *stats)
{
	int r = in->carry ? exchange(a, in, plane) : 0;

	return r ? r : add_all(a, in, plane, stats);
}
