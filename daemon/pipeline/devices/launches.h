/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that had a device do something, and calls that made nodes of graphs, each with the outermost span that was open around it:
 * what a device did belongs to that. Steps do not count as such.
 *
 * A ring has spans in the order of their ends. So a call waits, in its thread's stack, until the spans around it have come; each
 * takes those over that the ones inside of it had, and a call is looked at again only when nothing can be around it any more.
 */
#ifndef DAEMON_LAUNCHES_H
#define DAEMON_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/purse.h"

enum launch_site_kind {
	LAUNCH_CALL = 0,
	LAUNCH_NODE = 1,
	N_LAUNCH_SITES
};

struct launch_site {
	uint64_t id; /* correlation; node */
	uint64_t
		value; /* of a call its start in ns, of a node the one that it was made from, or 0 */
	uint32_t span; /* name of the span, as launches_end_span() had it, + 1; 0: none */
	uint32_t next; /* another one of the same span; see launches.c */
};

struct launch_sites {
	struct launch_site *v;
	size_t n;
	size_t n_allocated;
};

struct launches {
	struct launch_sites sites[N_LAUNCH_SITES];
	uint64_t n_crowded; /* that memory had no room for */
};

/* Calls of which the same spans are known so far. */
struct launch_group {
	uint64_t start_ticks; /* of the first of them */
	uint32_t first; /* links, see launches.c */
	uint32_t last;
	uint32_t span;
	uint32_t depth; /* how many spans are around them that are still to come */
};

/* A thread's calls that wait. All zero is empty. */
struct launch_stack {
	struct launch_group *v;
	size_t n;
	size_t n_allocated;
};

void launches_deinit(struct launches *l);
void launch_stack_deinit(struct launch_stack *stack);

/*
 * One that began at |start_ticks| with |depth| spans around it; they come in the order of their ends, as their spans do. 0 or
 * -ENOMEM.
 */
int launches_add(struct launches *l, struct launch_stack *stack, enum launch_site_kind kind,
	const struct launch_site *site, uint64_t start_ticks, unsigned depth, struct purse *purse);

/* Whether the last of them lies in a span with |depth| around it; the times alone may be the same. */
static inline bool launch_stack_is_in(
	const struct launch_stack *stack, uint64_t start_ticks, unsigned depth)
{
	const struct launch_group *top = &stack->v[stack->n - 1];

	return top->start_ticks >= start_ticks && top->depth > depth;
}

/* Whether such a span makes a difference to those that wait. */
static inline bool launch_stack_wants(
	const struct launch_stack *stack, uint64_t start_ticks, unsigned depth)
{
	return stack->n && (depth == 0 || launch_stack_is_in(stack, start_ticks, depth));
}

/* A span of the thread has ended, with |depth| around it: its name's number + 1; 0: of a step. */
void launches_end_span(struct launches *l, struct launch_stack *stack, uint64_t start_ticks,
	unsigned depth, uint32_t span);
/* Nothing more will come of the thread. */
void launches_end_thread(struct launches *l, struct launch_stack *stack);

/* Of all threads nothing more will come: from here on they are found. */
void launches_settle(struct launches *l);
/*
 * The span (number + 1, or 0) of the call |id| that what began at |start_ns| came of: of calls with one id the last one
 * before. |near| is where the last one was found, 0 at first.
 */
uint32_t launches_find_call(const struct launches *l, uint64_t id, int64_t start_ns, size_t *near);
/* The same of a node: of the one that it was made from in the end, or of the last one on the way there that has a span. */
uint32_t launches_find_node(const struct launches *l, uint64_t node);

#endif
