/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's way to its ring; see thread.h. */
#include "lib/record/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/record/emit.h"
#include "lib/record/guest.h"
#include "lib/record/map.h"

__thread struct thread thread_self __attribute__((tls_model("initial-exec")));

/* A ring whose pages were mapped at arm, or that this thread maps now. NULL: no memory for it. */
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

/*
 * Whether |arena| is this process's. A signal handler that interrupted an annotation may have forked: its child comes
 * back into it, and must not touch what is its parent's. In a child the page was wiped, or the arena is its own.
 */
static int is_ours(struct arena *arena)
{
	signal_fence();
	return atomic_load_explicit(&guest_get()->arena, memory_order_relaxed) == arena;
}

static struct ring *find_ring(struct arena *arena)
{
	uint32_t ready = atomic_load_explicit(&arena->rings_ready, memory_order_acquire);
	uint32_t allowed = atomic_load_explicit(&arena->rings_allowed, memory_order_relaxed);
	uint32_t n = ready > allowed ? ready : allowed;

	for (uint32_t i = 0; i < n && i < arena->n_rings && is_ours(arena); i++) {
		uint8_t expected = RING_FREE;

		if (atomic_compare_exchange_strong(&arena->ring_state[i], &expected, RING_USED))
			return open_ring(arena, i);
	}
	return NULL;
}

static void identify(struct thread *self, struct arena *arena, struct ring *ring)
{
	char name[RING_NAME_BYTES] = "";
	int32_t tid = (int32_t)syscall(SYS_gettid);

	if (self->name[0])
		memcpy(name, self->name, sizeof name);
	else
		prctl(PR_GET_NAME, name, 0, 0, 0);
	if (!is_ours(arena))
		return;
	ring_set_name(ring, name);
	ring->slot_mask = arena->ring_bytes / SLOT_BYTES - 1;
	atomic_store_explicit(&ring->tid, tid, memory_order_relaxed);
}

static void reset(struct ring *ring, uint32_t word)
{
	atomic_store_explicit(&ring->depth, 0, memory_order_relaxed);
	for (int i = 0; i < LOSS_KINDS; i++)
		atomic_store_explicit(&ring->lost[i], 0, memory_order_relaxed);
	segment_reset(ring);
	atomic_store_explicit(&ring->word, word, memory_order_release);
}

/* A thread that has forbidden itself the clock of this capture would be killed by its own annotation. */
static int may_record(const struct guest *guest)
{
	return atomic_load_explicit(&guest->clock, memory_order_relaxed) != ARENA_CLOCK_TICKS ||
	       guest_may_read_ticks();
}

/* In the clock that is the short way's. */
static int has_short_way(void)
{
	return TICKS_ARE_READABLE &&
	       atomic_load_explicit(&guest_get()->clock, memory_order_relaxed) == ARENA_CLOCK_TICKS;
}

/* The first annotation of a forked child, or one that comes while another thread is at that. */
static struct ring *enter_followed(struct thread *self)
{
	uint32_t word;

	guest_join();
	word = atomic_load_explicit(&guest_get()->word, memory_order_acquire);
	return (word & 3u) && word != GUEST_WORD_FOLLOW ? thread_enter(self, word) : NULL;
}

/*
 * The arena of the capture |word|, or NULL when it is over. The acquires are the partner of the control thread's
 * release: what was written before the word was published (clock, rings) is seen from here on. The arena changes
 * only while nothing is recorded: between two looks that find the same capture's word it is that one's.
 */
static struct arena *find_arena(struct guest *guest, uint32_t word)
{
	struct arena *arena;

	if (!ring_is_same_recording(atomic_load_explicit(&guest->word, memory_order_acquire), word))
		return NULL;
	arena = atomic_load_explicit(&guest->arena, memory_order_acquire);
	if (!ring_is_same_recording(atomic_load_explicit(&guest->word, memory_order_acquire), word))
		return NULL;
	return arena;
}

/* NULL: none to have. */
static struct ring *take_ring(struct thread *self, struct arena *arena, uint32_t word)
{
	if (self->arena != arena)
		self->ring = NULL;
	if (!self->ring) {
		self->ring = may_record(guest_get()) ? find_ring(arena) : NULL;
		self->arena = arena;
		if (self->ring)
			identify(self, arena, self->ring);
	}
	if (!self->ring || !is_ours(arena))
		return NULL;
	reset(self->ring, word);
	self->n_unopened = 0;
	/* A handler that comes before the word enters nothing; behind it, it needs the way. */
	self->takes_long_way = !has_short_way();
	signal_fence();
	self->word = word;
	signal_fence();
	self->idle = thread_get_idle_word(self);
	return self->ring;
}

/* The capture that this thread is in has another level now. What it does in a handler is none of its own. */
static struct ring *change_level(struct thread *self, uint32_t word)
{
	if (self->idle) {
		self->word = word;
		signal_fence();
		self->idle = thread_get_idle_word(self);
	}
	return self->ring;
}

struct ring *thread_enter(struct thread *self, uint32_t word)
{
	struct ring *ring = NULL;
	struct arena *arena;
	int saved;

	if (word == GUEST_WORD_FOLLOW)
		return enter_followed(self);
	if (ring_is_same_recording(self->word, word))
		return change_level(self, word);
	arena = find_arena(guest_get(), word);
	if (!arena)
		return NULL;
	/*
	 * A handler that interrupts this, in the same thread, finds no ring yet; none either after its siglongjmp. Nor does
	 * a thread look again in the same capture that got none.
	 */
	if (self->entering != word) {
		self->entering = word;
		signal_fence();
		saved = errno;
		ring = take_ring(self, arena, word);
		errno = saved;
		signal_fence();
		if (ring)
			self->entering = 0;
	}
	if (!ring && is_ours(arena))
		atomic_fetch_add_explicit(&arena->lost_no_ring, 1, memory_order_relaxed);
	return ring;
}

void ring_end(void)
{
	thread_give_back(&thread_self, thread_get_idle_word(&thread_self));
}
