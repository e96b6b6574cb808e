/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path handles an annotation in raw ticks if its thread has entered the capture, its name
 * has an id, and its entry has room up to the limit. It calls no function, so hardly a register is
 * saved; every other case goes to slow_path.h in a tail call, before anything was stored. Its cost
 * in instructions is in tests/bench/instructions.txt, and a check enforces it.
 * docs/internals/ring.md, "The hot path: figures", lists rejected variants.
 */
#ifndef RECORD_FAST_PATH_H
#define RECORD_FAST_PATH_H

#include <stdint.h>

#include "base/prefetch.h"
#include "lib/record/emit.h"

/* hot: inlined at every call in the fast path; cold: kept out of it and of its registers. */
#define hot inline __attribute__((always_inline))
#define cold __attribute__((noinline, cold))

/* Memory is fetched this far ahead of the slot that is written: 512 bytes. */
#define SLOTS_AHEAD 32

/* The id of a name or key; 0: none yet. */
static hot uint32_t known_id(const uint32_t *id)
{
	return __atomic_load_n(id, __ATOMIC_ACQUIRE);
}

/*
 * The slot at |head|. The slots up to the limit follow it in memory: the limit is never beyond the
 * boundary behind the entry that raised it (segment_enter()), and the data ends at a boundary.
 */
static hot struct slot *fast_slot(struct ring *ring, uint64_t head)
{
	return &ring_data(ring)[head & ring->slot_mask];
}

/*
 * Fetches the memory behind an entry that begins at |slot|. At the data's end that is the memory
 * behind the ring, which does no harm.
 */
static hot void fast_fetch_ahead(const struct slot *slot)
{
	prefetch_for_write(slot + SLOTS_AHEAD);
}

#endif
