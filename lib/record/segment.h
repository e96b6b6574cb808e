/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a ring's next free slots: those that the reader has taken or, while a flight recorder runs,
 * those of the oldest entries. The writer asks when it reaches its limit, once in a segment: the
 * mode can change only there.
 */
#ifndef RECORD_SEGMENT_H
#define RECORD_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record/guest.h"
#include "lib/wire/ring.h"

/* The first position that is not free now. */
static inline uint64_t segment_find_end(const struct ring *ring)
{
	if (atomic_load_explicit(&guest_get()->overwrites, memory_order_relaxed))
		return UINT64_MAX;
	return atomic_load_explicit(&ring->tail, memory_order_acquire) + ring->slot_mask + 1;
}

/*
 * Raises the limit for an entry of |n| slots at |head|, which are free and must be written next,
 * and marks the segment that the entry reaches. Does nothing if |word| is not current. Guard held.
 */
void segment_enter(struct ring *ring, uint32_t word, uint64_t head, uint32_t n);

/*
 * The same for a writer outside any recording, which knows the first position that is not free:
 * |end|.
 */
void segment_begin(struct ring *ring, uint64_t head, uint32_t n, uint64_t end);

/* Drops an entry that has no room: a span by ring_drop_spans(); a point is counted as lost. */
bool segment_drop(struct ring *ring, uint32_t word, uint64_t word0);

/* Called when a thread enters a recording: its first entry then reaches the limit. */
void segment_reset(struct ring *ring);

#endif
