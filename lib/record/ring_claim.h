/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a free ring for a thread, and enters it into a recording. */
#ifndef RECORD_RING_CLAIM_H
#define RECORD_RING_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wire/ring.h"

struct arena;

/*
 * Returns true if |arena| is this process's. A signal handler that interrupted an annotation may
 * have forked: its child comes back into the annotation and must not touch its parent's ring. In
 * such a child the guest page has no arena (the page was wiped), or the child's own one.
 */
bool ring_arena_is_ours(const struct arena *arena);

/* Takes a free ring, with memory, for the calling thread. NULL: none is left. */
struct ring *ring_claim(struct arena *arena);
/* Writes the calling thread's identity and its |name| to the ring, unless the arena is not ours. */
void ring_identify(struct ring *ring, const struct arena *arena, const char name[RING_NAME_BYTES]);
/* Entries that are written from here on belong to the recording |word|. */
void ring_enter(struct ring *ring, uint32_t word);

#endif
