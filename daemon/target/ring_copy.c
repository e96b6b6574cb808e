/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the contents of a ring; see ring_copy.h, and lib/wire/ring.h for the order of loads and
 * stores.
 */
#include "daemon/target/ring_copy.h"

#include <string.h>

#include "base/fence.h"
#include "daemon/target/target.h"

static uint64_t ring_segment_size(uint32_t n_slots)
{
	return n_slots / RING_SEGMENTS;
}

/* Returns the first position that cannot have been overwritten while the limit was |limit|. */
static uint64_t ring_find_oldest(uint64_t limit, uint32_t n_slots)
{
	return limit > n_slots ? limit - n_slots : 0;
}

static struct ring_place ring_load_mark(struct ring *ring, uint64_t boundary, uint32_t n_slots)
{
	struct ring_mark *mark = ring_mark(ring, boundary, n_slots);

	return (struct ring_place){
		.position = atomic_load_explicit(&mark->position, memory_order_relaxed),
		.ordinal = atomic_load_explicit(&mark->ordinal, memory_order_relaxed),
	};
}

struct ring_place ring_get_first(const struct ring *ring)
{
	return (struct ring_place){atomic_load_explicit(&ring->first, memory_order_relaxed), 0};
}

int ring_copy_begin(struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from)
{
	uint64_t oldest;
	uint64_t limit;

	c->ring = target_ring(t, i);
	c->n_slots = t->n_slots;
	c->from = from;
	c->end = atomic_load_explicit(&c->ring->head, memory_order_acquire);
	limit = ring_get_limit(c->ring);
	if (c->end < from.position || limit < c->end)
		return RING_COPY_BROKEN;
	oldest = ring_find_oldest(limit, c->n_slots);
	c->start = from.position > oldest ? from.position : oldest;
	if (c->start > c->end)
		c->start = c->end;
	return 0;
}

/*
 * Slots that the thread overwrites meanwhile may be torn, and are discarded later. ThreadSanitizer
 * must not check these loads, because the thread's stores are plain.
 */
#ifdef __SANITIZE_THREAD__
__attribute__((no_sanitize("thread"))) static void ring_copy_slots(
	struct slot *to, const struct slot *from, size_t n)
{
	for (size_t i = 0; i < 2 * n; i++)
		to[i / 2].word[i % 2] = __atomic_load_n(&from[i / 2].word[i % 2], __ATOMIC_RELAXED);
}
#else
static void ring_copy_slots(struct slot *to, const struct slot *from, size_t n)
{
	if (n)
		memcpy(to, from, n * sizeof *to);
}
#endif

void ring_copy_take(struct ring_copy *c, struct slot *to)
{
	const struct slot *data = ring_data(c->ring);
	size_t n = c->end - c->start;
	size_t at = c->start & (c->n_slots - 1);
	size_t first = c->n_slots - at < n ? c->n_slots - at : n;

	ring_copy_slots(to, data + at, first);
	ring_copy_slots(to + first, data, n - first);
	for (uint32_t k = 0; k < RING_SEGMENTS; k++)
		c->marks[k] =
			ring_load_mark(c->ring, k * ring_segment_size(c->n_slots), c->n_slots);
}

static struct ring_place ring_copy_get_mark(const struct ring_copy *c, uint64_t boundary)
{
	return c->marks[(boundary & (c->n_slots - 1)) / ring_segment_size(c->n_slots)];
}

int ring_copy_finish(struct ring_copy *c)
{
	uint64_t boundary;

	/*
	 * Slots that were overwritten before they were copied are more than |n_slots|
	 * positions below the limit read now.
	 * Partner: segment_enter().
	 */
	fence_acquire();
	c->oldest = ring_find_oldest(ring_get_limit(c->ring), c->n_slots);
	/* No well-behaved thread lowers its limit. */
	if (c->oldest <= c->from.position)
		return c->start == c->from.position ? 0 : RING_COPY_BROKEN;
	boundary = ring_next_boundary(c->oldest, c->n_slots);
	if (boundary >= c->end)
		return RING_COPY_GONE;
	c->from = ring_copy_get_mark(c, boundary);
	if (c->from.position - boundary > RECORD_MAX_EXTRA || c->from.position > c->end ||
		c->from.position < c->start)
		return RING_COPY_BROKEN;
	return 0;
}

uint64_t ring_copy_count_overwritten(const struct ring_copy *c, struct ring_place first)
{
	uint64_t boundary = ring_next_boundary(c->oldest, c->n_slots);
	struct ring_place oldest;

	if (c->oldest <= first.position)
		return 0;
	/*
	 * The oldest intact entry is the one that the next boundary's mark names, or an earlier
	 * one.
	 */
	if (boundary >= c->from.position)
		return c->from.ordinal;
	oldest = ring_copy_get_mark(c, boundary);
	return oldest.ordinal < c->from.ordinal ? oldest.ordinal : c->from.ordinal;
}

struct ring_place ring_copy_find(const struct ring_copy *c, uint64_t position)
{
	uint64_t segment = ring_segment_size(c->n_slots);
	uint64_t boundary = position & ~(segment - 1);

