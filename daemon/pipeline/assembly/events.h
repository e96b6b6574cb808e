/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array of events, and the way from the order of their ends to that of their starts. */
#ifndef DAEMON_EVENTS_H
#define DAEMON_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct line;
struct trace_event;

struct events {
	struct trace_event *v;
	uint8_t *depths; /* of the same events: how many spans were open around each */
	size_t n;
	size_t n_allocated;
	size_t n_depths_allocated;
	size_t *stack; /* events_order_by_start()'s, from call to call */
	size_t n_stack_allocated;
};

/* All zero is the empty state. */
void events_deinit(struct events *events);
/* Room for |n| more. 0 or -ENOMEM */
int events_reserve(struct events *events, size_t n);
/* 0 or -ENOMEM */
int events_push(struct events *events, const struct trace_event *event, unsigned depth);

/*
 * Fills |line|, which has room for them, with |events|: they come in the order of their ends, as a ring
 * holds them, and leave as (start ascending, duration descending). The line's memory and the events' may change places. 0, -ENOMEM, or -ECANCELED when |cancel| (NULL ok) was
 * raised: then |line| has none.
 */
int events_order_by_start(struct events *events, struct line *line, const _Atomic int *cancel);

#endif
