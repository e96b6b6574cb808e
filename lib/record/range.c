/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges; see range.h. Each range has a frame, even without arguments, since the frame holds the
 * owner. The frame at a depth may still hold the data of an earlier span. So the owner counts only
 * if the entry in the ring's stack of open spans has RING_OPEN_HAS_FRAME.
 */
#define PTAP_IMPL_BUILDING
#include "lib/record/range.h"

#include <string.h>

#include "lib/record/args.h"
#include "lib/record/emit.h"
#include "lib/record/slow_path.h"

/*
 * Sets |*id| and writes the slots: the name, if it is copied, then the arguments. Returns the
 * number of slots.
 */
static uint32_t write_range(
	struct ring *ring, struct slot *slots, const struct range_what *what, uint32_t *id)
{
	uint32_t n = 0;

	*id = what->id ? __atomic_load_n(what->id, __ATOMIC_ACQUIRE) : STRING_ID_DYNAMIC;
	if (unlikely(!*id))
		*id = site_register(what->id, what->name);
	if (*id == STRING_ID_DYNAMIC || unlikely(*id == STRING_ID_LOST)) {
		*id = STRING_ID_DYNAMIC;
		n = args_write_name(ring, slots, what->name);
	}
	if (what->fill)
		n += what->fill(ring, slots + n, RECORD_MAX_EXTRA - n, what->context);
	return n;
}

void range_push(uint32_t owner, uint32_t word, const struct range_what *what)
{
	uint32_t depth;
	uint32_t id;
	struct ring *ring = open_span_begin(&word, &depth);
	struct ring_frame *frame;

	if (unlikely(!ring)) {
		thread_self.n_unopened++;
		return;
	}
	frame = ring_frame(ring, depth);
	frame_finish(frame, RECORD_SPAN, depth, write_range(ring, frame->slots, what, &id));
	frame->owner = owner;
	open_span_finish(ring, word, depth, RECORD_SPAN | RING_OPEN_HAS_FRAME, id);
}

void range_point(uint32_t word, enum record_kind kind, const struct range_what *what)
{
	struct ring *ring = ring_begin_at(&word);
	struct slot slots[RECORD_MAX_EXTRA];
	uint32_t id;
	uint32_t n;

	if (!ring)
		return;
	n = write_range(ring, slots, what, &id);
	point_emit(ring, word, kind, id, slots, n);
	ring_end();
}

/* --- ends ---------------------------------------------------------------------------------- */

/* Returns the owner of the span at |depth|; 0: none. */
static uint32_t get_range_owner(struct ring *ring, uint32_t depth)
{
	uint64_t what = atomic_load_explicit(&ring->open[depth].what, memory_order_relaxed);

	return what & (uint64_t)RING_OPEN_HAS_FRAME << 24 ? ring_frame(ring, depth)->owner : 0;
}

/* Returns the depth of |owner|'s innermost range below |depth|, or |depth| if it has none. */
static uint32_t find_innermost_range(struct ring *ring, uint32_t owner, uint32_t depth)
{
	for (uint32_t i = depth; i-- > 0;)
		if (get_range_owner(ring, i) == owner)
			return i;
	return depth;
}

static bool are_ranges(struct ring *ring, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (!get_range_owner(ring, i))
			return false;
	return true;
}

/* Returns true if |slot| is the last of |n| slots. */
static bool ends_with(const struct slot *slots, uint32_t n, const struct slot *slot)
{
	return n && memcmp(&slots[n - 1], slot, sizeof *slot) == 0;
}

static uint32_t add_continued(struct slot *slots, uint32_t n)
{
	static uint32_t kept_key;
	uint32_t key = __atomic_load_n(&kept_key, __ATOMIC_ACQUIRE);
	struct slot slot = {{0, 1}};

	if (unlikely(!key))
		key = site_register(&kept_key, "continued");
	slot.word[0] = slot_word0(key, SLOT_I64, 0);
	if (n < RECORD_MAX_EXTRA && !ends_with(slots, n, &slot))
		slots[n++] = slot;
	return n;
}

/* Reopens the range that has ended at |depth| one level lower. */
static bool reopen_range(struct ring *ring, uint32_t word, uint32_t depth, uint32_t what)
{
	struct ring_frame *from = ring_frame(ring, depth);
	struct ring_frame *to = ring_frame(ring, depth - 1);
	uint32_t n = atomic_load_explicit(&from->n_slots, memory_order_relaxed);

	ring_fence_open();
	memcpy(to->slots, from->slots, n * sizeof *to->slots);
	frame_finish(to, RECORD_SPAN, depth - 1, add_continued(to->slots, n));
	to->owner = from->owner;
	return ring_open_span(ring, word, depth - 1, what, now_ticks());
}

/*
 * Ends the range at |depth| and the ranges that are open above it, and begins those above again at
 * once. The caller holds the ring's guard.
 */
static void end_beneath(struct ring *ring, uint32_t word, uint32_t depth, uint32_t n_open)
{
	uint32_t whats[RECORD_MAX_DEPTH];
	bool is_current = true;

	/*
	 * Copy the open entries of the ranges above before the first pop. If the ring is full, each
	 * pop overwrites the entry of its range with the number of lost spans.
	 */
	for (uint32_t i = depth + 1; i < n_open; i++)
		whats[i] =
			(uint32_t)atomic_load_explicit(&ring->open[i].what, memory_order_relaxed);
	for (uint32_t i = n_open; i-- > depth && is_current;)
		is_current = span_pop(ring, word, i, i + 1);
	for (uint32_t i = depth + 1; i < n_open && is_current; i++)
		is_current = reopen_range(ring, word, i, whats[i]);
}

static __attribute__((noinline)) void pop_beneath(
	struct ring *ring, uint32_t word, uint32_t depth, uint32_t n_open)
{
	if (!are_ranges(ring, depth + 1, n_open)) {
		ptap_impl_end((struct ptap_impl_token){ring, word, depth});
	} else if (ring_take(&thread_self, ring)) {
		end_beneath(ring, word, depth, n_open);
		ring_end();
	}
}

void range_pop(uint32_t owner, uint32_t word)
{
	struct thread *self = &thread_self;
	struct ring *ring = self->ring;
	uint32_t n_open;
	uint32_t depth;

	/* The thread has not entered this recording, so it has no open range. */
	if (unlikely(self->word != word && !ring_is_same_recording(self->word, word)))
		return;
	if (unlikely(self->n_unopened)) {
		self->n_unopened--;
		return;
	}
	n_open = ring_get_depth(ring);
	depth = find_innermost_range(ring, owner, n_open);
	if (unlikely(depth + 1 < n_open))
		pop_beneath(ring, word, depth, n_open);
	else if (depth < n_open)
		ptap_impl_end((struct ptap_impl_token){ring, word, depth});
}
