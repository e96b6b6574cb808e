/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events; see events.h. One backward pass with a stack makes the order: a span is complete, and goes to the
 * output's end, as soon as an earlier record ends before it starts.
 */
#include "daemon/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/space.h"

void events_deinit(struct events *events)
{
	free(events->v);
	memset(events, 0, sizeof *events);
}

int events_push(struct events *events, const struct trace_event *event)
{
	if (events->n == events->n_allocated) {
		size_t n = events->n_allocated ? 2 * events->n_allocated : 1024;
		struct trace_event *v = reallocarray(events->v, n, sizeof *v);

		if (!v)
			return -ENOMEM;
		events->v = v;
		events->n_allocated = n;
	}
	events->v[events->n++] = *event;
	return 0;
}

int events_order_by_start(const struct events *events, struct line *line)
{
	size_t *stack = reallocarray(NULL, events->n + 1, sizeof *stack);
	size_t depth = 0;
	size_t to = events->n;

	if (!stack)
		return -ENOMEM;
	for (size_t i = events->n; i-- > 0;) {
		const struct trace_event *e = &events->v[i];
		int64_t end = e->start_ns + e->duration_ns;

		while (depth && events->v[stack[depth - 1]].start_ns >= end)
			line->events[--to] = events->v[stack[--depth]];
		stack[depth++] = i;
	}
	while (depth)
		line->events[--to] = events->v[stack[--depth]];
	free(stack);
	line->n_events = events->n;
	/* Equal times (an instant at its parent's first nanosecond) may be the wrong way round. */
	line_sort(line);
	return 0;
}
