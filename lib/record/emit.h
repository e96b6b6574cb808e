/* SPDX-License-Identifier: Apache-2.0 */
/* Writes entries into the calling thread's ring: the inside of the hot path. */
#ifndef RECORD_EMIT_H
#define RECORD_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fence.h"
#include "lib/record/guest.h"
#include "lib/record/segment.h"
#include "lib/record/thread.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)

/* Keeps the compiler from moving stores across the guard. A thread sees its own stores in order. */
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

/*
 * Called in a signal handler, which another one may interrupt: the count must be exact there, too.
 */
static inline void count_reentry(struct ring *ring)
{
	atomic_fetch_add_explicit(&ring->lost[LOSS_REENTRY], 1, memory_order_relaxed);
}

/*
 * Takes the guard: until it is freed, annotations of signal handlers are dropped and counted.
 * False: the annotation must take the slow path.
 */
static inline bool thread_take(struct thread *self, uint32_t word)
{
	if (unlikely(self->idle != word))
		return false;
	self->idle = 0;
	signal_fence();
	return true;
}

/* Frees the guard at the end of the annotation. */
static inline void thread_give_back(struct thread *self, uint32_t idle_word)
{
	signal_fence();
	self->idle = idle_word;
}

/* Takes the guard on the slow path. False: it was taken already; the loss is counted. */
static inline bool ring_take(struct thread *self, struct ring *ring)
{
	if (unlikely(!self->idle)) {
		count_reentry(ring);
		return false;
	}
	self->idle = 0;
	signal_fence();
	return true;
}

/*
 * Enters the recording |*word| if needed. Returns the ring with the guard taken, or NULL. Sets
 * |*word| to the recording entered: another one if a child joins.
 */
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
	return ring_take(self, ring) ? ring : NULL;
}

static inline struct ring *ring_begin(uint32_t word)
{
	return ring_begin_at(&word);
}

/* Frees the guard of the calling thread's ring at the end of an annotation. */
void ring_end(void);

/*
 * Returns true if the recording |word| still runs in this process. The caller asks right before it
 * stores anything that the server reads. A signal handler that interrupted the annotation may have
 * forked. Then the child, too, returns into the annotation, although the ring is the parent's; the
 * child knows it by its different word (MADV_WIPEONFORK). Or the handler has made the first
 * annotation of the next capture: then the ring belongs to that capture.
 */
static inline bool word_is_current(uint32_t word)
{
	uint32_t now;

	signal_fence();
	now = atomic_load_explicit(&guest_get()->word, memory_order_relaxed);
	/* The same recording may run at another level. */
	return likely(now == word) || ring_is_same_recording(now, word);
}

static inline uint32_t ring_get_depth(struct ring *ring)
{
	return atomic_load_explicit(&ring->depth, memory_order_relaxed);
}

/* Returns the depth of a point: that of a span that would begin now, within the limit. */
static inline uint32_t ring_get_point_depth(struct ring *ring)
{
	uint32_t depth = ring_get_depth(ring);

	return unlikely(depth >= RECORD_MAX_DEPTH) ? RECORD_MAX_DEPTH - 1 : depth;
}

static inline uint64_t ring_get_head(struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed);
}

/*
 * Opens a span at |depth|. Its frame, if |what| has RING_OPEN_HAS_FRAME, was written after the call
 * of ring_fence_open(). Returns as ring_publish().
 */
static inline bool ring_open_span(
	struct ring *ring, uint32_t word, uint32_t depth, uint32_t what, uint64_t start)
{
	struct ring_open *open = &ring->open[depth];

	if (unlikely(!word_is_current(word)))
		return false;
	atomic_store_explicit(&open->start, start, memory_order_relaxed);
	/* Release: a reader that sees this before |depth| sees the frame and the start. */
	atomic_store_explicit(&open->what, what | ring_get_head(ring) << 32, memory_order_release);
	atomic_store_explicit(&ring->depth, depth + 1, memory_order_release);
	return true;
}

/*
 * Orders the end of the previous span at this depth before the stores that follow: its open entry
 * and its frame are overwritten only when its record and the new |depth| are visible. Partner: the
 * acquire fence in open_span_is_still_open(), daemon/target/open_stack.c. No instruction on x86.
 */
static inline void ring_fence_open(void)
{
	fence_release();
}

/* Completes the frame of a span of |kind| at |depth| with |n| slots and without an owner. */
static inline void frame_finish(
	struct ring_frame *frame, enum record_kind kind, uint32_t depth, uint32_t n)
{
	frame->owner = 0;
	frame->word0 = record_word0(0, kind, depth, n);
	atomic_store_explicit(&frame->n_slots, n, memory_order_relaxed);
}

/*
 * Ends |n| open spans from |depth| on without a record. A reader finds them either open or counted
 * as lost, since one store to the first span's open entry both ends and counts them. Returns as
 * ring_publish(). Guard held.
 */