	/*
	 * If an entry lies across this boundary, the boundary's mark may be beyond |position|: try
	 * the boundary before.
	 */
	for (int i = 0; i < 2 && boundary > c->from.position; i++, boundary -= segment) {
		struct ring_place mark = ring_copy_get_mark(c, boundary);

		if (mark.position >= boundary && mark.position <= position)
			return mark;
	}
	return c->from;
}

struct ring_place ring_copy_next(
	const struct ring_copy *c, const struct slot *slots, struct ring_place at)
{
	uint64_t word0 = slots[at.position - c->from.position].word[0];

	return (struct ring_place){at.position + 1 + record_n_extra(word0), at.ordinal + 1};
}

uint64_t ring_copy_count(const struct ring_copy *c, const struct slot *slots, uint64_t *last)
{
	uint64_t position = c->from.position;
	struct ring_place at;

	if (c->end == c->from.position)
		return c->from.ordinal;
	at = ring_copy_find(c, c->end - 1);
	while (at.position < c->end) {
		position = at.position;
		at = ring_copy_next(c, slots, at);
	}
	*last = slots[position - c->from.position].word[0];
	return at.ordinal;
}

/* Walks the ring itself from |at| to |position|. Loads as ring_copy_slots() does. */
__attribute__((no_sanitize("thread"))) static struct ring_place ring_walk(
	struct ring *ring, uint32_t n_slots, struct ring_place at, uint64_t position)
{
	struct slot *data = ring_data(ring);

	/* A hostile target may give any position. */
	if (position - at.position > n_slots)
		return at;
	while (at.position < position) {
		uint64_t word0 = __atomic_load_n(
			&data[at.position & (n_slots - 1)].word[0], __ATOMIC_RELAXED);

		at.position += 1 + record_n_extra(word0);
		at.ordinal++;
	}
	return at;
}

static int ring_walk_to_ordinal(struct ring *ring, uint32_t n_slots, struct ring_place *at)
{
	struct ring_place from = ring_get_first(ring);
	uint64_t boundary;

	if (at->position <= from.position) {
		at->ordinal = 0;
		return 0;
	}
	boundary = (at->position - 1) & ~(ring_segment_size(n_slots) - 1);
	if (boundary > from.position)
		from = ring_load_mark(ring, boundary, n_slots);
	else
		boundary = from.position;
	from = ring_walk(ring, n_slots, from, at->position);
	/* See ring_copy_finish(). */
	fence_acquire();
	if (ring_find_oldest(ring_get_limit(ring), n_slots) > boundary ||
		from.position != at->position)
		return RING_COPY_GONE;
	at->ordinal = from.ordinal;
	return 0;
}

/*
 * Finds the first entry at or after |position|, if there is one. Loads in the order of
 * ring_walk_to_ordinal(): a mark, slots, the limit.
 */
static int ring_copy_find_entry(
	struct ring *ring, uint32_t n_slots, uint64_t position, struct ring_place *out)
{
	struct ring_place from = ring_get_first(ring);
	uint64_t boundary = position & ~(ring_segment_size(n_slots) - 1);

	if (boundary > from.position)
		from = ring_load_mark(ring, boundary, n_slots);
	else
		boundary = from.position;
	*out = ring_walk(ring, n_slots, from, position);
	/* See ring_copy_finish(). */
	fence_acquire();
	return ring_find_oldest(ring_get_limit(ring), n_slots) > boundary ? RING_COPY_GONE : 0;
}

int ring_copy_narrow(struct ring_copy *c, uint64_t n_max)
{
	struct ring_place at = {c->end, 0};
	uint64_t position = c->end - n_max;
	int r;

	if (c->end - c->start <= n_max)
		return 0;
	/*
	 * An entry is found from the boundary before it, which may be overwritten; then the next
	 * boundary is used.
	 */
	if (c->start > c->from.position && ring_next_boundary(c->start, c->n_slots) > position)
		position = ring_next_boundary(c->start, c->n_slots);
	r = position < c->end ? ring_copy_find_entry(c->ring, c->n_slots, position, &at)
			      : ring_walk_to_ordinal(c->ring, c->n_slots, &at);
	if (r)
		return r;
	if (at.position > c->end || at.position < c->end - n_max)
		return RING_COPY_BROKEN;
	c->from = at;
	c->start = at.position;
	return 0;
}

int ring_copy_mark(const struct target *t, uint32_t i, uint64_t boundary, struct ring_place *at,
	struct slot slots[1 + RECORD_MAX_EXTRA])
{
	struct ring *ring = target_ring(t, i);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint64_t n;

	*at = ring_load_mark(ring, boundary, t->n_slots);
	if (at->position - boundary > RECORD_MAX_EXTRA || at->position >= head)
		return RING_COPY_GONE;
	n = head - at->position;
	for (uint64_t k = 0; k < 1 + RECORD_MAX_EXTRA; k++)
		if (k < n)
			ring_copy_slots(&slots[k],
				ring_data(ring) + ((at->position + k) & (t->n_slots - 1)), 1);
		else
			slots[k] = (struct slot){{0, 0}};
	fence_acquire();
	return ring_find_oldest(ring_get_limit(ring), t->n_slots) > boundary ? RING_COPY_GONE : 0;
}

int ring_find_ordinal(const struct target *t, uint32_t i, struct ring_place *at)
{
	return ring_walk_to_ordinal(target_ring(t, i), t->n_slots, at);
}
