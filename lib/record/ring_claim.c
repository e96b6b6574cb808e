/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a ring; see ring_claim.h. */
#include "lib/record/ring_claim.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/record/emit.h"
#include "lib/record/guest.h"
#include "lib/record/map.h"
#include "lib/record/segment.h"
#include "lib/wire/arena.h"

bool ring_arena_is_ours(const struct arena *arena)
{
	signal_fence();
	return atomic_load_explicit(&guest_get()->arena, memory_order_relaxed) == arena;
}

/*
 * Returns the ring, whose pages were mapped in advance or are mapped now. NULL: no memory for it.
 */
static struct ring *open_ring(struct arena *arena, uint32_t i)
{
	uint32_t ring_bytes = arena->ring_bytes;
	struct ring *ring = arena_ring(arena, i, ring_bytes);

	if (i < atomic_load_explicit(&arena->rings_ready, memory_order_acquire) ||
		map_ring(ring, ring_bytes) == 0)
		return ring;
	atomic_store(&arena->ring_state[i], RING_BAD);
	return NULL;
}

struct ring *ring_claim(struct arena *arena)
{
	uint32_t ready = atomic_load_explicit(&arena->rings_ready, memory_order_acquire);
	uint32_t allowed = atomic_load_explicit(&arena->rings_allowed, memory_order_relaxed);
	uint32_t n = ready > allowed ? ready : allowed;

	for (uint32_t i = 0; i < n && i < arena->n_rings && ring_arena_is_ours(arena); i++) {
		uint8_t expected = RING_FREE;

		if (atomic_compare_exchange_strong(&arena->ring_state[i], &expected, RING_USED))
			return open_ring(arena, i);
	}
	return NULL;
}

void ring_identify(struct ring *ring, const struct arena *arena, const char name[RING_NAME_BYTES])
{
	int32_t tid = (int32_t)syscall(SYS_gettid);

	if (!ring_arena_is_ours(arena))
		return;
	ring_set_name(ring, name);
	ring->slot_mask = arena->ring_bytes / SLOT_BYTES - 1;
	atomic_store_explicit(&ring->handle, (uint64_t)pthread_self(), memory_order_relaxed);
	atomic_store_explicit(&ring->tid, tid, memory_order_relaxed);
}

void ring_enter(struct ring *ring, uint32_t word)
{
	atomic_store_explicit(&ring->depth, 0, memory_order_relaxed);
	for (int i = 0; i < LOSS_KINDS; i++)
		atomic_store_explicit(&ring->lost[i], 0, memory_order_relaxed);
	segment_reset(ring);
	atomic_store_explicit(&ring->word, word, memory_order_release);
}
