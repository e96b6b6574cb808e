/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a ring's next slots come from: from what the reader has taken or, while a flight recorder runs, from the oldest
 * entries. Asked when the writer has come to its limit, once in a segment: that is where the mode can change.
 */
#ifndef RECORD_SEGMENT_H
#define RECORD_SEGMENT_H

#include <stdint.h>

#include "lib/record/guest.h"
#include "lib/wire/ring.h"

/* The first position that cannot be had now. */
static inline uint64_t segment_find_end(const struct ring *ring)
{
	if (atomic_load_explicit(&guest_get()->overwrites, memory_order_relaxed))
		return UINT64_MAX;
	return atomic_load_explicit(&ring->tail, memory_order_acquire) + ring->slot_mask + 1;
}

/*
 * Raises the limit for an entry of |n| slots at |head|, which can be had and must be the next that is written, and marks
 * the segment that it comes to. Does nothing when |word| is not current. Guard held.
 */
void segment_enter(struct ring *ring, uint32_t word, uint64_t head, uint32_t n);

/* The same of a writer that is no recording's, and knows which position is the first that it cannot have: |end|. */
void segment_begin(struct ring *ring, uint64_t head, uint32_t n, uint64_t end);

/* Of an entry that the ring has no room for: as ring_drop_spans(), or a point's loss is counted. */
int segment_drop(struct ring *ring, uint32_t word, uint64_t word0);

/* Of a thread that enters a recording: its first entry comes to the limit. */
void segment_reset(struct ring *ring);

#endif
