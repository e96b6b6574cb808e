/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations on the fast path (fast_path.h); slow_path.c has those on the slow path. */
#define PTAP_IMPL_BUILDING
#include <proftap/proftap.h>

#include "lib/record/args.h"
#include "lib/record/fast_path.h"
#include "lib/record/slow_path.h"

/* Called when the capture has ended, or this is a child of fork() now. */
static cold struct ptap_impl_token drop_begin(void)
{
	ring_end();
	return (struct ptap_impl_token){NULL, 0, 0};
}

/* |what| is the name's id and the kind. */
static hot struct ptap_impl_token push_span(
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
	return push_span(self, ring, word, depth, id | RECORD_SPAN << 24);
}

/* Writes the slot of argument |i|. False: it is not a number, or its key has no id yet. */
static hot bool write_number(struct slot *slots, const struct ptap_impl_site *site,
	const struct ptap_impl_arg *args, unsigned i)
{
	uint32_t key = known_id(&site->arg_ids[i]);

	if (unlikely(!key || args[i].type == PTAP_IMPL_STR))
		return false;
	slots[i] = args_number(key, &args[i]);
	return true;
}

/* Writes all arguments without a loop: the pointers of a loop would need more registers. */
static hot bool write_numbers(struct slot *slots, const struct ptap_impl_site *site,
	const struct ptap_impl_arg *args, unsigned n_args)
{
#define WRITE(i)                                                     \
	do {                                                         \
		if (n_args == (i))                                   \
			return true;                                 \
		if (unlikely(!write_number(slots, site, args, (i)))) \
			return false;                                \
	} while (0)
	WRITE(0);
	WRITE(1);
	WRITE(2);
	WRITE(3);
	WRITE(4);
	WRITE(5);
	WRITE(6);
	WRITE(7);
#undef WRITE
	return true;
}

struct ptap_impl_token ptap_impl_begin_args(struct ptap_impl_site *site, uint32_t word,
	const struct ptap_impl_arg *args, unsigned n_args)
{
	struct thread *self = &thread_self;
	struct ring_frame *frame;
	uint32_t depth;

	if (unlikely(!known_id(&site->id) || n_args > PTAP_IMPL_MAX_ARGS) ||
		!thread_take(self, word))
		return span_begin_args(site, word, args, n_args);
	depth = ring_get_depth(self->ring);
	frame = ring_frame(self->ring, depth);
	if (unlikely(depth >= RECORD_MAX_DEPTH))
		goto slow;
	ring_fence_open();
	frame_finish(frame, RECORD_SPAN, depth, n_args);
	if (unlikely(!write_numbers(frame->slots, site, args, n_args)))
		goto slow;
	/*
	 * After the fence the compiler loads the following values again, so that they need no
	 * registers before it.
	 */
	signal_fence();
	return push_span(self, self->ring, word, ring_get_depth(self->ring),
		known_id(&site->id) | (uint32_t)(RECORD_SPAN | RING_OPEN_HAS_FRAME) << 24);
slow:
	thread_give_back(self, word);
	return span_begin_args(site, word, args, n_args);
}

/* Frees the guard and ends the span on the slow path instead. */
static cold void end_slowly(struct ptap_impl_token token)
{
	ring_end();
	span_end(token);
}

/* The ring is at its limit; behind the limit there may be room. */
static __attribute__((noinline)) void end_at_limit(struct ptap_impl_token token)
{
	struct ring *ring = token.ring;

	if (ring_has_room_behind(ring, ring_get_head(ring), 1)) {
		end_slowly(token);
		return;
	}
	if (unlikely(!ring_drop_spans(ring, token.word, token.depth, LOSS_FULL, 1))) {
		ring_end();
		return;
	}
	atomic_store_explicit(&ring->depth, token.depth, memory_order_release);
	thread_give_back(&thread_self, token.word);
}

/* Publishes the complete entry at |head|. */
static hot void finish_end(
	struct ring *ring, uint32_t word, uint64_t depth, uint64_t head, uint64_t n_extra)
{
	if (unlikely(!ring_publish(ring, word, head, n_extra))) {
		ring_end();
		return;
	}
	atomic_store_explicit(&ring->depth, (uint32_t)depth, memory_order_release);
	thread_give_back(&thread_self, word);
}

/* Ends a span with a frame. Guard held. */
static __attribute__((noinline)) void end_with_frame(
	struct ring *ring, uint32_t word, uint64_t depth, uint64_t what)
{
	struct ring_frame *frame = ring_frame(ring, (uint32_t)depth);
	uint64_t start = atomic_load_explicit(&ring->open[depth].start, memory_order_relaxed);
	uint64_t head = ring_get_head(ring);
	uint64_t n = atomic_load_explicit(&frame->n_slots, memory_order_relaxed);
	uint64_t duration = ticks_read() - start;
	struct slot *slot;

	if (unlikely(duration >= RECORD_DURATION_MASK || !ring_has_room(ring, head, 1 + n))) {
		end_slowly((struct ptap_impl_token){ring, word, (uint32_t)depth});
		return;
	}
	slot = fast_slot(ring, head);
	*slot = (struct slot){{frame->word0 | (start & RECORD_START_MASK),
		record_word1(duration, (uint32_t)what & STRING_ID_MASK)}};
	for (uint64_t i = 0; i < n; i++)
		slot[1 + i] = frame->slots[i];
	fast_fetch_ahead(slot);
	/* After the fence the compiler loads the head again: it needs no register before. */
	signal_fence();
	finish_end(ring, word, depth, ring_get_head(ring), n);
}

