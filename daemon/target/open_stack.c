/* SPDX-License-Identifier: Apache-2.0 */
/* Reads open spans; see open_stack.h. */
#include "daemon/target/open_stack.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/fence.h"

#define N_TRIES 3
#define MAX_TRIES 64

/* Reads the slots of a span in its frame; the thread may begin another span there meanwhile. */
static int open_span_read_frame(struct ring *ring, uint32_t depth, struct open_span *out)
{
	struct ring_frame *frame = ring_frame(ring, depth);

	out->n_slots = atomic_load_explicit(&frame->n_slots, memory_order_relaxed);
	if (out->n_slots > RECORD_MAX_EXTRA)
		return -EAGAIN;
	memcpy(out->slots, frame->slots, out->n_slots * sizeof(struct slot));
	return 0;
}

/*
 * Returns true if the same span as the one that was read is still open at this depth. The next span
 * may begin in the same tick, but it begins after the record of the first, so its |what| differs.
 */
static bool open_span_is_still_open(struct ring *ring, const struct open_span *open, uint64_t what)
{
	const struct ring_open *now = &ring->open[open->depth];

	/* Partner: ring_fence_open() (lib/record/emit.h). */
	fence_acquire();
	return atomic_load_explicit(&ring->depth, memory_order_acquire) > open->depth &&
	       atomic_load_explicit(&now->what, memory_order_relaxed) == what &&
	       atomic_load_explicit(&now->start, memory_order_relaxed) == open->start;
}

/*
 * Reads one entry of an open stack. While the thread runs, the copy may mix one span with the next:
 * then returns -EAGAIN, else 0.
 */
static int open_span_read(struct ring *ring, uint32_t depth, struct open_span *out)
{
	uint64_t what = atomic_load_explicit(&ring->open[depth].what, memory_order_acquire);
	int r = 0;

	out->start = atomic_load_explicit(&ring->open[depth].start, memory_order_relaxed);
	out->depth = depth;
	out->at = (uint32_t)(what >> 32);
	out->string_id = (uint32_t)what & STRING_ID_MASK;
	out->kind = (unsigned)(what >> 24) & 255u;
	out->n_slots = 0;
	if (out->kind & RING_OPEN_HAS_FRAME)
		r = open_span_read_frame(ring, depth, out);
	return !r && out->start && open_span_is_still_open(ring, out, what) ? 0 : -EAGAIN;
}

bool open_span_has_ended(const struct open_span *open, uint64_t word0, uint64_t position)
{
	return record_is_span(record_kind(word0)) && open->depth >= record_depth(word0) &&
	       (int32_t)((uint32_t)position - open->at) >= 0;
}

uint32_t open_stack_get_depth(const struct ring *ring)
{
	uint32_t depth = atomic_load_explicit(&ring->depth, memory_order_acquire);

	return depth > RECORD_MAX_DEPTH ? 0 : depth;
}

static bool open_span_is_dropped(const struct open_span *open, struct open_drop *drop)
{
	*drop = (struct open_drop){
		.is_one = open->kind == RING_OPEN_DROPPED && open->string_id < LOSS_KINDS,
		.reason = (enum ring_loss)open->string_id,
		.n_after = open->at,
	};
	return drop->is_one;
}

uint32_t open_stack_read(
	struct ring *ring, uint32_t depth, struct open_span *to, struct open_drop *drop)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < depth; i++) {
		int tries = N_TRIES;

		while (open_span_read(ring, i, &to[n]) && --tries)
			;
		/* Drop it and all deeper spans. */
		if (tries && open_span_is_dropped(&to[n], drop))
			break;
		n += tries != 0;
	}
	return n;
}

/* If the depth and the ring's head stay the same, no span ended with a record meanwhile. */
uint32_t open_stack_copy(struct ring *ring, struct open_span to[RECORD_MAX_DEPTH], bool *is_moving)
{
	int tries = MAX_TRIES;
	struct open_drop drop;
	uint32_t depth;
	uint64_t head;
	uint32_t n;

	do {
		drop.is_one = false;
		head = atomic_load_explicit(&ring->head, memory_order_acquire);
		depth = open_stack_get_depth(ring);
		n = open_stack_read(ring, depth, to, &drop);
		fence_acquire();
		*is_moving = open_stack_get_depth(ring) != depth || (n < depth && !drop.is_one) ||
			     atomic_load_explicit(&ring->head, memory_order_relaxed) != head;
	} while (*is_moving && --tries);
	return n;
}

uint64_t open_drop_add(const struct open_drop *drop, enum ring_loss reason, uint64_t lost)
{
	int32_t n_more = (int32_t)(drop->n_after - (uint32_t)lost);

	return drop->is_one && drop->reason == reason && n_more > 0 ? lost + (uint64_t)n_more
								    : lost;
}
