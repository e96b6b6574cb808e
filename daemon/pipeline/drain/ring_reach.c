/* SPDX-License-Identifier: Apache-2.0 */
/* How far back a ring is wanted; see ring_reach.h. Entries are in the order of their ends, and each segment's first is marked. */
#include "daemon/pipeline/drain/ring_reach.h"

#include "daemon/pipeline/drain/ring_notes.h"
#include "daemon/target/entry.h"
#include "daemon/target/ring_copy.h"
#include "daemon/target/target.h"

/* What cannot be told has not. */
static int has_ended_before(const struct era *era, const struct slot *slots, uint64_t from_ticks)
{
	struct entry e;

	if (!era_is_known(era))
		return era->before_ticks < from_ticks;
	return entry_decode(&e, slots, era) && e.start + e.duration < from_ticks;
}

/* Whether all before the entry that is marked at |boundary|, and that, ended before. */
static int is_before(const struct target *t, uint32_t i, uint64_t boundary, uint64_t from_ticks,
	struct ring_place *at)
{
	struct slot slots[1 + RECORD_MAX_EXTRA];
	struct era era;

	if (ring_copy_mark(t, i, boundary, at, slots))
		return 0;
	era = ring_notes_find_era(t, i, at->position, ring_notes_now(t));
	return has_ended_before(&era, slots, from_ticks);
}

uint64_t ring_reach_find(const struct target *t, uint32_t i, uint64_t from_ticks)
{
	struct ring *ring = target_ring(t, i);
	uint64_t first = ring_get_first(ring).position;
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t segment = t->n_slots / RING_SEGMENTS;
	uint64_t boundary = head & ~(segment - 1);

	for (uint32_t n = 0; from_ticks && n < RING_SEGMENTS && boundary > first;
		n++, boundary -= segment) {
		struct ring_place at;

		if (is_before(t, i, boundary, from_ticks, &at))
			return at.position;
	}
	return 0;
}