void ptap_impl_end(struct ptap_impl_token token)
{
	struct ring *ring = token.ring;
	uint64_t depth = token.depth;
	uint64_t start;
	uint64_t what;
	uint64_t duration;
	uint64_t head;
	struct slot *slot;

	if (unlikely(thread_self.ring != ring) || !thread_take(&thread_self, token.word)) {
		span_end(token);
		return;
	}
	/* Another span was left open above this one. */
	if (unlikely(ring_get_depth(ring) != depth + 1)) {
		end_slowly(token);
		return;
	}
	what = atomic_load_explicit(&ring->open[depth].what, memory_order_relaxed);
	if (what & (uint64_t)RING_OPEN_HAS_FRAME << 24) {
		end_with_frame(ring, token.word, depth, what);
		return;
	}
	start = atomic_load_explicit(&ring->open[depth].start, memory_order_relaxed);
	head = ring_get_head(ring);
	duration = ticks_read() - start;
	/* This is also true of a negative duration: a clock that steps back across cores. */
	if (unlikely(duration >= RECORD_DURATION_MASK)) {
		end_slowly(token);
		return;
	}
	if (!ring_has_room(ring, head, 1)) {
		end_at_limit(token);
		return;
	}
	slot = fast_slot(ring, head);
	*slot = (struct slot){{record_word0(start, RECORD_SPAN, (unsigned)depth, 0),
		record_word1(duration, (uint32_t)what & STRING_ID_MASK)}};
	fast_fetch_ahead(slot);
	finish_end(ring, token.word, depth, head, 0);
}

/* --- annotations without a duration -------------------------------------------------------- */

/*
 * Writes a point, with |number| unless that is NULL, into the ring with the guard taken. False: the
 * ring is at its limit, or the depth is too large for a record; the guard is still taken.
 */
static hot bool put_point(struct thread *self, uint32_t id, uint32_t word, enum record_kind kind,
	const struct slot *number)
{
	struct ring *ring = self->ring;
	uint32_t n_extra = number ? 1 : 0;
	uint64_t head = ring_get_head(ring);
	uint32_t depth = ring_get_depth(ring);
	uint64_t now = ticks_read();
	struct slot *slot;

	if (!ring_has_room(ring, head, 1 + n_extra) || unlikely(depth >= RECORD_MAX_DEPTH))
		return false;
	slot = fast_slot(ring, head);
	slot[0] = (struct slot){{record_word0(now, kind, depth, n_extra), record_word1(0, id)}};
	if (number) {
		slot[1] = *number;
		fast_fetch_ahead(slot);
	}
	if (unlikely(!ring_publish(ring, word, head, n_extra)))
		ring_end();
	else
		thread_give_back(self, word);
	return true;
}

/*
 * Returns true if a point of |n| slots has room on the slow path; if not, it is counted as lost.
 * Frees the guard that was taken with |word|.
 */
static inline bool find_room(uint32_t word, uint32_t n)
{
	bool has_room = ring_find_room(thread_self.ring, n);

	thread_give_back(&thread_self, word);
	return has_room;
}

static __attribute__((noinline)) void instant_at_limit(struct ptap_impl_site *site, uint32_t word)
{
	if (find_room(word, 1))
		point_instant(site, word);
}

static __attribute__((noinline)) void number_at_limit(struct ptap_impl_site *site, uint32_t word,
	enum record_kind kind, enum slot_type type, uint64_t bits)
{
	if (find_room(word, 2))
		point_number(site, word, kind, type, bits);
}

void ptap_impl_instant(struct ptap_impl_site *site, uint32_t word)
{
	struct thread *self = &thread_self;
	uint32_t id = known_id(&site->id);

	if (unlikely(!id) || !thread_take(self, word)) {
		point_instant(site, word);
		return;
	}
	if (!put_point(self, id, word, RECORD_INSTANT, NULL))
		instant_at_limit(site, word);
}

static hot void put_number(struct ptap_impl_site *site, uint32_t word, enum record_kind kind,
	enum slot_type type, uint64_t bits)
{
	struct thread *self = &thread_self;
	uint32_t id = known_id(&site->id);
	struct slot number = {{slot_word0(0, type, 0), bits}};

	if (unlikely(!id) || !thread_take(self, word)) {
		point_number(site, word, kind, type, bits);
		return;
	}
	if (!put_point(self, id, word, kind, &number))
		number_at_limit(site, word, kind, type, bits);
}

void ptap_impl_counter_i(struct ptap_impl_site *site, uint32_t word, int64_t value)
{
	put_number(site, word, RECORD_COUNTER, SLOT_I64, (uint64_t)value);
}

void ptap_impl_counter_f(struct ptap_impl_site *site, uint32_t word, double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof bits);
	put_number(site, word, RECORD_COUNTER, SLOT_F64, bits);
}

void ptap_impl_mark(
	struct ptap_impl_site *site, uint32_t word, enum ptap_impl_mark_kind kind, uint64_t id)
{
	put_number(site, word, (enum record_kind)kind, SLOT_U64, id);
}
