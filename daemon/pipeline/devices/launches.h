/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that gave work to a device, and calls that made nodes of graphs, each with the
 * outermost span that was open around it: the device's work belongs to that span. Steps do not
 * count as spans here.
 *
 * A ring has spans in the order of their ends. So a call waits in its thread's stack until the
 * spans around it have come. Each span takes over the calls of the spans inside it, and a call gets
 * its span when no further span can enclose it.
 */
#ifndef DAEMON_LAUNCHES_H
#define DAEMON_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/kernel/memory_budget.h"

struct entry;

/* The content of a RECORD_LAUNCH, read from untrusted bytes. */
struct launch_record {
	uint64_t correlation; /* 0: none */
	uint32_t context;
	uint32_t graph; /* valid with is_graph */
	uint16_t device;
	bool is_graph;
};

/* Read a RECORD_LAUNCH; a RECORD_NODE. False when the entry is malformed. */
bool launch_read(const struct entry *e, struct launch_record *out);
bool launch_read_node(const struct entry *e, uint64_t *node, uint64_t *original);

/*
 * The id in a trace for |correlation|, which is unique in its process only. A trace can have
 * several processes, and viewers draw arrows between equal ids.
 */
static inline uint64_t launch_make_id(pid_t pid, uint64_t correlation)
{
	return correlation + ((uint64_t)pid << 32);
}

enum launch_site_kind {
	LAUNCH_CALL = 0,
	LAUNCH_NODE = 1,
	N_LAUNCH_SITES
};

struct launch_site {
	uint64_t id; /* correlation or node */
	uint64_t value; /* a call's start in ns; the node that a node was made from, or 0 */
	uint32_t span; /* the |span| given to launches_end_span(); 0: none */
	uint32_t next; /* link to another site of the same group; see launches.c */
};

struct launch_sites {
	struct launch_site *v;
	size_t n;
	size_t n_allocated;
};

struct launch_table {
	struct launch_sites sites[N_LAUNCH_SITES];
	uint64_t n_crowded; /* calls for which memory had no room */
};

/* Waiting calls that have the same spans so far. */
struct launch_group {
	uint64_t start_ticks; /* of the first call */
	uint32_t first; /* links, see launches.c */
	uint32_t last;
	uint32_t span;
	uint32_t depth; /* the number of spans around them that are still to come */
};

/* The waiting calls of a thread. All zero is empty. */
struct launch_stack {
	struct launch_group *v;
	size_t n;
	size_t n_allocated;
};

void launches_deinit(struct launch_table *l);
void launch_stack_deinit(struct launch_stack *stack);

/*
 * Adds a call that began at |start_ticks| with |depth| spans around it. Calls and spans come in the
 * order of their ends. 0 or -ENOMEM.
 */
int launches_add(struct launch_table *l, struct launch_stack *stack, enum launch_site_kind kind,
	const struct launch_site *site, uint64_t start_ticks, unsigned depth, struct purse *purse);

/*
 * True when the last group lies in a span that began at |start_ticks| with |depth| spans around it.
 * |depth| is needed because times can be equal.
 */
static inline bool launch_stack_is_in(
	const struct launch_stack *stack, uint64_t start_ticks, unsigned depth)
{
	const struct launch_group *top = &stack->v[stack->n - 1];

	return top->start_ticks >= start_ticks && top->depth > depth;
}

/* True when launches_end_span() has work to do for a span with these values. */
static inline bool launch_stack_wants(
	const struct launch_stack *stack, uint64_t start_ticks, unsigned depth)
{
	return stack->n && (depth == 0 || launch_stack_is_in(stack, start_ticks, depth));
}

/*
 * Called when a span of the thread has ended, with |depth| spans around it. |span| is the number of
 * its name + 1; 0 for a step.
 */
void launches_end_span(struct launch_table *l, struct launch_stack *stack, uint64_t start_ticks,
	unsigned depth, uint32_t span);
/* Called when no more entries of the thread come. */
void launches_end_thread(struct launch_table *l, struct launch_stack *stack);

/* Called when no more entries of any thread come: prepares the functions below. */
void launches_settle(struct launch_table *l);
/*
 * The span (number + 1, or 0) of the call |id| that caused work at |start_ns|. If
 * several calls have the id, it is the last one before that time. |near| is where the
 * last search ended, 0 at first.
 */
uint32_t launches_find_call(
	const struct launch_table *l, uint64_t id, int64_t start_ns, size_t *near);
/*
 * The span of a node. A cloned node has an original, which may be a clone, too: of these nodes, the
 * one farthest back towards the first original that has a span gives the span.
 */
uint32_t launches_find_node(const struct launch_table *l, uint64_t node);

#endif