static inline bool ring_drop_spans(
	struct ring *ring, uint32_t word, uint32_t depth, enum ring_loss reason, uint64_t n)
{
	uint64_t after = atomic_load_explicit(&ring->lost[reason], memory_order_relaxed) + n;

	if (unlikely(!word_is_current(word)))
		return false;
	atomic_store_explicit(&ring->open[depth].what,
		(uint64_t)reason | (uint64_t)RING_OPEN_DROPPED << 24 | after << 32,
		memory_order_release);
	atomic_store_explicit(&ring->lost[reason], after, memory_order_release);
	return true;
}

/*
 * Returns true if |n| slots at |head| are free, even behind the ring's limit: the test of
 * segment_find_end(), in fewer instructions.
 */
static inline bool ring_has_room_behind(const struct ring *ring, uint64_t head, uint32_t n)
{
	uint64_t tail;

	if (atomic_load_explicit(&guest_get()->overwrites, memory_order_relaxed))
		return true;
	tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	return (int64_t)(head - tail) <= (int64_t)ring->slot_mask - ((int64_t)n - 1);
}

/* Returns true if |n| more slots are free for a point. If not, the point is counted as lost. */
static inline bool ring_find_room(struct ring *ring, uint32_t n)
{
	if (ring_has_room_behind(ring, ring_get_head(ring), n))
		return true;
	count_loss(ring, LOSS_FULL);
	return false;
}

static inline bool ring_has_room(struct ring *ring, uint64_t head, uint64_t n)
{
	return likely(head + n <= ring->limit);
}

/*
 * Publishes the complete entry at |head| with its |n_extra| slots. Guard held. False: |word| is not
 * current, and nothing may be stored any more.
 */
static inline bool ring_publish(struct ring *ring, uint32_t word, uint64_t head, uint64_t n_extra)
{
	/*
	 * This check comes as late as possible: an old head stored over a newer one would lose all
	 * entries between them. If this is a forked child, the slots that it has already written do
	 * no harm: the parent writes the same slots next.
	 */
	if (unlikely(!word_is_current(word)))
		return false;
	ring->n_other += n_extra;
	atomic_store_explicit(&ring->head, head + 1 + n_extra, memory_order_release);
	return true;
}

/*
 * Writes an entry at |head|, where there is room: the record, then |n_extra| slots. Returns as
 * ring_publish().
 */
static inline bool ring_append(struct ring *ring, uint32_t word, uint64_t head, uint64_t word0,
	uint64_t word1, const struct slot *extra, uint32_t n_extra)
{
	struct slot *data = ring_data(ring);

	data[head & ring->slot_mask] = (struct slot){{word0, word1}};
	for (uint32_t i = 0; i < n_extra; i++)
		data[(head + 1 + i) & ring->slot_mask] = extra[i];
	return ring_publish(ring, word, head, n_extra);
}

/*
 * Writes an entry: the record, then |n_extra| slots; a full ring counts it as lost. Guard held.
 * Returns as ring_append().
 */
static inline bool ring_emit(struct ring *ring, uint32_t word, uint64_t word0, uint64_t word1,
	const struct slot *extra, uint32_t n_extra)
{
	uint64_t head = ring_get_head(ring);

	if (!ring_has_room(ring, head, 1 + n_extra)) {
		if (!ring_has_room_behind(ring, head, 1 + n_extra))
			return segment_drop(ring, word, word0);
		segment_enter(ring, word, head, 1 + n_extra);
	}
	return ring_append(ring, word, head, word0, word1, extra, n_extra);
}

/* The slow path opens a span with open_span_begin() and open_span_finish(). */

/*
 * Does the same as ring_begin_at(), for a span; sets |*depth| to its depth. NULL also for a span
 * that is too deep, which is counted.
 */
static inline struct ring *open_span_begin(uint32_t *word, uint32_t *depth)
{
	struct ring *ring = ring_begin_at(word);

	if (unlikely(!ring))
		return NULL;
	*depth = ring_get_depth(ring);
	if (unlikely(*depth >= RECORD_MAX_DEPTH)) {
		count_loss(ring, LOSS_DEPTH);
		ring_end();
		return NULL;
	}
	ring_fence_open();
	return ring;
}

/*
 * Puts the span on the stack and frees the guard. Its frame, if |kind| has one, must be complete.
 * False: the recording is over, or this is a forked child.
 */
static inline bool open_span_finish(
	struct ring *ring, uint32_t word, uint32_t depth, unsigned kind, uint32_t id)
{
	bool is_current = ring_open_span(ring, word, depth, id | (uint32_t)kind << 24, now_ticks());

	/* Free the guard even if |word| is not current: a forked child inherits it as taken. */
	ring_end();
	return is_current;
}

#endif
