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
	memset(a, 0, sizeof *a);
}

static int add_mark(struct asyncs *a, uint64_t ticks, uint64_t id, uint32_t name, int is_end)
{
	if (grow(&a->marks, &a->n_allocated, a->n_marks + 1))
		return -ENOMEM;
	a->marks[a->n_marks] = (struct async_mark){ticks, id, a->n_marks, name, is_end};
	a->n_marks++;
	return 0;
}

int asyncs_add(struct asyncs *a, const struct entry *e, uint32_t name, uint64_t id)
{
	return add_mark(a, e->start, id, name, e->kind == RECORD_ASYNC_END);
}

/* --- from part to part --------------------------------------------------------------------- */

static int leave(
	struct async_carry *carry, const struct async_mark *mark, const struct plane *plane)
{
	return async_carry_add(carry, mark, names_get(&plane->event_names, mark->name));
}

/* What the part before has left becomes this one's. */
static int bring(struct asyncs *a, struct async_carry *carry, struct plane *plane)
{
	int r = 0;

	for (size_t i = 0; i < carry->n_marks && !r; i++) {
		const struct async_mark *mark = &carry->marks[i];
		const char *text = names_get(&carry->names, mark->name);
		uint32_t name = names_intern(&plane->event_names, text, strlen(text));

		r = name == NAMES_NONE ? -ENOMEM
				       : add_mark(a, mark->ticks, mark->id, name, mark->is_end);
	}
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
			r = leave(carry, &a->marks[i], plane);
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

	if (b->n_open)
		start = b->asyncs->marks[b->open[--b->n_open]].ticks;
	else if (is_first)
		span.is_started_before = 1;
	else {
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
		struct async_span span = {.id = mark->id, .name = mark->name, .is_unfinished = 1};
		uint64_t stop = assemble_find_cut(b->in);

		r = add_span(b, &span, mark->ticks, stop > mark->ticks ? stop : mark->ticks);
		if (!r && b->in->carry)
			r = leave(b->in->carry, mark, b->plane);
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
