/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors' ring; see outlet.h, and lib/wire/ring.h for the order of loads and stores. */
#include "lib/collect/outlet.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/futex.h"
#include "lib/record/emit.h"
#include "lib/record/guest.h"
#include "lib/record/ring_claim.h"
#include "lib/record/segment.h"
#include "lib/wire/arena.h"

/*
 * The first pause while the ring is full: the server, which reads often, has usually emptied the
 * ring after it. If not, the server may be stopped, and the pauses grow.
 */
#define PAUSE_NS (NS_PER_MS / 5)
#define LONGEST_PAUSE_NS (50 * NS_PER_MS)
/* A pause is this fraction of the time waited so far. */
#define PAUSE_SHARE 8

int outlet_open(struct outlet *o, struct arena *arena)
{
	static const char name[RING_NAME_BYTES] = "ptap-collect";
	uint64_t stride = ring_stride_bytes(arena->ring_bytes);
	uint64_t offset;

	o->arena = arena;
	o->ring = ring_claim(arena);
	if (!o->ring)
		return -EAGAIN;
	o->may_read_clock =
		atomic_load(&guest_get()->clock) != ARENA_CLOCK_TICKS || guest_may_read_ticks();
	ring_identify(o->ring, arena, name);
	ring_enter(o->ring, RING_WORD_DEVICES);
	offset = (uint64_t)((char *)o->ring - (char *)arena) - arena_rings_offset();
	atomic_store(&arena->collect.ring, (uint32_t)(offset / stride) + 1);
	return 0;
}

bool outlet_is_closed(struct arena *arena)
{
	return atomic_load(&arena->collect.is_cancelled) ||
	       !(atomic_load(&arena->owner) & ARENA_TID_MASK);
}

static uint64_t find_free_end(const struct ring *ring)
{
	return atomic_load_explicit(&ring->tail, memory_order_acquire) + ring->slot_mask + 1;
}

static void pause_since(const struct outlet *o, int64_t since_ns)
{
	_Atomic uint32_t *state = &o->arena->collect.state;
	int64_t now_ns = monotonic_ns_by_call();
	int64_t pause_ns = (now_ns - since_ns) / PAUSE_SHARE;

	if (pause_ns < PAUSE_NS)
		pause_ns = PAUSE_NS;
	if (pause_ns > LONGEST_PAUSE_NS)
		pause_ns = LONGEST_PAUSE_NS;
	futex_wait_until(state, atomic_load(state), now_ns + pause_ns);
}

/*
 * Waits until |n| slots are free at |head|. Returns the first position that is not free; 0: the
 * outlet is closed.
 */
static uint64_t wait_for_room(const struct outlet *o, uint64_t head, uint32_t n)
{
	int64_t since_ns = 0;
	uint64_t end;

	while ((end = find_free_end(o->ring)) < head + n) {
		if (outlet_is_closed(o->arena))
			return 0;
		since_ns = since_ns ? since_ns : monotonic_ns_by_call();
		pause_since(o, since_ns);
	}
	return end;
}

static void put_entry(
	struct outlet *o, uint64_t head, uint32_t name, const struct slot *extra, uint32_t n)
{
	struct ring *ring = o->ring;
	struct slot *data = ring_data(ring);
	uint64_t ticks = o->may_read_clock ? now_ticks() : 0;

	data[head & ring->slot_mask] =
		(struct slot){{record_word0(ticks, RECORD_DEVICE, 0, n), record_word1(0, name)}};
	for (uint32_t i = 0; i < n; i++)
		data[(head + 1 + i) & ring->slot_mask] = extra[i];
	ring->n_other += n;
	atomic_store_explicit(&ring->head, head + 1 + n, memory_order_release);
}

int outlet_put(struct outlet *o, uint32_t name, const void *bytes, uint32_t n)
{
	struct slot extra[RECORD_MAX_EXTRA];
	uint32_t n_extra = (n + SLOT_BYTES - 1) / SLOT_BYTES;
	uint64_t head = ring_get_head(o->ring);
	uint64_t end;

	if (outlet_is_closed(o->arena))
		return -ECANCELED;
	end = wait_for_room(o, head, 1 + n_extra);
	if (!end)
		return -ECANCELED;
	if (!ring_has_room(o->ring, head, 1 + n_extra))
		segment_begin(o->ring, head, 1 + n_extra, end);
	memset(extra, 0, n_extra * sizeof *extra);
	memcpy(extra, bytes, n);
	put_entry(o, head, name & STRING_ID_MASK ? name & STRING_ID_MASK : STRING_ID_LOST, extra,
		n_extra);
	return 0;
}
