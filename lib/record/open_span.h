/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a span on the slow path. */
#ifndef RECORD_OPEN_SPAN_H
#define RECORD_OPEN_SPAN_H

#include <stdint.h>

#include "lib/record/emit.h"

/* As ring_begin_at(), with room for one more open span, at |*depth|. NULL: the loss is counted. */
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
 * Puts the span on the stack and frees the guard. Its frame, if |kind| has one, must be complete.
 * False: the recording is over, or this is a forked child.
 */
static inline bool open_span_finish(
	struct ring *ring, uint32_t word, uint32_t depth, unsigned kind, uint32_t id)
{
	bool is_current = ring_open_span(ring, word, depth, id | (uint32_t)kind << 24, now_ticks());

	/* The guard is freed even if the ring is not current: a child may have taken it. */
	ring_end();
	return is_current;
}

#endif
