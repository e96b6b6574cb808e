/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes are rows for spans that overlap. Each span of a track, in a cursor's order, gets the first
 * lane on which it lies behind or inside the spans that are there, so that spans nest properly on
 * every lane.
 */
#ifndef TRACE_READ_LANES_H
#define TRACE_READ_LANES_H

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

#endif
