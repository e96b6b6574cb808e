/* SPDX-License-Identifier: Apache-2.0 */
/* Writing entries into the calling thread's ring: the hot path's inside. */
#ifndef RECORD_EMIT_H
#define RECORD_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/ticks.h"
#include "lib/record/guest.h"
#include "lib/record/thread.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* Keeps the compiler (not the processor: same thread) from moving stores over the guard. */
#define signal_fence() atomic_signal_fence(memory_order_seq_cst)

static inline uint64_t now_ticks(void)
{
	uint32_t clock = atomic_load_explicit(&guest_get()->clock, memory_order_relaxed);

	if (TICKS_ARE_READABLE && clock == ARENA_CLOCK_TICKS)
		return ticks_read();
	return guest_read_clock(clock);
}

static inline void count_losses(struct ring *ring, enum ring_loss reason, uint64_t n)
{
	uint64_t before = atomic_load_explicit(&ring->lost[reason], memory_order_relaxed);

	atomic_store_explicit(&ring->lost[reason], before + n, memory_order_relaxed);
}

static inline void count_loss(struct ring *ring, enum ring_loss reason)
{
	count_losses(ring, reason, 1);
}

/* In a signal handler, which another one may interrupt: the count must be exact there, too. */
static inline void count_reentry(struct ring *ring)
{
	atomic_fetch_add_explicit(&ring->lost[LOSS_REENTRY], 1, memory_order_relaxed);
}

/* The ring with the guard taken, or NULL. Sets |word| to the one that is recorded. */
static inline struct ring *ring_begin_at(uint32_t *word)
{
	struct thread *self = &thread_self;
	struct ring *ring = self->ring;

	if (unlikely(self->word != *word)) {
		ring = thread_enter(self, *word);
		if (!ring)
			return NULL;
		*word = self->word;
	}
	if (unlikely(ring->guard)) {
		count_reentry(ring);
		return NULL;
	}
	ring->guard = 1;
	signal_fence();
	return ring;
}

static inline struct ring *ring_begin(uint32_t word)
{
	return ring_begin_at(&word);
}

static inline void ring_end(struct ring *ring)
{
	signal_fence();
	ring->guard = 0;
}

/*
 * Whether the capture goes on, in this process: to be asked right before anything is stored that the server reads. A
 * signal handler that interrupted the annotation may have forked. Its child returns into the annotation, too, and the
 * ring is its parent's; but in a child the word is another one (MADV_WIPEONFORK).
 */
static inline int ring_is_current(struct ring *ring)
{
	signal_fence();
	return atomic_load_explicit(&guest_get()->word, memory_order_relaxed) ==
	       atomic_load_explicit(&ring->word, memory_order_relaxed);
}

/* Room for |n| more slots at |head| in a ring of |size|; counts the loss if there is none. */
static inline int ring_has_room(struct ring *ring, uint32_t size, uint64_t head, uint32_t n)
{
	if (unlikely(head + n - ring->cached_tail > size)) {
		ring->cached_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head + n - ring->cached_tail > size) {
			count_loss(ring, LOSS_FULL);
			return 0;
		}
	}
	return 1;
}

/*
 * Writes an entry: the record, then |n_extra| slots; a full ring counts it. Guard held. False: the ring is not
 * current, and nothing may be stored any more.
 */
static inline int ring_emit(struct ring *ring, uint64_t word0, uint64_t word1,
	const struct slot *extra, uint32_t n_extra)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t size = ring->n_slots;
	struct slot *data = ring_data(ring);

	if (!ring_has_room(ring, size, head, 1 + n_extra))
		return 1;
	data[head & (size - 1)] = (struct slot){{word0, word1}};
	for (uint32_t i = 0; unlikely(i < n_extra); i++)
		data[(head + 1 + i) & (size - 1)] = extra[i];
	/*
	 * As late as can be: an old head over a newer one would lose all that is between. The slots that a child wrote
	 * are those that its parent wrote next, and has long been rid of.
	 */
	if (unlikely(!ring_is_current(ring)))
		return 0;
	atomic_store_explicit(&ring->head, head + 1 + n_extra, memory_order_release);
	return 1;
}

#endif
