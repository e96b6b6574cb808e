/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events; see events.h. One backward pass with a stack makes the order: a span is complete, and goes to the
 * output's end, as soon as an earlier record ends before it starts.
 */
#include "daemon/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/space.h"

void events_deinit(struct events *events)
{
	free(events->v);
	free(events->depths);
	memset(events, 0, sizeof *events);
}

int events_push(struct events *events, const struct trace_event *event, unsigned depth)
{
	if (grow(&events->v, &events->n_allocated, events->n + 1) ||
		grow(&events->depths, &events->n_depths_allocated, events->n + 1))
		return -ENOMEM;
	events->depths[events->n] = (uint8_t)depth;
	events->v[events->n++] = *event;
	return 0;
}

/*
 * Whether |outer|, recorded later, does not contain |inner|. One without length at the first
 * nanosecond of the other may be inside: then the depths tell.
 */
static int is_apart(const struct events *events, size_t outer, size_t inner)
{
	const struct trace_event *o = &events->v[outer];
	const struct trace_event *i = &events->v[inner];

	if (i->duration_ns == 0 && o->start_ns == i->start_ns)
		return events->depths[outer] >= events->depths[inner];
	return o->start_ns >= i->start_ns + i->duration_ns;
}

int events_order_by_start(const struct events *events, struct line *line, const _Atomic int *cancel)
{
	_cleanup_free_ size_t *stack = reallocarray(NULL, events->n + 1, sizeof *stack);
	size_t depth = 0;
	size_t to = events->n;

	if (!stack)
		return -ENOMEM;
	for (size_t i = events->n; i-- > 0;) {
		if (cancel_look_at(cancel, i))
			return -ECANCELED;
		while (depth && is_apart(events, stack[depth - 1], i))
			line->events[--to] = events->v[stack[--depth]];
		stack[depth++] = i;
	}
	while (depth)
		line->events[--to] = events->v[stack[--depth]];
	line->n_events = events->n;
	/* Nothing to do, but for equal times in a target that nests its spans badly. */
	line_sort(line);
	return 0;
}
