/* SPDX-License-Identifier: Apache-2.0 */
/* Frees the next slots of a ring; see segment.h. */
#include "lib/record/segment.h"

#include "base/fence.h"
#include "lib/record/emit.h"

static void raise_limit(struct ring *ring, uint64_t limit)
{
	__atomic_store_n(&ring->limit, limit, __ATOMIC_RELAXED);
	/*
	 * The new limit is visible before any slot below it is overwritten. Partner: the acquire
	 * fence in ring_copy_finish() (daemon/target/ring_copy.c), behind which the reader loads
	 * the limit.
	 */
	fence_release();
}

/*
 * Marks the first entry of the segment at |boundary|: the entry at |head| if it begins there. Else
 * it crosses the boundary, and the next entry is the first one.
 */
static void store_mark(struct ring *ring, uint64_t boundary, uint64_t head, uint32_t n)
{
	struct ring_mark *mark = ring_mark(ring, boundary, ring->slot_mask + 1);
	uint64_t ordinal = head - ring->n_other;
	bool crosses = head != boundary;

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

	/* An old limit stored over a newer one would free slots that are being read. */
	if (!word_is_current(word))
		return;
	/* This happens only if the mode has changed since the check that the entry fits. */
	if (end < head + n)
		end = head + n;
	segment_begin(ring, head, n, end);
}

bool segment_drop(struct ring *ring, uint32_t word, uint64_t word0)
{
	if (record_is_span(record_kind(word0)))
		return ring_drop_spans(ring, word, record_depth(word0), LOSS_FULL, 1);
	count_loss(ring, LOSS_FULL);
	return true;
}

void segment_reset(struct ring *ring)
{
	uint64_t head = ring_get_head(ring);

	ring->n_other = head;
	atomic_store_explicit(&ring->first, head, memory_order_relaxed);
	__atomic_store_n(&ring->limit, head, __ATOMIC_RELAXED);
}
