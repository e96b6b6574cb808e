/* SPDX-License-Identifier: Apache-2.0 */
/* A ring's way from free to a thread's, and into a recording. */
#ifndef RECORD_RING_CLAIM_H
#define RECORD_RING_CLAIM_H

#include <stdint.h>

#include "lib/wire/ring.h"

struct arena;

/*
 * Whether |arena| is this process's. A signal handler that interrupted an annotation may have forked: its child comes
 * back into it, and must not touch what is its parent's. In a child the page was wiped, or the arena is its own.
 */
int ring_arena_is_ours(const struct arena *arena);

/* A free ring, with memory, for the calling thread: NULL, there is none to have. */
struct ring *ring_claim(struct arena *arena);
/* Says whose it is: the calling thread's, which is called |name|. Nothing in an arena that is not ours. */
void ring_identify(struct ring *ring, const struct arena *arena, const char name[RING_NAME_BYTES]);
/* What is written from here on is of the recording |word|. */
void ring_enter(struct ring *ring, uint32_t word);

#endif
