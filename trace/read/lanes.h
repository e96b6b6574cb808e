/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for spans that overlap: each span of a track, in a cursor's order, gets the first lane on which it either follows what
 * is there or lies inside of it, so that on every lane spans nest properly, whatever the track holds.
 */
#ifndef TRACE_READ_LANES_H
#define TRACE_READ_LANES_H

#include <stddef.h>
#include <stdint.h>

struct lane;
struct lane_end;

/* All zero is empty. */
struct lanes {
	struct lane *v; /* these nest; at most LANES_NESTING */
	size_t n;
	size_t n_allocated;
	struct lane_end
		*heap; /* beyond them each lane holds one span at a time: the earliest end first */
	size_t n_heap;
	size_t n_heap_allocated;
};

#define LANES_NESTING 64

void lanes_deinit(struct lanes *l);
/* The lane, from 0 on; a new one is the highest so far + 1. Negative: -ENOMEM. Spans come in order (cursor.h). */
int64_t lanes_place(struct lanes *l, int64_t start_ns, int64_t duration_ns);

#endif
