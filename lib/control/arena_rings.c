/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that nobody took; see arena_rings.h. */
#include "lib/control/arena_rings.h"

#include <sys/mman.h>

#include "lib/wire/arena.h"

/* In a forked child it is the parent's arena, which is not the one that the child asks about. */
static struct {
	struct arena *arena;
	uint32_t n_rings;
	uint32_t ring_bytes;
} whole;

void arena_rings_note(struct arena *arena)
{
	whole.arena = arena;
	whole.n_rings = arena->n_rings;
	whole.ring_bytes = arena->ring_bytes;
}

/* A thread that comes late finds it bad, or has it: find_ring() in lib/record/thread.c. */
static int take_from_all(struct arena *arena, uint32_t i)
{
	uint8_t state = RING_FREE;

	return atomic_compare_exchange_strong(&arena->ring_state[i], &state, RING_BAD) ||
	       state == RING_BAD;
}

void arena_rings_shed(struct arena *arena)
{
	uint32_t n = whole.n_rings;

	if (!arena || arena != whole.arena)
		return;
	while (n && take_from_all(arena, n - 1))
		n--;
	if (n < whole.n_rings)
		munmap(arena_ring(arena, n, whole.ring_bytes),
			(whole.n_rings - n) * ring_stride_bytes(whole.ring_bytes));
	whole.arena = NULL;
}
