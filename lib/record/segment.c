/* SPDX-License-Identifier: Apache-2.0 */
/* The next slots of a ring; see segment.h. */
#include "lib/record/segment.h"

#include "base/fence.h"
#include "lib/record/emit.h"

static void raise_limit(struct ring *ring, uint64_t limit)
{
	__atomic_store_n(&ring->limit, limit, __ATOMIC_RELAXED);
	/*
	 * Before anything below it is overwritten. Partner: the acquire fence in ring_copy_finish()
	 * (daemon/target/ring_copy.c), behind which the reader loads it.
	 */
	fence_release();
}

/* The entry crosses |boundary| unless it begins there: then the first one of the segment is the next. */
static void store_mark(struct ring *ring, uint64_t boundary, uint64_t head, uint32_t n)
{
	struct ring_mark *mark = ring_mark(ring, boundary, ring->slot_mask + 1);
	uint64_t ordinal = head - ring->n_other;
	int crosses = head != boundary;

	atomic_store_explicit(&mark->position, crosses ? head + n : head, memory_order_relaxed);
	atomic_store_explicit(
		&mark->ordinal, crosses ? ordinal + 1 : ordinal, memory_order_relaxed);
}

void segment_begin(struct ring *ring, uint64_t head, uint32_t n, uint64_t end)
{
	uint32_t n_slots = ring->slot_mask + 1;
	uint64_t next = ring_next_boundary(head + n, n_slots);
	uint64_t boundary = next - n_slots / RING_SEGMENTS;

	raise_limit(ring, next < end ? next : end);
	if (boundary >= head)
		store_mark(ring, boundary, head, n);
}

void segment_enter(struct ring *ring, uint32_t word, uint64_t head, uint32_t n)
{
	uint64_t end = segment_find_end(ring);

	/* An old limit over a newer one would give free what is being read. */
	if (!word_is_current(word))
		return;
	/* Only if the mode has changed since the entry was found to fit. */
	if (end < head + n)
		end = head + n;
	segment_begin(ring, head, n, end);
}

int segment_drop(struct ring *ring, uint32_t word, uint64_t word0)
{
	if (record_is_span(record_kind(word0)))
		return ring_drop_spans(ring, word, record_depth(word0), LOSS_FULL, 1);
	count_loss(ring, LOSS_FULL);
	return 1;
}

void segment_reset(struct ring *ring)
{
	uint64_t head = ring_get_head(ring);

	ring->n_other = head;
	atomic_store_explicit(&ring->first, head, memory_order_relaxed);
	__atomic_store_n(&ring->limit, head, __ATOMIC_RELAXED);
}
