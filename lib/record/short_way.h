/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path: annotations whose thread has entered the capture, whose name is known, in raw ticks, and whose entry has
 * room up to the limit. Nothing in it calls anything, so hardly a register is saved; whatever is out of the ordinary goes
 * to long_way.h in a tail call, before anything was stored. What it costs in instructions is in
 * tests/bench/instructions.txt, and a check holds it. What was tried: docs/internals/ring.md, "The hot path: figures".
 */
#ifndef RECORD_SHORT_WAY_H
#define RECORD_SHORT_WAY_H

#include <stdint.h>

#include "base/prefetch.h"
#include "lib/record/emit.h"

/* In the hot path, as often as it is called, and out of it and of its registers. */
#define hot inline __attribute__((always_inline))
#define cold __attribute__((noinline, cold))

/* How far ahead of the slot that is written memory is fetched: 512 bytes. */
#define SLOTS_AHEAD 32

/* The id of a name or key, or 0 if it is not known yet. */
static hot uint32_t known_id(const uint32_t *id)
{
	return __atomic_load_n(id, __ATOMIC_ACQUIRE);
}

/*
 * The slot at |head|. Those up to the limit follow it in memory: the limit is never beyond the boundary behind the entry
 * that raised it (segment_enter()), and the data ends at a boundary.
 */
static hot struct slot *short_slot(struct ring *ring, uint64_t head)
{
	return &ring_data(ring)[head & ring->slot_mask];
}

/* Behind an entry that begins at |slot|: at the data's end it is what follows the ring, and nothing comes of that. */
static hot void short_fetch_ahead(const struct slot *slot)
{
	prefetch_for_write(slot + SLOTS_AHEAD);
}

#endif
