/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing array of events, which are added in the order of their ends and then
 * sorted by their starts.
 */
#ifndef DAEMON_EVENTS_H
#define DAEMON_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct line;
struct trace_event;

struct events {
	struct trace_event *v;
	uint8_t *depths; /* by event: the number of spans that were open around it */
	size_t n;
	size_t n_allocated;
	size_t n_depths_allocated;
	size_t *stack; /* of events_order_by_start(), kept from call to call */
	size_t n_stack_allocated;
};

/* All zero is the empty state. */
void events_deinit(struct events *events);
/* Makes room for |n| more. 0 or -ENOMEM */
int events_reserve(struct events *events, size_t n);
/* 0 or -ENOMEM */
int events_push(struct events *events, const struct trace_event *event, unsigned depth);

/*
 * Fills |line|, which has room for them, with |events|: these are in the order of their ends, as in
 * a ring, and are sorted for the line (start ascending, duration descending). |events| and |line|
 * may exchange their memory. 0, -ENOMEM, or -ECANCELED when |cancel| (NULL ok) was raised: then
 * |line| has no events.
 */
int events_order_by_start(struct events *events, struct line *line, const _Atomic int *cancel);

#endif
