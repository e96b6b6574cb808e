/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events; see events.h. The order is made in one backward pass with a stack. A span goes before
 * the output so far as soon as an earlier record ends before the span starts: then all spans inside
 * of it were seen.
 */
#include "daemon/pipeline/assembly/events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/grow.h"
#include "trace/model/space.h"

void events_deinit(struct events *events)
{
	free(events->v);
	free(events->depths);
	free(events->stack);
	memset(events, 0, sizeof *events);
}

int events_reserve(struct events *events, size_t n)
{
	return grow(&events->v, &events->n_allocated, events->n + n) ||
			       grow(&events->depths, &events->n_depths_allocated, events->n + n)
		       ? -ENOMEM
		       : 0;
}

int events_push(struct events *events, const struct trace_event *event, unsigned depth)
{
	if (events_reserve(events, 1))
		return -ENOMEM;
	events->depths[events->n] = (uint8_t)depth;
	events->v[events->n++] = *event;
	return 0;
}

/*
 * True when |outer|, which was recorded later, does not contain |inner|. If |inner| has no length
 * and lies at the first nanosecond of |outer|, it may be inside, so the depths decide.
 */
static bool does_not_contain(const struct events *events, size_t outer, size_t inner)
{
	const struct trace_event *o = &events->v[outer];
	const struct trace_event *i = &events->v[inner];

	if (i->duration_ns == 0 && o->start_ns == i->start_ns)
		return events->depths[outer] >= events->depths[inner];
	return o->start_ns >= i->start_ns + i->duration_ns;
}

/* The output, which is filled from its end. */
struct events_output {
	struct trace_event *to;
	bool is_in_order;
};

static inline void put_event(
	struct events_output *out, const struct trace_event *event, bool is_first)
{
	if (!is_first && event_comes_before(out->to, event))
		out->is_in_order = false;
	*--out->to = *event;
}

/* True when no span lies in another one: then the events are already in order. */
static bool starts_are_in_order(const struct events *events)
{
	for (size_t i = 1; i < events->n; i++)
		if (events->v[i].start_ns <= events->v[i - 1].start_ns)
			return false;
	return true;
}

/* Moves the events as they are. Exchanges the memory with the line if the line has as much. */
static void move_events(struct events *events, struct line *line)
{
	struct trace_event *of_line = line->events;
	size_t n_of_line = line->n_allocated;

	line->n_events = events->n;
	if (n_of_line < events->n_allocated) {
		if (events->n)
			memcpy(line->events, events->v, events->n * sizeof *events->v);
		return;
	}
	line->events = events->v;
	line->n_allocated = events->n_allocated;
	events->v = of_line;
	events->n_allocated = n_of_line;
}

int events_order_by_start(struct events *events, struct line *line, const _Atomic int *cancel)
{
	struct trace_event *end = line->events + events->n;
	struct events_output out = {end, 1};
	size_t depth = 0;

	if (cancel_check(cancel))
		return -ECANCELED;
	if (starts_are_in_order(events)) {
		move_events(events, line);
		return 0;
	}
	if (grow(&events->stack, &events->n_stack_allocated, events->n))
		return -ENOMEM;
	for (size_t i = events->n; i-- > 0;) {
		if (cancel_check_at(cancel, i))
			return -ECANCELED;
		while (depth && does_not_contain(events, events->stack[depth - 1], i))
			put_event(&out, &events->v[events->stack[--depth]], out.to == end);
		events->stack[depth++] = i;
	}
	while (depth)
		put_event(&out, &events->v[events->stack[--depth]], out.to == end);
	line->n_events = events->n;
	/* The order is wrong when times are equal and the target nests its spans badly. */
	if (!out.is_in_order)
		line_sort(line);
	return 0;
}
