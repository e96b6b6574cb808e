/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes are rows for spans that overlap. Each span of a track, in a cursor's order, gets the first
 * lane on which every earlier span has ended before it or encloses it, so that spans nest properly
 * on every lane.
 */
#ifndef TRACE_READ_LANES_H
#define TRACE_READ_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane;
struct lane_end;

/* Lanes of all zero bytes are empty. */
struct lanes {
	struct lane *v; /* lanes that nest spans; at most LANES_NESTING */
	size_t n;
	size_t n_allocated;
	struct lane_end *heap; /* further lanes of one span at a time; the earliest end first */
	size_t n_heap;
	size_t n_heap_allocated;
};

#define LANES_NESTING 64

void lanes_deinit(struct lanes *l);
/*
 * Returns the lane's index, or -ENOMEM. A new lane has the highest index so far + 1. Spans must
 * come in order (cursor.h).
 */
int64_t lanes_place(struct lanes *l, int64_t start_ns, int64_t duration_ns);

/* --- open spans of a lane --------------------------------------------------------------------- */

/*
 * The open spans of one lane, the innermost last, and the self time of each: its duration without
 * the spans inside of it.
 */

struct lane_span {
	uint32_t id; /* chosen by the caller */
	int64_t end_ns;
	int64_t self_ns; /* duration without the spans directly inside of it; >= 0 */
};

/* A stack of all zero bytes is empty. */
struct lane_stack {
	struct lane_span *v;
	size_t n;
	size_t n_allocated;
};

void lane_stack_deinit(struct lane_stack *o);
/*
 * Removes the innermost span if it ended at |ns| or before, copies it to |closed| and returns true;
 * else returns false. With INT64_MAX every span counts as ended.
 */
bool lane_stack_close(struct lane_stack *o, int64_t ns, struct lane_span *closed);
/* Returns the innermost span, or NULL. Close spans that have ended first. */
static inline const struct lane_span *lane_stack_get(const struct lane_stack *o)
{
	return o->n ? &o->v[o->n - 1] : NULL;
}
/* Adds a span inside of the innermost one. 0 or -ENOMEM. */
int lane_stack_push(struct lane_stack *o, uint32_t id, int64_t start_ns, int64_t duration_ns);

/* The open spans of every lane. A struct of all zero bytes has none. */
struct lane_stacks {
	struct lane_stack *v;
	size_t n;
	size_t n_allocated;
};

void lane_stacks_deinit(struct lane_stacks *o);
/* Returns the open spans of a lane, which may be new. NULL: out of memory. */
struct lane_stack *lane_stacks_get(struct lane_stacks *o, int64_t lane);

#endif
