/* SPDX-License-Identifier: Apache-2.0 */
/* Spans, the short way: short_way.h. The long one: span.c. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/args.h"
#include "lib/record/long_way.h"
#include "lib/record/short_way.h"

/* The capture ended, or this is a child of fork() now. */
static cold struct ptap_impl_token drop_begin(void)
{
	ring_end();
	return (struct ptap_impl_token){NULL, 0, 0};
}

static cold void drop(void)
{
	ring_end();
}

/* Begin. */

/* |what|: the name's id and the kind. */
static hot struct ptap_impl_token push(
	struct thread *self, struct ring *ring, uint32_t word, uint32_t depth, uint32_t what)
{
	if (unlikely(!ring_open_span(ring, word, depth, what, ticks_read())))
		return drop_begin();
	thread_give_back(self, word);
	return (struct ptap_impl_token){ring, word, depth};
}

struct ptap_impl_token ptap_impl_begin(struct ptap_impl_site *site, uint32_t word)
{
	struct thread *self = &thread_self;
	struct ring *ring = self->ring;
	uint32_t id = known_id(&site->id);
	uint32_t depth;

	if (unlikely(!id) || !thread_take(self, word))
		return span_begin(site, word);
	depth = ring_get_depth(ring);
	if (unlikely(depth >= RECORD_MAX_DEPTH)) {
		thread_give_back(self, word);
		return span_begin(site, word);
	}
	ring_fence_open();
	return push(self, ring, word, depth, id | RECORD_SPAN << 24);
}

/* The slots of numbers. False: one is no number, or has a key that is not known yet. */
static hot int write_numbers(struct slot *slots, const struct ptap_impl_site *site,
	const struct ptap_impl_arg *args, unsigned n_args)
{
	for (unsigned i = 0; i < n_args; i++) {
		uint32_t key = known_id(&site->arg_ids[i]);

		if (unlikely(!key || args[i].type == PTAP_IMPL_STR))
			return 0;
		slots[i] = args_number(key, &args[i]);
	}
	return 1;
}

struct ptap_impl_token ptap_impl_begin_args(struct ptap_impl_site *site, uint32_t word,
	const struct ptap_impl_arg *args, unsigned n_args)
{
	struct thread *self = &thread_self;
	struct ring *ring = self->ring;
	uint32_t depth;

	if (unlikely(!known_id(&site->id) || n_args > PTAP_IMPL_MAX_ARGS) ||
		!thread_take(self, word))
		return span_begin_args(site, word, args, n_args);
	depth = ring_get_depth(ring);
	ring_fence_open();
	if (unlikely(depth >= RECORD_MAX_DEPTH ||
		     !write_numbers(ring_frame(ring, depth)->slots, site, args, n_args))) {
		thread_give_back(self, word);
		return span_begin_args(site, word, args, n_args);
	}
	/* What follows is loaded again, so that it needs no registers before. */
	signal_fence();
	ring = self->ring;
	depth = ring_get_depth(ring);
	frame_finish(ring_frame(ring, depth), RECORD_SPAN, depth, n_args);
	return push(self, ring, word, depth,
		known_id(&site->id) | (uint32_t)(RECORD_SPAN | RING_OPEN_HAS_FRAME) << 24);
}

/* End. */

/* Frees what was taken and begins anew on the long way. */
static cold void end_slowly(struct ptap_impl_token token)
{
	ring_end();
	span_end(token);
}

/* There is room behind the limit. */
static __attribute__((noinline)) void end_in_next_segment(
	struct ring *ring, uint32_t word, uint64_t word0, uint64_t word1)
{
	uint64_t head = ring_get_head(ring);

	segment_enter(ring, word, head, 1);
	if (ring_append(ring, word, head, word0, word1, NULL, 0))
		atomic_store_explicit(&ring->depth, record_depth(word0), memory_order_release);
	ring_end();
}

/* All of an end is done but this, and the ring is at its limit: full, or emptied meanwhile. */
static __attribute__((noinline)) void end_at_limit(
	struct ring *ring, uint32_t word, uint64_t word0, uint64_t word1)
{
	if (ring_has_room_behind(ring, ring_get_head(ring), 1)) {
		end_in_next_segment(ring, word, word0, word1);
		return;
	}
	if (ring_drop_spans(ring, word, record_depth(word0), LOSS_FULL, 1))
		atomic_store_explicit(&ring->depth, record_depth(word0), memory_order_release);
	ring_end();
}

/* Of a span with a frame, whose ring was taken. */
static __attribute__((noinline)) void end_with_frame(struct ptap_impl_token token)
{
	struct ring *ring = token.ring;
	struct ring_open *open = &ring->open[token.depth];
	struct ring_frame *frame = ring_frame(ring, token.depth);
	uint64_t start = atomic_load_explicit(&open->start, memory_order_relaxed);
	uint64_t duration = ticks_read() - start;
	uint64_t id = atomic_load_explicit(&open->what, memory_order_relaxed) & STRING_ID_MASK;
	uint32_t n = atomic_load_explicit(&frame->n_slots, memory_order_relaxed);
	uint64_t head = ring_get_head(ring);

	if (unlikely(duration >= RECORD_DURATION_MASK) || !ring_has_room(ring, head, 1 + n)) {
		end_slowly(token);
		return;
	}
	if (unlikely(
		    !ring_append(ring, token.word, head, frame->word0 | (start & RECORD_START_MASK),
			    record_word1(duration, (uint32_t)id), frame->slots, n))) {
		drop();
		return;
	}
	atomic_store_explicit(&ring->depth, token.depth, memory_order_release);
	thread_give_back(&thread_self, token.word);
}

void ptap_impl_end(struct ptap_impl_token token)
{
	struct thread *self = &thread_self;
	struct ring *ring = token.ring;
	struct ring_open *open = &ring->open[token.depth];
	uint64_t start;
	uint64_t what;
	uint64_t duration;
	uint64_t head;
	uint64_t word0;
	uint64_t word1;

	if (unlikely(self->ring != ring) || !thread_take(self, token.word)) {
		span_end(token);
		return;
	}
	what = atomic_load_explicit(&open->what, memory_order_relaxed);
	/* Something was left open above it. */
	if (unlikely(ring_get_depth(ring) != token.depth + 1)) {
		end_slowly(token);
		return;
	}
	if (what & (uint64_t)RING_OPEN_HAS_FRAME << 24) {
		end_with_frame(token);
		return;
	}
	start = atomic_load_explicit(&open->start, memory_order_relaxed);
	duration = ticks_read() - start;
	/* Or negative: a clock that steps back across cores. */
	if (unlikely(duration >= RECORD_DURATION_MASK)) {
		end_slowly(token);
		return;
	}
	word0 = record_word0(start, RECORD_SPAN, token.depth, 0);
	word1 = record_word1(duration, (uint32_t)what & STRING_ID_MASK);
	head = ring_get_head(ring);
	if (!ring_has_room(ring, head, 1)) {
		end_at_limit(ring, token.word, word0, word1);
		return;
	}
	if (unlikely(!ring_append(ring, token.word, head, word0, word1, NULL, 0))) {
		drop();
		return;
	}
	atomic_store_explicit(&ring->depth, token.depth, memory_order_release);
	thread_give_back(self, token.word);
}
