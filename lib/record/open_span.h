/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a span, the long way. */
#ifndef RECORD_OPEN_SPAN_H
#define RECORD_OPEN_SPAN_H

#include <stdint.h>

#include "lib/record/emit.h"

/* As ring_begin_at(), with room for one more open span, at *depth; NULL is counted. */
static inline struct ring *open_span_begin(uint32_t *word, uint32_t *depth)
{
	struct ring *ring = ring_begin_at(word);

	if (unlikely(!ring))
		return NULL;
	*depth = ring_get_depth(ring);
	if (unlikely(*depth >= RECORD_MAX_DEPTH)) {
		count_loss(ring, LOSS_DEPTH);
		ring_end();
		return NULL;
	}
	ring_fence_open();
	return ring;
}

/*
 * Puts it on the stack, its frame (if |kind| says so) being complete, and frees the guard. False: the recording is over, or
 * this is a forked child.
 */
static inline int open_span_finish(
	struct ring *ring, uint32_t word, uint32_t depth, unsigned kind, uint32_t id)
{
	int is_current = ring_open_span(ring, word, depth, id | (uint32_t)kind << 24, now_ticks());

	/* Also of a ring that is not current: a child may be the one that took it. */
	ring_end();
	return is_current;
}

#endif
